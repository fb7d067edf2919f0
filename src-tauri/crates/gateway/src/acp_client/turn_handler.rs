//! One turn of an agent: what it tells goes to the session, and what it asks is judged there.

use std::collections::HashMap;
use std::sync::Arc;

use agent::{AgentTurn, ClientOutcome, DelegatedResult, DelegatedVerdict};
use agent_client_protocol::v1::schema::{
    ContentBlock, Plan, PlanEntryStatus, PromptResponse, RequestPermissionOutcome,
    RequestPermissionRequest, SessionUpdate, ToolCallId,
};
use parking_lot::Mutex;
use protocol::{CallId, NoticeLevel, UserError};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::agent_command::AgentCommand;
use super::files::members;
use super::permission::PermissionAnswer;
use super::server_calls::is_call_of_server;
use super::terminals::Terminals;
use super::tool_use::{AgentPlace, ToolUse};
use super::turn_usage::TurnUsage;
use crate::agent_hooks::turn_hooks::TurnHooks;

/// Text for the record of a part of a call whose other part was refused.
const WITHDRAWN_TEXT: &str = "It was not run, because another part of the same call was refused.";

/// Handler of what an agent says and asks during one turn.
pub(super) struct TurnHandler {
    pub turn: Arc<AgentTurn>,
    pub terminals: Terminals,
    /// Cancelled when the turn is over or has to end: nothing that it asked for goes on.
    pub over: CancellationToken,
    pub command: AgentCommand,
    /// Whether it works in a sandbox, and is judged by what it changed when the turn ends.
    is_enclosed: bool,
    /// Hooks that the agent asks as well; none if it has none of ours.
    hooks: Option<Arc<TurnHooks>>,
    state: Mutex<TurnState>,
    /// Reports of results, which are on record before the turn ends.
    reports: TaskTracker,
}

#[derive(Default)]
struct TurnState {
    calls: HashMap<ToolCallId, SeenCall>,
    /// What the agent's model has to be told in another prompt, since a refusal carries no reason.
    feedback: Vec<String>,
    /// What the turn used.
    used: TurnUsage,
}

/// A tool call of the agent.
#[derive(Default)]
struct SeenCall {
    used: ToolUse,
    judged: Judged,
}

/// Whether a call was asked about.
#[derive(Default, Clone)]
enum Judged {
    /// The agent has not asked about it.
    #[default]
    Not,
    /// It is being judged, or was refused, or is over.
    Handled,
    /// It was approved, and is these calls on record.
    Approved(Vec<CallId>),
}

/// Verdict on a call of the agent.
enum UseVerdict {
    /// It may run, and is these calls on record.
    Approved(Vec<CallId>),
    /// This one of its calls was not approved.
    Refused(Box<ClientOutcome>),
}

impl TurnHandler {
    /// Returns a handler for a turn of an agent that was started by this command.
    pub fn new(turn: Arc<AgentTurn>, command: AgentCommand, hooks: Option<Arc<TurnHooks>>) -> Self {
        Self {
            over: turn.stop_token().child_token(),
            is_enclosed: turn.enclosure().is_some(),
            turn,
            terminals: Terminals::default(),
            command,
            hooks,
            state: Mutex::default(),
            reports: TaskTracker::new(),
        }
    }

    /// Whether the agent is offered our files and terminals. They are those of the real workspace.
    pub fn serves_tools(&self) -> bool {
        self.command.uses_our_tools() && !self.is_enclosed
    }

    /// Takes what the agent tells. Called in the order in which it came.
    pub fn handle_update(self: &Arc<Self>, update: SessionUpdate) {
        match update {
            SessionUpdate::AgentMessageChunk(chunk) => self.push_content(&chunk.content, false),
            SessionUpdate::AgentThoughtChunk(chunk) => self.push_content(&chunk.content, true),
            SessionUpdate::ToolCall(call) => {
                let id = call.tool_call_id.clone();
                self.update_call(&id, |used| used.apply_call(&call));
            }
            SessionUpdate::ToolCallUpdate(update) => {
                let id = update.tool_call_id.clone();
                self.update_call(&id, |used| used.apply_update(&update));
            }
            SessionUpdate::Plan(plan) => self.show_plan(&plan),
            SessionUpdate::UsageUpdate(update) => self.state.lock().used.take_update(&update),
            _ => {}
        }
    }

