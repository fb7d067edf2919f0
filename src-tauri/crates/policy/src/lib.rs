//! May it? Pure functions from what is known of a call to a verdict with its reasons.
//!
//! **No file, no clock, no network, no randomness, no async**: the dependency list keeps that. The same inputs give the
//! same verdict for ever, which is what makes a recorded trail worth reading.
//!
//! **It deliberately does not know** what any particular tool does: it judges declared accesses, modes and rules.
//!
//! Start reading at [`judge::judge`]. A call can only run with an [`Approved`], and only a [`Judgement`] makes one.

pub mod approved;
pub mod builtin;
pub mod classify;
pub mod effects;
mod explain;
pub mod facts;
pub mod host;
pub mod import;
pub mod judge;
pub mod lasting;
pub mod limits;
pub mod offers;
pub mod path;
pub mod pattern;
mod reach;
#[cfg(test)]
mod request_of;
pub mod rules;
pub mod rules_file;
pub mod scope;
pub mod shell;
pub mod surface;
pub mod trust;
pub mod watchdog;
pub mod way_out;

pub use approved::{Answers, Approved, Consent};
pub use classify::{Classified, Declared, classify};
pub use facts::Facts;
pub use judge::{Judgement, Request, judge};
pub use rules::RuleSet;
pub use rules_file::manifest::{self, Manifest};
pub use surface::Surface;
