//! One server from its first use to its end: started once for all callers, kept, and connected again when it is lost.

mod calls;
mod gateway;
mod inspection;
mod lifecycle;
mod log_level;
mod named_read;
pub(crate) mod read_tools;
mod resource_subscriptions;
pub(crate) mod resource_tool;
mod sandbox;
mod sign_in;
pub(crate) mod tool;

pub use gateway::{ChangedList, ListChanges};
pub use read_tools::ServerRead;
pub use sandbox::ServerSandboxLauncher;
pub use sign_in::supports_sign_in;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use policy::patterns::host;
use protocol::rule::evidence::Confinement;
use protocol::server::mcp_servers::{
    ServerId, ServerLogLine, ServerLogSource, ServerSettings, ServerState, ServerTransport,
    ServerView, SignInState,
};
use protocol::{RequirementSet, UserError};
use runtime::{Clock, InheritedEnv};
use tokio::sync::{Notify, watch};
use tokio_util::sync::{CancellationToken, DropGuard};
use tools::Tool;
use tools::sources::PinnedCatalogue;

use crate::catalogue::ToolCatalogue;
use crate::config_references::ReferenceResolver;
use crate::connection::failure_reasons::AUTHENTICATION_FAILED;
use crate::connection::{ServerConnection, ServerOffers};
use crate::limits::RETRY_AFTER_S;
use crate::lock_mutex;
use crate::message_handler::ServerMessageHandler;
use crate::oauth::{CredentialVault, challenge};
use crate::pending_catalogue;
use crate::pins::{ToolPins, describe_tool};
use crate::server::resource_tool::ReadResourceTool;
use crate::server::tool::McpTool;
use crate::server_log::ServerLog;

/// The dependencies that all servers of an engine share.
#[derive(Clone)]
pub struct ServerDependencies {
    /// The environment variables that programs inherit from the app.
    pub inherited: InheritedEnv,
    /// Folder in which programs start whose settings name none.
    pub home: PathBuf,
    /// Launcher of servers that run in a sandbox.
    pub sandbox_launcher: Arc<dyn ServerSandboxLauncher>,
    /// Resolver of references.
    pub lookup: Arc<dyn ReferenceResolver>,
    /// Storage of sign-ins.
    pub vault: Arc<dyn CredentialVault>,
    /// The data folder, where lists that wait for an approval are stored; none to store nothing.
    pub data_dir: Option<PathBuf>,
    /// Clock of the logs.
    pub clock: Arc<dyn Clock>,
    /// Pauses before a lost server is connected again, in order; the last one repeats.
    pub retry_after: Vec<Duration>,
}

impl ServerDependencies {
    /// Returns the default pauses: 1, 2, 5, 15 and 60 s.
    pub fn default_retry_delays() -> Vec<Duration> {
        let seconds = RETRY_AFTER_S.into_iter();
        seconds
            .map(|seconds| Duration::from_secs(seconds.into()))
            .collect()
    }
}

/// A server that a person set up. All of its tools share it (`S001-58`). Dropping it ends its program.
pub struct McpServer {
    core: Arc<ServerCore>,
    /// Ends the task that keeps the connection.
    _leash: DropGuard,
}

struct ServerCore {
    settings: ServerSettings,
    dependencies: ServerDependencies,
    handler: ServerMessageHandler,
    stop: CancellationToken,
    /// Ends the pause before the next attempt.
    retry_now: Notify,
    /// Held during a renewal of the server's sign-in.
    renewal_lock: Arc<tokio::sync::Mutex<()>>,
    /// Held while the server is asked to tell of a resource's changes, or not to any more.
    subscribing: tokio::sync::Mutex<()>,
    phase: watch::Sender<ConnectionPhase>,
    state: Mutex<ServerCoreState>,
    /// Incremented whenever the tools may have changed.
    version: watch::Sender<u64>,
}

#[derive(Clone)]
enum ConnectionPhase {
    Idle,
    /// Connecting for the first time, or again after the connection was lost for this reason.
    Starting {
        lost: Option<String>,
    },
    Ready(Arc<ServerConnection>),
    Unavailable {
        why: String,
        retry: Duration,
    },
    NeedsSignIn,
}

