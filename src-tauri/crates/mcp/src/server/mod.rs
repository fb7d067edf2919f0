//! One server from its first use to its end: started once for all who call, kept, tried again when it is lost.

mod calls;
mod inspection;
mod lifecycle;
pub(crate) mod resource_tool;
mod sandbox;
mod sign_in;
pub(crate) mod tool;

pub use sandbox::ServerSandboxLauncher;
pub use sign_in::supports_sign_in;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use policy::patterns::host;
use protocol::rule::evidence::Confinement;
use protocol::server::mcp_servers::{
    PinState, ServerId, ServerLogLine, ServerLogSource, ServerSettings, ServerState,
    ServerTransport, ServerView, SignInState,
};
use protocol::{RequirementSet, UserError};
use runtime::{Clock, InheritedEnv};
use tokio::sync::{Notify, watch};
use tokio_util::sync::{CancellationToken, DropGuard};
use tools::Tool;

use crate::catalogue::ToolCatalogue;
use crate::config_references::ReferenceResolver;
use crate::connection::ServerConnection;
use crate::connection::failure_reasons::AUTHENTICATION_FAILED;
use crate::limits::RETRY_AFTER_S;
use crate::message_handler::ServerMessageHandler;
use crate::oauth::{CredentialVault, challenge};
use crate::pending_catalogue;
use crate::pins::{PinnedTool, ToolPins};
use crate::server::resource_tool::ReadResourceTool;
use crate::server::tool::McpTool;
use crate::server_log::ServerLog;

/// What every server of a desk stands on.
#[derive(Clone)]
pub struct ServerDependencies {
    /// What programs inherit of the app's environment.
    pub inherited: InheritedEnv,
    /// Where programs start that name no folder.
    pub home: PathBuf,
    /// Where rooms are made for those that run in one.
    pub sandbox_launcher: Arc<dyn ServerSandboxLauncher>,
    /// Where references are looked up.
    pub lookup: Arc<dyn ReferenceResolver>,
    /// Where sign-ins are kept.
    pub vault: Arc<dyn CredentialVault>,
    /// The data folder, where what waits for an approval is kept; none to keep nothing.
    pub data_dir: Option<PathBuf>,
    /// The clock of the logs.
    pub clock: Arc<dyn Clock>,
    /// When a server that was lost is tried again: the pauses in order, the last one again and again.
    pub retry_after: Vec<Duration>,
}

impl ServerDependencies {
    /// The pauses that hold where nobody gives others: 1, 2, 5, 15 and 60 s.
    pub fn default_retry_delays() -> Vec<Duration> {
        let seconds = RETRY_AFTER_S.into_iter();
        seconds
            .map(|seconds| Duration::from_secs(seconds.into()))
            .collect()
    }
}

/// A server that a person set up. All of its tools share it (`S001-58`). When it goes, its program goes.
pub struct McpServer {
    core: Arc<ServerCore>,
    /// Ends whoever keeps the connection.
    _leash: DropGuard,
}

struct ServerCore {
    settings: ServerSettings,
    dependencies: ServerDependencies,
    handler: ServerMessageHandler,
    stop: CancellationToken,
    /// Ends the pause before the next try.
    retry_now: Notify,
    /// Held by whoever renews its sign-in.
    renewal_lock: Arc<tokio::sync::Mutex<()>>,
    phase: watch::Sender<ConnectionPhase>,
    state: Mutex<ServerCoreState>,
    /// Grows with everything that may make the tools others.
    version: watch::Sender<u64>,
}

#[derive(Clone)]
enum ConnectionPhase {
    Idle,
    /// The first time, or again after it was lost for a reason.
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

#[derive(Default)]
struct ServerCoreState {
    sign_in: Option<SignInState>,
    /// Ends the sign-in that waits for the person.
    sign_in_guard: Option<DropGuard>,
    pins: Arc<ToolPins>,
    catalogue: Option<Arc<ToolCatalogue>>,
    is_pending_saved: bool,
    is_legacy: bool,
}

impl McpServer {
    /// A server, not started, with what was approved of it.
    pub fn new(settings: ServerSettings, pins: ToolPins, ground: ServerDependencies) -> Self {
        let stop = CancellationToken::new();
        let core = ServerCore {
            handler: ServerMessageHandler::new(
                ServerLog::new(ground.clock.clone()),
                settings.id.clone(),
            ),
            settings,
            dependencies: ground,
            stop: stop.clone(),
            retry_now: Notify::new(),
            renewal_lock: Arc::default(),
            phase: watch::Sender::new(ConnectionPhase::Idle),
            state: Mutex::new(ServerCoreState {
                pins: Arc::new(pins),
                ..ServerCoreState::default()
            }),
            version: watch::Sender::new(0),
        };
        Self {
            core: Arc::new(core),
            _leash: stop.drop_guard(),
        }
    }

