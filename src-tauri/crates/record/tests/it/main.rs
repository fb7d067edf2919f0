//! Stories of the record: what is appended, and what can be read of it afterwards.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::panic,
    missing_docs,
    reason = "tests set up real files, and end where they fail"
)]

mod export;
mod full;
mod judged;
mod kill;
mod late;
mod log;
mod made;
mod memory;
mod opening;
mod paging;
mod parts;
mod search;
mod story;
mod support;
mod undo;
