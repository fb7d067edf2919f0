//! Limits of the output for a person; `--json` and `export` contain everything.

/// Maximum lines of a diff.
pub(crate) const DIFF_LINES_MAX: usize = 60;
/// Maximum lines of a call's output in a transcript.
pub(crate) const OUTPUT_LINES_MAX: usize = 12;
/// Maximum size of the script that `run --script` plays, in bytes.
pub(crate) const SCRIPT_BYTES_MAX: u64 = 16 * 1024 * 1024;
/// Longest line of `policy check` and `policy replay`, in bytes; a longer one is reported.
pub(crate) const LINE_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Number of entries per query.
pub(crate) const PAGE_ENTRIES: u32 = 200;
/// Maximum length of a session's title, in characters.
pub(crate) const TITLE_CHARS_MAX: usize = 64;
/// Longest secret that is read, in bytes.
pub(crate) const SECRET_BYTES_MAX: u64 = 32 * 1024;
/// Interval for checking whether a person signed in.
pub(crate) const SIGN_IN_POLL_INTERVAL: std::time::Duration = std::time::Duration::from_millis(200);
/// Maximum number of pages of a server's list.
pub(crate) const SERVER_PAGES_MAX: usize = 20;
/// Maximum size of an attached file that is read, in bytes: more than the largest image that the engine takes.
pub(crate) const ATTACHMENT_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Longest prompt, and longest text that is attached to one, in bytes: the engine's limit for one message.
pub(crate) const PROMPT_BYTES_MAX: usize = 1024 * 1024;
/// Longest text that an editor may leave, in bytes.
pub(crate) const EDITED_BYTES_MAX: usize = 4 * 1024 * 1024;
/// How long a card is shown before a key counts: keys that were typed before the card appeared are no answer to it.
pub(crate) const CARD_ARM_DELAY: std::time::Duration = std::time::Duration::from_millis(400);
/// Number of changed paths that the line of a replayed call names.
pub(crate) const REPLAYED_PATHS_MAX: usize = 3;