    /// As it was set up.
    pub fn settings(&self) -> &ServerSettings {
        &self.core.settings
    }

    /// What keeps its tools to what their calls were judged on: nothing does with a program of this machine that runs in no room.
    pub fn confinement(&self) -> Confinement {
        match &self.core.settings.way {
            ServerTransport::Stdio { room: Some(_), .. } => Confinement::Room,
            ServerTransport::Stdio { room: None, .. } => Confinement::Unconfined,
            ServerTransport::Http { .. } => Confinement::Remote,
        }
    }

    /// What its tools require (`S002-07`): the server itself, by name, and the host that it is reached at where that is known.
    /// What it touches to do its work is nobody's to say but its own.
    pub fn requirements(&self) -> RequirementSet {
        let settings = &self.core.settings;
        let requires = RequirementSet {
            capabilities: vec![format!("mcp:{}", settings.id)],
            ..RequirementSet::empty()
        };
        match &settings.way {
            ServerTransport::Stdio { .. } => requires,
            ServerTransport::Http { url, .. } => match host::resolve_host(url) {
                // A reference is only resolved when the server is asked.
                host if host.unresolved.is_some() || host.real.contains('$') => requires,
                host => requires.with_host(&host.real),
            },
        }
    }

    /// What a sealed room for its tools would have to grant: the program that it is, or the way to it.
    pub fn sandbox_profile(&self) -> &'static str {
        match self.confinement() {
            Confinement::Remote => "network",
            Confinement::Held | Confinement::Room | Confinement::Unconfined => "command",
        }
    }

    /// Whether it is a program that may change something in a folder, absolute: it runs as the person, or its room meets that folder.
    pub fn can_change_folder(&self, folder: &Path) -> bool {
        match &self.core.settings.way {
            ServerTransport::Stdio {
                room: Some(room), ..
            } => self
                .core
                .dependencies
                .sandbox_launcher
                .overlaps_folder(room, folder),
            ServerTransport::Stdio { room: None, .. } => true,
            ServerTransport::Http { .. } => false,
        }
    }

    /// What may make its tools others grows this.
    pub fn version(&self) -> u64 {
        *self.core.version.borrow()
    }

    /// What was approved.
    pub fn pins(&self) -> Arc<ToolPins> {
        self.core.lock_state().pins.clone()
    }

    /// Puts other approvals in force; a call of a tool that was made before still needs what it was made from.
    pub fn set_pins(&self, pins: ToolPins) {
        self.core.lock_state().pins = Arc::new(pins);
        self.core.save_pending_catalogue();
        self.core.bump_version();
    }

    /// What it listed last; none before it was connected.
    pub fn catalogue(&self) -> Option<Arc<ToolCatalogue>> {
        self.core.lock_state().catalogue.clone()
    }

    /// Its tools that are as they were approved, each under the name that it keeps (`S001-57`, `S001-59`).
    pub fn tools(self: &Arc<Self>) -> Vec<Arc<dyn Tool>> {
        let (pins, catalogue) = {
            let kept = self.core.lock_state();
            (kept.pins.clone(), kept.catalogue.clone())
        };
        let usable = |pinned: &&PinnedTool| {
            ToolPins::pin_state(&pinned.tool, catalogue.as_deref()) == PinState::Pinned
        };
        let made =
            |pinned: &PinnedTool| Arc::new(McpTool::new(self.clone(), pinned)) as Arc<dyn Tool>;
        let mut tools: Vec<_> = pins.tools.iter().filter(usable).map(made).collect();
        let listed = catalogue.as_ref().map(|all| all.has_resources);
        if listed.unwrap_or(pins.has_resources) {
            tools.push(Arc::new(ReadResourceTool::new(self.clone(), &pins)));
        }
        tools
    }

