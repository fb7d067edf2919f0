//! One session in memory: the state of its run, the calls that wait for a decision, and steering.

pub(crate) mod agent_options;
pub(crate) mod agent_runner;
pub(crate) mod agent_tools;
pub(crate) mod background;
pub(crate) mod conversation;
pub(crate) mod delegates;
pub(crate) mod elicitation;
pub(crate) mod engine_state;
pub(crate) mod grants;
pub(crate) mod journal;
mod lineage;
pub(crate) mod manual_calls;
pub(crate) mod pending_call;
pub(crate) mod planning;
mod rules_in_force;
pub(crate) mod run_state;
pub(crate) mod sampling;
mod secret_masks;
pub(crate) mod session_lock;
pub(crate) mod skipped_asks;
pub(crate) mod state_store;
pub(crate) mod structured_output;
pub(crate) mod timers;
pub(crate) mod toolbox;
pub(crate) mod user_message;

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, OnceLock};

use parking_lot::{Mutex, RwLock};
use protocol::event::{ParentCall, SessionEvent};
use protocol::model::{Effort, Message, ToolDefinition};
use protocol::settings::Posture;
use protocol::{CallId, ModelChoice, SessionId, SessionState, Strategy, UserError};
use serde_json::{Map, Value};
use tokio::sync::{Notify, watch};
use tokio::time::Duration;
use tokio_util::sync::CancellationToken;
use tools::custom::ComposedSchema;
use tools::{EnclosedTurnTool, Registry, ToolContext};

use crate::briefing::Briefing;
use crate::permissions::agent_bounds::AgentBounds;
use crate::permissions::policy_input::PolicyInput;
use crate::permissions::rules;
use crate::permissions::rules::RulesInForce;
use crate::session::agent_tools::AgentTools;
use crate::session::background::BackgroundTasks;
use crate::session::conversation::Conversation;
use crate::session::delegates::Delegates;
use crate::session::elicitation::ElicitationQueue;
use crate::session::engine_state::EngineState;
use crate::session::journal::Journal;
use crate::session::pending_call::PendingCall;
use crate::session::run_state::active_time::ActiveTime;
use crate::session::run_state::cancellation::CallCancellations;
use crate::session::run_state::own_files::OwnFiles;
use crate::session::run_state::released_secrets::{ReleasedSecrets, SecretRelease};
use crate::session::run_state::repeats::RepeatCounter;
use crate::session::run_state::run_limits::RunUsage;
use crate::session::run_state::sent_letters::SentLetters;
pub(crate) use crate::session::run_state::stop_reason::StopReason;
use crate::session::session_lock::SessionLock;
use crate::session::skipped_asks::AskSkip;
use crate::session::timers::TimerPool;
use crate::session::toolbox::{Toolbox, ToolboxRequest};

/// A session that is open in this process.
pub(crate) struct Session {
    pub id: SessionId,
    pub engine: Arc<EngineState>,
    pub journal: Journal,
    pub tool_context: ToolContext,
    pub bounds: AgentBounds,
    /// Strategy for the calls of one model turn; read once, when the session was admitted (`S001-27`).
    pub strategy: Strategy,
    /// Briefing of the session's model.
    pub briefing: Arc<Briefing>,
    /// Sub-agent tasks in the background.
    pub background: BackgroundTasks,
    /// Timers of the running calls.
    pub timers: TimerPool,
    /// Questions of servers in the running calls.
    pub elicitations: ElicitationQueue,
    /// Tokens that cancel individual calls.
    pub cancellations: CallCancellations,
    /// Calls that their program runs itself.
    pub delegates: Delegates,
    /// Tools of the program that makes the calls.
    pub agent_tools: AgentTools,
    /// Tool that takes over the changes of an agent in a sandbox, once there were any.
    pub enclosed_turns: OnceLock<Arc<EnclosedTurnTool>>,
    pub lock: SessionLock,
    rules: RulesInForce,
    rule_files: rules::RuleFileCache,
    /// Number of times that the rules were loaded; a change makes waiting calls check the rules again.
    rules_changed: watch::Sender<u64>,
    /// Posture that was chosen for this session alone.
    posture: RwLock<Option<Posture>>,
    /// Time for which the session skips asks.
    ask_skip: RwLock<Option<AskSkip>>,
    model: RwLock<ModelChoice>,
    steering: Notify,
    toolbox: RwLock<Arc<Toolbox>>,
    data: Mutex<SessionData>,
}

