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

use agent::{Engine, EngineConfig, EventStream, Host};
use protocol::{
    CallState, CallView, Decision, Entry, EntryBody, Event, EventBody, ModelChoice, Op, SessionId,
    SessionState,
    query::{Answer, Query},
};
use provider::{Provider, Script, ScriptedProvider};
use runtime::SessionFolder;
use runtime::clock::{CountingIdGenerator, FrozenClock};
use serde_json::{Value, json};

pub mod dishonest_tool;
pub mod golden;
pub mod probe;
pub mod scripted_agents;
pub mod servers;
pub mod test_site;

/// How long a test waits for something that must happen before it fails loudly.
pub const WAIT_TIMEOUT: Duration = Duration::from_secs(30);

/// A desk with one workspace and a scripted agent.
pub struct Fixture {
    /// The engine.
    pub desk: Engine,
    /// The session, once it was opened.
    pub session: SessionId,
    events: EventStream,
    seen: Vec<Event>,
    config: EngineConfig,
    folder: tempfile::TempDir,
}

impl Fixture {
    /// A person at a desk, an empty workspace, and an agent that plays `turns`.
    pub async fn new(turns: Value) -> Self {
        Self::with_host(turns, Host::Person).await
    }

    /// The same, with another host.
    pub async fn with_host(turns: Value, host: Host) -> Self {
        let script = Script::parse(&json!({ "turns": turns }).to_string()).unwrap();
        Self::with_provider(Arc::new(ScriptedProvider::new(script)), host).await
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
        let desk = Engine::open(config.clone()).await.unwrap();
        let events = desk.subscribe(0);
        Self {
            desk,
            session: SessionId(String::new()),
            events,
            seen: Vec::new(),
            config,
            folder,
        }
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

    /// What stands in a file of the workspace; none if there is none.
    pub fn read_file(&self, path: &str) -> Option<String> {
        std::fs::read_to_string(self.workspace_root().join(path)).ok()
    }

    /// Opens the session and lets the agent begin.
    pub async fn start(&mut self, prompt: &str) {
        self.start_session_with(prompt, None).await;
    }

    /// The same, for a run that must come to an output in this schema.
    pub async fn start_session_with(&mut self, prompt: &str, output_schema: Option<Value>) {
        let receipt = self
            .desk
            .submit(Op::OpenSession {
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
            })
            .await
            .unwrap();
        self.session = receipt.session.unwrap();
    }

    /// Opens the session and waits until the run came to its end by itself.
    pub async fn play(&mut self) {
        self.start("Go.").await;
        self.wait_until_ended().await;
    }

    /// Waits for an event, and gives it.
    pub async fn until(&mut self, what: &str, wanted: impl Fn(&EventBody) -> bool) -> Event {
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

    /// Waits until the run is over, and gives how.
    pub async fn wait_until_ended(&mut self) -> SessionState {
        let over = |body: &EventBody| match body {
            EventBody::SessionChanged { state } => {
                matches!(
                    state,
                    SessionState::Done | SessionState::Failed | SessionState::Interrupted
                )
            }
            _ => false,
        };
        match self.until("the end of the run", over).await.body {
            EventBody::SessionChanged { state } => state,
            _ => unreachable!(),
        }
    }

    /// Waits until the run of some session is over, and gives which.
    pub async fn wait_until_ended_session(&mut self) -> SessionId {
        let over = |body: &EventBody| {
            matches!(
                body,
                EventBody::SessionChanged {
                    state: SessionState::Done | SessionState::Failed | SessionState::Interrupted
                }
            )
        };
        self.until("the end of a run", over).await.session
    }

    /// Waits until a call stands on the desk, and gives it as the desk shows it.
    pub async fn wait_for_call(&mut self) -> CallView {
        let event = self
            .until("a waiting call", |body| {
                matches!(body, EventBody::CallWaits { .. })
            })
            .await;
        let EventBody::CallWaits { call, .. } = event.body else {
            unreachable!()
        };
        self.find_call(call.as_str()).await
    }

    /// Waits until so many calls came to stand on the desk, and gives those that stand there.
    pub async fn wait_for_calls(&mut self, calls: usize) -> Vec<CallView> {
        let seen = std::cell::Cell::new(0);
        self.until("waiting calls", |body| {
            seen.set(seen.get() + usize::from(matches!(body, EventBody::CallWaits { .. })));
            seen.get() == calls
        })
        .await;
        let entries = self.desk.snapshot().await.unwrap().desk;
        let views = entries.into_iter().filter_map(|entry| match entry.body {
            EntryBody::Call(view) => Some(*view),
            _ => None,
        });
        views.collect()
    }

    /// Decides on a waiting call as it was shown.
    pub async fn decide_call(
        &self,
        view: &CallView,
        decision: Decision,
    ) -> Result<(), protocol::UserError> {
        let digest = view.waits.as_ref().expect("the call waits").digest.clone();
        let op = Op::Decide {
            session: self.session.clone(),
            call: view.call.id.clone(),
            digest,
            decision,
        };
        self.desk.submit(op).await.map(drop)
    }

    /// Allows a waiting call.
    pub async fn allow_call(&self, view: &CallView) {
        self.decide_call(
            view,
            Decision::Allow {
                hunks: None,
                note: String::new(),
                always: None,
            },
        )
        .await
        .unwrap();
    }

    /// Starts the agent, allows the call that waits first, and waits until it runs.
    pub async fn start_until_running(&mut self) {
        self.start("Go.").await;
        let view = self.wait_for_call().await;
        self.allow_call(&view).await;
        let runs = |body: &EventBody| matches!(body, EventBody::CallStarted { .. });
        self.until("the call runs", runs).await;
    }

    /// The session's transcript.
    pub async fn transcript(&self) -> Vec<Entry> {
        let query = Query::Transcript {
            session: self.session.clone(),
            before: None,
            limit: 1_000,
        };
        match self.desk.query(query).await.unwrap() {
            Answer::Transcript { entries, .. } => entries,
            other => panic!("{other:?}"),
        }
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

    /// What the model is told of every call, in order.
    pub async fn call_texts(&self) -> Vec<String> {
        let outcomes = self.call_outcomes().await.into_iter();
        outcomes.map(|(_, text)| text).collect()
    }

    /// Every event so far, read from the record.
    pub async fn events(&self) -> Vec<Event> {
        let mut events = self.desk.subscribe(0);
        let last = self.desk.last_seq().unwrap();
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
        self.desk.close();
        wait_until_unlocked(&self.config.data_dir).await;
    }

    /// Ends this desk and opens another one over the same folders, as a new start of the app would. Waits see what comes
    /// after the end.
    pub async fn restart(self) -> Self {
        let Self {
            desk,
            session,
            config,
            folder,
            ..
        } = self;
        let since = desk.last_seq().unwrap();
        desk.close();
        drop(desk);
        wait_until_unlocked(&config.data_dir).await;
        let desk = Engine::open(config.clone()).await.unwrap();
        let events = desk.subscribe(since);
        Self {
            desk,
            session,
            events,
            seen: Vec::new(),
            config,
            folder,
        }
    }
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

/// One turn that says nothing and asks for one call.
pub fn call_json(name: &str, arguments: Value) -> Value {
    json!({ "text": "", "calls": [{ "name": name, "arguments": arguments }] })
}
