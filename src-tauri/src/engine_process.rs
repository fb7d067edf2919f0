//! The process of the engine: started beside the window, asked over its standard input, heard from its standard output.
//!
//! The window knows nothing of files, rules or sessions. What the page asks is passed on, and what the engine answers
//! goes to the page as it came. The engine ends when the window does, and one that broke off is started again.

use std::collections::HashMap;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use protocol::engine_process::{
    EngineRequest, MessageHead, MessageKind, NumberedRequest, OngoingWork,
};
use protocol::{Settings, UserError};
use serde::de::DeserializeOwned;
use tauri::ipc::{Channel, InvokeResponseBody};
use tauri::{AppHandle, Manager};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::{MutexGuard as AsyncMutexGuard, mpsc, oneshot};

use crate::updates::{AtRest, Updates};
use crate::{attention, desktop_settings, window_appearance};

/// Name of the program that hosts the engine; it is installed beside the app.
const ENGINE_PROGRAM: &str = "countersign";
/// Arguments with which the program hosts the engine of a window.
const ENGINE_ARGUMENTS: [&str; 2] = ["gateway", "window"];
/// How long the engine has to end by itself, once the window closed its side.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);
/// How long an engine must have run for the page to be loaded anew when it breaks off: one that breaks off at its
/// start would do so again and again.
const RESTART_AFTER: Duration = Duration::from_secs(5);

/// The engine, once it could be started. Until then every command tries again and reports why it cannot.
#[derive(Default)]
pub(crate) struct EngineCell {
    engine: tokio::sync::Mutex<Option<Arc<EngineProcess>>>,
}

impl EngineCell {
    /// Returns the engine; starts it if it does not run.
    ///
    /// # Errors
    /// Its program is not installed, or cannot be started.
    pub(crate) async fn start_engine(
        &self,
        app: &AppHandle,
    ) -> Result<Arc<EngineProcess>, UserError> {
        let mut started = self.engine.lock().await;
        if let Some(engine) = started.as_ref().filter(|engine| engine.runs()) {
            return Ok(Arc::clone(engine));
        }
        // The demo that the app was started with is on record when the engine is started again.
        let demo = demo_argument().filter(|_| started.is_none());
        let engine = EngineProcess::start(app, demo);
        let engine =
            engine.inspect_err(|fault| tracing::error!(%fault, "the engine does not start"))?;
        let engine = Arc::new(engine);
        *started = Some(Arc::clone(&engine));
        Ok(engine)
    }

    /// Lets the engine end if nothing goes on in it, and starts none until what is returned is dropped.
    ///
    /// # Errors
    /// A call waits, or a session is at work.
    pub(crate) async fn rest(&self) -> Result<RestingEngine<'_>, UserError> {
        let started = self.engine.lock().await;
        let engine = started.as_ref().filter(|engine| engine.runs());
        let work = match engine {
            Some(engine) => engine.ask_for(EngineRequest::OngoingWork).await?,
            None => OngoingWork::default(),
        };
        let at_rest = AtRest::confirm(&work)?;
        if let Some(engine) = engine {
            engine.close().await;
        }
        Ok(RestingEngine {
            at_rest,
            _started: started,
        })
    }

    /// Lets the engine end, and waits until it has.
    pub(crate) async fn close_engine(&self) {
        if let Some(engine) = self.engine.lock().await.take() {
            engine.close().await;
        }
    }
}

/// An engine that ended with nothing left to do, and is not started meanwhile.
pub(crate) struct RestingEngine<'a> {
    at_rest: AtRest,
    _started: AsyncMutexGuard<'a, Option<Arc<EngineProcess>>>,
}

impl RestingEngine<'_> {
    /// Returns the proof that nothing goes on.
    pub(crate) fn at_rest(&self) -> &AtRest {
        &self.at_rest
    }
}

/// A running engine.
pub(crate) struct EngineProcess {
    requests: Mutex<Option<mpsc::UnboundedSender<Vec<u8>>>>,
    awaited: Arc<Mutex<AwaitedMessages>>,
    next_id: AtomicU64,
    child: tokio::sync::Mutex<Child>,
}

/// What the engine is expected to send.
#[derive(Default)]
struct AwaitedMessages {
    answers: HashMap<u64, oneshot::Sender<Result<String, UserError>>>,
    /// Number of the page's subscription, and where its events go.
    subscription: Option<(u64, Channel<InvokeResponseBody>)>,
    /// Whether nothing will come any more.
    has_ended: bool,
}

