//! Trying a tool: a session whose only call is the person's own, and goes through the real pipeline.

use std::path::Path;
use std::sync::Arc;

use protocol::event::{CallProposal, MessageChange, SessionEvent};
use protocol::op::OpReceipt;
use protocol::{Event, EventBody, MessageId, ModelChoice, SessionId, ToolCall, Usage, UserError};
use provider::{Provider, Script, ScriptedProvider};
use serde_json::{Map, Value};

use crate::limits::ARGUMENTS_BYTES_MAX;
use crate::pipeline::outgoing;
use crate::run;
use crate::session::conversation::Conversation;
use crate::session::engine_state::EngineState;
use crate::session::manual_calls::TRIAL_PROVIDER;
use crate::session::toolbox::Toolbox;

/// Returns the provider that never answers.
pub(crate) fn trial_provider() -> Arc<dyn Provider> {
    Arc::new(ScriptedProvider::with_id(TRIAL_PROVIDER, Script::default()))
}

/// Opens the session and starts its call. Arguments that do not fit the tool are reported before anything is opened.
pub(crate) async fn open_trial(
    engine: &Arc<EngineState>,
    workspace: &Path,
    tool: &str,
    arguments: Map<String, Value>,
) -> Result<OpReceipt, UserError> {
    let hint = "Correct the arguments, then try again.";
    let bytes = serde_json::to_string(&arguments).map_or(0, |text| text.len());
    if bytes > ARGUMENTS_BYTES_MAX {
        return Err(UserError::new(
            format!(
                "The arguments are {bytes} bytes long; at most {ARGUMENTS_BYTES_MAX} are taken."
            ),
            hint,
        ));
    }
    let tools = Toolbox::for_folder(engine, workspace.to_str())?;
    let resolved = tools
        .find(tool)
        .map_err(|error| UserError::new(format!("{error}"), "Choose one of the list of tools."))?;
    if let Err(error) = resolved.validate_arguments(&arguments) {
        return Err(UserError::new(format!("{error}."), hint));
    }
    let id = SessionId(engine.config.ids.next_id("ses"));
    let model = ModelChoice {
        provider: TRIAL_PROVIDER.to_owned(),
        model: String::new(),
    };
    let message = MessageId(engine.config.ids.next_id("msg"));
    let call = ToolCall {
        id: engine.config.ids.next_id("call").into(),
        name: resolved.interface.id().to_owned(),
        arguments,
    };
    let root = workspace.to_owned();
    let title = format!("Try {}", resolved.interface.id());
    let events = [
        EventBody::for_message(&message, MessageChange::TurnStarted { turn: 1 }),
        EventBody::for_message(
            &message,
            MessageChange::TurnEnded {
                turn: 1,
                usage: Usage::default(),
                duration_ms: 0,
                error: None,
                opaque: Value::Null,
            },
        ),
        EventBody::Proposal(CallProposal {
            call: call.clone(),
            message,
            reasoning: None,
            is_masked: false,
        }),
    ];
    let conversation = Conversation::from_events(&events.clone().map(|body| Event {
        seq: 0,
        session: id.clone(),
        at: 0,
        body,
    }));
    let session = engine.admit_session(id.clone(), &root, model.clone(), conversation)?;
    let opened = EventBody::Session(SessionEvent::Opened {
        title,
        workspace: session.tool_context.workspace.root().display().to_string(),
        model,
        parent: None,
        options: None,
    });
    session.journal.record_synced(opened).await?;
    outgoing::mask_secrets(&session, &call, &call.arguments).await;
    for body in events {
        session.journal.record(body);
    }
    run::start_run(&session)?;
    Ok(OpReceipt {
        session: Some(id),
        ..OpReceipt::default()
    })
}
