//! Outcomes of calls that did not come to their own end: the run was stopped, steered, or at its limit; a hook said no.

use protocol::{CallState, Outcome};

use super::{Ended, finish};
use crate::session::{Session, Why};

/// The call was cut off, or never began, when the run was stopped or steered (`S001-36`).
pub(crate) fn outcome(session: &Session, state: CallState) -> Outcome {
    let (text, message) = match session.why() {
        Why::Person => return finish::stopped_outcome(state),
        Why::Limit(reached) => (
            reached.for_model(),
            format!("The run reached its limit of {}", reached.words()),
        ),
        Why::Fault => (
            "Stopped before its end: the run could not go on.".to_owned(),
            "The run could not go on".to_owned(),
        ),
    };
    finish::ended(state, text, message)
}

/// A hook of the host kept the call from running (`S001-62`), or broke when it was asked.
pub(crate) fn hooked((text, broken): (String, bool)) -> Ended {
    let state = match broken {
        true => CallState::Failed,
        false => CallState::Skipped,
    };
    finish::ended(state, text.clone(), text).into()
}
