//! Errands: a call's work in a session of its own, with its own context and no more rights than its caller's (`S004-11`).

use std::sync::Arc;

use async_trait::async_trait;
use protocol::event::{Asked, Parent, PlanningBy};
use protocol::{
    CallId, EventBody, Fault, Message, PartialResult, SessionId, SessionState, ToolError,
    ToolOutput,
};
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tools::{Delegates, Errand, Registry, ToolContext};

use crate::conversation::Conversation;
use crate::hub::{Batch, Events};
use crate::limits::{DELEGATES_DEEP_MAX, LAST_WORDS_MAX};
use crate::session::Session;
use crate::{background, planning, request, turn};

/// Sends errands out of a session.
pub(crate) struct Sender(pub Arc<Session>);

#[async_trait]
impl Delegates for Sender {
    async fn run(&self, cx: &ToolContext, errand: Errand) -> Result<ToolOutput, ToolError> {
        let cancel = errand.cancel.clone();
        let at_work = begin(&self.0, cx, errand).await?;
        // Whatever becomes of the call, what works for it ends with it.
        let _stops = StopsWithCall(at_work.child.clone());
        let told = Told::to(cx);
        at_work.ended(&cancel, |event| told.tell(event)).await
    }

    async fn begin(&self, cx: &ToolContext, errand: Errand) -> Result<SessionId, ToolError> {
        let caller = &self.0;
        let title = errand.title.clone();
        let at_work = begin(caller, cx, errand).await?;
        let id = at_work.child.id.clone();
        background::leave(caller, title, at_work);
        Ok(id)
    }
}

/// An errand that is at work.
pub(crate) struct AtWork {
    /// Its session.
    pub child: Arc<Session>,
    run: Option<JoinHandle<()>>,
    events: Events,
}

/// Opens the session of an errand and lets it begin.
async fn begin(
    caller: &Arc<Session>,
    cx: &ToolContext,
    errand: Errand,
) -> Result<AtWork, ToolError> {
    if lineage(caller).len() > DELEGATES_DEEP_MAX {
        return Err(ToolError::Failed(format!(
            "Delegates may send out delegates {DELEGATES_DEEP_MAX} deep, and this would be deeper. Do the work here."
        )));
    }
    let input = errand.input.clone();
    let shared = &caller.shared;
    let since = shared
        .record
        .last_seq()
        .map_err(|error| failed(error.into()))?;
    let events = shared.listen(since);
    let child = open(caller, &cx.tool_call_id, errand)
        .await
        .map_err(failed)?;
    let run = turn::say(&child, input.into()).await.map_err(failed)?;
    Ok(AtWork { child, run, events })
}

impl AtWork {
    /// Waits for its end, or brings it about, and gives what it came to. `on_event` hears what it does.
    pub async fn ended(
        mut self,
        cancel: &CancellationToken,
        mut on_event: impl FnMut(&EventBody),
    ) -> Result<ToolOutput, ToolError> {
        let child = self.child;
        let mut hears = |batch: Batch| {
            let own = batch.iter().filter(|event| event.session == child.id);
            own.fold(false, |_, event| {
                on_event(&event.body);
                matches!(&event.body, EventBody::SessionChanged { state } if state.ends_run())
            })
        };
        if let Some(mut run) = self.run.take() {
            let mut told = false;
            loop {
                tokio::select! {
                    biased;
                    () = cancel.cancelled() => {
                        child.stop();
                        let _ = run.await;
                        return Err(ToolError::Cancelled);
                    }
                    Ok(Some(batch)) = self.events.next() => told = hears(batch),
                    _ = &mut run => break,
                }
            }
            // Its last words come before its result.
            while !told && !child.shared.closing.is_cancelled() {
                match tokio::time::timeout(LAST_WORDS_MAX, self.events.next()).await {
                    Ok(Ok(Some(batch))) => told = hears(batch),
                    Ok(Ok(None) | Err(_)) | Err(_) => break,
                }
            }
        }
        // Its run may have heard of the stop first: the call was stopped all the same, and did not fail.
        match cancel.is_cancelled() || child.shared.closing.is_cancelled() {
            true => Err(ToolError::Cancelled),
            false => result(&child),
        }
    }
}

/// Who hears how an errand goes on: its words as live output, its calls as progress, and what these gave beside text (images,
/// pointers) as pieces of the result, for people and the log only.
struct Told<'a>(&'a ToolContext);

impl<'a> Told<'a> {
    fn to(cx: &'a ToolContext) -> Self {
        Self(cx)
    }

    fn tell(&self, event: &EventBody) {
        let cx = self.0;
        match event {
            EventBody::AgentSaid {
                text,
                reasoning: false,
                ..
            } => {
                if let Some(on_output) = &cx.on_output {
                    on_output(text);
                }
            }
            EventBody::CallJudged { title, target, .. } => {
                if let Some(on_progress) = &cx.on_progress {
                    on_progress(&format!("{title} {target}"));
                }
            }
            EventBody::CallEnded { call, outcome, .. } if !outcome.content.is_empty() => {
                if let Some(on_update) = &cx.on_update {
                    on_update(PartialResult {
                        content: outcome.content.clone(),
                        details: Some(json!({ "call": call })),
                    });
                }
            }
            _ => {}
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
    let model = request::model(&errand.config, &caller.model);
    shared.provider(&model.provider)?;
    let own = caller.conversation(|conversation| conversation.asked.clone());
    let alone = errand.agent.is_none();
    let asked = Asked {
        output_schema: errand.output_schema,
        tools: Some(given(&caller.tools(), errand.tools.as_deref())?),
        instructions: errand.instructions,
        temperature: errand.config.temperature,
        effort: own.effort,
        own_tools: errand.own_tools,
        instances: errand.config.instances,
        // Who works for an agent is bound by its manifest.
        agent: own.agent,
        below: own.below.into_iter().chain(errand.agent).collect(),
        alone,
        client: None,
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
    let plans = caller.conversation(|conversation| conversation.planning);
    planning::set(&child, plans, PlanningBy::Caller).await?;
    Ok(child)
}

/// The tools of an errand: those that are named, or all of its caller's; never a sub-agent (`S001-42`, M10).
fn given(registry: &Registry, named: Option<&[String]>) -> Result<Vec<String>, Fault> {
    let below = registry.ids_below();
    let Some(named) = named else {
        return Ok(below);
    };
    let mut given = Vec::new();
    for name in named {
        let found = registry.find(name).map_err(|error| {
            Fault::new(
                format!("What it is to work with names a tool that is not there. {error}"),
                "",
            )
        })?;
        let id = found.interface.id();
        if below.iter().any(|known| known == id) {
            given.push(id.to_owned());
        }
    }
    Ok(given)
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