impl EngineProcess {
    fn start(app: &AppHandle, demo: Option<String>) -> Result<Self, UserError> {
        let mut child = engine_command()?.args(demo).spawn().map_err(|error| {
            let next = format!(
                "Install Countersign anew: the program `{ENGINE_PROGRAM}` belongs beside the app."
            );
            UserError::new("The engine could not be started.", next).with_source(&error)
        })?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(ended_error());
        };
        let (requests, lines) = mpsc::unbounded_channel();
        let awaited = Arc::<Mutex<AwaitedMessages>>::default();
        tauri::async_runtime::spawn(write_requests(input, lines));
        tauri::async_runtime::spawn(read_messages(output, Arc::clone(&awaited), app.clone()));
        Ok(Self {
            requests: Mutex::new(Some(requests)),
            awaited,
            next_id: AtomicU64::new(1),
            child: tokio::sync::Mutex::new(child),
        })
    }

    fn runs(&self) -> bool {
        !lock(&self.awaited).has_ended
    }

    /// Asks something, and returns the answer as JSON.
    ///
    /// # Errors
    /// The engine refuses, or ended.
    pub(crate) async fn ask(&self, request: EngineRequest) -> Result<String, UserError> {
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        self.ask_with_id(id, request).await
    }

    /// Asks something, and reads the answer.
    ///
    /// # Errors
    /// As [`Self::ask`].
    pub(crate) async fn ask_for<T: DeserializeOwned>(
        &self,
        request: EngineRequest,
    ) -> Result<T, UserError> {
        let answer = self.ask(request).await?;
        serde_json::from_str(&answer).map_err(|error| {
            let next = "The app and its engine are of two versions: install Countersign anew.";
            UserError::new("The engine's answer is not understood.", next).with_source(&error)
        })
    }

    /// Returns the settings in force.
    ///
    /// # Errors
    /// As [`Self::ask`].
    pub(crate) async fn settings(&self) -> Result<Settings, UserError> {
        self.ask_for(EngineRequest::Settings).await
    }

    /// Sends every event after `since`, then new ones, to the page, in place of what an earlier page was sent.
    ///
    /// # Errors
    /// As [`Self::ask`].
    pub(crate) async fn subscribe(
        &self,
        since: u64,
        page: Channel<InvokeResponseBody>,
    ) -> Result<(), UserError> {
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        lock(&self.awaited).subscription = Some((id, page));
        self.ask_with_id(id, EngineRequest::Subscribe { since })
            .await
            .map(drop)
    }

    async fn ask_with_id(&self, id: u64, request: EngineRequest) -> Result<String, UserError> {
        let mut line = serde_json::to_vec(&NumberedRequest { id, request }).map_err(|error| {
            UserError::new("The request cannot be sent.", "Try again.").with_source(&error)
        })?;
        line.push(b'\n');
        let (answer, answered) = oneshot::channel();
        {
            let mut awaited = lock(&self.awaited);
            if awaited.has_ended {
                return Err(ended_error());
            }
            awaited.answers.insert(id, answer);
        }
        if let Some(requests) = &*lock(&self.requests) {
            // Where nobody takes it, the answers are failed by whoever reads them.
            let _ = requests.send(line);
        }
        answered.await.unwrap_or_else(|_| Err(ended_error()))
    }

    /// Closes the engine's input, at which it ends, and waits for that.
    async fn close(&self) {
        // An engine that ends now is not started again.
        lock(&self.awaited).subscription = None;
        drop(lock(&self.requests).take());
        let mut child = self.child.lock().await;
        if tokio::time::timeout(CLOSE_TIMEOUT, child.wait())
            .await
            .is_err()
        {
            tracing::warn!("the engine does not end by itself");
            if let Err(error) = child.kill().await {
                tracing::warn!(%error, "the engine cannot be ended");
            }
        }
    }
}

#[allow(
    clippy::disallowed_methods,
    reason = "the app starts its own engine; no agent and no workspace has a part in it"
)]
fn engine_command() -> Result<Command, UserError> {
    let app = std::env::current_exe().map_err(|error| {
        let next = "Start the app from where it is installed.";
        UserError::new("The app does not find its own folder.", next).with_source(&error)
    })?;
    let program: PathBuf =
        app.with_file_name(format!("{ENGINE_PROGRAM}{}", std::env::consts::EXE_SUFFIX));
    let mut command = Command::new(program);
    command.args(ENGINE_ARGUMENTS);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    #[cfg(windows)]
    {
        // A program of the console opens one otherwise.
        const CREATE_NO_WINDOW: u32 = 0x0800_0000;
        command.creation_flags(CREATE_NO_WINDOW);
    }
    Ok(command)
}

