//! The server of the local endpoint: accepts connections, and answers one request on each.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use agent::{Engine, EngineConfig};
use protocol::UserError;
use runtime::{LocalListener, LocalStream};
use tokio::io::{AsyncReadExt as _, ReadHalf, WriteHalf};
use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep, sleep_until, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::acp_agent::{self, AgentOptions, Answers};
use crate::agent_hooks::{HookAnswerer, HookSessions};
use crate::endpoint::{
    AgentRequest, ENDPOINT_VERSION, EndpointAnswer, EndpointError, EndpointRequest, RequestBody,
    StreamsText, app_closed_error, read_message, send_request, write_message,
};
use crate::limits::{CONNECTIONS_MAX, HOST_IDLE_MAX, HOST_START_MAX, REQUEST_TIMEOUT};
use crate::mcp::{self, ServedTools};
use crate::mcp_http::McpListener;

/// Time that the server waits after an error of the system, such as too many open files.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// How the endpoint is served.
#[derive(Debug, Clone, Copy, Default)]
pub struct ServeOptions {
    /// Whether a person can be asked.
    pub can_ask: bool,
    /// Time without a request and without an open call after which serving ends; none to serve until it is stopped.
    pub idle_max: Option<Duration>,
}

/// Serves the endpoint until `stop` ends, another process takes it over, or nobody used it for long enough. What is open
/// then is finished first, unless `stop` ended it.
pub async fn serve(
    engine: &Engine,
    listener: LocalListener,
    options: ServeOptions,
    stop: impl Future<Output = ()>,
) {
    let hooks = Arc::new(HookSessions::new(engine.clone()));
    let server = EndpointServer::new(Some(engine.clone()), hooks, options);
    run_server(server, listener, options, stop).await;
}

/// Serves an endpoint at which only these hooks are answered, until the same.
pub(crate) async fn serve_hooks(
    hooks: Arc<dyn HookAnswerer>,
    listener: LocalListener,
    options: ServeOptions,
    stop: impl Future<Output = ()>,
) {
    let server = EndpointServer::new(None, hooks, options);
    run_server(server, listener, options, stop).await;
}

async fn run_server(
    server: EndpointServer,
    listener: LocalListener,
    options: ServeOptions,
    stop: impl Future<Output = ()>,
) {
    let server = Arc::new(server);
    let tasks = TaskTracker::new();
    let accepting = accept_connections(&server, listener, options, &tasks);
    tokio::select! {
        () = accepting => {
            tasks.close();
            tasks.wait().await;
        }
        () = stop => {}
    }
    server.hooks.close().await;
}

struct EndpointServer {
    /// The engine, whose tools and whose agent are served; none where nobody can be asked, and where hooks alone are answered.
    engine: Option<Engine>,
    hooks: Arc<dyn HookAnswerer>,
    can_ask: bool,
    /// Cancelled when another process takes the endpoint over.
    retired: CancellationToken,
    connections: Semaphore,
}

/// Accepts connections until the server is retired or idle. The listener is closed at the end.
async fn accept_connections(
    server: &Arc<EndpointServer>,
    listener: LocalListener,
    options: ServeOptions,
    tasks: &TaskTracker,
) {
    let mut used_at = Instant::now();
    loop {
        let idle = async {
            match options.idle_max {
                Some(idle_max) => sleep_until(used_at + idle_max).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok(stream) => {
                    used_at = Instant::now();
                    tasks.spawn(server.clone().answer_connection(stream));
                }
                Err(error) => {
                    tracing::warn!(%error, "a connection could not be accepted");
                    sleep(ACCEPT_PAUSE).await;
                }
            },
            () = server.retired.cancelled() => return,
            () = idle => {
                if tasks.is_empty() && !server.hooks.has_open_calls() {
                    return;
                }
                used_at = Instant::now();
            }
        }
    }
}

/// How a request is answered.
enum Reply {
    Answer(EndpointAnswer),
    /// MCP is served on the connection.
    Mcp(ServedTools),
    /// MCP is served at an address, until the connection is closed.
    Listen(Box<McpListener>),
    /// Our agent is served on the connection, to an editor.
    Agent(AgentRequest),
}

impl From<UserError> for Reply {
    fn from(fault: UserError) -> Self {
        Self::Answer(fault.into())
    }
}

