//! After step 10: saving the output of a call in the session's state, if the call or its tool asks for it (`S004-12`).

use protocol::Outcome;
use protocol::call::outcome::CallOutput;
use protocol::event::{CallChange, StateLocation};

use crate::limits::STATE_BYTES_MAX;
use crate::pipeline::call_context::CallContext;
use crate::session::state_store::{self, STATE_REFERENCE, StateArguments};

/// Writes the output of a successful call to the state path that the call or its tool names, and tells the model so.
pub(crate) fn save_output(cx: &CallContext<'_>, mut outcome: Outcome) -> Outcome {
    let Ok(StateArguments {
        path: Some(path),
        instance,
    }) = state_store::parse_state_arguments(cx.given_arguments(), cx.tool.0.tool.output_path())
    else {
        return outcome;
    };
    let CallOutput::Output(value) = outcome.to_output() else {
        return outcome;
    };
    let place = StateLocation {
        path: path.as_str().to_owned(),
        instance,
    };
    let is_kept = cx.session.with_conversation(|conversation| {
        let mut state = conversation.state.clone();
        state.write(&place, value.clone());
        let fits = state.size_bytes() <= STATE_BYTES_MAX;
        if fits {
            conversation.state = state;
        }
        fits
    });
    let note = match is_kept {
        true => {
            cx.session
                .journal
                .record_call(&cx.call.id, CallChange::StateWritten { place, value });
            format!(
                "Kept in the state as `{path}`. Later calls read it with {{\"{STATE_REFERENCE}\": \"{path}\"}} as an argument."
            )
        }
        false => format!(
            "Not kept in the state as `{path}`: the whole state may be {STATE_BYTES_MAX} bytes long."
        ),
    };
    outcome.text.push_str(&format!("\n\n[{note}]"));
    outcome
}
