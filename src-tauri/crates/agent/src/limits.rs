//! Limits of a session.

use std::time::Duration;

/// Model turns of one run; a run that needs more stops and says so. The person may let it go on.
pub const TURNS_MAX: u32 = 1_000;
/// Calls of one model turn; a turn that asks for more is refused whole.
pub const CALLS_PER_TURN_MAX: usize = 1_024;
/// Longest name of a tool that a model can ask for, in characters; a longer one is no tool's and is kept cut.
pub const NAME_CHARS_MAX: usize = 256;
/// Longest message of a person, in bytes.
pub const MESSAGE_BYTES_MAX: usize = 1024 * 1024;
/// Longest arguments of one call, in bytes of JSON.
pub const ARGUMENTS_BYTES_MAX: usize = 10 * 1024 * 1024;
/// Pieces of text are joined for this long before they are recorded and shown.
pub const COALESCE: Duration = Duration::from_millis(30);
/// Or until they are this long, in bytes.
pub const COALESCE_BYTES: usize = 2 * 1024;
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
pub const TOGETHER_MAX: usize = 10;
