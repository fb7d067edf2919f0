//! One server at work in one folder: begun with the handshake, told of documents, asked, and ended.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use protocol::shown::in_a_sentence;
use runtime::{CompanionCommand, Exit, Inherited, Life};
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tools::languages::Encoding;

use crate::address;
use crate::documents::Documents;
use crate::limits::{ENDS_WITHIN, LOADING_BEGINS, REASON_CHARS_MAX};
use crate::wire::{Failure, Wire};

/// How long things may take.
#[derive(Debug, Clone)]
pub struct Patience {
    /// Until a server has begun.
    pub start: Duration,
    /// Until it has answered.
    pub answer: Duration,
    /// Until it has told problems by itself.
    pub problems: Duration,
    /// Until it has loaded the workspace.
    pub loading: Duration,
    /// A server that nobody asks for so long is ended.
    pub idle: Duration,
    /// When one that was lost may be started again: the pauses in order, the last one again and again.
    pub retry_after: Vec<Duration>,
}

impl Default for Patience {
    fn default() -> Self {
        use crate::limits::{
            ANSWER_TIMEOUT, IDLE, LOADING_WAIT, PROBLEMS_WAIT, RETRY_AFTER_S, START_TIMEOUT,
        };
        Self {
            start: START_TIMEOUT,
            answer: ANSWER_TIMEOUT,
            problems: PROBLEMS_WAIT,
            loading: LOADING_WAIT,
            idle: IDLE,
            retry_after: RETRY_AFTER_S.map(Duration::from_secs).to_vec(),
        }
    }
}

/// A server that answers.
pub(crate) struct Link {
    pub wire: Arc<Wire>,
    pub documents: Documents,
    pub encoding: Encoding,
    /// What it says that it can do.
    can: Value,
    pub patience: Patience,
    pub since: Instant,
    used: Mutex<Instant>,
    life: Mutex<Option<Life>>,
    ended: watch::Receiver<Option<Exit>>,
}

/// Why a server is over that nobody needed: it is no fault of its own.
pub(crate) const UNUSED: &str = "nobody asked it anything";

impl Link {
    /// Starts a server in a folder; it hears these options of its own.
    ///
    /// # Errors
    /// Why not, as a clause.
    pub(crate) async fn open(
        (program, args): (&Path, &[String]),
        options: Option<&Value>,
        root: &Path,
        inherited: &Inherited,
        patience: &Patience,
    ) -> Result<Arc<Self>, String> {
        let address = address::of(root).ok_or("its folder has no address")?;
        let name = root.file_name().unwrap_or_default().to_string_lossy();
        let folder = json!({ "uri": address, "name": name });
        let companion = runtime::accompany(&CompanionCommand {
            program: program.display().to_string(),
            args: args.to_vec(),
            folder: root.to_owned(),
            inherited: inherited.clone(),
            env: Vec::new(),
        });
        let companion =
            companion.map_err(|error| format!("its program could not be started: {error}"))?;
        let (wire, life) = Wire::of(companion, folder.clone());
        let ended = life.watch();
        let begun = begin(&wire, (&address, &folder), options, patience.start).await;
        let (can, encoding) = match begun {
            Ok(begun) => begun,
            Err(failure) => {
                let why = match failure {
                    Failure::Gone => why_gone(&wire, ended).await,
                    Failure::TimedOut(limit) => {
                        format!("it did not begin within {} s", limit.as_secs_f64())
                    }
                    Failure::Refused { message, .. } => {
                        let said = in_a_sentence(&message, REASON_CHARS_MAX);
                        format!("it would not begin: {said}")
                    }
                    Failure::Strange(why) => why,
                    Failure::Cancelled => "it was called off".to_owned(),
                };
                wire.end(&*why);
                return Err(why);
            }
        };
        let now = Instant::now();
        let link = Arc::new(Self {
            wire,
            documents: Documents::default(),
            encoding,
            can,
            patience: patience.clone(),
            since: now,
            used: Mutex::new(now),
            life: Mutex::new(Some(life)),
            ended,
        });
        tokio::spawn(attend(
            Arc::downgrade(&link),
            link.wire.gone.clone(),
            patience.idle,
        ));
        Ok(link)
    }

    /// Whether it says that it can do this.
    pub(crate) fn can(&self, provider: &str) -> bool {
        let said = self.can.get(provider);
        said.is_some_and(|said| !matches!(said, Value::Null | Value::Bool(false)))
    }

