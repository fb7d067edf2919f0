//! Limits of what a language server may say and cost.

use std::time::Duration;

/// One message of a server, in bytes. A server that announces a longer one is ended.
pub const MESSAGE_BYTES_MAX: usize = 32 * 1024 * 1024;
/// The lines before a message, in bytes.
pub const HEADER_BYTES_MAX: usize = 4 * 1024;
/// Messages that a server may send without being asked anything new; then it is ended.
pub const MESSAGES_UNASKED_MAX: u64 = 50_000;
/// The same in bytes.
pub const MESSAGES_UNASKED_BYTES_MAX: u64 = 512 * 1024 * 1024;
/// Messages that wait for a server to read them.
pub const WAITING_MESSAGES_MAX: usize = 256;
/// Questions that were taken back and that a server has not ended yet.
pub const CANCELLED_MAX: usize = 1_000;
/// How long a server may take to begin.
pub const START_TIMEOUT: Duration = Duration::from_secs(45);
/// How long a program that closed its output is waited for to say how it ended.
pub const EXIT_TIMEOUT: Duration = Duration::from_secs(2);
/// How long it may take to answer.
pub const ANSWER_TIMEOUT: Duration = Duration::from_secs(30);
/// How long a question waits while a server says that it is still loading.
pub const LOADING_WAIT: Duration = Duration::from_secs(25);
/// How long a server that was only just started may take until it says that it is loading.
pub const LOADING_START_WAIT: Duration = Duration::from_millis(300);
/// How long problems are waited for that a server tells by itself.
pub const PROBLEMS_WAIT: Duration = Duration::from_secs(15);
/// When nothing more comes for so long, what came is taken for all.
pub const PROBLEMS_QUIET: Duration = Duration::from_millis(750);
/// Files of which problems are kept that a server told by itself.
pub const PROBLEM_FILES_MAX: usize = 2_000;
/// Problems of one file that are kept.
pub const PROBLEMS_MAX: usize = 5_000;
/// Works that a server says it is at.
pub const PROGRESS_TASKS_MAX: usize = 1_000;
/// Documents that are open at a server; of more the oldest is closed.
pub const DOCUMENTS_MAX: usize = 32;
/// A server that nobody asked for so long is ended.
pub const IDLE_TIMEOUT: Duration = Duration::from_secs(15 * 60);
/// A server that ran for so long was a good one: when it is lost, the pauses begin anew.
pub const STEADY_AFTER: Duration = Duration::from_secs(60);
/// When a server that was lost may be started again: after the first time so many seconds, and so on, then always the last.
pub const RETRY_AFTER_S: [u64; 5] = [1, 2, 5, 15, 60];
/// How often a question is asked again whose answer the server says is out of date.
pub const RETRIES_MAX: u32 = 5;
/// The pause before it is.
pub const RETRY_DELAY: Duration = Duration::from_millis(300);
/// What is kept of what a server says on its standard error, in bytes.
pub const STDERR_BYTES_MAX: usize = 4 * 1024;
/// What an error repeats of a server's words, in characters.
pub const REASON_CHARS_MAX: usize = 300;
/// Symbols of one answer that are read; they may lie in each other.
pub const SYMBOLS_MAX: usize = 20_000;
/// How deep symbols may lie in each other.
pub const SYMBOL_DEPTH_MAX: usize = 30;
/// Places that an answer may have.
pub const LOCATIONS_MAX: usize = 50_000;
/// Language servers that a person may set up.
pub const SERVERS_MAX: usize = 50;
/// Endings of files of one of them.
pub const FILE_EXTENSIONS_MAX: usize = 50;
/// Arguments of one of them.
pub const ARGS_MAX: usize = 50;
/// Its id, an ending, or a language's id, in bytes.
pub const ID_BYTES_MAX: usize = 64;
/// Its command or one argument, in bytes.
pub const VALUE_BYTES_MAX: usize = 4 * 1024;
