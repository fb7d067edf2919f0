//! One session in memory: what its run needs, who waits for a decision, and how it is steered.

pub(crate) mod background;
pub(crate) mod conversation;
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
pub(crate) mod session_lock;
pub(crate) mod state_store;
pub(crate) mod structured_output;
pub(crate) mod timers;
pub(crate) mod toolbox;
pub(crate) mod user_message;

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use protocol::event::ParentCall;
use protocol::model::{Message, ToolDefinition};
use protocol::{CallId, EventBody, ModelChoice, SessionId, SessionState, Strategy};
use tokio::sync::{Notify, watch};
use tokio::time::Duration;
use tokio_util::sync::CancellationToken;
use tools::custom::ComposedSchema;
use tools::{Registry, ToolContext};

use crate::briefing::Briefing;
use crate::permissions::agent_bounds::AgentBounds;
use crate::permissions::policy_input::PolicyInput;
use crate::permissions::rules;
use crate::permissions::rules::RulesInForce;
use crate::session::background::BackgroundTasks;
use crate::session::conversation::Conversation;
use crate::session::elicitation::ElicitationQueue;
use crate::session::engine_state::EngineState;
use crate::session::journal::Journal;
use crate::session::pending_call::PendingCall;
use crate::session::run_state::active_time::ActiveTime;
use crate::session::run_state::cancellation::CallCancellations;
use crate::session::run_state::repeats::RepeatCounter;
use crate::session::run_state::run_limits::RunUsage;
pub(crate) use crate::session::run_state::stop_reason::StopReason;
use crate::session::session_lock::SessionLock;
use crate::session::timers::TimerPool;
use crate::session::toolbox::{Toolbox, ToolboxRequest};

/// A session that is open in this process.
pub(crate) struct Session {
    pub id: SessionId,
    pub engine: Arc<EngineState>,
    pub journal: Journal,
    pub tool_context: ToolContext,
    pub bounds: AgentBounds,
    pub model: ModelChoice,
    /// How the calls of one model turn are run; read once, when the session was admitted (`S001-27`).
    pub strategy: Strategy,
    /// What its model is told first.
    pub briefing: Arc<Briefing>,
    /// Work that it gave away and did not wait for.
    pub background: BackgroundTasks,
    /// Of its running calls.
    pub timers: TimerPool,
    /// What servers ask in its running calls.
    pub elicitations: ElicitationQueue,
    /// What ends one of its calls alone.
    pub cancellations: CallCancellations,
    pub lock: SessionLock,
    rules: RulesInForce,
    rule_files: rules::RuleFileCache,
    /// How often they were read; whoever waits for a decision looks again.
    rules_changed: watch::Sender<u64>,
    steering: Notify,
    toolbox: RwLock<Arc<Toolbox>>,
    data: Mutex<SessionData>,
}

/// The parts that a session is opened with.
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

