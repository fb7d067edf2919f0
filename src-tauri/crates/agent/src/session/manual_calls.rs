//! Sessions whose calls are not made by a model of ours: a person makes them by hand, or an external program does.

use protocol::UserError;

use crate::session::agent_runner::AGENT_PROVIDER;

/// Provider of a session in which a person tries a tool.
pub(crate) const TRIAL_PROVIDER: &str = "try";
/// Provider of a session whose calls an external program makes.
pub(crate) const CLIENT_PROVIDER: &str = "client";
/// Provider of a session whose only call a person makes by hand, at a command line.
pub const BY_HAND_CLIENT: &str = "by_hand";
/// Provider of a session that was imported from the transcript of another agent; its model is the agent with its version.
pub const IMPORTED_PROVIDER: &str = "imported";
/// Provider of a session in which calls are explained, and none runs.
pub(crate) const EXPLAIN_PROVIDER: &str = "explain";

/// Whether the calls of a session with this provider are made by hand or from outside. Their author can see all tools,
/// so no tool has to be searched for first.
pub fn is_manual(provider: &str) -> bool {
    [
        TRIAL_PROVIDER,
        CLIENT_PROVIDER,
        BY_HAND_CLIENT,
        EXPLAIN_PROVIDER,
        IMPORTED_PROVIDER,
        AGENT_PROVIDER,
    ]
    .contains(&provider)
}

/// Returns the error that a session of another agent cannot be continued; `agent` is its name with its version.
pub(crate) fn imported_session_error(agent: &str) -> UserError {
    UserError::new(
        format!("This session was imported from {agent}, so it cannot be continued here."),
        "Continue it in that agent, or begin a session of your own in the same folder.",
    )
}

/// Returns the error that no model can be asked in a session of an external program.
pub(crate) fn no_model_error() -> UserError {
    UserError::new(
        "A program outside makes the calls of this session, and no model answers in it.",
        "Begin a session of your own in the same folder.",
    )
}
