//! How much of a thing is shown to a person; `--json` and `export` have all of it.

/// Lines of a change.
pub(crate) const DIFF_LINES_MAX: usize = 60;
/// Lines of a call's output in a story.
pub(crate) const OUTPUT_LINES_MAX: usize = 12;
/// Bytes of the script that `run --script` plays.
pub(crate) const SCRIPT_BYTES_MAX: u64 = 16 * 1024 * 1024;
/// Longest line of `policy check`, in bytes; a longer one is denied.
pub(crate) const LINE_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Entries that are asked for at once.
pub(crate) const PAGE_ENTRIES: u32 = 200;
/// Characters of a session's title.
pub(crate) const TITLE_CHARS_MAX: usize = 64;
/// Longest secret that is read, in bytes.
pub(crate) const SECRET_BYTES_MAX: u64 = 32 * 1024;
/// How often it is looked whether a person signed in.
pub(crate) const SIGN_IN_POLL_INTERVAL: std::time::Duration = std::time::Duration::from_millis(200);
/// Pages of what a server lists.
pub(crate) const SERVER_PAGES_MAX: usize = 20;
/// How much of an attached file is read, in bytes: more than the largest image that the desk takes.
pub(crate) const ATTACHMENT_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Longest prompt, and longest text that is attached to one, in bytes: what the desk takes as one message.
pub(crate) const PROMPT_BYTES_MAX: usize = 1024 * 1024;
/// Longest text that an editor may leave, in bytes.
pub(crate) const EDITED_BYTES_MAX: usize = 4 * 1024 * 1024;
/// How long a card is shown before a key counts: what was typed before it came is no answer to it.
pub(crate) const CARD_ARM_DELAY: std::time::Duration = std::time::Duration::from_millis(400);
