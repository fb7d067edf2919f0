//! Sub-agent tasks: a call's work in a session of its own, with its own context and no more rights than its caller's
//! (`S004-11`).

use std::sync::Arc;

use async_trait::async_trait;
use protocol::event::{
    CallChange, MessageChange, ParentCall, PlanningActor, SessionEvent, SessionOptions,
};
use protocol::{
    CallId, EventBody, Message, PartialResult, SessionId, SessionState, ToolError, ToolOutput,
    UserError,
};
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tools::{ExecutionContext, Registry, SubAgentRequest, SubAgentSpawner};

use crate::limits::{SHUTDOWN_GRACE_MAX, SUB_AGENT_DEPTH_MAX};
use crate::run;
use crate::run::request_model;
use crate::session::Session;
use crate::session::conversation::Conversation;
use crate::session::engine_state::event_hub::{EventBatch, EventStream};
use crate::session::{background, planning};

/// Returns the spawner of sub-agent tasks for the calls of a session.
pub(crate) fn sub_agent_spawner(session: Arc<Session>) -> Arc<dyn SubAgentSpawner> {
    Arc::new(SubAgentRunner(session))
}

/// Runs sub-agent tasks for the calls of a session.
struct SubAgentRunner(Arc<Session>);

#[async_trait]
impl SubAgentSpawner for SubAgentRunner {
    async fn run(
        &self,
        cx: &ExecutionContext,
        request: SubAgentRequest,
    ) -> Result<ToolOutput, ToolError> {
        let cancel = request.cancel.clone();
        let at_work = start(&self.0, cx, request).await?;
        // Whatever becomes of the call, what works for it ends with it.
        let _stops = StopGuard(at_work.child.clone());
        let told = ProgressRelay::new(cx);
        at_work.wait(&cancel, |event| told.relay_event(event)).await
    }

    async fn start(
        &self,
        cx: &ExecutionContext,
        request: SubAgentRequest,
    ) -> Result<SessionId, ToolError> {
        let caller = &self.0;
        let title = request.title.clone();
        let at_work = start(caller, cx, request).await?;
        let id = at_work.child.id.clone();
        run_in_background(caller, title, at_work);
        Ok(id)
    }
}

/// Continues a task in the background. The task ends with its caller's run, and its result is added to that run.
fn run_in_background(caller: &Arc<Session>, title: String, at_work: RunningSubAgent) {
    let (caller, stop) = (caller.clone(), caller.cancellation_token());
    caller.background.begin();
    tokio::spawn(async move {
        let child = at_work.child.clone();
        let ended = at_work.wait(&stop, |_| {}).await;
        if !caller.engine.closing.is_cancelled() {
            background::record_end(&caller, &child, &title, ended);
        }
        caller.background.end();
    });
}

/// A running sub-agent task.
struct RunningSubAgent {
    /// Session of the task.
    pub child: Arc<Session>,
    run: Option<JoinHandle<()>>,
    events: EventStream,
}

/// Opens the session of a task and starts its run.
async fn start(
    caller: &Arc<Session>,
    cx: &ExecutionContext,
    request: SubAgentRequest,
) -> Result<RunningSubAgent, ToolError> {
    if caller.lineage().len() > SUB_AGENT_DEPTH_MAX {
        return Err(ToolError::Failed(format!(
            "Delegates may send out delegates {SUB_AGENT_DEPTH_MAX} deep, and this would be deeper. Do the work here."
        )));
    }
    let input = request.input.clone();
    let engine = &caller.engine;
    let since = engine
        .record
        .last_seq()
        .map_err(|error| tool_error(error.into()))?;
    let events = engine.subscribe(since);
    let child = open_session(caller, &cx.tool_call_id, request)
        .await
        .map_err(tool_error)?;
    let run = run::add_user_message(&child, input.into())
        .await
        .map_err(tool_error)?;
    Ok(RunningSubAgent { child, run, events })
}

impl RunningSubAgent {
    /// Waits for the end of the task, or cancels it, and returns its result. `on_event` receives the events of the
    /// task's session.
    pub async fn wait(
        mut self,
        cancel: &CancellationToken,
        mut on_event: impl FnMut(&EventBody),
    ) -> Result<ToolOutput, ToolError> {
        let child = self.child;
        let mut hears = |batch: EventBatch| {
            let own = batch.iter().filter(|event| event.session == child.id);
            own.fold(false, |_, event| {
                on_event(&event.body);
                matches!(&event.body, EventBody::Session(SessionEvent::Changed { state }) if state.ends_run())
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
            while !told && !child.engine.closing.is_cancelled() {
                match tokio::time::timeout(SHUTDOWN_GRACE_MAX, self.events.next()).await {
                    Ok(Ok(Some(batch))) => told = hears(batch),
                    Ok(Ok(None) | Err(_)) | Err(_) => break,
                }
            }
        }
        // Its run may have heard of the stop first: the call was stopped all the same, and did not fail.
        match cancel.is_cancelled() || child.engine.closing.is_cancelled() {
            true => Err(ToolError::Cancelled),
            false => read_result(&child),
        }
    }
}

/// Relays the progress of a task to its call: text as live output, calls as progress, and results of calls beside text
/// (images, pointers) as pieces of the result, for people and the log only.
struct ProgressRelay<'a>(&'a ExecutionContext);

impl<'a> ProgressRelay<'a> {
    fn new(cx: &'a ExecutionContext) -> Self {
        Self(cx)
    }