/// Returns the argument of the app that asks for the demo: `--demo` or `--demo=unattended`.
fn demo_argument() -> Option<String> {
    std::env::args().find(|argument| argument == "--demo" || argument.starts_with("--demo="))
}

async fn write_requests(mut input: ChildStdin, mut lines: mpsc::UnboundedReceiver<Vec<u8>>) {
    while let Some(line) = lines.recv().await {
        if let Err(error) = input.write_all(&line).await {
            // The end of its output tells the same.
            return tracing::debug!(%error, "the engine takes no requests");
        }
    }
}

/// Hears the engine until it ends.
async fn read_messages(output: ChildStdout, awaited: Arc<Mutex<AwaitedMessages>>, app: AppHandle) {
    let began = Instant::now();
    let mut output = BufReader::new(output);
    let ended = loop {
        match read_message(&mut output).await {
            Ok(Some((kind, body))) => deliver_message(&awaited, &app, kind, body),
            Ok(None) => break None,
            Err(error) => break Some(error),
        }
    };
    let was_used = {
        let mut awaited = lock(&awaited);
        awaited.has_ended = true;
        // Dropping what they wait for tells them.
        awaited.answers.clear();
        awaited.subscription.take().is_some()
    };
    if let Some(error) = ended {
        tracing::error!(%error, "the engine cannot be heard");
    }
    if was_used && began.elapsed() > RESTART_AFTER {
        tracing::error!("the engine ended; it is started again");
        reload_page(&app);
    }
}

async fn read_message(
    output: &mut BufReader<ChildStdout>,
) -> std::io::Result<Option<(MessageKind, String)>> {
    let mut line = String::new();
    if output.read_line(&mut line).await? == 0 {
        return Ok(None);
    }
    let head: MessageHead = serde_json::from_str(&line)?;
    let mut body = vec![0; head.bytes];
    output.read_exact(&mut body).await?;
    let body = String::from_utf8(body)
        .map_err(|error| std::io::Error::new(std::io::ErrorKind::InvalidData, error))?;
    Ok(Some((head.kind, body)))
}

fn deliver_message(
    awaited: &Mutex<AwaitedMessages>,
    app: &AppHandle,
    kind: MessageKind,
    body: String,
) {
    match kind {
        MessageKind::Answer(id) => settle_answer(awaited, id, Ok(body)),
        MessageKind::Failure(id) => {
            let fault = serde_json::from_str(&body).unwrap_or_else(|_| ended_error());
            settle_answer(awaited, id, Err(fault));
        }
        MessageKind::Events(id) => {
            let mut awaited = lock(awaited);
            let page = awaited.subscription.as_ref().filter(|(own, _)| *own == id);
            let is_sent = page.map(|(_, page)| page.send(InvokeResponseBody::Json(body)).is_ok());
            if is_sent == Some(false) {
                awaited.subscription = None;
            }
        }
        MessageKind::Attention => match serde_json::from_str(&body) {
            Ok(change) => attention::show_attention(app, &change),
            Err(error) => tracing::error!(%error, "what waits cannot be shown"),
        },
    }
}

fn settle_answer(awaited: &Mutex<AwaitedMessages>, id: u64, answer: Result<String, UserError>) {
    if let Some(asked) = lock(awaited).answers.remove(&id) {
        // Whoever asked may have gone meanwhile.
        let _ = asked.send(answer);
    }
}

/// Loads the page anew: its first question starts the engine, and it draws what is on record.
pub(crate) fn reload_page(app: &AppHandle) {
    let Some(window) = crate::main_window(app) else {
        return;
    };
    if let Err(error) = window.eval("location.reload()") {
        tracing::error!(%error, "the page cannot be loaded anew");
    }
}

/// Applies what the settings in force say of the app: the theme, the global shortcut, and what becomes of new versions.
pub(crate) async fn apply_settings(app: &AppHandle, engine: &EngineProcess) {
    match engine.settings().await {
        Ok(settings) => {
            window_appearance::apply_theme(app, settings.theme);
            app.state::<Updates>().set_mode(settings.updates.mode);
            let shortcut = settings.desktop.shortcut.as_ref();
            if let Err(fault) = desktop_settings::apply_shortcut(app, shortcut) {
                tracing::warn!(%fault, "the global shortcut is not listened to");
            }
        }
        Err(fault) => tracing::warn!(%fault, "the window stays as it is"),
    }
}

fn ended_error() -> UserError {
    UserError::new(
        "The engine ended.",
        "It is started again with the next request. What was recorded is kept.",
    )
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Each change under the lock is made in one step.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
