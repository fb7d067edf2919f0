//! The reason why a run was stopped before its end.

use crate::session::run_state::run_limits::LimitReached;

/// The reason why a run was stopped before its end.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) enum StopReason {
    /// The person stopped the run, or sent a message.
    #[default]
    Person,
    /// The run reached one of its limits.
    Limit(LimitReached),
    /// An internal fault.
    Fault,
}