impl ConnectionPhase {
    /// Returns the connection; none if there is none at the moment.
    fn connection(&self) -> Option<&Arc<ServerConnection>> {
        match self {
            Self::Ready(connection) => Some(connection),
            Self::Idle | Self::Starting { .. } | Self::Unavailable { .. } | Self::NeedsSignIn => {
                None
            }
        }
    }
}

#[derive(Default)]
struct ServerCoreState {
    tools: PinnedCatalogue<ToolCatalogue>,
    sign_in: Option<SignInState>,
    /// Ends the sign-in that waits for the person.
    sign_in_guard: Option<DropGuard>,
    /// Whether the task that maintains the connection was started.
    is_maintained: bool,
    is_legacy: bool,
    offers: ServerOffers,
}

impl McpServer {
    /// Creates a server, not started, with the approvals of its tools.
    pub fn new(settings: ServerSettings, pins: ToolPins, dependencies: ServerDependencies) -> Self {
        let stop = CancellationToken::new();
        let core = ServerCore {
            handler: ServerMessageHandler::new(
                ServerLog::new(dependencies.clock.clone()),
                settings.id.clone(),
            ),
            settings,
            dependencies,
            stop: stop.clone(),
            retry_now: Notify::new(),
            renewal_lock: Arc::default(),
            subscribing: tokio::sync::Mutex::default(),
            phase: watch::Sender::new(ConnectionPhase::Idle),
            state: Mutex::new(ServerCoreState {
                tools: PinnedCatalogue::new(pins),
                ..ServerCoreState::default()
            }),
            version: watch::Sender::new(0),
        };
        Self {
            core: Arc::new(core),
            _leash: stop.drop_guard(),
        }
    }

    /// Returns the settings of the server.
    pub fn settings(&self) -> &ServerSettings {
        &self.core.settings
    }

    /// Returns how the server's tools are kept to the accesses that their calls were judged on; a program of this
    /// machine without a sandbox is unconfined.
    pub fn confinement(&self) -> Confinement {
        match &self.core.settings.transport {
            ServerTransport::Stdio {
                sandbox: Some(_), ..
            } => Confinement::Sandboxed,
            ServerTransport::Stdio { sandbox: None, .. } => Confinement::Unconfined,
            ServerTransport::Http { .. } => Confinement::Remote,
        }
    }

    /// Returns the requirements of the server's tools (`S002-07`): the server itself, by name, and its host where that
    /// is known. Only the server knows what else it touches for its work.
    pub fn requirements(&self) -> RequirementSet {
        let settings = &self.core.settings;
        let requires = RequirementSet {
            capabilities: vec![format!("mcp:{}", settings.id)],
            ..RequirementSet::empty()
        };
        match &settings.transport {
            ServerTransport::Stdio { .. } => requires,
            ServerTransport::Http { url, .. } => match host::resolve_host(url) {
                // A reference is only resolved when the server is asked.
                host if host.unresolved.is_some() || host.real.contains('$') => requires,
                host => requires.with_host(&host.real),
            },
        }
    }