impl EndpointServer {
    fn new(engine: Option<Engine>, hooks: Arc<dyn HookAnswerer>, options: ServeOptions) -> Self {
        Self {
            engine: engine.filter(|_| options.can_ask),
            hooks,
            can_ask: options.can_ask,
            retired: CancellationToken::new(),
            connections: Semaphore::new(CONNECTIONS_MAX),
        }
    }

    /// Answers the request of one connection. A client that goes away takes its question with it.
    async fn answer_connection(self: Arc<Self>, stream: LocalStream) {
        let (mut reader, mut writer) = tokio::io::split(stream);
        let Ok(_permit) = self.connections.try_acquire() else {
            let busy = EndpointAnswer::from(UserError::new(
                format!("{CONNECTIONS_MAX} requests are open already."),
                "Try again once some of them are answered.",
            ));
            log_failure(write_message(&mut writer, &busy).await);
            return;
        };
        let reply = match timeout(REQUEST_TIMEOUT, read_message(&mut reader)).await {
            Ok(Ok(request)) => {
                let gone = CancellationToken::new();
                let answering = self.answer_request(request, gone.clone());
                tokio::pin!(answering);
                tokio::select! {
                    biased;
                    reply = &mut answering => reply,
                    // A client says nothing more: whatever comes is the end of the stream.
                    _ = reader.read_u8() => {
                        gone.cancel();
                        answering.await;
                        return;
                    }
                }
            }
            Ok(Err(error)) => Reply::from(
                UserError::new("The request cannot be read.", "Update both programs.")
                    .with_source(&error),
            ),
            Err(_) => return,
        };
        match (reply, &self.engine) {
            (Reply::Answer(answer), _) => log_failure(write_message(&mut writer, &answer).await),
            (Reply::Mcp(served), _) => serve_mcp(served, reader, writer).await,
            (Reply::Agent(agent), Some(engine)) => {
                serve_agent(engine, agent, reader, writer).await;
            }
            (Reply::Listen(listener), Some(engine)) => {
                listen_mcp(engine, *listener, reader, writer).await;
            }
            // Nothing is served without an engine.
            (Reply::Listen(_) | Reply::Agent(_), None) => {}
        }
    }

    async fn answer_request(&self, request: EndpointRequest, gone: CancellationToken) -> Reply {
        if request.version != ENDPOINT_VERSION {
            return Reply::from(UserError::new(
                format!(
                    "The request has version {}; this program knows version {ENDPOINT_VERSION}.",
                    request.version
                ),
                "Update the older of both programs.",
            ));
        }
        Reply::Answer(match (request.body, &self.engine) {
            (RequestBody::Hook(request), _) => {
                EndpointAnswer::Hook(self.hooks.answer_hook(request, gone).await)
            }
            (RequestBody::Fetch { call, digest }, _) => {
                match self.hooks.fetch(&call, &digest).await {
                    Ok(streams) => EndpointAnswer::Streams(StreamsText::new(&streams)),
                    Err(fault) => fault.into(),
                }
            }
            (RequestBody::ServeAgent(agent), Some(_)) => return Reply::Agent(agent),
            (RequestBody::ServeAgent(_), None) => app_closed_error().into(),
            (RequestBody::ServeMcp(request), Some(engine)) => {
                let served = ServedTools::open(engine, &request).await;
                return served.map_or_else(Reply::from, Reply::Mcp);
            }
            (RequestBody::ListenMcp(request), Some(engine)) => {
                let listener = McpListener::open(engine, &request).await;
                return listener
                    .map_or_else(Reply::from, |listener| Reply::Listen(listener.into()));
            }
            (RequestBody::ServeMcp(request), None) => {
                match self.hooks.clone().open_tools(&request).await {
                    Some(served) => return served.map_or_else(Reply::from, Reply::Mcp),
                    None => EndpointAnswer::Unattended,
                }
            }
            (RequestBody::ListenMcp(_), None) => EndpointAnswer::Unattended,
            (RequestBody::Retire, _) if self.can_ask => UserError::new(
                "The app is open and keeps the endpoint.",
                "Close the app first.",
            )
            .into(),
            (RequestBody::Retire, _) => {
                self.retired.cancel();
                EndpointAnswer::Retiring
            }
        })
    }
}

