//! Why a configuration cannot be edited.

/// Why a configuration cannot be edited. The text completes *The file … cannot be changed: …*.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum EditError {
    /// It is not of its format.
    #[error("{0}")]
    Malformed(String),
    /// Something else stands where hooks belong.
    #[error("`{0}` is not what the agent takes there")]
    WrongKind(String),
    /// Something stands in it in a form that is not edited.
    #[error("`{0}` is written in a form that cannot be edited in place")]
    UnknownForm(String),
    /// The file is not ours.
    #[error("somebody else wrote it")]
    Foreign,
    /// The edited text does not say what it should.
    #[error("the result would not say what it should, as where a name stands twice")]
    Inexact,
}
