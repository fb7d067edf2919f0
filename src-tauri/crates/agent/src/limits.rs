//! Limits of a session.

use std::time::Duration;

/// Number of calls in one model turn; a turn that asks for more is refused as a whole.
pub const CALLS_PER_TURN_MAX: usize = 1_024;
/// Longest name of a tool that a model can ask for, in characters; a longer one belongs to no tool and is recorded
/// truncated.
pub const NAME_CHARS_MAX: usize = 256;
/// Longest message of a person, in bytes.
pub const MESSAGE_BYTES_MAX: usize = 1024 * 1024;
/// Number of images in one message of a person.
pub const MESSAGE_IMAGES_MAX: usize = 20;
/// Number of events of an imported session that are recorded at a time.
pub const IMPORTED_EVENTS_PENDING_MAX: usize = 1_024;
/// Longest arguments of one call, in bytes of JSON.
pub const ARGUMENTS_BYTES_MAX: usize = 10 * 1024 * 1024;
/// Pieces of text are joined for this long before they are recorded and shown.
pub const COALESCE_DELAY: Duration = Duration::from_millis(30);
/// Pieces of text are joined up to this length before they are recorded and shown, in bytes.
pub const COALESCE_BYTES_MAX: usize = 2 * 1024;
/// Time beyond its own limit that a call may take to end before it is aborted.
pub const TIMEOUT_GRACE: Duration = Duration::from_secs(5);
/// Largest rules or settings file, in bytes.
pub const CONFIG_BYTES_MAX: u64 = 4 * 1024 * 1024;
/// Number of lines that one query for context may return.
pub const LINES_MAX: u32 = 2_000;
/// Largest file that lines are read from for context, in bytes.
pub const LINES_FILE_BYTES_MAX: u64 = 16 * 1024 * 1024;
/// Number of bytes of a whole output that one query returns.
pub const OUTPUT_PAGE_BYTES: u64 = 256 * 1024;
/// Longest sidecar file that is searched for the secrets of its call, in bytes.
pub const SIDECAR_SEARCH_BYTES_MAX: u64 = 1024 * 1024;
/// Number of calls that run at the same time (M08).
pub const PARALLEL_CALLS_MAX: usize = 10;
/// Time limit of one hook of the host; one that takes longer counts as failed.
pub const HOOK_MAX: Duration = Duration::from_secs(10);
/// Watchdog programs of the person that are asked before a call; further ones are not asked, and every call asks the
/// person.
pub const WATCHDOGS_MAX: usize = 16;
/// Hook programs of the person that are called around a call; with more than these no call runs.
pub const HOOKS_MAX: usize = 16;
/// Longest time that a watchdog or hook program may take, in milliseconds.
pub const PROGRAM_MS_MAX: u32 = 30_000;
/// Longest answer of a watchdog or hook program, in bytes.
pub const PROGRAM_ANSWER_BYTES_MAX: u64 = 64 * 1024;
/// Longest reason or name of a watchdog or hook that is shown, in characters.
pub const PROGRAM_REASON_CHARS_MAX: usize = 500;
/// Longest progress message, in bytes.
pub const PROGRESS_BYTES_MAX: usize = 1024;
/// Live output and pieces of a result that may queue up behind a slow hook, in bytes; anything beyond is not shown, but
/// is in the result.
pub const OUTPUT_PENDING_BYTES_MAX: usize = 256 * 1024;
/// Number of updates that may queue up behind a slow hook.
pub const UPDATES_PENDING_MAX: usize = 100;
/// Number of different calls of one run that are remembered, to notice loops.
pub const CALLS_REMEMBERED_MAX: usize = 4_096;
/// Longest state of a session, in bytes of JSON.
pub const STATE_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Number of consecutive answers that may break the schema before the run ends; each is reported back to the model.
pub const REPAIRS_MAX: u32 = 2;
/// Maximum depth of sub-agents of sub-agents (M10).
pub const SUB_AGENT_DEPTH_MAX: usize = 5;
/// Longest name of a host in a sentence, in characters.
pub const HOST_CHARS_MAX: usize = 200;
/// Longest call, in bytes of its access targets, for which the evidence of the verdict is recorded.
pub(crate) const EVIDENCE_BYTES_MAX: usize = 32 * 1024;
/// Longest manifest of an agent, in bytes.
pub const MANIFEST_BYTES_MAX: usize = 256 * 1024;
/// Longest description of the single call that a grant is for, in characters.
pub const GRANT_CHARS_MAX: usize = 200;
/// Number of hosts that one run of a command may have network access to.
pub const EGRESS_HOSTS_MAX: usize = 32;
/// Number of folders above a workspace that are searched for the root of its repository.
pub const PARENT_FOLDERS_MAX: usize = 16;
/// Total length of a project's instructions, in bytes: about 8,000 tokens.
pub const INSTRUCTIONS_BYTES_MAX: usize = 32 * 1024;
/// Largest file of instructions that is read, in bytes.
pub const INSTRUCTION_FILE_BYTES_MAX: u64 = 1024 * 1024;
/// Time to wait for the last output of a sub-agent task once its run is over.
pub const SHUTDOWN_GRACE_MAX: Duration = Duration::from_secs(2);
/// Longest text of a part of the briefing that is shown to a person, in bytes.
pub const BRIEFING_TEXT_BYTES_MAX: usize = 512 * 1024;
/// Number of files beside a skill's text that are shown to a person.
pub const SKILL_FILES_SHOWN_MAX: usize = 50;
/// Longest answer of a model to a server's sampling request, in tokens.
pub const SAMPLING_TOKENS_MAX: u32 = 8_192;
/// Longest answer of a model to a server's sampling request, in bytes.
pub const SAMPLING_BYTES_MAX: usize = 256 * 1024;
/// Number of web search providers that are considered.
pub const SEARCH_PROVIDERS_MAX: usize = 32;
/// Longest id of a web search provider, in bytes.
pub const SEARCH_ID_BYTES_MAX: usize = 64;
/// Longest description of an external program, or progress line sent to it, in characters.
pub const CLIENT_CHARS_MAX: usize = 200;
/// Number of open calls of an external program, including those that wait for a permit.
pub const CALLS_OPEN_MAX: usize = 1_024;
/// Largest file of another product that servers are imported from, in bytes: some contain a person's whole history.
pub const IMPORTED_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// Length of one stored piece of a sign-in, in characters: the lowest limit of any supported keychain.
pub const KEYCHAIN_CHARS_MAX: usize = 1_000;
/// Maximum number of pieces of one sign-in.
pub const KEYCHAIN_PIECES_MAX: usize = 16;
/// Number of attempts to take the lock of a renewal, two seconds each: as long as a request may take.
pub const RENEWAL_ATTEMPTS_MAX: usize = 15;
/// Time within which a program reports what came of an approved call that it runs itself, at least; more if the tool has
/// a longer limit.
pub const DELEGATED_RUN_MIN: Duration = Duration::from_secs(2 * 60);
/// Time within which a program fetches what an approved command printed; after it nothing is carried out.
pub const FETCH_MAX: Duration = Duration::from_secs(10 * 60);
/// Number of files of a workspace that are looked through for one that a message names.
pub const FILE_NAMES_SEARCHED_MAX: usize = 50_000;
