//! Sessions whose calls no model makes: a person makes them by hand, or a program outside does.

use protocol::UserError;

/// The provider of a session in which a person tries a tool.
pub(crate) const TRIAL_PROVIDER: &str = "try";
/// The provider of a session whose calls a program outside makes.
pub(crate) const CLIENT_PROVIDER: &str = "client";
/// The provider of a session whose one call a person makes by hand, at a command line.
pub const BY_HAND_CLIENT: &str = "by_hand";
/// The provider of a session in which calls are explained, and none runs.
pub(crate) const EXPLAIN_PROVIDER: &str = "explain";

/// Whether the calls of a session with this provider are made by hand or from outside: whoever makes them has the tools
/// before them, so none has to be searched for first.
pub(crate) fn is_manual(provider: &str) -> bool {
    [
        TRIAL_PROVIDER,
        CLIENT_PROVIDER,
        BY_HAND_CLIENT,
        EXPLAIN_PROVIDER,
    ]
    .contains(&provider)
}

/// Why no model can be asked in a session of a program outside.
pub(crate) fn no_model_error() -> UserError {
    UserError::new(
        "A program outside makes the calls of this session, and no model answers in it.",
        "Begin a session of your own in the same folder.",
    )
}
