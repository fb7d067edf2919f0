//! The state that changes while a session runs: its time, its use of limits, its repeats, what it may send, and what ends it.

pub(crate) mod active_time;
pub(crate) mod cancellation;
pub(crate) mod own_files;
pub(crate) mod released_secrets;
pub(crate) mod repeats;
pub(crate) mod run_limits;
pub(crate) mod sent_letters;
pub(crate) mod stop_reason;