    /// Returns the sandbox profile that the server's tools would need: that for a command, or that for network access.
    pub fn sandbox_profile(&self) -> &'static str {
        match self.confinement() {
            Confinement::Remote => "network",
            Confinement::Held | Confinement::Sandboxed | Confinement::Unconfined => "command",
        }
    }

    /// Whether the server is a program that may change files in `folder` (absolute): it runs as the person, or its
    /// sandbox overlaps that folder.
    pub fn can_change_folder(&self, folder: &Path) -> bool {
        match &self.core.settings.transport {
            ServerTransport::Stdio {
                sandbox: Some(sandbox),
                ..
            } => self
                .core
                .dependencies
                .sandbox_launcher
                .overlaps_folder(sandbox, folder),
            ServerTransport::Stdio { sandbox: None, .. } => true,
            ServerTransport::Http { .. } => false,
        }
    }

    /// Returns a receiver of the version; shutting the server down counts as a change.
    pub fn watch_version(&self) -> watch::Receiver<u64> {
        self.core.version.subscribe()
    }

    /// Returns the version, which grows whenever the tools may have changed.
    pub fn version(&self) -> u64 {
        *self.core.version.borrow()
    }

    /// Returns the server's approved tools, with its latest list of tools once it was connected.
    pub fn pinned_tools(&self) -> PinnedCatalogue<ToolCatalogue> {
        self.core.lock_state().tools.clone()
    }

    /// Returns the approvals of the server's tools.
    pub fn pins(&self) -> Arc<ToolPins> {
        self.pinned_tools().pins
    }

    /// Puts other approvals in force; a call of a tool that was created before still needs the definition that the tool
    /// was created from.
    pub fn set_pins(&self, pins: ToolPins) {
        self.core.lock_state().tools.pins = Arc::new(pins);
        self.core.save_pending_catalogue();
        self.core.bump_version();
    }

    /// Returns the server's latest list of tools; none before it was connected.
    pub fn catalogue(&self) -> Option<Arc<ToolCatalogue>> {
        self.pinned_tools().catalogue
    }

    /// Returns the server's tools that are as they were approved, each under the name that it keeps (`S001-57`,
    /// `S001-59`).
    pub fn tools(self: &Arc<Self>) -> Vec<Arc<dyn Tool>> {
        let pinned = self.pinned_tools();
        let mut tools: Vec<Arc<dyn Tool>> = Vec::new();
        for tool in pinned.usable_tools() {
            tools.push(Arc::new(McpTool::new(self.clone(), tool)));
        }
        let current = pinned.catalogue.as_ref().map(|all| all.has_resources);
        if current.or(pinned.pins.has_resources).unwrap_or_default() {
            tools.push(Arc::new(ReadResourceTool::new(self.clone(), &pinned.pins)));
        }
        tools
    }

    /// Returns the full view of the server's state.
    pub fn view(&self) -> ServerView {
        let phase = self.core.phase.borrow().clone();
        let mut pinned = self.pinned_tools();
        if pinned.catalogue.is_none() {
            pinned.catalogue = self.core.load_pending_catalogue();
        }
        let connection = phase.connection();
        let identity = connection.map(|connection| connection.server_info.clone());
        ServerView {
            settings: self.core.settings.clone(),
            state: match phase {
                _ if !self.core.settings.enabled => ServerState::Off,
                ConnectionPhase::Idle => ServerState::Idle,
                ConnectionPhase::Starting { .. } => ServerState::Starting,
                ConnectionPhase::Ready(_) => ServerState::Ready,
                ConnectionPhase::Unavailable { why, retry } => ServerState::Unavailable {
                    why,
                    retry_in_s: u32::try_from(retry.as_secs()).unwrap_or(u32::MAX),
                },
                ConnectionPhase::NeedsSignIn => ServerState::NeedsSignIn,
            },
            sign_in: self.core.sign_in_status(),
            said: identity,
            tools: pinned.compare_tools().iter().map(describe_tool).collect(),
            pending_digest: pinned.pending_digest(),
            left_out: pinned
                .catalogue
                .map(|all| all.left_out.clone())
                .unwrap_or_default(),
        }
    }

    /// Returns the log of the server's output and of its events, oldest first.
    pub fn log_lines(&self) -> Vec<ServerLogLine> {
        self.core.handler.log.lines()
    }

    /// Adds a workspace in which the server's tools are used; the server may ask for its path.
    pub fn add_root(&self, root: &Path) {
        if !self.core.handler.add_root(root) {
            return;
        }
        if let ConnectionPhase::Ready(connection) = self.core.phase.borrow().clone() {
            tokio::spawn(async move { connection.notify_roots_changed().await });
        }
    }

    /// Starts the server unless it is started, and waits until it is connected or has failed.
    ///
    /// # Errors
    /// The reason why the server is unavailable. It is not tried again here: reconnection goes on by itself
    /// (`S001-58`).
    pub async fn ensure_connected(&self) -> Result<(), UserError> {
        let core = &self.core;
        core.connection(true).await.map(drop).map_err(|why| {
            let hint = match &*core.phase.borrow() {
                ConnectionPhase::NeedsSignIn => "Sign in to it, then try it again.",
                ConnectionPhase::Idle
                | ConnectionPhase::Starting { .. }
                | ConnectionPhase::Ready(_)
                | ConnectionPhase::Unavailable { .. } => "Its log holds what it said.",
            };
            UserError::new(unavailable_message(core.settings.id.as_str(), &why), hint)
        })
    }

    /// Tries to connect now, also where the next attempt is scheduled for later.
    ///
    /// # Errors
    /// The reason why the server is unavailable.
    pub async fn retry(&self) -> Result<(), UserError> {
        self.core.clear_failure();
        self.ensure_connected().await
    }

    /// Shuts the server down for good, also for calls that still wait: for a server that is switched off or replaced.
    pub fn shut_down(&self) {
        self.core.stop.cancel();
        self.core.bump_version();
    }
}