    /// Whether it says so of an option of what it can do.
    pub(crate) fn can_also(&self, pointer: &str) -> bool {
        self.can.pointer(pointer) == Some(&Value::Bool(true))
    }

    /// Whether it is over.
    pub(crate) fn is_gone(&self) -> bool {
        self.wire.gone.is_cancelled()
    }

    /// Somebody needs it.
    pub(crate) fn use_it(&self) {
        *self.used.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    fn idle_for(&self) -> Duration {
        let used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        used.elapsed()
    }

    /// Ends it, with everything that it started.
    pub(crate) fn close(&self, why: &str) {
        self.wire.end(why);
        drop(
            self.life
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .take(),
        );
    }

    /// Why it is over, as a clause.
    pub(crate) async fn why_gone(&self) -> String {
        why_gone(&self.wire, self.ended.clone()).await
    }

    /// Waits while it says that it is loading. False where it still is.
    pub(crate) async fn loaded(&self) -> bool {
        let young = LOADING_BEGINS.saturating_sub(self.since.elapsed());
        if !young.is_zero() && !self.wire.heard.is_loading() {
            tokio::time::sleep(young).await;
        }
        self.wire.heard.loaded(self.patience.loading).await
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.wire.end("it was let go");
    }
}

/// Ends a server that nobody asks, and what a server left that is over.
async fn attend(link: std::sync::Weak<Link>, gone: CancellationToken, idle: Duration) {
    loop {
        let rest = match link.upgrade() {
            None => return,
            Some(link) if gone.is_cancelled() => return link.close("it ended"),
            Some(link) if link.wire.is_busy() => idle,
            Some(link) => match idle.saturating_sub(link.idle_for()) {
                Duration::ZERO => return link.close(UNUSED),
                rest => rest,
            },
        };
        tokio::select! {
            () = gone.cancelled() => {}
            () = tokio::time::sleep(rest) => {}
        }
    }
}

/// Why a connection is over; of a program that ended, how.
async fn why_gone(wire: &Wire, mut ended: watch::Receiver<Option<Exit>>) -> String {
    let why = wire.why().unwrap_or_else(|| "it ended".to_owned());
    if why != "it ended" {
        return why;
    }
    let over = async {
        let exit = ended.wait_for(Option::is_some).await.map(|exit| *exit);
        wire.hushed.cancelled().await;
        exit
    };
    let exit = tokio::time::timeout(ENDS_WITHIN, over).await;
    let exit = exit.ok().and_then(Result::ok).flatten();
    let how = match exit {
        Some(Exit::Code(code)) => format!("it ended with code {code}"),
        Some(Exit::Signal(signal)) => format!("it was ended by signal {signal}"),
        Some(Exit::Cancelled | Exit::TimedOut) | None => why,
    };
    match wire.last_told() {
        Some(told) => format!("{how} and said: {}", in_a_sentence(&told, REASON_CHARS_MAX)),
        None => how,
    }
}

/// The handshake: what the server can do, and how it counts columns.
async fn begin(
    wire: &Wire,
    (address, folder): (&str, &Value),
    options: Option<&Value>,
    timeout: Duration,
) -> Result<(Value, Encoding), Failure> {
    let never = CancellationToken::new();
    let mut params = json!({
        "processId": null,
        "clientInfo": { "name": "countersign", "version": env!("CARGO_PKG_VERSION") },
        "rootUri": address,
        "rootPath": address::file(address),
        "workspaceFolders": [folder],
        "capabilities": capabilities(),
    });
    if let Some(options) = options {
        params["initializationOptions"] = options.clone();
    }
    let answer = wire.ask("initialize", params, timeout, &never).await?;
    let Some(can) = answer.get("capabilities").filter(|can| can.is_object()) else {
        let why = "it did not say what it can do";
        return Err(Failure::Strange(why.to_owned()));
    };
    let encoding = match can.get("positionEncoding").map(|kind| kind.as_str()) {
        None | Some(Some("utf-16")) => Encoding::Utf16,
        Some(Some("utf-8")) => Encoding::Utf8,
        Some(Some("utf-32")) => Encoding::Utf32,
        Some(_) => {
            let why = "it counts columns in a way that nobody asked for";
            return Err(Failure::Strange(why.to_owned()));
        }
    };
    let can = can.clone();
    wire.tell("initialized", json!({})).await?;
    Ok((can, encoding))
}

/// What we can do: little, and nothing that changes a file.
fn capabilities() -> Value {
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
