//! The early end of a call, returned by a step of the pipeline.

use protocol::{Outcome, UserError};

/// The early end of a call.
pub(crate) enum Abort {
    /// With an outcome: the model reads it and goes on.
    Outcome(Box<Outcome>),
    /// Without an end, because the app is closing. Waiting calls stay on record as waiting until the next start.
    Closing,
    /// With an internal fault, such as a full disk: the turn stops.
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
