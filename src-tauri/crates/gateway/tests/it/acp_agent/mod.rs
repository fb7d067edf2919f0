//! Stories of an editor that speaks line by line with an agent that plays a script.
mod calls;
mod desk;
mod questions;
mod sessions;

use std::sync::Arc;
use std::time::Duration;

use agent::{Engine, EngineConfig, Host};
use gateway::acp_agent::{AgentOptions, serve};
use protocol::{ModelChoice, UserError};
use provider::{MemoryKeyStore, Script, ScriptedProvider};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf};
use tokio::task::JoinHandle;

/// How long a message is waited for before the test fails.
const PATIENCE: Duration = Duration::from_secs(60);

/// An editor, the agent on the other end, and what the editor heard.
pub(super) struct Editor {
    pub engine: Engine,
    pub session: String,
    to: Option<WriteHalf<DuplexStream>>,
    from: tokio::io::Lines<BufReader<ReadHalf<DuplexStream>>>,
    /// Messages in the order in which they came.
    pub heard: Vec<Value>,
    sent: u64,
    served: JoinHandle<Result<(), UserError>>,
    folder: TempDir,
}

impl Editor {
    /// Starts an agent that plays these turns; nothing is said yet.
    pub async fn start(turns: Value) -> Self {
        Self::start_with(turns, |_| {}).await
    }

    /// The same, with an engine that is set up otherwise.
    pub async fn start_with(turns: Value, change: impl FnOnce(&mut EngineConfig)) -> Self {
        let (folder, engine) = open_engine(turns, change).await;
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let (from, to) = tokio::io::split(ours);
        let options = AgentOptions {
            model: Some(script_model()),
            ..AgentOptions::default()
        };
        let served = tokio::spawn({
            let engine = engine.clone();
            async move { serve(&engine, options, from, to, std::future::pending()).await }
        });
        Self::new(folder, engine, theirs, served)
    }

    fn new(
        folder: TempDir,
        engine: Engine,
        stream: DuplexStream,
        served: JoinHandle<Result<(), UserError>>,
    ) -> Self {
        let (from, to) = tokio::io::split(stream);
        Self {
            engine,
            session: String::new(),
            to: Some(to),
            from: BufReader::new(from).lines(),
            heard: Vec::new(),
            sent: 0,
            served,
            folder,
        }
    }

    /// An editor with an open session.
    pub async fn open(turns: Value) -> Self {
        let mut editor = Self::start(turns).await;
        editor.begin_session(json!({})).await;
        editor
    }

    /// Introduces the editor with these capabilities, and opens a session.
    pub async fn begin_session(&mut self, capabilities: Value) {
        let hello = json!({ "protocolVersion": 1, "clientCapabilities": capabilities });
        let said = self.ask("initialize", hello).await;
        assert_eq!(said["result"]["protocolVersion"], 1, "{said}");
        let opened = self.ask("session/new", self.folder_params()).await;
        self.session = text(&opened["result"]["sessionId"]);
    }

    pub fn folder_params(&self) -> Value {
        json!({ "cwd": self.folder.path().join("workspace"), "mcpServers": [] })
    }

    /// Parameters about the open session, with these beside.
    pub fn session_params(&self, more: Value) -> Value {
        let mut params = json!({ "sessionId": self.session });
        let more = more.as_object().unwrap().clone();
        params.as_object_mut().unwrap().extend(more);
        params
    }

