//! The stages of the pipeline page: one file each, each returns a value.

pub(crate) mod again;
pub(crate) mod came;
pub(crate) mod consent;
pub(crate) mod execute;
pub(crate) mod finish;
pub(crate) mod found;
pub(crate) mod in_place;
pub(crate) mod judged;
pub(crate) mod prepared;
pub(crate) mod rehearsed;
pub(crate) mod secured;
pub(crate) mod stands_for;
pub(crate) mod stopped;
mod updates;
pub(crate) mod verdict;
pub(crate) mod watched;

use protocol::{Fault, Outcome};

/// A walk that ends before its end.
pub(crate) enum Ended {
    /// With an outcome: the model hears it and goes on.
    Early(Box<Outcome>),
    /// Not at all: the app is going. What waits keeps waiting, on record, for the next start.
    Closing,
    /// With a fault of ours, such as a full disk: the turn stops.
    Fault(Fault),
}

impl From<Fault> for Ended {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

impl From<Outcome> for Ended {
    fn from(outcome: Outcome) -> Self {
        Self::Early(Box::new(outcome))
    }
}
