//! A connection to one server in one folder: handshake, document synchronization, requests, and shutdown.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use protocol::text::display_text::to_single_line;
use runtime::{CommandExit, CompanionCommand, ProcessLifetime};
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tools::language_service::PositionEncoding;

use crate::file_uri;
use crate::limits::{EXIT_TIMEOUT, LOADING_START_WAIT, REASON_CHARS_MAX};
use crate::lock_mutex;
use crate::open_documents::OpenDocuments;
use crate::transport::{LspFailure, LspTransport};

/// Timeouts of a server.
#[derive(Debug, Clone)]
pub struct LspTimeouts {
    /// Longest time until a server has started.
    pub start: Duration,
    /// Longest time until a server has answered.
    pub answer: Duration,
    /// Longest time until a server has published problems by itself.
    pub problems: Duration,
    /// Longest time until a server has loaded the workspace.
    pub loading: Duration,
    /// Time after which a server without requests is ended.
    pub idle: Duration,
    /// Pauses before a lost server may be started again, in order; the last one repeats.
    pub retry_after: Vec<Duration>,
}

impl Default for LspTimeouts {
    fn default() -> Self {
        use crate::limits::{
            ANSWER_TIMEOUT, IDLE_TIMEOUT, LOADING_WAIT, PROBLEMS_WAIT, RETRY_AFTER_S, START_TIMEOUT,
        };
        Self {
            start: START_TIMEOUT,
            answer: ANSWER_TIMEOUT,
            problems: PROBLEMS_WAIT,
            loading: LOADING_WAIT,
            idle: IDLE_TIMEOUT,
            retry_after: RETRY_AFTER_S.map(Duration::from_secs).to_vec(),
        }
    }
}

/// A connection to a running server.
pub(crate) struct LspConnection {
    pub wire: Arc<LspTransport>,
    pub documents: OpenDocuments,
    pub encoding: PositionEncoding,
    /// Capabilities that the server declares.
    capabilities: Value,
    pub timeouts: LspTimeouts,
    pub started_at: Instant,
    last_used: Mutex<Instant>,
    life: Mutex<Option<ProcessLifetime>>,
    exit: watch::Receiver<Option<CommandExit>>,
}

/// Reason why an unused server was ended, which is not a failure of the server.
pub(crate) const IDLE_REASON: &str = "nobody asked it anything";

impl LspConnection {
    /// Starts a server in the folder of its command, with these initialization options.
    ///
    /// # Errors
    /// The reason why it did not start, as a clause.
    pub(crate) async fn open(
        command: &CompanionCommand,
        options: Option<&Value>,
        patience: &LspTimeouts,
    ) -> Result<Arc<Self>, String> {
        let root = &command.folder;
        let address = file_uri::path_to_uri(root).ok_or("its folder has no address")?;
        let name = root.file_name().unwrap_or_default().to_string_lossy();
        let folder = json!({ "uri": address, "name": name });
        let companion = runtime::start_companion(command);
        let companion =
            companion.map_err(|error| format!("its program could not be started: {error}"))?;
        let (wire, life) = LspTransport::from_companion(companion, folder.clone());
        let ended = life.subscribe();
        let handshake = initialize_server(&wire, &address, &folder, options, patience.start);
        let (capabilities, encoding) = match handshake.await {
            Ok(handshake) => handshake,
            Err(failure) => {
                let why = match failure {
                    LspFailure::Disconnected => describe_disconnect(&wire, ended).await,
                    LspFailure::TimedOut(limit) => {
                        format!("it did not begin within {} s", limit.as_secs_f64())
                    }
                    LspFailure::Rejected { message, .. } => {
                        let message = to_single_line(&message, REASON_CHARS_MAX);
                        format!("it would not begin: {message}")
                    }
                    LspFailure::Malformed(why) => why,
                    LspFailure::Cancelled => "it was called off".to_owned(),
                };
                wire.close(&*why);
                return Err(why);
            }
        };
        let now = Instant::now();
        let link = Arc::new(Self {
            wire,
            documents: OpenDocuments::default(),
            encoding,
            capabilities,
            timeouts: patience.clone(),
            started_at: now,
            last_used: Mutex::new(now),
            life: Mutex::new(Some(life)),
            exit: ended,
        });
        tokio::spawn(close_when_idle(
            Arc::downgrade(&link),
            link.wire.disconnected.clone(),
            patience.idle,
        ));
        Ok(link)
    }

    /// Whether the server declares this capability.
    pub(crate) fn has_capability(&self, provider: &str) -> bool {
        let declared = self.capabilities.get(provider);
        declared.is_some_and(|value| !matches!(value, Value::Null | Value::Bool(false)))
    }

    /// Whether the server declares this option of a capability as true.
    pub(crate) fn has_capability_option(&self, pointer: &str) -> bool {
        self.capabilities.pointer(pointer) == Some(&Value::Bool(true))
    }

    /// Whether the connection is closed.
    pub(crate) fn is_closed(&self) -> bool {
        self.wire.disconnected.is_cancelled()
    }

    /// Records that the server is in use, which restarts its idle time.
    pub(crate) fn mark_used(&self) {
        *lock_mutex(&self.last_used) = Instant::now();
    }

