//! The stages of the pipeline page: one file each, each returns a value.

use protocol::{Outcome, UserError};

/// A walk that ends before its end.
pub(crate) enum Abort {
    /// With an outcome: the model hears it and goes on.
    Outcome(Box<Outcome>),
    /// Not at all: the app is going. What waits keeps waiting, on record, for the next start.
    Closing,
    /// With a fault of ours, such as a full disk: the turn stops.
    Fault(UserError),
}

impl From<UserError> for Abort {
    fn from(fault: UserError) -> Self {
        Self::Fault(fault)
    }
}

impl From<Outcome> for Abort {
    fn from(outcome: Outcome) -> Self {
        Self::Outcome(Box::new(outcome))
    }
}
