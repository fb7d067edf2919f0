//! A server of the tests as its person would have set it up, and calls of its tools as an approved one makes them.

#![allow(dead_code, reason = "every test file uses a part of it")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcp::{
    CredentialVault, McpServer, ReferenceResolver, ServerDependencies, ServerSandboxLauncher,
    ToolPins,
};
use protocol::server::mcp_servers::{
    ServerId, ServerSandbox, ServerSettings, ServerState, ServerTransport, SignInState,
};
use protocol::text::display_text::join_spans;
use protocol::{ToolError, ToolOutput};
use runtime::{Companion, CompanionCommand, FrozenClock, InheritedEnv};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use tools::ElicitationChannel;

/// How long a test waits for something that must happen before it fails loudly.
pub const PATIENCE: Duration = Duration::from_secs(30);

pub struct Nothing;

impl ReferenceResolver for Nothing {
    fn resolve_variable(&self, name: &str) -> Option<String> {
        (name == "KNOWN").then(|| "known".to_owned())
    }

    fn resolve_secret(&self, name: &str) -> Result<Option<String>, String> {
        Ok(match name {
            "token" => Some("hush".to_owned()),
            // Nobody listens at this port.
            "address" => Some("http://127.0.0.1:1/mcp?key=hush".to_owned()),
            _ => None,
        })
    }
}

/// A keychain of one server, or one that is locked.
#[derive(Default)]
pub struct Chain {
    pub kept: Mutex<Option<String>>,
    pub is_locked: bool,
}

impl CredentialVault for Chain {
    fn get(&self, _: &ServerId) -> Result<Option<String>, String> {
        match self.is_locked {
            true => Err("The keychain is locked.".to_owned()),
            false => Ok(self.kept.lock().unwrap().clone()),
        }
    }

    fn set(&self, _: &ServerId, record: &str) -> Result<(), String> {
        *self.kept.lock().unwrap() = Some(record.to_owned());
        Ok(())
    }

    fn remove(&self, _: &ServerId) -> Result<(), String> {
        *self.kept.lock().unwrap() = None;
        Ok(())
    }

    /// No other process is there.
    fn lock_renewal(&self, _: &ServerId) -> Result<Box<dyn Send>, String> {
        Ok(Box::new(()))
    }
}

/// A machine on which there is no sandbox.
pub struct NoSandboxes;

#[async_trait::async_trait]
impl ServerSandboxLauncher for NoSandboxes {
    async fn start_sandboxed(
        &self,
        _: &CompanionCommand,
        sandbox: &ServerSandbox,
    ) -> Result<Companion, String> {
        Err(format!("there is no sandbox around {}", sandbox.workspace))
    }

    fn overlaps_folder(&self, _: &ServerSandbox, _: &Path) -> bool {
        false
    }
}

pub fn ground() -> ServerDependencies {
    ServerDependencies {
        sandbox_launcher: Arc::new(NoSandboxes),
        vault: Arc::new(Chain::default()),
        data_dir: None,
        inherited: InheritedEnv::default(),
        home: std::env::temp_dir(),
        lookup: Arc::new(Nothing),
        clock: Arc::new(FrozenClock::default()),
        retry_after: vec![Duration::from_secs(600)],
    }
}

pub fn settings(traits: &[&str]) -> ServerSettings {
    ServerSettings {
        id: ServerId::try_from("one".to_owned()).unwrap(),
        transport: ServerTransport::Stdio {
            command: env!("CARGO_BIN_EXE_mcp_fixture").to_owned(),
            args: traits.iter().map(|one| (*one).to_owned()).collect(),
            env: BTreeMap::new(),
            folder: None,
            sandbox: None,
        },
        timeout_ms: 20_000,
        audience: None,
        enabled: true,
    }
}

/// A server whose tools were approved as they are.
pub async fn approved(settings: ServerSettings, ground: ServerDependencies) -> Arc<McpServer> {
    let server = Arc::new(McpServer::new(settings, ToolPins::default(), ground));
    server.ensure_connected().await.unwrap();
    server.set_pins(ToolPins::approve_initial(&server.catalogue().unwrap()));
    server
}

pub async fn fixture(traits: &[&str]) -> Arc<McpServer> {
    approved(settings(traits), ground()).await
}