/// Serves MCP on a connection, until its client or the engine goes.
async fn serve_mcp(
    served: ServedTools,
    from: ReadHalf<LocalStream>,
    mut to: WriteHalf<LocalStream>,
) {
    log_failure(write_message(&mut to, &EndpointAnswer::Serving).await);
    let open = served.clone();
    let closed = async move { open.wait_until_closed().await };
    if let Err(fault) = mcp::serve(served, from, to, closed).await {
        tracing::warn!(%fault, "a client of MCP was not served to its end");
    }
}

/// Serves MCP at an address, until whoever asked for that or the engine goes.
async fn listen_mcp(
    engine: &Engine,
    listener: McpListener,
    mut from: ReadHalf<LocalStream>,
    mut to: WriteHalf<LocalStream>,
) {
    let answer = EndpointAnswer::Listening {
        address: listener.address(),
    };
    if let Err(error) = write_message(&mut to, &answer).await {
        return log_failure(Err(error));
    }
    let engine = engine.clone();
    let stop = async move {
        tokio::select! {
            () = engine.wait_until_closed() => {}
            // Nothing more is said: whatever comes is the end of the stream.
            _ = from.read_u8() => {}
        }
    };
    if let Err(fault) = listener.serve(stop).await {
        tracing::warn!(%fault, "clients of MCP were not served to their end");
    }
}

/// Serves our agent on a connection, until its editor or the engine goes.
async fn serve_agent(
    engine: &Engine,
    agent: AgentRequest,
    from: ReadHalf<LocalStream>,
    mut to: WriteHalf<LocalStream>,
) {
    if let Err(error) = write_message(&mut to, &EndpointAnswer::Serving).await {
        return log_failure(Err(error));
    }
    let options = AgentOptions {
        model: agent.model,
        posture: agent.posture,
        answers: Answers::Desk,
        workspace: None,
    };
    let stop = engine.wait_until_closed();
    if let Err(fault) = acp_agent::serve(engine, options, from, to, stop).await {
        tracing::info!(%fault, "an editor's agent ended");
    }
}

/// A client that does not wait for its answer is no fault of ours.
fn log_failure(written: io::Result<()>) {
    if let Err(error) = written {
        tracing::info!(%error, "an answer was not taken");
    }
}

/// Opens an engine without a window over a data folder and serves its endpoint, until `stop` ends, the app opens, or
/// nobody used it for a while. Does nothing if somebody serves it already.
///
/// # Errors
/// The endpoint or the data folder cannot be used.
pub async fn serve_data_dir(
    config: EngineConfig,
    stop: impl Future<Output = ()>,
) -> Result<(), UserError> {
    let listener = match LocalListener::bind(&config.data_dir).await {
        Ok(listener) => listener,
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => return Ok(()),
        Err(error) => return Err(endpoint_error(&error)),
    };
    let engine = Engine::open(config).await?;
    let options = ServeOptions {
        can_ask: false,
        idle_max: Some(HOST_IDLE_MAX),
    };
    serve(&engine, listener, options, stop).await;
    engine.close();
    Ok(())
}

/// Takes the endpoint over for the app: an engine without a window that serves it ends first.
///
/// # Errors
/// Another app serves it, or it cannot be used.
pub async fn take_over(data_dir: &Path) -> Result<LocalListener, UserError> {
    let until = Instant::now() + HOST_START_MAX;
    loop {
        match LocalListener::bind(data_dir).await {
            Ok(listener) => return Ok(listener),
            Err(error) if error.kind() == io::ErrorKind::AddrInUse && Instant::now() < until => {
                match send_request(data_dir, RequestBody::Retire).await {
                    Err(EndpointError::Failed(fault)) => return Err(fault),
                    Ok(_) | Err(EndpointError::Absent | EndpointError::Broken(_)) => {
                        sleep(ACCEPT_PAUSE).await;
                    }
                }
            }
            Err(error) => return Err(endpoint_error(&error)),
        }
    }
}

fn endpoint_error(error: &io::Error) -> UserError {
    UserError::new(
        "The local endpoint cannot be opened, so hooks of agents are denied.",
        "Look whether the data folder can be written.",
    )
    .with_source(error)
}
