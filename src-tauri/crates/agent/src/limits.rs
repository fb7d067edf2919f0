//! Limits of a session.

use std::time::Duration;

/// Calls of one model turn; a turn that asks for more is refused whole.
pub const CALLS_PER_TURN_MAX: usize = 1_024;
/// Longest name of a tool that a model can ask for, in characters; a longer one is no tool's and is kept cut.
pub const NAME_CHARS_MAX: usize = 256;
/// Longest message of a person, in bytes.
pub const MESSAGE_BYTES_MAX: usize = 1024 * 1024;
/// Images of one message of a person.
pub const MESSAGE_IMAGES_MAX: usize = 20;
/// Longest arguments of one call, in bytes of JSON.
pub const ARGUMENTS_BYTES_MAX: usize = 10 * 1024 * 1024;
/// Pieces of text are joined for this long before they are recorded and shown.
pub const COALESCE_DELAY: Duration = Duration::from_millis(30);
/// Or until they are this long, in bytes.
pub const COALESCE_BYTES_MAX: usize = 2 * 1024;
/// How much longer than its own limit a call may take to come to its end before it is given up.
pub const TIMEOUT_GRACE: Duration = Duration::from_secs(5);
/// Largest rules or settings file, in bytes.
pub const CONFIG_BYTES_MAX: u64 = 4 * 1024 * 1024;
/// Lines that one question for context may get.
pub const LINES_MAX: u32 = 2_000;
/// Largest file that lines are read from for context, in bytes.
pub const LINES_FILE_BYTES_MAX: u64 = 16 * 1024 * 1024;
/// Bytes of a whole output that one question gets.
pub const OUTPUT_PAGE_BYTES: u64 = 256 * 1024;
/// Calls that run at the same time (M08).
pub const PARALLEL_CALLS_MAX: usize = 10;
/// How long one hook of the host may take; one that takes longer counts as broken.
pub const HOOK_MAX: Duration = Duration::from_secs(10);
/// Programs of the person's that are asked before a call; the rest are not asked, and every call asks the person.
pub const WATCHDOGS_MAX: usize = 16;
/// Programs of the person's that hear of a call around its run; with more than these none runs.
pub const HOOKS_MAX: usize = 16;
/// Longest time that a watchdog or hook of the person's may take, in milliseconds.
pub const PROGRAM_MS_MAX: u32 = 30_000;
/// Longest answer of one, in bytes.
pub const PROGRAM_ANSWER_BYTES_MAX: u64 = 64 * 1024;
/// Longest reason or name of one that is told, in characters.
pub const PROGRAM_REASON_CHARS_MAX: usize = 500;
/// Longest word on progress, in bytes.
pub const PROGRESS_BYTES_MAX: usize = 1024;
/// Live output and pieces of a result that may pile up behind a slow hook, in bytes; what comes on top is not shown, the
/// result has it all.
pub const OUTPUT_PENDING_BYTES_MAX: usize = 256 * 1024;
/// How many of them may pile up.
pub const UPDATES_PENDING_MAX: usize = 100;
/// Different calls of one run that are remembered, to notice loops.
pub const CALLS_REMEMBERED_MAX: usize = 4_096;
/// Longest state of a session, in bytes of JSON.
pub const STATE_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Answers in a row that may break the schema before the run ends; each is reported back to the model.
pub const REPAIRS_MAX: u32 = 2;
/// How deep delegates may send out delegates (M10).
pub const SUB_AGENT_DEPTH_MAX: usize = 5;
/// Of a host in a sentence.
pub const HOST_CHARS_MAX: usize = 200;
/// Longest call, in bytes of what it touches, whose verdict keeps what it was made from.
pub(crate) const EVIDENCE_BYTES_MAX: usize = 32 * 1024;
/// An agent's manifest, in bytes.
pub const MANIFEST_BYTES_MAX: usize = 256 * 1024;
/// How a person is told which one call a grant is for, in characters.
pub const GRANT_CHARS_MAX: usize = 200;
/// Hosts that one run of a command may be given a way to.
pub const EGRESS_HOSTS_MAX: usize = 32;
/// Folders above a workspace that are looked through for the root of its repository.
pub const PARENT_FOLDERS_MAX: usize = 16;
/// All of a project's instructions together, in bytes: about 8,000 tokens.
pub const INSTRUCTIONS_BYTES_MAX: usize = 32 * 1024;
/// One file of instructions that is read at all, in bytes.
pub const INSTRUCTION_FILE_BYTES_MAX: u64 = 1024 * 1024;
/// How long the last words of an errand are waited for once its run is over.
pub const SHUTDOWN_GRACE_MAX: Duration = Duration::from_secs(2);
/// Length of a part of the briefing that is shown to a person, in bytes.
pub const BRIEFING_TEXT_BYTES_MAX: usize = 512 * 1024;
/// Files beside a skill's text that are told to a person.
pub const SKILL_FILES_SHOWN_MAX: usize = 50;
/// How much a model may answer a server at once, in tokens.
pub const SAMPLING_TOKENS_MAX: u32 = 8_192;
/// The same, in bytes.
pub const SAMPLING_BYTES_MAX: usize = 256 * 1024;
/// Providers of web search that are looked at.
pub const SEARCH_PROVIDERS_MAX: usize = 32;
/// Longest id of one, in bytes.
pub const SEARCH_ID_BYTES_MAX: usize = 64;
/// What a program outside says of itself or is told of a running call, in one line, in characters.
pub const CLIENT_CHARS_MAX: usize = 200;
/// Calls of a program outside that are open at the same time, those that wait for room among them.
pub const CALLS_OPEN_MAX: usize = 1_024;
/// A file of another product that servers are imported from, in bytes: some hold a person's whole history.
pub const IMPORTED_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// One piece of what is kept of a sign-in, in characters: the shortest that some keychain takes.
pub const KEYCHAIN_CHARS_MAX: usize = 1_000;
/// Pieces of one sign-in.
pub const KEYCHAIN_PIECES_MAX: usize = 16;
/// How often the lock of a renewal is waited for, two seconds each: as long as a request may take.
pub const RENEWAL_ATTEMPTS_MAX: usize = 15;
