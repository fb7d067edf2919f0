//! Stories of the record: what is appended, and what can be read of it afterwards.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::panic,
    missing_docs,
    reason = "tests set up real files, and end where they fail"
)]

mod chat_parts;
mod counts;
mod crash_recovery;
mod deferred_projection;
mod deletions;
mod disk_full;
mod export;
mod log;
mod memory;
mod opening;
mod paging;
mod projections;
mod rescue;
mod sample_events;
mod search;
mod support;
mod undo;
mod verdicts;