/// Parts that a session is opened with.
pub(crate) struct SessionParts {
    pub id: SessionId,
    pub tool_context: ToolContext,
    pub bounds: AgentBounds,
    pub model: ModelChoice,
    pub rules: RulesInForce,
    pub toolbox: Toolbox,
    pub briefing: Arc<Briefing>,
    pub conversation: Conversation,
}

/// State that changes while a session runs.
#[derive(Default)]
struct SessionData {
    /// Calls that wait for a decision.
    pending_calls: HashMap<CallId, PendingCall>,
    /// Messages of the person that the model has not received.
    queued_messages: VecDeque<Message>,
    /// Token of the run, while there is one.
    run: Option<CancellationToken>,
    /// Reason why the run was stopped, once it was.
    stop_reason: StopReason,
    /// Counter of calls with the same result, to notice loops.
    repeats: RepeatCounter,
    /// The files that the session wrote.
    own_files: OwnFiles,
    /// The secrets that the person let go.
    released_secrets: ReleasedSecrets,
    /// What the session sent.
    sent_letters: SentLetters,
    active_time: ActiveTime,
    usage: Arc<RunUsage>,
    /// State that was recorded last.
    state: Option<SessionState>,
    conversation: Conversation,
}

impl Session {
    pub(crate) fn new(engine: Arc<EngineState>, parts: SessionParts) -> Self {
        let SessionParts {
            id,
            tool_context,
            bounds,
            model,
            rules,
            toolbox,
            briefing,
            conversation,
        } = parts;
        let journal = Journal::new(
            engine.record.clone(),
            id.clone(),
            engine.config.clock.clone(),
        );
        for open in &conversation.open {
            for arguments in std::iter::once(&open.call.arguments).chain(&open.edited) {
                journal.track_secret_arguments(&open.call.id, arguments);
            }
        }
        let data = Mutex::new(SessionData {
            conversation,
            ..SessionData::default()
        });
        let strategy = engine.settings().strategy;
        Self {
            id,
            engine,
            journal,
            tool_context,
            bounds,
            model: RwLock::new(model),
            strategy,
            briefing,
            background: BackgroundTasks::default(),
            timers: TimerPool::default(),
            elicitations: ElicitationQueue::default(),
            cancellations: CallCancellations::default(),
            delegates: Delegates::default(),
            agent_tools: AgentTools::default(),
            enclosed_turns: OnceLock::new(),
            lock: SessionLock::default(),
            rules,
            rule_files: rules::RuleFileCache::default(),
            rules_changed: watch::Sender::default(),
            posture: RwLock::default(),
            ask_skip: RwLock::default(),
            steering: Notify::new(),
            toolbox: RwLock::new(Arc::new(toolbox)),
            data,
        }
    }

    /// Returns the model that answers.
    pub(crate) fn model(&self) -> ModelChoice {
        self.model.read().clone()
    }

    /// Chooses the model that answers from the next turn on, and its effort.
    pub(crate) fn choose_model(&self, model: ModelChoice, effort: Option<Effort>) {
        self.with_conversation(|conversation| conversation.options.effort = effort);
        *self.model.write() = model;
    }

    /// Returns the token of the run, which is cancelled when the person stops the run. Without a run the token is
    /// cancelled.
    pub(crate) fn cancellation_token(&self) -> CancellationToken {
        self.data.lock().run.clone().unwrap_or_else(|| {
            let ended = CancellationToken::new();
            ended.cancel();
            ended
        })
    }

    /// Begins a run, and returns its token; none if there is a run already.
    pub(crate) fn begin_run(&self) -> Option<CancellationToken> {
        let mut live = self.data.lock();
        if live.run.is_some() {
            return None;
        }
        let token = self.engine.closing.child_token();
        live.run = Some(token.clone());
        (live.stop_reason, live.repeats) = (StopReason::Person, RepeatCounter::default());
        (live.active_time, live.usage) = (ActiveTime::start(), Arc::default());
        Some(token)
    }

