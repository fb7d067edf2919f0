//! Why a run was stopped before its end.

use crate::run_limits::Reached;

/// Why a run was stopped before its end.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) enum Why {
    /// The person wanted it so, or said something.
    #[default]
    Person,
    /// It came to one of its limits.
    Limit(Reached),
    /// Something of ours is broken.
    Fault,
}