    fn idle_duration(&self) -> Duration {
        lock_mutex(&self.last_used).elapsed()
    }

    /// Closes the connection and ends the server, with all processes that it started.
    pub(crate) fn close(&self, why: &str) {
        self.wire.close(why);
        drop(lock_mutex(&self.life).take());
    }

    /// Returns the reason why the connection is closed, as a clause.
    pub(crate) async fn disconnect_reason(&self) -> String {
        describe_disconnect(&self.wire, self.exit.clone()).await
    }

    /// Waits while the server says that it is loading. Returns `false` if it still is after the timeout.
    pub(crate) async fn wait_until_loaded(&self) -> bool {
        let young = LOADING_START_WAIT.saturating_sub(self.started_at.elapsed());
        if !young.is_zero() && !self.wire.notifications.is_loading() {
            tokio::time::sleep(young).await;
        }
        self.wire
            .notifications
            .wait_until_loaded(self.timeouts.loading)
            .await
    }
}

impl Drop for LspConnection {
    fn drop(&mut self) {
        self.wire.close("it was let go");
    }
}

/// Ends a server that is idle, and cleans up after a server that has ended.
async fn close_when_idle(
    link: std::sync::Weak<LspConnection>,
    gone: CancellationToken,
    idle: Duration,
) {
    loop {
        let rest = match link.upgrade() {
            None => return,
            Some(link) if gone.is_cancelled() => return link.close("it ended"),
            Some(link) if link.wire.has_pending_requests() => idle,
            Some(link) => match idle.saturating_sub(link.idle_duration()) {
                Duration::ZERO => return link.close(IDLE_REASON),
                rest => rest,
            },
        };
        tokio::select! {
            () = gone.cancelled() => {}
            () = tokio::time::sleep(rest) => {}
        }
    }
}

/// Describes why a connection is closed; for a program that ended, includes how it ended.
async fn describe_disconnect(
    wire: &LspTransport,
    mut ended: watch::Receiver<Option<CommandExit>>,
) -> String {
    let why = wire.close_reason().unwrap_or_else(|| "it ended".to_owned());
    if why != "it ended" {
        return why;
    }
    let over = async {
        let exit = ended.wait_for(Option::is_some).await.map(|exit| *exit);
        wire.stderr_drained.cancelled().await;
        exit
    };
    let exit = tokio::time::timeout(EXIT_TIMEOUT, over).await;
    let exit = exit.ok().and_then(Result::ok).flatten();
    let how = match exit {
        Some(CommandExit::Code(code)) => format!("it ended with code {code}"),
        Some(CommandExit::Signal(signal)) => format!("it was ended by signal {signal}"),
        Some(CommandExit::Cancelled | CommandExit::TimedOut) | None => why,
    };
    match wire.last_stderr_line() {
        Some(line) => format!(
            "{how} and said: {}",
            to_single_line(&line, REASON_CHARS_MAX)
        ),
        None => how,
    }
}

/// Performs the handshake. Returns the capabilities of the server, and the encoding of its columns.
async fn initialize_server(
    wire: &LspTransport,
    address: &str,
    folder: &Value,
    options: Option<&Value>,
    timeout: Duration,
) -> Result<(Value, PositionEncoding), LspFailure> {
    let never = CancellationToken::new();
    let mut params = json!({
        "processId": null,
        "clientInfo": { "name": "countersign", "version": env!("CARGO_PKG_VERSION") },
        "rootUri": address,
        "rootPath": file_uri::uri_to_path(address),
        "workspaceFolders": [folder],
        "capabilities": client_capabilities(),
    });
    if let Some(options) = options {
        params["initializationOptions"] = options.clone();
    }
    let answer = wire
        .send_request("initialize", params, timeout, &never)
        .await?;
    let capabilities = answer.get("capabilities");
    let Some(capabilities) = capabilities.filter(|value| value.is_object()) else {
        let why = "it did not say what it can do";
        return Err(LspFailure::Malformed(why.to_owned()));
    };
    let encoding = capabilities.get("positionEncoding");
    let encoding = match encoding.map(Value::as_str) {
        None | Some(Some("utf-16")) => PositionEncoding::Utf16,
        Some(Some("utf-8")) => PositionEncoding::Utf8,
        Some(Some("utf-32")) => PositionEncoding::Utf32,
        Some(_) => {
            let why = "it counts columns in a way that nobody asked for";
            return Err(LspFailure::Malformed(why.to_owned()));
        }
    };
    let capabilities = capabilities.clone();
    wire.send_notification("initialized", json!({})).await?;
    Ok((capabilities, encoding))
}

/// Returns the capabilities of this client: few, and none that changes a file.
fn client_capabilities() -> Value {
    json!({
        "general": { "positionEncodings": ["utf-8", "utf-16"] },
        "window": { "workDoneProgress": true },
        "workspace": {
            "applyEdit": false,
            "workspaceEdit": { "documentChanges": true },
            "workspaceFolders": true,
            "symbol": {},
        },
        "textDocument": {
            "synchronization": {},
            "definition": { "linkSupport": false },
            "references": {},
            "documentSymbol": { "hierarchicalDocumentSymbolSupport": true },
            "rename": { "prepareSupport": true },
            "publishDiagnostics": { "versionSupport": true },
            "diagnostic": {},
        },
    })
}