/// What changes while a session runs.
#[derive(Default)]
struct SessionData {
    /// Calls on the desk.
    pending_calls: HashMap<CallId, PendingCall>,
    /// What the person said and the model has not heard.
    queued_messages: VecDeque<Message>,
    /// The run, while there is one.
    run: Option<CancellationToken>,
    /// Why the run was stopped, once it was.
    stop_reason: StopReason,
    /// How often the run's calls came to the same result, to notice loops.
    repeats: RepeatCounter,
    active_time: ActiveTime,
    usage: Arc<RunUsage>,
    /// The state that was last recorded.
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
            model,
            strategy,
            briefing,
            background: BackgroundTasks::default(),
            timers: TimerPool::default(),
            elicitations: ElicitationQueue::default(),
            cancellations: CallCancellations::default(),
            lock: SessionLock::default(),
            rules,
            rule_files: rules::RuleFileCache::default(),
            rules_changed: watch::Sender::default(),
            steering: Notify::new(),
            toolbox: RwLock::new(Arc::new(toolbox)),
            data,
        }
    }

    fn lock_data(&self) -> MutexGuard<'_, SessionData> {
        // A panic while the lock was held leaves plain data behind; going on with it is safe.
        self.data.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The token of the run, which ends when the person stops it. A run that is not there counts as stopped.
    pub(crate) fn cancellation_token(&self) -> CancellationToken {
        self.lock_data().run.clone().unwrap_or_else(|| {
            let ended = CancellationToken::new();
            ended.cancel();
            ended
        })
    }

    /// Begins a run; none if there is one already.
    pub(crate) fn begin_run(&self) -> Option<CancellationToken> {
        let mut live = self.lock_data();
        if live.run.is_some() {
            return None;
        }
        let token = self.engine.closing.child_token();
        live.run = Some(token.clone());
        (live.stop_reason, live.repeats) = (StopReason::Person, RepeatCounter::default());
        (live.active_time, live.usage) = (ActiveTime::start(), Arc::default());
        Some(token)
    }

    /// Ends the run in this state. False if something was said meanwhile: the run must go on.
    pub(crate) fn end_run(&self, state: SessionState) -> bool {
        let mut live = self.lock_data();
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

    /// Stops the run, if there is one.
    pub(crate) fn stop(&self) -> bool {
        self.lock_data()
            .run
            .as_ref()
            .map(CancellationToken::cancel)
            .is_some()
    }

    /// Stops the run for a reason of its own.
    pub(crate) fn stop_with_reason(&self, why: StopReason) {
        let mut live = self.lock_data();
        live.stop_reason = why;
        if let Some(token) = &live.run {
            token.cancel();
        }
    }

    /// Why the run was stopped.
    pub(crate) fn stop_reason(&self) -> StopReason {
        self.lock_data().stop_reason
    }

    /// How long the run has been at work, without the time that it waited for a person.
    pub(crate) fn active_time(&self) -> Duration {
        self.lock_data().active_time.time()
    }

    /// What the run used, with whoever works for it.
    pub(crate) fn run_usage(&self) -> Arc<RunUsage> {
        self.lock_data().usage.clone()
    }

    /// Reads or changes how often the run's calls came to the same result.
    pub(crate) fn with_repeats<T>(&self, change: impl FnOnce(&mut RepeatCounter) -> T) -> T {
        change(&mut self.lock_data().repeats)
    }

    /// Whether a run is there.
    pub(crate) fn is_running(&self) -> bool {
        self.lock_data().run.is_some()
    }

    /// Keeps what the person said for the run. Gives it back if there is no run to hear it.
    pub(crate) fn steer(&self, said: Message) -> Result<(), Message> {
        let mut live = self.lock_data();
        match live.run {
            Some(_) => {
                live.queued_messages.push_back(said);
                // The person may have changed something, too.
                live.repeats.clear();
                self.steering.notify_waiters();
                Ok(())
            }
            None => Err(said),
        }
    }

    /// Whether the person said something that the model has not heard.
    pub(crate) fn is_steered(&self) -> bool {
        !self.lock_data().queued_messages.is_empty()
    }

    /// Waits until the person says something that the model has not heard.
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

    /// Takes what the person said.
    pub(crate) fn take_steering(&self) -> Vec<Message> {
        self.lock_data().queued_messages.drain(..).collect()
    }

    /// Records a change of state, once.
    pub(crate) fn set_state(&self, state: SessionState) {
        self.record_state(&mut self.lock_data(), state);
    }

    /// Records whether the run waits for a person: it does as long as something stands on the desk, whatever else runs.
    pub(crate) fn refresh_state(&self) {
        let mut live = self.lock_data();
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
            self.journal.record(EventBody::SessionChanged { state });
        }
    }

    /// Puts a call on the desk.
    pub(crate) fn add_pending_call(&self, call: CallId, waiting: PendingCall) {
        self.lock_data().pending_calls.insert(call, waiting);
    }

    /// What the verdict on a waiting call was made from.
    pub(crate) fn pending_policy_input(&self, call: &CallId) -> Option<Arc<PolicyInput>> {
        self.lock_data()
            .pending_calls
            .get(call)
            .map(|waiting| waiting.input.clone())
    }

    /// Takes a call from the desk, if it stands there. Whoever takes it decides; nobody else can.
    pub(crate) fn take_pending_call(&self, call: &CallId) -> Option<PendingCall> {
        self.lock_data().pending_calls.remove(call)
    }

    /// The tools that its calls find.
    pub(crate) fn tools(&self) -> Arc<Registry> {
        Arc::clone(&self.toolbox().registry)
    }

    /// The tools that its model sees: those that are shown at first, and those that it found since.
    pub(crate) fn definitions(&self) -> Arc<Vec<ToolDefinition>> {
        let tools = self.tools();
        self.with_conversation(|conversation| tools.definitions_with(&conversation.loaded))
    }

    /// The schema that its model answers in; none if words will do.
    pub(crate) fn output_schema(&self) -> Option<Arc<ComposedSchema>> {
        self.toolbox().composed.clone()
    }

    /// Its tools as they were read last, or as the person set them since.
    fn toolbox(&self) -> Arc<Toolbox> {
        let toolbox = self.current_toolbox();
        if toolbox.is_stale(&self.engine) {
            self.reload_tools();
            return self.current_toolbox();
        }
        toolbox
    }

    fn current_toolbox(&self) -> Arc<Toolbox> {
        Arc::clone(&self.toolbox.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Reads the files of tools anew; says what is wrong with them. What cannot be read leaves things as they are.
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
                *self.toolbox.write().unwrap_or_else(PoisonError::into_inner) = now;
                faults
            }
            Err(fault) => vec![fault],
        };
        self.engine
            .set_tool_errors(self.tool_context.workspace.root(), faults);
    }

    /// The call that opened it, if a call did.
    pub(crate) fn parent(&self) -> Option<ParentCall> {
        self.with_conversation(|conversation| conversation.parent.clone())
    }

    /// The state that was recorded last.
    pub(crate) fn state(&self) -> Option<SessionState> {
        self.lock_data().state
    }

    /// Changes the conversation.
    pub(crate) fn with_conversation<T>(&self, change: impl FnOnce(&mut Conversation) -> T) -> T {
        change(&mut self.lock_data().conversation)
    }
}