    /// Everything that is known of it.
    pub fn view(&self) -> ServerView {
        let phase = self.core.phase.borrow().clone();
        let (pins, catalogue) = {
            let kept = self.core.lock_state();
            (kept.pins.clone(), kept.catalogue.clone())
        };
        let catalogue = catalogue.or_else(|| self.core.load_pending_catalogue());
        let said = match &phase {
            ConnectionPhase::Ready(link) => Some(link.server_info.clone()),
            ConnectionPhase::Idle
            | ConnectionPhase::Starting { .. }
            | ConnectionPhase::Unavailable { .. }
            | ConnectionPhase::NeedsSignIn => None,
        };
        let waits = catalogue
            .as_ref()
            .filter(|all| pins.has_pending_changes(all));
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
            said,
            tools: pins.list_tools(catalogue.as_deref()),
            left_out: catalogue
                .as_ref()
                .map(|all| all.left_out.clone())
                .unwrap_or_default(),
            waits: waits.map(|all| all.digest()),
        }
    }

    /// What it said, and what happened to it, oldest first.
    pub fn log_lines(&self) -> Vec<ServerLogLine> {
        self.core.handler.log.lines()
    }

    /// Adds a workspace that its tools are used in, which it may ask for.
    pub fn add_root(&self, root: &Path) {
        if !self.core.handler.add_root(root) {
            return;
        }
        if let ConnectionPhase::Ready(link) = self.core.phase.borrow().clone() {
            tokio::spawn(async move { link.notify_roots_changed().await });
        }
    }

    /// Starts it if nobody did, and waits until it is connected or cannot be.
    ///
    /// # Errors
    /// Why it is unavailable. It is not tried again here: that goes on by itself (`S001-58`).
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

    /// Tries to connect now, also where it would be tried again later.
    ///
    /// # Errors
    /// Why it is unavailable.
    pub async fn retry(&self) -> Result<(), UserError> {
        self.core.clear_failure();
        self.ensure_connected().await
    }

    /// Ends it for good, also for calls that still wait: for one that is switched off, or takes another's place.
    pub fn shut_down(&self) {
        self.core.stop.cancel();
    }
}

/// Forgets what was kept of a server beside what was approved of it: for one that is removed.
///
/// # Errors
/// It cannot be removed.
pub fn remove_server_data(data_dir: &Path, id: &ServerId) -> Result<(), UserError> {
    pending_catalogue::remove_pending_catalogue(data_dir, id)?;
    challenge::remove_challenge(data_dir, id)
}

/// Why nothing goes to a server that is off, or was set up otherwise since.
const SHUT_DOWN_REASON: &str = "it is switched off, or was set up anew";

/// The sentence that everybody gets.
fn unavailable_message(id: &str, why: &str) -> String {
    format!(
        "mcp server {id} is unavailable: {}.",
        why.trim_end_matches('.')
    )
}

impl ServerCore {
    fn lock_state(&self) -> MutexGuard<'_, ServerCoreState> {
        // A panic while the lock was held leaves plain data behind; going on with it is safe.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
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

    /// The connection: there, or made now by whoever asks first. After it was lost only a person waits for it.
    async fn connection(self: &Arc<Self>, waits: bool) -> Result<Arc<ServerConnection>, String> {
        if !self.settings.enabled || self.stop.is_cancelled() {
            return Err(SHUT_DOWN_REASON.to_owned());
        }
        if !std::mem::replace(&mut self.lock_state().is_pending_saved, true) {
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
                if let ConnectionPhase::Ready(link) = last {
                    link.close(SHUT_DOWN_REASON);
                }
            });
        }
        let mut phase = self.phase.subscribe();
        let settled = phase.wait_for(|phase| match phase {
            ConnectionPhase::Idle | ConnectionPhase::Starting { lost: None } => false,
            ConnectionPhase::Starting { lost: Some(_) } => !waits,
            ConnectionPhase::Ready(_)
            | ConnectionPhase::Unavailable { .. }
            | ConnectionPhase::NeedsSignIn => true,
        });
        match settled.await.as_deref() {
            Ok(ConnectionPhase::Ready(link)) => Ok(link.clone()),
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