    /// Ends the run in this state. `false` if a message arrived meanwhile: the run must go on.
    pub(crate) fn end_run(&self, state: SessionState) -> bool {
        let mut live = self.data.lock();
        let stopped = live
            .run
            .as_ref()
            .is_none_or(CancellationToken::is_cancelled);
        if !stopped && !live.queued_messages.is_empty() {
            return false;
        }
        live.run = None;
        self.record_state(&mut live, state);
        true
    }

    /// Stops the run, if there is one. Returns whether there was.
    pub(crate) fn stop(&self) -> bool {
        self.data
            .lock()
            .run
            .as_ref()
            .map(CancellationToken::cancel)
            .is_some()
    }

    /// Stops the run for this reason.
    pub(crate) fn stop_with_reason(&self, why: StopReason) {
        let mut live = self.data.lock();
        live.stop_reason = why;
        if let Some(token) = &live.run {
            token.cancel();
        }
    }

    /// Returns the reason why the run was stopped.
    pub(crate) fn stop_reason(&self) -> StopReason {
        self.data.lock().stop_reason
    }

    /// Returns the active time of the run, without the time that it waited for a person.
    pub(crate) fn active_time(&self) -> Duration {
        self.data.lock().active_time.time()
    }

    /// Returns the usage of the run, including its sub-agents.
    pub(crate) fn run_usage(&self) -> Arc<RunUsage> {
        self.data.lock().usage.clone()
    }

    /// Reads or changes the counter of repeated calls.
    pub(crate) fn with_repeats<T>(&self, change: impl FnOnce(&mut RepeatCounter) -> T) -> T {
        change(&mut self.data.lock().repeats)
    }

    /// Returns the files that the session wrote, as it left them.
    pub(crate) fn own_files(&self) -> OwnFiles {
        self.data.lock().own_files.clone()
    }

    /// Adds files that the session wrote.
    pub(crate) fn add_own_files(&self, written: OwnFiles) {
        self.data.lock().own_files.add(written);
    }

    /// Returns the secrets that the person let go.
    pub(crate) fn released_secrets(&self) -> ReleasedSecrets {
        self.data.lock().released_secrets.clone()
    }

    /// Adds secrets that the person let go.
    pub(crate) fn release_secrets(&self, releases: &[SecretRelease]) {
        self.data.lock().released_secrets.add(releases);
    }

    /// Returns the letters and digits that were sent to any of these receivers.
    pub(crate) fn sent_letters(&self, receivers: &[String]) -> String {
        self.data.lock().sent_letters.sent_to(receivers)
    }

    /// Adds letters and digits that are sent to these receivers.
    pub(crate) fn add_sent_letters(&self, receivers: &[String], letters: &str) {
        self.data.lock().sent_letters.add(receivers, letters);
    }

    /// Whether a run is active.
    pub(crate) fn is_running(&self) -> bool {
        self.data.lock().run.is_some()
    }

    /// Queues a message of the person for the run. Returns the message if there is no run to receive it.
    pub(crate) fn steer(&self, message: Message) -> Result<(), Message> {
        let mut live = self.data.lock();
        match live.run {
            Some(_) => {
                live.queued_messages.push_back(message);
                // The person may have changed something, too.
                live.repeats.clear();
                self.steering.notify_waiters();
                Ok(())
            }
            None => Err(message),
        }
    }

    /// Whether there is a message of the person that the model has not received.
    pub(crate) fn is_steered(&self) -> bool {
        !self.data.lock().queued_messages.is_empty()
    }

    /// Waits for a message of the person that the model has not received.
    pub(crate) async fn wait_for_steering(&self) {
        loop {
            let next = self.steering.notified();
            tokio::pin!(next);
            // Listen first, then look: nothing can fall between.
            next.as_mut().enable();
            if self.is_steered() {
                return;
            }
            next.await;
        }
    }

    /// Takes the queued messages of the person.
    pub(crate) fn take_steering(&self) -> Vec<Message> {
        self.data.lock().queued_messages.drain(..).collect()
    }

    /// Records the state, if it changed.
    pub(crate) fn set_state(&self, state: SessionState) {
        self.record_state(&mut self.data.lock(), state);
    }

