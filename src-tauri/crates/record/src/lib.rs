//! The record: SQLite, search, export.
//!
//! One database holds every event in order, and beside the events their projections: entries as a person reads them,
//! the session list, the undo list and a full-text index. One thread writes, in batches; several connections read. An
//! acknowledged event is committed, and an event is published only after that. The projections follow the events a
//! little later (`projections/mod.rs`, `projections/deferred_projection.rs`), and no query sees the difference.
//!
//! **This crate knows no tool, no rule, no provider and no file but its own database; it decides nothing, and nothing
//! else opens that database.**
//!
//! Start reading at [`Record`], then `writer/mod.rs` (how a batch is written) and `search/mod.rs` (how a search is
//! answered).
//!
//! ```
//! use protocol::event::SessionEvent;
//! use protocol::{EventBody, ModelChoice, SessionId};
//! use record::{Durability, Record};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let folder = tempfile::tempdir()?;
//! let record = Record::open(&folder.path().join("record.db"), Box::new(|_events| {}))?;
//! let opened = SessionEvent::Opened {
//!     title: "Tidy up".to_owned(),
//!     workspace: "/home/me/project".to_owned(),
//!     model: ModelChoice { provider: "demo".to_owned(), model: String::new() },
//!     parent: None,
//!     options: None,
//! };
//! let body = EventBody::Session(opened);
//! let ack = record.append(SessionId::from("ses_1"), 0, body, Durability::OnDisk);
//! assert_eq!(futures::executor::block_on(ack)?, 1);
//! assert_eq!(record.sessions()?[0].title, "Tidy up");
//! # Ok(())
//! # }
//! ```
#![allow(
    clippy::disallowed_methods,
    reason = "record is the wall around the database"
)]

mod counts;
mod error;
mod export;
mod limits;
mod open;
mod projections;
mod read;
mod reader_pool;
mod record;
mod rescue;
mod schema;
mod search;
mod snapshot;
mod snippet;
mod writer;

pub use crate::projections::verdicts::rule_key;
pub use crate::read::attention::RecordedAttention;
pub use crate::read::verdicts::{CallVerdict, CallVerdictPage, RuleHits};
pub use crate::writer::ack::{Ack, Durability};
pub use counts::{RecordCounts, StateCount};
pub use error::RecordError;
pub use export::ExportFormat;
pub use read::{RecordOverview, TranscriptPage};
pub use record::Record;
pub use rescue::{ReplacedRecord, Rescued};
pub use search::time_filter::{find_local_midnight, parse_local_time};
pub use writer::PublishFn;
