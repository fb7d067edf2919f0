//! One session in memory: what its run needs, who waits for a decision, and how it is steered.

mod rules_in_force;

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use policy::RuleSet;
use protocol::event::Parent;
use protocol::model::{Message, ToolDefinition};
use protocol::{CallId, EventBody, ModelChoice, SessionId, SessionState, Strategy};
use tokio::sync::{Notify, watch};
use tokio::time::Duration;
use tokio_util::sync::CancellationToken;
use tools::schema_first::Composed;
use tools::{Hands, Registry};

use crate::alarms::Alarms;
use crate::asks::OpenAsks;
use crate::background::Background;
use crate::briefing::Briefing;
use crate::conversation::Conversation;
use crate::desk::Shared;
use crate::held::Held;
use crate::journal::Journal;
use crate::repeats::Repeats;
use crate::rules;
use crate::run_limits::Spent;
use crate::stops::Stops;
use crate::surface::Bounds;
use crate::toolbox::Toolbox;
use crate::waiting::Waiting;
use crate::weighed::Weighed;
pub(crate) use crate::why::Why;
use crate::worked::Worked;

/// A session that is open in this process.
pub(crate) struct Session {
    pub id: SessionId,
    pub shared: Arc<Shared>,
    pub journal: Journal,
    pub hands: Hands,
    pub bounds: Bounds,
    pub model: ModelChoice,
    /// How the calls of one model turn are run; read once, when the session was admitted (`S001-27`).
    pub strategy: Strategy,
    /// What its model is told first.
    pub briefing: Arc<Briefing>,
    /// Work that it gave away and did not wait for.
    pub background: Background,
    /// Of its running calls.
    pub alarms: Alarms,
    /// What servers ask in its running calls.
    pub asks: OpenAsks,
    /// What ends one of its calls alone.
    pub stops: Stops,
    pub held: Held,
    rules: RulesInForce,
    rules_known: rules::Known,
    /// How often they were read; whoever waits for a decision looks again.
    rules_changed: watch::Sender<u64>,
    steering: Notify,
    toolbox: RwLock<Arc<Toolbox>>,
    live: Mutex<Live>,
}

/// The rules in force, read anew with each run; shared with what a search may look into.
pub(crate) type RulesInForce = Arc<RwLock<Arc<RuleSet>>>;

/// What changes while a session runs.
#[derive(Default)]
struct Live {
    /// Calls on the desk.
    waiting: HashMap<CallId, Waiting>,
    /// What the person said and the model has not heard.
    said: VecDeque<Message>,
    /// The run, while there is one.
    run: Option<CancellationToken>,
    /// Why the run was stopped, once it was.
    why: Why,
    /// How often the run's calls came to the same result, to notice loops.
    repeats: Repeats,
    worked: Worked,
    spent: Arc<Spent>,
    /// The state that was last recorded.
    state: Option<SessionState>,
    conversation: Conversation,
}

impl Session {
    pub(crate) fn new(
        id: SessionId,
        shared: Arc<Shared>,
        (hands, bounds): (Hands, Bounds),
        model: ModelChoice,
        (rules, toolbox, briefing): (RulesInForce, Toolbox, Arc<Briefing>),
        conversation: Conversation,
    ) -> Self {
        let journal = Journal::new(
            shared.record.clone(),
            id.clone(),
            shared.config.clock.clone(),
        );
        for open in &conversation.open {
            for arguments in std::iter::once(&open.call.arguments).chain(&open.edited) {
                journal.note_arguments(&open.call.id, arguments);
            }
        }
        let live = Mutex::new(Live {
            conversation,
            ..Live::default()
        });
        let strategy = shared.settings().strategy;
        Self {
            id,
            shared,
            journal,
            hands,
            bounds,
            model,
            strategy,
            briefing,
            background: Background::default(),
            alarms: Alarms::default(),
            asks: OpenAsks::default(),
            stops: Stops::default(),
            held: Held::default(),
            rules,
            rules_known: rules::Known::default(),
            rules_changed: watch::Sender::default(),
            steering: Notify::new(),
            toolbox: RwLock::new(Arc::new(toolbox)),
            live,
        }
    }

    fn live(&self) -> MutexGuard<'_, Live> {
        // A panic while the lock was held leaves plain data behind; going on with it is safe.
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The token of the run, which ends when the person stops it. A run that is not there counts as stopped.
    pub(crate) fn stop_token(&self) -> CancellationToken {
        self.live().run.clone().unwrap_or_else(|| {
            let ended = CancellationToken::new();
            ended.cancel();
            ended
        })
    }

    /// Begins a run; none if there is one already.
    pub(crate) fn begin_run(&self) -> Option<CancellationToken> {
        let mut live = self.live();
        if live.run.is_some() {
            return None;
        }
        let token = self.shared.closing.child_token();
        live.run = Some(token.clone());
        (live.why, live.repeats) = (Why::Person, Repeats::default());
        (live.worked, live.spent) = (Worked::beginning(), Arc::default());
        Some(token)
    }

    /// Ends the run in this state. False if something was said meanwhile: the run must go on.
    pub(crate) fn end_run(&self, state: SessionState) -> bool {
        let mut live = self.live();
        let stopped = live
            .run
            .as_ref()
            .is_none_or(CancellationToken::is_cancelled);
        if !stopped && !live.said.is_empty() {
            return false;
        }
        live.run = None;
        self.tell_state(&mut live, state);
        true
    }

