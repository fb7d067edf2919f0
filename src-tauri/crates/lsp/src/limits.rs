//! Limits on the messages and the resources of a language server.

use std::time::Duration;

/// Largest message of a server, in bytes. A server that announces a longer one is ended.
pub const MESSAGE_BYTES_MAX: usize = 32 * 1024 * 1024;
/// Longest header of a message, in bytes.
pub const HEADER_BYTES_MAX: usize = 4 * 1024;
/// Messages that a server may send without a new request; beyond them it is ended.
pub const MESSAGES_UNASKED_MAX: u64 = 50_000;
/// Bytes that a server may send without a new request; beyond them it is ended.
pub const MESSAGES_UNASKED_BYTES_MAX: u64 = 512 * 1024 * 1024;
/// Messages that are queued until a server reads them.
pub const WAITING_MESSAGES_MAX: usize = 256;
/// Cancelled requests that a server has not answered yet.
pub const CANCELLED_MAX: usize = 1_000;
/// Longest time for a server to start.
pub const START_TIMEOUT: Duration = Duration::from_secs(45);
/// Longest time to wait for the exit status of a program that closed its output.
pub const EXIT_TIMEOUT: Duration = Duration::from_secs(2);
/// Longest time for a server to answer.
pub const ANSWER_TIMEOUT: Duration = Duration::from_secs(30);
/// Longest time that a query waits while a server says that it is still loading.
pub const LOADING_WAIT: Duration = Duration::from_secs(25);
/// Time in which a server that was only just started may begin to report that it is loading.
pub const LOADING_START_WAIT: Duration = Duration::from_millis(300);
/// Longest time to wait for problems that a server publishes by itself.
pub const PROBLEMS_WAIT: Duration = Duration::from_secs(15);
/// Time without further problems after which those received are taken as complete.
pub const PROBLEMS_QUIET: Duration = Duration::from_millis(750);
/// Files whose problems, published by a server itself, are kept.
pub const PROBLEM_FILES_MAX: usize = 2_000;
/// Problems of one file that are kept.
pub const PROBLEMS_MAX: usize = 5_000;
/// Tasks in progress of one server that are tracked.
pub const PROGRESS_TASKS_MAX: usize = 1_000;
/// Documents that are open at a server; beyond them the oldest is closed.
pub const DOCUMENTS_MAX: usize = 32;
/// Time without requests after which a server is ended.
pub const IDLE_TIMEOUT: Duration = Duration::from_secs(15 * 60);
/// Running time after which a server counts as stable: when it is lost, the pauses start again from the first.
pub const STEADY_AFTER: Duration = Duration::from_secs(60);
/// Pauses before a lost server may be started again, in seconds: the first after the first loss, and so on; the last
/// one repeats.
pub const RETRY_AFTER_S: [u64; 5] = [1, 2, 5, 15, 60];
/// How often a query is sent whose answer the server says is out of date.
pub const RETRIES_MAX: u32 = 5;
/// Pause before such a query is sent again.
pub const RETRY_DELAY: Duration = Duration::from_millis(300);
/// Bytes of a server's standard error that are kept, from its end.
pub const STDERR_BYTES_MAX: usize = 4 * 1024;
/// Longest excerpt of a server's message in an error, in characters.
pub const REASON_CHARS_MAX: usize = 300;
/// Symbols of one answer that are read, including nested ones.
pub const SYMBOLS_MAX: usize = 20_000;
/// Greatest nesting depth of symbols.
pub const SYMBOL_DEPTH_MAX: usize = 30;
/// Most places in an answer.
pub const LOCATIONS_MAX: usize = 50_000;
/// Most language servers that a person may set up.
pub const SERVERS_MAX: usize = 50;
/// Most file extensions of one server.
pub const FILE_EXTENSIONS_MAX: usize = 50;
/// Most arguments of one server.
pub const ARGS_MAX: usize = 50;
/// Longest id of a server, file extension, or language id, in bytes.
pub const ID_BYTES_MAX: usize = 64;
/// Longest command or argument of a server, in bytes.
pub const VALUE_BYTES_MAX: usize = 4 * 1024;
