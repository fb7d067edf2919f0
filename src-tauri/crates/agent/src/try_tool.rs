//! Tries a tool: a session whose one call is the person's own, and walks the real pipeline.

use std::path::Path;
use std::sync::Arc;

use protocol::op::Receipt;
use protocol::{Event, EventBody, Fault, MessageId, ModelChoice, SessionId, ToolCall, Usage};
use provider::{Provider, Script, Scripted};
use serde_json::{Map, Value};

use crate::conversation::Conversation;
use crate::desk::Shared;
use crate::limits::ARGUMENTS_BYTES_MAX;
use crate::toolbox::Toolbox;
use crate::turn;

/// Who answers in such a session: nobody, so it ends with its call.
pub(crate) const PROVIDER: &str = "try";

/// The provider that says nothing.
pub(crate) fn provider() -> Arc<dyn Provider> {
    Arc::new(Scripted::with_id(PROVIDER, Script::default()))
}

/// Opens the session and lets its call begin. Arguments that do not fit the tool are told before anything is opened.
pub(crate) async fn open(
    shared: &Arc<Shared>,
    workspace: &Path,
    tool: &str,
    arguments: Map<String, Value>,
) -> Result<Receipt, Fault> {
    let hint = "Correct the arguments, then try again.";
    let bytes = serde_json::to_string(&arguments).map_or(0, |text| text.len());
    if bytes > ARGUMENTS_BYTES_MAX {
        return Err(Fault::new(
            format!(
                "The arguments are {bytes} bytes long; at most {ARGUMENTS_BYTES_MAX} are taken."
            ),
            hint,
        ));
    }
    let tools = Toolbox::of_folder(shared, workspace.to_str())?;
    let found = tools
        .find(tool)
        .map_err(|error| Fault::new(format!("{error}"), "Choose one of the list of tools."))?;
    if let Err(error) = found.arguments(&arguments) {
        return Err(Fault::new(format!("{error}."), hint));
    }
    let id = SessionId(shared.config.ids.next("ses"));
    let model = ModelChoice {
        provider: PROVIDER.to_owned(),
        model: String::new(),
    };
    let message = MessageId(shared.config.ids.next("msg"));
    let call = ToolCall {
        id: shared.config.ids.next("call").into(),
        name: found.interface.id().to_owned(),
        arguments,
    };
    let root = workspace.to_owned();
    let title = format!("Try {}", found.interface.id());
    let asked = [
        EventBody::TurnStarted {
            turn: 1,
            message: message.clone(),
        },
        EventBody::TurnEnded {
            turn: 1,
            message: message.clone(),
            usage: Usage::default(),
            duration_ms: 0,
            error: None,
            opaque: Value::Null,
        },
        EventBody::CallProposed {
            call,
            message,
            reasoning: None,
        },
    ];
    let conversation = Conversation::from_events(&asked.clone().map(|body| Event {
        seq: 0,
        session: id.clone(),
        at: 0,
        body,
    }));
    let session = shared.admit(id.clone(), &root, model.clone(), conversation)?;
    let opened = EventBody::SessionOpened {
        title,
        workspace: session.hands.workspace.root().display().to_string(),
        model,
        parent: None,
        asked: None,
    };
    session.journal.keep(opened).await?;
    for body in asked {
        session.journal.tell(body);
    }
    turn::start(&session)?;
    Ok(Receipt {
        session: Some(id),
        ..Receipt::default()
    })
}