/// Calls a tool as the pipeline does once it was approved.
pub async fn call(
    server: &Arc<McpServer>,
    tool: &str,
    arguments: Value,
) -> Result<ToolOutput, ToolError> {
    call_until(server, tool, arguments, &CancellationToken::new()).await
}

pub async fn call_until(
    server: &Arc<McpServer>,
    tool: &str,
    arguments: Value,
    cancel: &CancellationToken,
) -> Result<ToolOutput, ToolError> {
    let progress = Arc::new(Mutex::new(Vec::new()));
    call_hearing(server, tool, arguments, cancel, &progress).await
}

pub async fn call_hearing(
    server: &Arc<McpServer>,
    tool: &str,
    arguments: Value,
    cancel: &CancellationToken,
    progress: &Arc<Mutex<Vec<String>>>,
) -> Result<ToolOutput, ToolError> {
    let heard = progress.clone();
    let listener = Arc::new(move |text: &str| heard.lock().unwrap().push(text.to_owned()));
    let arguments = arguments.as_object().unwrap().clone();
    let tool = tool_of(server, tool);
    let answer = tool.call_approved(arguments, cancel, Some(listener), None);
    tokio::time::timeout(PATIENCE, answer).await.unwrap()
}

/// An approved tool.
pub fn tool_of(server: &Arc<McpServer>, tool: &str) -> mcp::McpTool {
    let pins = server.pins();
    let pinned = pins
        .tools
        .iter()
        .find(|one| one.definition.name == tool)
        .unwrap();
    mcp::McpTool::new(server.clone(), pinned)
}

/// Calls a tool that asks back.
pub async fn call_asking(
    server: &Arc<McpServer>,
    tool: &str,
    arguments: Value,
    asks: Arc<dyn ElicitationChannel>,
) -> Result<ToolOutput, ToolError> {
    let never = CancellationToken::new();
    let arguments = arguments.as_object().unwrap().clone();
    let tool = tool_of(server, tool);
    let answer = tool.call_approved(arguments, &never, None, Some(asks));
    tokio::time::timeout(PATIENCE, answer).await.unwrap()
}

pub async fn said(server: &Arc<McpServer>, tool: &str, arguments: Value) -> String {
    call(server, tool, arguments).await.unwrap().text
}

pub async fn echo(server: &Arc<McpServer>, message: &str) -> String {
    said(server, "echo", json!({ "message": message })).await
}

/// Waits until the log holds something.
pub async fn logged(server: &McpServer, what: &str) {
    let found = || {
        let lines = server.log_lines();
        lines
            .iter()
            .any(|line| join_spans(&line.text).contains(what))
    };
    until(found).await;
}

/// Waits until something is so.
pub async fn until(mut is_so: impl FnMut() -> bool) {
    let waited = async {
        while !is_so() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    tokio::time::timeout(PATIENCE, waited).await.unwrap();
}

/// The address that waits for the person.
pub fn waits_at(server: &McpServer) -> String {
    match server.view().sign_in {
        Some(SignInState::Waiting { url, .. }) => url,
        other => panic!("nobody is waited for: {other:?}"),
    }
}

/// Opens an address as a browser does; where that leads.
pub async fn led_on(url: &str) -> String {
    let browser = runtime::net::build_server_client(url).unwrap();
    let page = browser.get(url).send().await.unwrap();
    let leads = page.headers().get("location");
    leads.unwrap().to_str().unwrap().to_owned()
}

/// The same for one that leads nowhere; its status and what stands there.
pub async fn opened(url: &str) -> (u16, String) {
    let browser = runtime::net::build_server_client(url).unwrap();
    let page = browser.get(url).send().await.unwrap();
    (page.status().as_u16(), page.text().await.unwrap())
}

/// How the person stands to it once nobody is waited for any more.
pub async fn settled(server: &McpServer) -> Option<SignInState> {
    until(|| !matches!(server.view().sign_in, Some(SignInState::Waiting { .. }))).await;
    server.view().sign_in
}

pub fn is_unavailable(server: &McpServer) -> bool {
    matches!(server.view().state, ServerState::Unavailable { .. })
}

pub fn file(folder: &tempfile::TempDir, name: &str) -> PathBuf {
    folder.path().join(name)
}
