//! The fixture that engine tests share: a real desk over temporary folders, with a scripted agent, a frozen clock and
//! counted ids.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "tests fail by panicking, and set up real files"
)]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use agent::rulebook::explain::{ExplainOptions, Explainer};
use agent::{Engine, EngineConfig, EventStream, Host};
use protocol::event::{CallChange, SessionEvent};
use protocol::op::OpReceipt;
use protocol::query::{Answer, EngineView, Query};
use protocol::{
    CallState, CallView, Decision, Effects, Entry, EntryBody, Event, EventBody, ModelChoice, Op,
    Preview, SessionId, SessionState, Settings, UserError,
};
use provider::Provider;
use runtime::SessionFolder;
use runtime::clock::{CountingIdGenerator, FrozenClock};
use serde::Serialize;
use serde_json::Value;
use tools::Tool;

pub mod dishonest_tool;
pub mod golden;
pub mod probe;
pub mod scripted_agents;
pub mod servers;
pub mod test_site;
mod turns;

pub use turns::{
    call_bash, call_edit, call_read, call_tool, call_write, join_calls, say_text, script_provider,
};

/// Longest wait for something that must happen. After it the test fails.
pub const WAIT_TIMEOUT: Duration = Duration::from_secs(30);

/// A host without a person: what would ask is denied.
pub const HEADLESS: Host = Host::Headless { approve_all: false };

/// A host without a person, whose caller agreed to everything beforehand.
pub const HEADLESS_APPROVED: Host = Host::Headless { approve_all: true };

/// Takes the bindings of a pattern out of a value, and fails with the value if it is of another variant:
/// `expect_variant!(desk.query(query).await, Answer::Rules(view) => view)`.
#[macro_export]
macro_rules! expect_variant {
    ($value:expr, $pattern:pat => $bound:expr) => {
        match $value {
            $pattern => $bound,
            other => panic!("expected {}, got {other:?}", stringify!($pattern)),
        }
    };
}

/// A desk with one workspace and a scripted agent.
pub struct Fixture {
    /// The engine.
    pub engine: Engine,
    /// The session, once it was opened.
    pub session: SessionId,
    events: EventStream,
    seen: Vec<Event>,
    config: EngineConfig,
    folder: tempfile::TempDir,
}

impl Fixture {
    /// A person at a desk, an empty workspace, and an agent that plays `turns`.
    pub async fn new(turns: impl Serialize) -> Self {
        Self::with_host(turns, Host::Person).await
    }

    /// The same, with another host.
    pub async fn with_host(turns: impl Serialize, host: Host) -> Self {
        Self::with_provider(Arc::new(script_provider(turns)), host).await
    }

    /// The same, with another agent; its id must be `script`.
    pub async fn with_provider(provider: Arc<dyn Provider>, host: Host) -> Self {
        Self::with_config(provider, host, |_| {}).await
    }

