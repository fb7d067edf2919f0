//! Serves the engine to the app's window, which started this process: over its standard input and output.
//!
//! Whoever holds the other ends of these pipes is the window, so no request carries a token. **The window obtains the
//! person's consent before it sends a request that allows or loosens.**
//!
//! An engine that cannot be opened is tried again with each request, which fails with the reason until then.

mod message_writer;
mod requests;

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use agent::{Engine, EngineConfig};
use protocol::UserError;
use protocol::engine_process::{AttentionChange, MessageKind, NumberedRequest};
use tokio::io::{AsyncBufRead, AsyncBufReadExt as _, AsyncWrite};
use tokio::sync::Mutex;
use tokio::task::AbortHandle;

use crate::endpoint_server::{self, ServeOptions};
use message_writer::MessageSender;

/// How long a call of the unattended demo waits before it is decided on.
const DEMO_PACE: Duration = Duration::from_secs(4);

/// How the engine of a window is opened.
#[derive(Clone)]
pub struct WindowConfig {
    /// Configuration of the engine, or why there is none.
    pub engine: Result<EngineConfig, UserError>,
    /// Variables of the environment, which say where agents keep their configurations.
    pub variables: Vec<(OsString, OsString)>,
    /// Program that the hooks of connected agents call; none if it is not installed.
    pub hook_program: Option<PathBuf>,
    /// Whether the demo is played, and how.
    pub demo: Option<DemoMode>,
}

/// How the demo is played at the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DemoMode {
    /// Its calls wait for the person.
    Attended,
    /// Its calls are decided on after a while, for pictures of it.
    Unattended,
}

/// Serves a window until it closes its side. The engine is closed then.
///
/// # Errors
/// The input cannot be read, or is none of a window.
pub async fn serve(
    config: WindowConfig,
    input: impl AsyncBufRead + Unpin,
    output: impl AsyncWrite + Send + Unpin + 'static,
) -> Result<(), UserError> {
    let (messages, written) = message_writer::start_writer(output);
    let host = Arc::new(WindowHost {
        config,
        engine: Mutex::new(None),
        messages,
        subscription: parking_lot::Mutex::default(),
    });
    // Beside the window, which asks its first question meanwhile.
    let opened = Arc::clone(&host);
    tokio::spawn(async move {
        // Why it cannot be opened is what the window is told when it asks.
        let _ = opened.open_engine().await;
    });
    let read = read_requests(&host, input).await;
    if let Some(engine) = host.engine.lock().await.as_ref() {
        engine.close();
    }
    drop(host);
    written.abort();
    read
}

async fn read_requests(
    host: &Arc<WindowHost>,
    input: impl AsyncBufRead + Unpin,
) -> Result<(), UserError> {
    let mut lines = input.lines();
    loop {
        let line = lines.next_line().await.map_err(|error| {
            let next = "Start the app anew.";
            UserError::new("The window can no longer be heard.", next).with_source(&error)
        })?;
        let Some(line) = line else {
            return Ok(());
        };
        let request: NumberedRequest = serde_json::from_str(&line).map_err(|error| {
            let next = "`countersign gateway window` is started by the app alone; start the app.";
            UserError::new("A request is none of the app's window.", next).with_source(&error)
        })?;
        let host = Arc::clone(host);
        tokio::spawn(async move { host.answer(request).await });
    }
}

/// The engine of a window, once it could be opened.
struct WindowHost {
    config: WindowConfig,
    engine: Mutex<Option<Engine>>,
    messages: MessageSender,
    /// What sends events to the page that is open.
    subscription: parking_lot::Mutex<Option<AbortHandle>>,
}

impl WindowHost {
    async fn answer(&self, request: NumberedRequest) {
        let id = request.id;
        let answered = match self.open_engine().await {
            Ok(engine) => requests::answer_request(self, &engine, request).await,
            Err(fault) => Err(fault),
        };
        match answered {
            Ok(json) => self.messages.send(MessageKind::Answer(id), json).await,
            Err(fault) => {
                self.messages
                    .send_value(MessageKind::Failure(id), &fault)
                    .await
            }
        }
    }

    /// Returns the engine; opens it if it is not open yet.
    async fn open_engine(&self) -> Result<Engine, UserError> {
        let mut open = self.engine.lock().await;
        if let Some(engine) = open.as_ref() {
            return Ok(engine.clone());
        }
        let engine = Engine::open(self.config.engine.clone()?).await;
        let engine =
            engine.inspect_err(|fault| tracing::error!(%fault, "the engine cannot be opened"))?;
        crate::acp_client::add_agents(&engine, self.config.hook_program.clone());
        tokio::spawn(serve_endpoint(engine.clone()));
        tokio::spawn(send_attention(engine.clone(), self.messages.clone()));
        if let Some(demo) = self.config.demo {
            tokio::spawn(play_demo(engine.clone(), demo));
        }
        *open = Some(engine.clone());
        Ok(engine)
    }

    /// Sends every event after `since`, then new ones, until another page subscribes.
    fn send_events(&self, engine: &Engine, subscription: u64, since: u64) {
        let mut events = engine.subscribe(since);
        let messages = self.messages.clone();
        let sending = tokio::spawn(async move {
            while let Ok(Some(batch)) = events.next().await {
                let kind = MessageKind::Events(subscription);
                messages.send_value(kind, &batch).await;
            }
        });
        if let Some(earlier) = self.subscription.lock().replace(sending.abort_handle()) {
            earlier.abort();
        }
    }
}

/// Answers the local endpoint, where other processes ask, until the engine is closed.
async fn serve_endpoint(engine: Engine) {
    match endpoint_server::take_over(engine.data_dir()).await {
        Ok(listener) => {
            let options = ServeOptions {
                can_ask: true,
                idle_max: None,
            };
            endpoint_server::serve(&engine, listener, options, engine.wait_until_closed()).await;
        }
        Err(fault) => tracing::warn!(%fault, "hooks of agents are not answered here"),
    }
}

/// Tells the window what waits for the person, and whom to notify.
async fn send_attention(engine: Engine, messages: MessageSender) {
    let mut watch = match engine.watch_attention() {
        Ok(watch) => watch,
        Err(fault) => return tracing::warn!(%fault, "nothing will be shown outside the window"),
    };
    messages
        .send_value(MessageKind::Attention, &watch.current())
        .await;
    while let Ok(Some(change)) = watch.next().await {
        let landed = match engine.settings().notify {
            true => change.landed,
            false => Vec::new(),
        };
        messages
            .send_value(
                MessageKind::Attention,
                &AttentionChange { landed, ..change },
            )
            .await;
    }
}

async fn play_demo(engine: Engine, mode: DemoMode) {
    let played = match mode {
        DemoMode::Attended => engine.submit(protocol::Op::PlayDemo).await.map(drop),
        DemoMode::Unattended => agent::engine::demo::run_demo(&engine, DEMO_PACE)
            .await
            .map(drop),
    };
    if let Err(fault) = played {
        tracing::error!(%fault, "the demo cannot be played");
    }
}