    /// Answers a permission request.
    pub async fn answer_permission(
        self: &Arc<Self>,
        request: &RequestPermissionRequest,
    ) -> RequestPermissionOutcome {
        let answer = self.judge(request).await;
        let outcome = answer.to_outcome(&request.options);
        if answer == PermissionAnswer::Allow && outcome == RequestPermissionOutcome::Cancelled {
            self.turn.add_notice(
                NoticeLevel::Warning,
                UserError::new(
                    format!(
                        "{} offered no way to allow a call once, so it was not allowed.",
                        self.command.title
                    ),
                    "Its own settings may say that it asks once a session.",
                ),
            );
        }
        outcome
    }

    async fn judge(self: &Arc<Self>, request: &RequestPermissionRequest) -> PermissionAnswer {
        let id = request.tool_call.tool_call_id.clone();
        let used = {
            let mut state = self.state.lock();
            let seen = state.calls.entry(id.clone()).or_default();
            seen.used.apply_update(&request.tool_call);
            if self.is_enclosed {
                return PermissionAnswer::Allow;
            }
            seen.judged = Judged::Handled;
            if self.is_judged_by_gateway(&seen.used) {
                return PermissionAnswer::Allow;
            }
            seen.used.clone()
        };
        // Its hook was asked before, and what it runs is held to what was approved there.
        if self
            .hooks
            .as_ref()
            .is_some_and(|hooks| hooks.has_approved(&id.0))
        {
            return PermissionAnswer::Allow;
        }
        match self.judge_use(&used).await {
            Ok(UseVerdict::Approved(calls)) => {
                self.set_judged(&id, Judged::Approved(calls));
                PermissionAnswer::Allow
            }
            Ok(UseVerdict::Refused(ended)) => {
                let is_stopped = self.over.is_cancelled();
                if !is_stopped && ended.gives_reason() {
                    self.add_feedback(&used, &ended);
                }
                if ended.outcome.is_terminal() {
                    self.over.cancel();
                }
                match is_stopped {
                    true => PermissionAnswer::Cancel,
                    false => PermissionAnswer::Reject,
                }
            }
            Err(fault) => {
                self.turn.add_notice(NoticeLevel::Error, fault);
                PermissionAnswer::Reject
            }
        }
    }

    /// Whether a call is one of a server that the agent was given. The gateway before it judges and records it.
    fn is_judged_by_gateway(&self, used: &ToolUse) -> bool {
        let hooks = self.hooks.iter();
        let mut servers = hooks.flat_map(|hooks| hooks.servers().list());
        servers.any(|server| is_call_of_server(used, self.command.agent, &server.name))
    }

    /// Judges a call of the agent.
    async fn judge_use(&self, used: &ToolUse) -> Result<UseVerdict, UserError> {
        let mut approved = Vec::new();
        let calls = used.to_delegated_calls(&self.place());
        for call in calls.clone() {
            match self.turn.judge(call, &self.over).await? {
                DelegatedVerdict::Approved { call, .. } => approved.push(call),
                DelegatedVerdict::Ended(ended) => {
                    for call in approved {
                        let result = DelegatedResult::Failed(WITHDRAWN_TEXT.to_owned());
                        self.turn.report(&call, result).await?;
                    }
                    return Ok(UseVerdict::Refused(ended));
                }
            }
        }
        if let Some(hooks) = &self.hooks {
            hooks.permit(calls);
        }
        Ok(UseVerdict::Approved(approved))
    }

    /// Returns what the agent's model has to be told once its turn is over; nothing is told twice.
    pub fn take_feedback(&self) -> Option<String> {
        let feedback = std::mem::take(&mut self.state.lock().feedback);
        (!feedback.is_empty()).then(|| feedback.join("\n\n"))
    }

    /// Ends the turn: stops what it asked for, and waits until the results of its calls are on record. Returns what the
    /// turn used, as far as the agent says so.
    pub async fn finish(&self) -> TurnUsage {
        self.over.cancel();
        self.reports.close();
        self.reports.wait().await;
        self.tell_server_faults();
        self.state.lock().used
    }

    /// Tells the person of servers that the agent could not be given.
    fn tell_server_faults(&self) {
        let faults = self
            .hooks
            .iter()
            .flat_map(|hooks| hooks.servers().take_faults());
        faults.for_each(|fault| self.turn.add_notice(NoticeLevel::Warning, fault));
    }

    /// Takes what the agent says at the end of a prompt.
    pub fn end_prompt(&self, end: &PromptResponse) {
        if let Some(usage) = &end.usage {
            self.state.lock().used.add_prompt(usage);
        }
    }