    /// The same, with a desk that is set up otherwise.
    pub async fn with_config(
        provider: Arc<dyn Provider>,
        host: Host,
        change: impl FnOnce(&mut EngineConfig),
    ) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("workspace")).unwrap();
        let mut config = EngineConfig {
            provider: Some(provider),
            keys: Some(Arc::new(::provider::MemoryKeyStore::default())),
            clock: Arc::new(FrozenClock::default()),
            ids: Arc::new(CountingIdGenerator::default()),
            ..EngineConfig::new(folder.path().join("data"), host)
        };
        change(&mut config);
        let engine = Engine::open(config.clone()).await.unwrap();
        let events = engine.subscribe(0);
        Self {
            engine,
            session: SessionId(String::new()),
            events,
            seen: Vec::new(),
            config,
            folder,
        }
    }

    /// A person at a desk, and an agent that has these tools beside those of the house.
    pub async fn with_tools(provider: Arc<dyn Provider>, tools: Vec<Arc<dyn Tool>>) -> Self {
        Self::with_config(provider, Host::Person, |config| config.tools = tools).await
    }

    /// A desk whose agent plays `turns`, with this sandbox program.
    pub async fn with_sandbox(turns: impl Serialize, host: Host, program: Option<&str>) -> Self {
        let provider = Arc::new(script_provider(turns));
        let program = program.map(PathBuf::from);
        Self::with_config(provider, host, |config| config.sandbox_program = program).await
    }

    /// The workspace root.
    pub fn workspace_root(&self) -> PathBuf {
        self.folder.path().join("workspace").canonicalize().unwrap()
    }

    /// The data folder.
    pub fn data_dir(&self) -> &Path {
        &self.config.data_dir
    }

    /// Puts a file into the workspace.
    pub fn write_file(&mut self, path: &str, content: impl AsRef<[u8]>) -> &mut Self {
        let path = self.workspace_root().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
        self
    }

    /// Content of a file of the workspace; none if there is none.
    pub fn read_file(&self, path: &str) -> Option<String> {
        std::fs::read_to_string(self.workspace_root().join(path)).ok()
    }

    /// Writes the person's own rules.
    pub fn write_rules(&self, rules: impl AsRef<[u8]>) {
        std::fs::create_dir_all(self.data_dir()).unwrap();
        std::fs::write(self.data_dir().join("rules.toml"), rules).unwrap();
    }

    /// Carries out an op that the engine takes.
    pub async fn submit(&self, op: Op) -> OpReceipt {
        self.engine.submit(op).await.unwrap()
    }

    /// Asks the engine something that it answers.
    pub async fn query(&self, query: Query) -> Answer {
        self.engine.query(query).await.unwrap()
    }

    /// Everything that a window shows first.
    pub async fn snapshot(&self) -> EngineView {
        self.engine.snapshot().await.unwrap()
    }

    /// Sets the person's settings.
    pub async fn set_settings(&self, settings: Settings) {
        let settings = Box::new(settings);
        self.submit(Op::SetSettings { settings }).await;
    }

    /// Sends a message of the person's to the session.
    pub async fn send_message(&self, text: &str) {
        self.submit(Op::say(self.session.clone(), text)).await;
    }

    /// Opens an explainer of calls in the workspace.
    pub fn open_explainer(&self) -> Explainer {
        let options = ExplainOptions {
            workspace: self.workspace_root(),
            ..ExplainOptions::default()
        };
        self.engine.open_explainer(options).unwrap()
    }

    /// Interrupts the session's run.
    pub async fn interrupt_run(&self) {
        let session = self.session.clone();
        self.submit(Op::Interrupt { session }).await;
    }

    /// Opens the session and lets the agent begin.
    pub async fn start(&mut self, prompt: &str) {
        self.start_session_with(prompt, None).await;
    }

    /// The same, for a run that must come to an output in this schema.
    pub async fn start_session_with(&mut self, prompt: &str, output_schema: Option<Value>) {
        let op = Op::OpenSession {
            workspace: self.workspace_root().display().to_string(),
            model: ModelChoice {
                provider: "script".into(),
                model: String::new(),
            },
            prompt: Some(prompt.into()),
            output_schema,
            temperature: None,
            agent: None,
            planning: false,
            enclosure: None,
            servers: None,
            former: None,
        };
        self.session = self.submit(op).await.session.unwrap();
    }

    /// Opens the session and waits until the run came to its end by itself.
    pub async fn play(&mut self) {
        self.start("Go.").await;
        self.wait_until_ended().await;
    }

    /// Waits for an event, and gives it.
    pub async fn wait_for_event(
        &mut self,
        what: &str,
        wanted: impl Fn(&EventBody) -> bool,
    ) -> Event {
        loop {
            let batch = tokio::time::timeout(WAIT_TIMEOUT, self.events.next()).await;
            let Ok(Ok(Some(batch))) = batch else {
                panic!("waited in vain for {what}; seen:\n{:#?}", self.seen);
            };
            let found = batch.iter().find(|event| wanted(&event.body)).cloned();
            self.seen.extend_from_slice(&batch);
            if let Some(event) = found {
                return event;
            }
        }
    }

    /// Waits until a run is over, and gives the event that says so.
    async fn wait_for_end(&mut self) -> Event {
        let over = |body: &EventBody| match body {
            EventBody::Session(SessionEvent::Changed { state }) => state.ends_run(),
            _ => false,
        };
        self.wait_for_event("the end of a run", over).await
    }

    /// Waits until the next run is over, and gives how.
    pub async fn wait_until_ended(&mut self) -> SessionState {
        let event = self.wait_for_end().await;
        expect_variant!(event.body, EventBody::Session(SessionEvent::Changed { state }) => state)
    }

    /// Waits until the run of the fixture's own session is over, whatever sub-agents end before.
    pub async fn wait_until_session_ended(&mut self) {
        while self.wait_for_end().await.session != self.session {}
    }

    /// Waits until a call of any session stands on the desk, and gives the event that says so.
    pub async fn wait_for_any_call(&mut self) -> Event {
        let waits = |body: &EventBody| {
            matches!(
                body,
                EventBody::Call {
                    change: CallChange::Waiting { .. },
                    ..
                }
            )
        };
        self.wait_for_event("a waiting call", waits).await
    }

    /// Waits until a call stands on the desk, and gives it as the desk shows it.
    pub async fn wait_for_call(&mut self) -> CallView {
        let event = self.wait_for_any_call().await;
        let id = expect_variant!(event.body, EventBody::Call { call, .. } => call);
        self.find_call(id.as_str()).await
    }

    /// Waits until so many calls came to stand on the desk, and gives those that stand there.
    pub async fn wait_for_calls(&mut self, calls: usize) -> Vec<CallView> {
        let seen = std::cell::Cell::new(0);
        self.wait_for_event("waiting calls", |body| {
            seen.set(
                seen.get()
                    + usize::from(matches!(
                        body,
                        EventBody::Call {
                            change: CallChange::Waiting { .. },
                            ..
                        }
                    )),
            );
            seen.get() == calls
        })
        .await;
        let entries = self.snapshot().await.desk;
        let views = entries.into_iter().filter_map(|entry| match entry.body {
            EntryBody::Call(view) => Some(*view),
            _ => None,
        });
        views.collect()
    }

    /// Decides on a waiting call as it was shown.
    pub async fn decide_call(&self, view: &CallView, decision: Decision) -> Result<(), UserError> {
        let digest = view
            .pending
            .as_ref()
            .expect("the call waits")
            .digest
            .clone();
        let op = Op::Decide {
            session: self.session.clone(),
            call: view.call.id.clone(),
            digest,
            decision,
        };
        self.engine.submit(op).await.map(drop)
    }

    /// Allows a waiting call.
    pub async fn allow_call(&self, view: &CallView) {
        self.decide_call(view, Decision::allow()).await.unwrap();
    }

    /// Waits until a call stands on the desk, decides on it, and gives it as it was shown.
    pub async fn decide_next(&mut self, decision: Decision) -> CallView {
        let view = self.wait_for_call().await;
        self.decide_call(&view, decision).await.unwrap();
        view
    }

    /// Waits until a call stands on the desk, allows it, and gives it as it was shown.
    pub async fn allow_next(&mut self) -> CallView {
        self.decide_next(Decision::allow()).await
    }

    /// Waits until a call stands on the desk, rejects it for this reason, and gives it as it was shown.
    pub async fn reject_next(&mut self, note: &str) -> CallView {
        self.decide_next(Decision::reject(note)).await
    }

    /// Waits until a call stands on the desk, replaces its arguments, and gives it as it was shown.
    pub async fn edit_next(&mut self, arguments: Value) -> CallView {
        let arguments = expect_variant!(arguments, Value::Object(members) => members);
        self.decide_next(Decision::Edit { arguments }).await
    }

    /// Undoes the changes of a call.
    pub async fn undo_call(&self, view: &CallView) {
        let entry = view.undo.clone().expect("it can be undone").id;
        self.submit(Op::Undo { entry }).await;
    }

    /// Waits until a call runs.
    pub async fn wait_until_running(&mut self) {
        let started = |body: &EventBody| {
            matches!(
                body,
                EventBody::Call {
                    change: CallChange::Started,
                    ..
                }
            )
        };
        self.wait_for_event("the start of a call", started).await;
    }

    /// Starts the agent, allows the call that waits first, and waits until it runs.
    pub async fn start_until_running(&mut self) {
        self.start("Go.").await;
        self.allow_next().await;
        self.wait_until_running().await;
    }

    /// The session's transcript.
    pub async fn transcript(&self) -> Vec<Entry> {
        let query = Query::Transcript {
            session: self.session.clone(),
            before: None,
            limit: 1_000,
        };
        expect_variant!(self.query(query).await, Answer::Transcript { entries, .. } => entries)
    }

    /// Every call, in order.
    pub async fn calls(&self) -> Vec<CallView> {
        let entries = self.transcript().await;
        entries
            .into_iter()
            .filter_map(|entry| match entry.body {
                EntryBody::Call(view) => Some(*view),
                _ => None,
            })
            .collect()
    }

    /// The state of every call, in order.
    pub async fn call_states(&self) -> Vec<CallState> {
        self.calls().await.iter().map(|view| view.state).collect()
    }

    /// The only call.
    pub async fn only_call(&self) -> CallView {
        let calls = <[CallView; 1]>::try_from(self.calls().await);
        let [call] = calls.unwrap_or_else(|calls| panic!("{} calls", calls.len()));
        call
    }

    /// One call by its id.
    pub async fn find_call(&self, id: &str) -> CallView {
        self.calls()
            .await
            .into_iter()
            .find(|view| view.call.id.as_str() == id)
            .expect("the call is on record")
    }

    /// The state and the model's text of every call, in order.
    pub async fn call_outcomes(&self) -> Vec<(CallState, String)> {
        let told = |view: CallView| {
            (
                view.state,
                view.outcome
                    .map(|outcome| outcome.model_text())
                    .unwrap_or_default(),
            )
        };
        self.calls().await.into_iter().map(told).collect()
    }

    /// The model's text of every call, in order.
    pub async fn call_texts(&self) -> Vec<String> {
        let outcomes = self.call_outcomes().await.into_iter();
        outcomes.map(|(_, text)| text).collect()
    }

    /// Every event so far, read from the record.
    pub async fn events(&self) -> Vec<Event> {
        let mut events = self.engine.subscribe(0);
        let last = self.engine.last_seq().unwrap();
        let mut all: Vec<Event> = Vec::new();
        while all.last().is_none_or(|event| event.seq < last) {
            all.extend_from_slice(&events.next().await.unwrap().unwrap());
        }
        all
    }

    /// A second desk over the same folders, as a window that another process opens beside this one has it.
    pub async fn open_window_engine(&self) -> Engine {
        let config = EngineConfig {
            watches_record: true,
            ..self.config.clone()
        };
        Engine::open(config).await.unwrap()
    }

    /// Another process over the same folders that has nobody to ask, as a command line is.
    pub async fn open_cli_engine(&self) -> Engine {
        let config = EngineConfig {
            recovers: false,
            host: Host::Headless { approve_all: false },
            ..self.config.clone()
        };
        Engine::open(config).await.unwrap()
    }

    /// Ends this desk as the end of its process would, in the middle of whatever it does.
    pub async fn close_session(&self) {
        self.engine.close();
        wait_until_unlocked(&self.config.data_dir).await;
    }

    /// Ends this desk and opens another one over the same folders, as a new start of the app would. Waits see what comes
    /// after the end.
    pub async fn restart(self) -> Self {
        let Self {
            engine,
            session,
            config,
            folder,
            ..
        } = self;
        let since = engine.last_seq().unwrap();
        engine.close();
        drop(engine);
        wait_until_unlocked(&config.data_dir).await;
        let engine = Engine::open(config.clone()).await.unwrap();
        let events = engine.subscribe(since);
        Self {
            engine,
            session,
            events,
            seen: Vec::new(),
            config,
            folder,
        }
    }
}

/// One rule of a rules file.
pub fn rule_text(permission: &str, pattern: &str, action: &str) -> String {
    format!("[[rule]]\npermission = '{permission}'\npattern = '{pattern}'\naction = '{action}'\n")
}

/// The effects that a call is shown by.
pub fn shown_effects(view: &CallView) -> &Effects {
    expect_variant!(&view.preview, Preview::Effects(shown) => &shown.effects)
}

/// Waits until all runs of a closed desk are over, as they are when its process ends.
async fn wait_until_unlocked(data: &Path) {
    let Ok(sessions) = std::fs::read_dir(data.join("sessions")) else {
        return;
    };
    for session in sessions {
        let id = session.unwrap().file_name().into_string().unwrap();
        let folder = SessionFolder::open(data, &SessionId(id)).unwrap();
        let over = async {
            while folder.try_lock().unwrap().is_none() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        let over = tokio::time::timeout(WAIT_TIMEOUT, over).await;
        over.expect("the runs of the closed desk end");
    }
}