    /// Stops the run, if there is one.
    pub(crate) fn stop(&self) -> bool {
        self.live()
            .run
            .as_ref()
            .map(CancellationToken::cancel)
            .is_some()
    }

    /// Stops the run for a reason of its own.
    pub(crate) fn stop_because(&self, why: Why) {
        let mut live = self.live();
        live.why = why;
        if let Some(token) = &live.run {
            token.cancel();
        }
    }

    /// Why the run was stopped.
    pub(crate) fn why(&self) -> Why {
        self.live().why
    }

    /// How long the run has been at work, without the time that it waited for a person.
    pub(crate) fn worked(&self) -> Duration {
        self.live().worked.time()
    }

    /// What the run used, with whoever works for it.
    pub(crate) fn spent(&self) -> Arc<Spent> {
        self.live().spent.clone()
    }

    /// Reads or changes how often the run's calls came to the same result.
    pub(crate) fn repeats<T>(&self, change: impl FnOnce(&mut Repeats) -> T) -> T {
        change(&mut self.live().repeats)
    }

    /// Whether a run is there.
    pub(crate) fn is_running(&self) -> bool {
        self.live().run.is_some()
    }

    /// Keeps what the person said for the run. Gives it back if there is no run to hear it.
    pub(crate) fn steer(&self, said: Message) -> Result<(), Message> {
        let mut live = self.live();
        match live.run {
            Some(_) => {
                live.said.push_back(said);
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
        !self.live().said.is_empty()
    }

    /// Waits until the person says something that the model has not heard.
    pub(crate) async fn steered(&self) {
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
    pub(crate) fn heard(&self) -> Vec<Message> {
        self.live().said.drain(..).collect()
    }

    /// Records a change of state, once.
    pub(crate) fn becomes(&self, state: SessionState) {
        self.tell_state(&mut self.live(), state);
    }

    /// Records whether the run waits for a person: it does as long as something stands on the desk, whatever else runs.
    pub(crate) fn at_work(&self) {
        let mut live = self.live();
        let state = match live.waiting.is_empty() && self.asks.is_empty() {
            true => SessionState::Running,
            false => SessionState::Waiting,
        };
        self.tell_state(&mut live, state);
    }

    fn tell_state(&self, live: &mut Live, state: SessionState) {
        if live.state != Some(state) {
            live.state = Some(state);
            live.worked.waits(state == SessionState::Waiting);
            self.journal.tell(EventBody::SessionChanged { state });
        }
    }

    /// Puts a call on the desk.
    pub(crate) fn put_on_desk(&self, call: CallId, waiting: Waiting) {
        self.live().waiting.insert(call, waiting);
    }

    /// What the verdict on a waiting call was made from.
    pub(crate) fn weighed(&self, call: &CallId) -> Option<Arc<Weighed>> {
        self.live()
            .waiting
            .get(call)
            .map(|waiting| waiting.weighed.clone())
    }

    /// Takes a call from the desk, if it stands there. Whoever takes it decides; nobody else can.
    pub(crate) fn take_from_desk(&self, call: &CallId) -> Option<Waiting> {
        self.live().waiting.remove(call)
    }

    /// The tools that its calls find.
    pub(crate) fn tools(&self) -> Arc<Registry> {
        Arc::clone(&self.toolbox().registry)
    }

    /// The tools that its model sees: those that are shown at first, and those that it found since.
    pub(crate) fn definitions(&self) -> Arc<Vec<ToolDefinition>> {
        let tools = self.tools();
        self.conversation(|conversation| tools.definitions_with(&conversation.loaded))
    }

    /// The schema that its model answers in; none if words will do.
    pub(crate) fn composed(&self) -> Option<Arc<Composed>> {
        self.toolbox().composed.clone()
    }

    /// Its tools as they were read last, or as the person set them since.
    fn toolbox(&self) -> Arc<Toolbox> {
        let toolbox = self.kept_toolbox();
        if toolbox.is_stale(&self.shared) {
            self.reload_tools();
            return self.kept_toolbox();
        }
        toolbox
    }

    fn kept_toolbox(&self) -> Arc<Toolbox> {
        Arc::clone(&self.toolbox.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Reads the files of tools anew; says what is wrong with them. What cannot be read leaves things as they are.
    pub(crate) fn reload_tools(&self) {
        let asked = self.conversation(|conversation| conversation.asked.clone());
        let toolbox = self.kept_toolbox();
        let now = toolbox.again(&self.shared, &self.hands.workspace, &self.briefing, &asked);
        let faults = match now {
            Ok(now) => {
                let faults = now.faults.clone();
                *self.toolbox.write().unwrap_or_else(PoisonError::into_inner) = now;
                faults
            }
            Err(fault) => vec![fault],
        };
        self.shared
            .set_tool_faults(self.hands.workspace.root(), faults);
    }

    /// The call that opened it, if a call did.
    pub(crate) fn parent(&self) -> Option<Parent> {
        self.conversation(|conversation| conversation.parent.clone())
    }

    /// The state that was recorded last.
    pub(crate) fn state(&self) -> Option<SessionState> {
        self.live().state
    }

    /// Changes the conversation.
    pub(crate) fn conversation<T>(&self, change: impl FnOnce(&mut Conversation) -> T) -> T {
        change(&mut self.live().conversation)
    }
}
