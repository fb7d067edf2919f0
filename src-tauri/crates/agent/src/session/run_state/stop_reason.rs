//! Why a run was stopped before its end.

use crate::session::run_state::run_limits::LimitReached;

/// Why a run was stopped before its end.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) enum StopReason {
    /// The person wanted it so, or said something.
    #[default]
    Person,
    /// It came to one of its limits.
    Limit(LimitReached),
    /// Something of ours is broken.
    Fault,
}