/// Removes the stored data of a server besides its approvals: for a server that is removed.
///
/// # Errors
/// The data cannot be removed.
pub fn remove_server_data(data_dir: &Path, id: &ServerId) -> Result<(), UserError> {
    pending_catalogue::remove_pending_catalogue(data_dir, id)?;
    challenge::remove_challenge(data_dir, id)
}

/// Reason why nothing is sent to a server that is off, or whose settings changed since.
const SHUT_DOWN_REASON: &str = "it is switched off, or was set up anew";

/// Returns the sentence about an unavailable server that every caller gets.
fn unavailable_message(id: &str, why: &str) -> String {
    format!(
        "mcp server {id} is unavailable: {}.",
        why.trim_end_matches('.')
    )
}

impl ServerCore {
    fn lock_state(&self) -> MutexGuard<'_, ServerCoreState> {
        lock_mutex(&self.state)
    }

    fn bump_version(&self) {
        self.version.send_modify(|version| *version += 1);
    }

    fn log_event(&self, text: &str) {
        self.handler.log.add(ServerLogSource::Us, text);
    }

    fn timeout(&self) -> Duration {
        Duration::from_millis(self.settings.timeout_ms.into())
    }

    /// Returns the connection; the first caller starts it. After the connection was lost, only a person waits for a new
    /// one.
    async fn connection(
        self: &Arc<Self>,
        waits_for_retry: bool,
    ) -> Result<Arc<ServerConnection>, String> {
        if !self.settings.enabled || self.stop.is_cancelled() {
            return Err(SHUT_DOWN_REASON.to_owned());
        }
        if !std::mem::replace(&mut self.lock_state().is_maintained, true) {
            self.phase
                .send_replace(ConnectionPhase::Starting { lost: None });
            let (core, stop) = (self.clone(), self.stop.clone());
            tokio::spawn(async move {
                tokio::select! {
                    () = stop.cancelled() => {}
                    () = core.maintain_connection() => {}
                }
                let last = core.phase.send_replace(ConnectionPhase::Unavailable {
                    why: SHUT_DOWN_REASON.to_owned(),
                    retry: Duration::ZERO,
                });
                if let ConnectionPhase::Ready(connection) = last {
                    connection.close(SHUT_DOWN_REASON);
                }
            });
        }
        let mut phase = self.phase.subscribe();
        let settled = phase.wait_for(|phase| match phase {
            ConnectionPhase::Idle | ConnectionPhase::Starting { lost: None } => false,
            ConnectionPhase::Starting { lost: Some(_) } => !waits_for_retry,
            ConnectionPhase::Ready(_)
            | ConnectionPhase::Unavailable { .. }
            | ConnectionPhase::NeedsSignIn => true,
        });
        match settled.await.as_deref() {
            Ok(ConnectionPhase::Ready(connection)) => Ok(connection.clone()),
            Ok(
                ConnectionPhase::Unavailable { why, .. }
                | ConnectionPhase::Starting {
                    lost: Some(why), ..
                },
            ) => Err(why.clone()),
            Ok(ConnectionPhase::NeedsSignIn) => Err(AUTHENTICATION_FAILED.to_owned()),
            Ok(ConnectionPhase::Idle | ConnectionPhase::Starting { lost: None }) | Err(_) => {
                Err(SHUT_DOWN_REASON.to_owned())
            }
        }
    }

    fn clear_failure(&self) {
        let mut is_waiting = false;
        self.phase.send_if_modified(|phase| {
            is_waiting = matches!(
                phase,
                ConnectionPhase::Unavailable { .. } | ConnectionPhase::NeedsSignIn
            );
            if is_waiting {
                *phase = ConnectionPhase::Starting { lost: None };
            }
            is_waiting
        });
        if is_waiting {
            self.retry_now.notify_one();
        }
    }
}
