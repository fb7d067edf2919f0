//! Limits of the gateway.

use std::time::Duration;

/// Longest message of a client, in bytes: the longest arguments of a call, as encoded in JSON. A longer message is not
/// read, and is answered with an error.
pub const MESSAGE_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Number of tools on one page of the list.
pub const LIST_PAGE_TOOLS: usize = 250;
/// Number of progress messages of a call that may wait to be sent; further ones are dropped.
pub const PROGRESS_QUEUE_MAX: usize = 64;
/// Time that running calls may take to end once the client has closed its side; then they are cancelled. Clients wait 2
/// s before they kill their server.
pub const CALLS_DRAIN_TIMEOUT: Duration = Duration::from_millis(1_000);
/// Number of lines that may wait to be written; beyond it no input is read until the client reads them.
pub const LINES_QUEUE_MAX: usize = 64;
/// Time that a client may take to read the last answers once the connection is over.
pub const FINAL_WRITE_TIMEOUT: Duration = Duration::from_millis(1_000);