    fn place(&self) -> AgentPlace<'_> {
        AgentPlace {
            agent: self.command.agent,
            namespace: &self.command.namespace,
            elsewhere: self.command.elsewhere.as_deref(),
            folder: self.turn.folder(),
        }
    }

    fn push_content(&self, content: &ContentBlock, reasoning: bool) {
        match content {
            ContentBlock::Text(text) => self.turn.push_text(&text.text, reasoning),
            ContentBlock::ResourceLink(link) => self.turn.push_text(&link.uri, reasoning),
            _ => self
                .turn
                .push_text("[It sent something that is no text.]", reasoning),
        }
    }

    fn update_call(self: &Arc<Self>, id: &ToolCallId, change: impl FnOnce(&mut ToolUse)) {
        let mut state = self.state.lock();
        let seen = state.calls.entry(id.clone()).or_default();
        change(&mut seen.used);
        if matches!(seen.judged, Judged::Not) && self.is_judged_by_gateway(&seen.used) {
            seen.judged = Judged::Handled;
        }
        let Some(is_success) = seen.used.success() else {
            return;
        };
        let judged = std::mem::replace(&mut seen.judged, Judged::Handled);
        let used = seen.used.clone();
        drop(state);
        let text = used.result_text();
        let result = match is_success {
            true => DelegatedResult::Succeeded(text),
            false => DelegatedResult::Failed(text),
        };
        let handler = self.clone();
        match judged {
            Judged::Handled => {}
            Judged::Approved(calls) => {
                self.reports
                    .spawn(async move { handler.report(calls, result).await });
            }
            Judged::Not
                if self
                    .hooks
                    .as_ref()
                    .is_some_and(|hooks| hooks.was_asked(&id.0)) => {}
            Judged::Not => {
                self.reports
                    .spawn(async move { handler.record_unasked(&used, result).await });
            }
        }
    }

    async fn report(&self, calls: Vec<CallId>, result: DelegatedResult) {
        for call in calls {
            if let Err(fault) = self.turn.report(&call, result.clone()).await {
                self.turn.add_notice(NoticeLevel::Error, fault);
            }
        }
    }

    /// Puts a call on record that the agent has made without asking, and says so if it does more than look and is not
    /// enclosed.
    async fn record_unasked(&self, used: &ToolUse, result: DelegatedResult) {
        if !self.is_enclosed && !used.is_quiet(&self.place()) {
            let fault = UserError::new(
                format!(
                    "{} did this without asking: {}",
                    self.command.title,
                    used.title()
                ),
                "Its own settings or its mode allow it. What it changed is not in the history.",
            );
            self.turn.add_notice(NoticeLevel::Warning, fault);
        }
        let call = used.to_unasked_call(&self.place());
        match self.turn.judge(call, &CancellationToken::new()).await {
            Ok(DelegatedVerdict::Approved { call, .. }) => self.report(vec![call], result).await,
            Ok(DelegatedVerdict::Ended(_)) => {}
            Err(fault) => self.turn.add_notice(NoticeLevel::Error, fault),
        }
    }

    fn set_judged(&self, id: &ToolCallId, judged: Judged) {
        if let Some(seen) = self.state.lock().calls.get_mut(id) {
            seen.judged = judged;
        }
    }

    /// Remembers the reason why a call was refused, or what was done in its place.
    fn add_feedback(&self, used: &ToolUse, ended: &ClientOutcome) {
        let (title, text) = (used.title(), ended.outcome.text.trim());
        let feedback = match ended.outcome.is_success() {
            true => format!(
                "The person changed your call `{title}`, and it was carried out in its changed form; do not make it again. {text}"
            ),
            false => format!("Your call `{title}` was not allowed. {text}"),
        };
        self.state.lock().feedback.push(feedback);
    }

    /// Shows the agent's plan as the session's list of things to do.
    fn show_plan(self: &Arc<Self>, plan: &Plan) {
        let items: Vec<Value> = plan
            .entries
            .iter()
            .map(|entry| {
                let status = match entry.status {
                    PlanEntryStatus::InProgress => "in_progress",
                    PlanEntryStatus::Completed => "completed",
                    _ => "pending",
                };
                json!({ "content": entry.content, "status": status })
            })
            .collect();
        let handler = self.clone();
        self.reports.spawn(async move {
            let arguments = members(json!({ "items": items }));
            if let Err(fault) = handler.turn.call("todo", arguments, &handler.over).await {
                handler.turn.add_notice(NoticeLevel::Error, fault);
            }
        });
    }
}
