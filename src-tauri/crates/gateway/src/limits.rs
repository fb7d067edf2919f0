//! Limits of what is served.

use std::time::Duration;

/// Longest message of a client, in bytes: arguments as long as a call may have, as they are written in JSON. A longer one is
/// not read, and answered so.
pub const MESSAGE_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Tools in one page of their list.
pub const LIST_PAGE_TOOLS: usize = 250;
/// Words on the progress of a call that may wait to be sent; what comes on top is not told.
pub const PROGRESS_QUEUE_MAX: usize = 64;
/// How long calls that run may take to come to their end once the client has closed its side; then they are ended. Clients
/// wait 2 s before they end their server the hard way.
pub const CALLS_DRAIN_TIMEOUT: Duration = Duration::from_millis(1_000);
/// Lines that may wait to be written; then nothing more is read until the client reads them.
pub const LINES_QUEUE_MAX: usize = 64;
/// How long a client may take to read the last answers once the connection is over.
pub const FINAL_WRITE_TIMEOUT: Duration = Duration::from_millis(1_000);
