//! Outcomes of calls that did not run to completion: the run was stopped, steered, or at its limit, or a hook refused
//! the call.

use protocol::{CallState, Outcome};

use crate::pipeline::abort::Abort;
use crate::pipeline::hooks::HookRefusal;
use crate::pipeline::outcome;
use crate::session::{Session, StopReason};

/// Returns the outcome of a call that was cut off, or never began, when the run was stopped or steered (`S001-36`).
pub(crate) fn unfinished_outcome(session: &Session, state: CallState) -> Outcome {
    let (text, message) = match session.stop_reason() {
        StopReason::Person => return outcome::stopped_outcome(state),
        StopReason::Limit(reached) => (
            reached.model_message(),
            format!("The run reached its limit of {}", reached.describe()),
        ),
        StopReason::Fault => (
            "Stopped before its end: the run could not go on.".to_owned(),
            "The run could not go on".to_owned(),
        ),
    };
    outcome::ended_outcome(state, text, message)
}

/// Returns the end of a call that waited when the app ended, and whose arguments the log has without their secret.
pub(crate) fn abort_masked() -> Abort {
    let text = "The app ended while this waited. Its arguments held a secret, which is not kept, so it cannot run any more. Call it again if it is still needed.";
    let message = "The app ended while this waited, and its secret is not kept";
    outcome::ended_outcome(CallState::Interrupted, text.to_owned(), message.to_owned()).into()
}

/// Returns the end of a call that a hook kept from running (`S001-62`), or whose hook failed.
pub(crate) fn abort_by_hook(refusal: HookRefusal) -> Abort {
    let text = refusal.text;
    let state = match refusal.is_broken {
        true => CallState::Failed,
        false => CallState::Skipped,
    };
    outcome::ended_outcome(state, text.clone(), text).into()
}