    /// Records whether the run waits for a person: it does as long as a call or question waits for a decision, whatever
    /// else runs.
    pub(crate) fn refresh_state(&self) {
        let mut live = self.data.lock();
        let state = match live.pending_calls.is_empty() && self.elicitations.is_empty() {
            true => SessionState::Running,
            false => SessionState::Waiting,
        };
        self.record_state(&mut live, state);
    }

    fn record_state(&self, live: &mut SessionData, state: SessionState) {
        if live.state != Some(state) {
            live.state = Some(state);
            live.active_time.set_waiting(state == SessionState::Waiting);
            self.journal.record(SessionEvent::Changed { state });
        }
    }

    /// Adds a call that waits for a decision.
    pub(crate) fn add_pending_call(&self, call: CallId, waiting: PendingCall) {
        self.data.lock().pending_calls.insert(call, waiting);
    }

    /// Returns the input of the verdict on a waiting call.
    pub(crate) fn pending_policy_input(&self, call: &CallId) -> Option<Arc<PolicyInput>> {
        self.data
            .lock()
            .pending_calls
            .get(call)
            .map(|waiting| waiting.input.clone())
    }

    /// Puts the secrets of a waiting call back into arguments that the person wrote over those that are shown.
    ///
    /// # Errors
    /// The name of a secret stands where no secret stood.
    pub(crate) fn restore_arguments(
        &self,
        call: &CallId,
        written: &Map<String, Value>,
    ) -> Result<Map<String, Value>, UserError> {
        match self.data.lock().pending_calls.get(call) {
            Some(waiting) => waiting.restore_arguments(&self.journal.secret_mask(call), written),
            None => Ok(written.clone()),
        }
    }

    /// Takes a waiting call, if it still waits. Only its taker may decide on it.
    pub(crate) fn take_pending_call(&self, call: &CallId) -> Option<PendingCall> {
        self.data.lock().pending_calls.remove(call)
    }

    /// Returns the tools that the session's calls can use.
    pub(crate) fn tools(&self) -> Arc<Registry> {
        self.agent_tools.join(Arc::clone(&self.toolbox().registry))
    }

    /// Returns the tools that the session's model sees: those shown at first, and those that it found since.
    pub(crate) fn definitions(&self) -> Arc<Vec<ToolDefinition>> {
        let tools = self.tools();
        self.with_conversation(|conversation| tools.definitions_with(&conversation.loaded))
    }

    /// Returns the schema that the session's model answers in; none if plain text is accepted.
    pub(crate) fn output_schema(&self) -> Option<Arc<ComposedSchema>> {
        self.toolbox().composed.clone()
    }

    /// Returns the session's tools as they were loaded last, or as the person configured them since.
    fn toolbox(&self) -> Arc<Toolbox> {
        let toolbox = self.current_toolbox();
        if toolbox.is_stale(&self.engine) {
            self.reload_tools();
            return self.current_toolbox();
        }
        toolbox
    }

    fn current_toolbox(&self) -> Arc<Toolbox> {
        Arc::clone(&self.toolbox.read())
    }

    /// Reloads the files of tools, and reports their errors. If they cannot be read, the tools stay as they are.
    pub(crate) fn reload_tools(&self) {
        let options = self.with_conversation(|conversation| conversation.options.clone());
        let request = ToolboxRequest {
            workspace: &self.tool_context.workspace,
            briefing: &self.briefing,
            options: &options,
        };
        let now = self.current_toolbox().reload(&self.engine, &request);
        let faults = match now {
            Ok(now) => {
                let faults = now.errors.clone();
                *self.toolbox.write() = now;
                faults
            }
            Err(fault) => vec![fault],
        };
        self.engine
            .set_tool_errors(self.tool_context.workspace.root(), faults);
    }

    /// Returns the call that opened the session, if a call did.
    pub(crate) fn parent(&self) -> Option<ParentCall> {
        self.with_conversation(|conversation| conversation.parent.clone())
    }

    /// Returns the state that was recorded last.
    pub(crate) fn state(&self) -> Option<SessionState> {
        self.data.lock().state
    }

    /// Reads or changes the conversation.
    pub(crate) fn with_conversation<T>(&self, change: impl FnOnce(&mut Conversation) -> T) -> T {
        change(&mut self.data.lock().conversation)
    }
}