    fn relay_event(&self, event: &EventBody) {
        let cx = self.0;
        match event {
            EventBody::Message {
                change:
                    MessageChange::AgentSaid {
                        text,
                        reasoning: false,
                    },
                ..
            } => {
                if let Some(on_output) = &cx.on_output {
                    on_output(text);
                }
            }
            EventBody::Call {
                change: CallChange::Judged { title, target, .. },
                ..
            } => {
                if let Some(on_progress) = &cx.on_progress {
                    on_progress(&format!("{title} {target}"));
                }
            }
            EventBody::Call {
                call,
                change: CallChange::Ended { outcome, .. },
            } if !outcome.content.is_empty() => {
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

struct StopGuard(Arc<Session>);

impl Drop for StopGuard {
    fn drop(&mut self) {
        self.0.stop();
    }
}

/// Opens the session of a task. Its tools are those that the request names, from the tools of its caller: a tool that
/// the caller may not call, no sub-agent below may call.
async fn open_session(
    caller: &Arc<Session>,
    call: &CallId,
    request: SubAgentRequest,
) -> Result<Arc<Session>, UserError> {
    let engine = &caller.engine;
    let model = request_model::model_from_request(&request.config, &caller.model());
    engine.provider(&model.provider)?;
    let caller_options = caller.with_conversation(|conversation| conversation.options.clone());
    let alone = request.agent.is_none();
    let options = SessionOptions {
        output_schema: request.output_schema,
        tools: Some(select_tools(&caller.tools(), request.tools.as_deref())?),
        instructions: request.instructions,
        temperature: request.config.temperature,
        effort: caller_options.effort,
        own_tools: request.own_tools,
        instances: request.config.instances,
        // A sub-agent is bound by the manifest of the agent that it works for.
        agent: caller_options.agent,
        below: caller_options
            .below
            .into_iter()
            .chain(request.agent)
            .collect(),
        alone,
        client: None,
        server: caller_options.server,
        agent_servers: None,
        former: None,
        enclosure: None,
    };
    let parent = ParentCall {
        session: caller.id.clone(),
        call: call.clone(),
    };
    let id = SessionId(engine.config.ids.next_id("ses"));
    let root = caller.tool_context.workspace.root();
    let conversation = Conversation::new(options.clone(), Some(parent.clone()));
    let child = engine.admit_session(id, root, model.clone(), conversation)?;
    child
        .journal
        .inherit_mask(&caller.journal.secret_mask(call));
    child
        .journal
        .record_synced(SessionEvent::Opened {
            title: request.title,
            workspace: root.display().to_string(),
            model,
            parent: Some(parent),
            options: Some(Box::new(options)),
        })
        .await?;
    let plans = caller.with_conversation(|conversation| conversation.planning);
    planning::set_planning(&child, plans, PlanningActor::Caller).await?;
    Ok(child)
}

/// Returns the tools of a task: the named ones, or all of its caller's; never a sub-agent (`S001-42`, M10).
fn select_tools(registry: &Registry, names: Option<&[String]>) -> Result<Vec<String>, UserError> {
    let below = registry.sub_agent_tool_ids();
    let Some(names) = names else {
        return Ok(below);
    };
    let mut selected = Vec::new();
    for name in names {
        let found = registry.find(name).map_err(|error| {
            UserError::new(
                format!("What it is to work with names a tool that is not there. {error}"),
                "",
            )
        })?;
        let id = found.interface.id();
        if below.iter().any(|known| known == id) {
            selected.push(id.to_owned());
        }
    }
    Ok(selected)
}

/// Returns the result of a run: the output that was requested, or else the last message.
fn read_result(child: &Session) -> Result<ToolOutput, ToolError> {
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
    let (wanted, output, words) = child.with_conversation(|conversation| {
        let words = conversation
            .messages
            .iter()
            .rev()
            .find_map(|message| match message {
                Message::Assistant { text, .. } => Some(text.clone()),
                Message::User { .. } | Message::Tool { .. } => None,
            });
        (
            conversation.options.output_schema.is_some(),
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

fn tool_error(fault: UserError) -> ToolError {
    ToolError::Failed(format!("The delegate's run could not begin. {fault}"))
}
