//! Errands: a call's work in a session of its own, with its own context and no more rights than its caller's (`S004-11`).

use std::sync::Arc;

use async_trait::async_trait;
use protocol::event::{Asked, Parent};
use protocol::{
    CallId, EventBody, Fault, Message, ModelChoice, SessionId, SessionState, ToolError, ToolOutput,
};
use serde_json::Value;
use tools::{Delegates, Errand};

use crate::conversation::Conversation;
use crate::limits::DELEGATES_DEEP_MAX;
use crate::session::Session;
use crate::turn;

/// Sends errands out of a session.
pub(crate) struct Sender(pub Arc<Session>);

#[async_trait]
impl Delegates for Sender {
    async fn run(&self, call: &CallId, errand: Errand) -> Result<ToolOutput, ToolError> {
        let caller = &self.0;
        if lineage(caller).len() > DELEGATES_DEEP_MAX {
            return Err(ToolError::Failed(format!(
                "Delegates may send out delegates {DELEGATES_DEEP_MAX} deep, and this would be deeper. Do the work here."
            )));
        }
        let cancel = errand.cancel.clone();
        let input = errand.input.clone();
        let child = open(caller, call, errand).await.map_err(failed)?;
        // Whatever becomes of the call, what works for it ends with it.
        let _stops = StopsWithCall(child.clone());
        let ended = turn::say(&child, input).await.map_err(failed)?;
        if let Some(mut ended) = ended {
            tokio::select! {
                _ = &mut ended => {}
                () = cancel.cancelled() => {
                    child.stop();
                    let _ = ended.await;
                    return Err(ToolError::Cancelled);
                }
            }
        }
        // Its run may have heard of the stop first: the call was stopped all the same, and did not fail.
        match cancel.is_cancelled() || caller.shared.closing.is_cancelled() {
            true => Err(ToolError::Cancelled),
            false => result(&child),
        }
    }
}

struct StopsWithCall(Arc<Session>);

impl Drop for StopsWithCall {
    fn drop(&mut self) {
        self.0.stop();
    }
}

/// A session, and those that it works for, the closest first; as many as delegates may be deep.
pub(crate) fn lineage(session: &Session) -> Vec<SessionId> {
    let mut lineage = vec![session.id.clone()];
    let mut parent = session.parent();
    while let Some(Parent { session: above, .. }) = parent {
        parent = match session.shared.session(&above) {
            Ok(above) if lineage.len() < DELEGATES_DEEP_MAX => above.parent(),
            _ => None,
        };
        lineage.push(above);
    }
    lineage
}

/// Opens the session of an errand. Its tools are those that the request names, as its caller finds them: what the caller
/// may not call, nobody below may.
async fn open(caller: &Arc<Session>, call: &CallId, errand: Errand) -> Result<Arc<Session>, Fault> {
    let shared = &caller.shared;
    let provider = errand.config.provider.clone();
    let same = provider
        .as_ref()
        .is_none_or(|id| *id == caller.model.provider);
    let own = if same {
        caller.model.model.clone()
    } else {
        String::new()
    };
    let model = ModelChoice {
        provider: provider.unwrap_or_else(|| caller.model.provider.clone()),
        model: errand.config.model.clone().unwrap_or(own),
    };
    shared.provider(&model.provider)?;
    let registry = caller.tools();
    let tools = errand
        .config
        .tools
        .iter()
        .map(|name| match registry.find(name) {
            Ok(found) => Ok(found.tool.interface().id().to_owned()),
            Err(error) => Err(Fault::new(
                format!("The delegate's request names a tool that is not there. {error}"),
                "",
            )),
        });
    let asked = Asked {
        output_schema: errand.output_schema,
        tools: Some(tools.collect::<Result<_, _>>()?),
        instructions: errand.instructions,
        temperature: errand.config.temperature,
        // Who works for an agent is bound by its manifest.
        agent: caller.conversation(|conversation| conversation.asked.agent.clone()),
    };
    let parent = Parent {
        session: caller.id.clone(),
        call: call.clone(),
    };
    let id = SessionId(shared.config.ids.next("ses"));
    let root = caller.hands.workspace.root();
    let conversation = Conversation::beginning(asked.clone(), Some(parent.clone()));
    let child = shared.admit(id, root, model.clone(), conversation)?;
    child
        .journal
        .keep(EventBody::SessionOpened {
            title: errand.title,
            workspace: root.display().to_string(),
            model,
            parent: Some(parent),
            asked: Some(Box::new(asked)),
        })
        .await?;
    Ok(child)
}

/// What a run came to: the output that it was asked for, or else its last words.
fn result(child: &Session) -> Result<ToolOutput, ToolError> {
    match child.state() {
        Some(SessionState::Done) => {}
        Some(SessionState::Interrupted) => {
            return Err(ToolError::Failed(
                "The delegate's run was stopped before it came to a result.".to_owned(),
            ));
        }
        Some(
            SessionState::Idle
            | SessionState::Running
            | SessionState::Waiting
            | SessionState::Failed,
        )
        | None => {
            return Err(ToolError::Failed(
                "The delegate's run failed. Its session says why; do the work here, or say what you need.".to_owned(),
            ));
        }
    }
    let (wanted, output, words) = child.conversation(|conversation| {
        let words = conversation
            .messages
            .iter()
            .rev()
            .find_map(|message| match message {
                Message::Assistant { text, .. } => Some(text.clone()),
                Message::User { .. } | Message::Tool { .. } => None,
            });
        (
            conversation.asked.output_schema.is_some(),
            conversation.output.clone(),
            words.unwrap_or_default(),
        )
    });
    let (data, text) = match (wanted, output) {
        (true, Some(output)) => (output.clone(), output.to_string()),
        (true, None) => {
            return Err(ToolError::Failed(
                "The delegate's run came to no output.".to_owned(),
            ));
        }
        (false, _) => (Value::String(words.clone()), words),
    };
    Ok(ToolOutput {
        data: Some(data),
        child: Some(child.id.clone()),
        ..ToolOutput::new(text, "By a run of its own")
    })
}

fn failed(fault: Fault) -> ToolError {
    ToolError::Failed(format!("The delegate's run could not begin. {fault}"))
}