    pub fn write_file(&self, path: &str, content: &str) {
        let path = self.folder.path().join("workspace").join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    pub fn read_file(&self, path: &str) -> Option<String> {
        std::fs::read_to_string(self.folder.path().join("workspace").join(path)).ok()
    }

    /// Writes a line as it is.
    pub async fn write_line(&mut self, line: &str) {
        let to = self.to.as_mut().unwrap();
        to.write_all(format!("{line}\n").as_bytes()).await.unwrap();
    }

    pub async fn notify(&mut self, method: &str, params: Value) {
        let message = json!({ "jsonrpc": "2.0", "method": method, "params": params });
        self.write_line(&message.to_string()).await;
    }

    /// Sends a request without waiting; returns its id.
    pub async fn begin(&mut self, method: &str, params: Value) -> u64 {
        self.sent += 1;
        let id = self.sent;
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.write_line(&request.to_string()).await;
        id
    }

    /// Sends a request, and waits for its answer.
    pub async fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params).await;
        self.wait_for_answer(id).await
    }

    /// Sends a prompt without waiting; returns its id.
    pub async fn begin_prompt(&mut self, words: &str) -> u64 {
        let prompt = json!([{ "type": "text", "text": words }]);
        let params = self.session_params(json!({ "prompt": prompt }));
        self.begin("session/prompt", params).await
    }

    /// Returns the answer to a request, heard or to come.
    pub async fn wait_for_answer(&mut self, id: u64) -> Value {
        let is_answer = |message: &Value| message["id"] == id && message.get("method").is_none();
        match self.heard.iter().find(|message| is_answer(message)) {
            Some(answer) => answer.clone(),
            None => self.wait_for(is_answer).await,
        }
    }

    /// Why the run of a prompt stopped.
    pub async fn wait_for_stop(&mut self, prompt: u64) -> String {
        let answer = self.wait_for_answer(prompt).await;
        assert_eq!(answer["error"], Value::Null, "{answer}");
        text(&answer["result"]["stopReason"])
    }

    /// Waits for the next request of this method.
    pub async fn wait_for_request(&mut self, method: &str) -> Value {
        self.wait_for(|message| message["method"] == method).await
    }

    /// Waits for the next message that fits.
    pub async fn wait_for(&mut self, fits: impl Fn(&Value) -> bool) -> Value {
        loop {
            let line = tokio::time::timeout(PATIENCE, self.from.next_line()).await;
            let line = line.unwrap_or_else(|_| panic!("nothing came after {:#?}", self.heard));
            let message: Value = serde_json::from_str(&line.unwrap().unwrap()).unwrap();
            self.heard.push(message.clone());
            if fits(&message) {
                return message;
            }
        }
    }

    /// Answers a request.
    pub async fn answer(&mut self, request: &Value, result: Value) {
        let answer = json!({ "jsonrpc": "2.0", "id": request["id"], "result": result });
        self.write_line(&answer.to_string()).await;
    }

    /// Chooses an option of a question for permission.
    pub async fn choose(&mut self, request: &Value, option: &str) {
        let outcome = json!({ "outcome": "selected", "optionId": option });
        self.answer(request, json!({ "outcome": outcome })).await;
    }

    /// Waits for the next question for permission, and chooses an option.
    pub async fn choose_next(&mut self, option: &str) -> Value {
        let request = self.wait_for_request("session/request_permission").await;
        self.choose(&request, option).await;
        request
    }

    /// All updates of this kind so far.
    pub fn updates(&self, kind: &str) -> Vec<Value> {
        let updates = self
            .heard
            .iter()
            .map(|message| &message["params"]["update"]);
        let of_kind = updates.filter(|update| update["sessionUpdate"] == kind);
        of_kind.cloned().collect()
    }

    /// The last words about each call: its title, its kind, and its status.
    pub fn calls(&self) -> Vec<[String; 3]> {
        let updates = self
            .heard
            .iter()
            .map(|message| &message["params"]["update"]);
        let mut calls: Vec<(String, [String; 3])> = Vec::new();
        for update in updates.filter(|update| update["toolCallId"].is_string()) {
            let id = text(&update["toolCallId"]);
            let said = |name: &str, default: &str| match &update[name] {
                Value::String(said) => said.clone(),
                _ => default.to_owned(),
            };
            let call = [
                said("title", ""),
                said("kind", "other"),
                said("status", "pending"),
            ];
            match calls.iter_mut().find(|(known, _)| *known == id) {
                Some((_, known)) => *known = call,
                None => calls.push((id, call)),
            }
        }
        calls.into_iter().map(|(_, call)| call).collect()
    }

    /// Closes the editor's side, and waits until the agent is done. The folder goes when it is dropped.
    pub async fn close(mut self) -> (TempDir, Engine) {
        self.to.take();
        drop(self.from);
        let served = tokio::time::timeout(PATIENCE, self.served).await;
        served.unwrap().unwrap().unwrap();
        (self.folder, self.engine)
    }
}

/// Opens an engine whose agent plays these turns, in a folder of its own.
pub(super) async fn open_engine(
    turns: Value,
    change: impl FnOnce(&mut EngineConfig),
) -> (TempDir, Engine) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("workspace")).unwrap();
    let script = Script::parse(&json!({ "turns": turns }).to_string()).unwrap();
    let mut config = EngineConfig::new(folder.path().join("data"), Host::Person);
    config.provider = Some(Arc::new(ScriptedProvider::new(script)));
    config.keys = Some(Arc::new(MemoryKeyStore::default()));
    change(&mut config);
    let engine = Engine::open(config).await.unwrap();
    (folder, engine)
}

/// The model that plays the script.
pub(super) fn script_model() -> ModelChoice {
    ModelChoice {
        provider: "script".to_owned(),
        model: String::new(),
    }
}

pub(super) fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}
