//! One server from its first use to its end: started once for all who call, kept, tried again when it is lost.

mod calls;
mod has;
mod keep;
mod room;
mod sign_in;

pub use room::Rooms;
pub use sign_in::signs_in;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use policy::host;
use protocol::grounds::Confinement;
use protocol::servers::{
    Pin, ServerId, ServerLine, ServerSettings, ServerState, ServerView, ServerVoice, ServerWay,
    SignIn,
};
use protocol::{Fault, RequirementSet};
use runtime::{Clock, Inherited};
use tokio::sync::{Notify, watch};
use tokio_util::sync::{CancellationToken, DropGuard};
use tools::Tool;

use crate::catalogue::Catalogue;
use crate::handler::Handler;
use crate::limits::RETRY_AFTER_S;
use crate::link::Link;
use crate::log::Log;
use crate::pin::{Pinned, Pins};
use crate::reasons::UNKNOWN;
use crate::refs::Lookup;
use crate::resources::ReadResource;
use crate::seen;
use crate::sign::{Vault, challenge};
use crate::tool::ServerTool;

/// What every server of a desk stands on.
#[derive(Clone)]
pub struct Ground {
    /// What programs inherit of the app's environment.
    pub inherited: Inherited,
    /// Where programs start that name no folder.
    pub home: PathBuf,
    /// Where rooms are made for those that run in one.
    pub rooms: Arc<dyn Rooms>,
    /// Where references are looked up.
    pub lookup: Arc<dyn Lookup>,
    /// Where sign-ins are kept.
    pub vault: Arc<dyn Vault>,
    /// The data folder, where what waits for an approval is kept; none to keep nothing.
    pub data_dir: Option<PathBuf>,
    /// The clock of the logs.
    pub clock: Arc<dyn Clock>,
    /// When a server that was lost is tried again: the pauses in order, the last one again and again.
    pub retry_after: Vec<Duration>,
}

impl Ground {
    /// The pauses that hold where nobody gives others: 1, 2, 5, 15 and 60 s.
    pub fn retries() -> Vec<Duration> {
        let seconds = RETRY_AFTER_S.into_iter();
        seconds
            .map(|seconds| Duration::from_secs(seconds.into()))
            .collect()
    }
}

/// A server that a person set up. All of its tools share it (`S001-58`). When it goes, its program goes.
pub struct Server {
    core: Arc<Core>,
    /// Ends whoever keeps the connection.
    _leash: DropGuard,
}

struct Core {
    settings: ServerSettings,
    ground: Ground,
    handler: Handler,
    stop: CancellationToken,
    /// Ends the pause before the next try.
    now: Notify,
    /// Held by whoever renews its sign-in.
    renewing: Arc<tokio::sync::Mutex<()>>,
    phase: watch::Sender<Phase>,
    kept: Mutex<Kept>,
    /// Grows with everything that may make the tools others.
    version: watch::Sender<u64>,
}

#[derive(Clone)]
enum Phase {
    Idle,
    /// The first time, or again after it was lost for a reason.
    Starting {
        lost: Option<String>,
    },
    Ready(Arc<Link>),
    Unavailable {
        why: String,
        retry: Duration,
    },
    NeedsSignIn,
}

#[derive(Default)]
struct Kept {
    sign_in: Option<SignIn>,
    /// Ends the sign-in that waits for the person.
    waiting: Option<DropGuard>,
    pins: Arc<Pins>,
    catalogue: Option<Arc<Catalogue>>,
    is_kept: bool,
    is_legacy: bool,
}

impl Server {
    /// A server, not started, with what was approved of it.
    pub fn new(settings: ServerSettings, pins: Pins, ground: Ground) -> Self {
        let stop = CancellationToken::new();
        let core = Core {
            handler: Handler::new(Log::new(ground.clock.clone()), settings.id.clone()),
            settings,
            ground,
            stop: stop.clone(),
            now: Notify::new(),
            renewing: Arc::default(),
            phase: watch::Sender::new(Phase::Idle),
            kept: Mutex::new(Kept {
                pins: Arc::new(pins),
                ..Kept::default()
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
            ServerWay::Stdio { room: Some(_), .. } => Confinement::Room,
            ServerWay::Stdio { room: None, .. } => Confinement::Unconfined,
            ServerWay::Http { .. } => Confinement::Remote,
        }
    }

    /// What its tools require (`S002-07`): the server itself, by name, and the host that it is reached at where that is known.
    /// What it touches to do its work is nobody's to say but its own.
    pub fn requires(&self) -> RequirementSet {
        let settings = &self.core.settings;
        let requires = RequirementSet {
            capabilities: vec![format!("mcp:{}", settings.id)],
            ..RequirementSet::nothing()
        };
        match &settings.way {
            ServerWay::Stdio { .. } => requires,
            ServerWay::Http { url, .. } => match host::resolve(url) {
                // A reference is only resolved when the server is asked.
                host if host.unresolved.is_some() || host.real.contains('$') => requires,
                host => requires.reaches(&host.real),
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
    pub fn may_change(&self, folder: &Path) -> bool {
        match &self.core.settings.way {
            ServerWay::Stdio {
                room: Some(room), ..
            } => self.core.ground.rooms.meets(room, folder),
            ServerWay::Stdio { room: None, .. } => true,
            ServerWay::Http { .. } => false,
        }
    }

    /// What may make its tools others grows this.
    pub fn version(&self) -> u64 {
        *self.core.version.borrow()
    }

    /// What was approved.
    pub fn pins(&self) -> Arc<Pins> {
        self.core.kept().pins.clone()
    }

    /// Puts other approvals in force; a call of a tool that was made before still needs what it was made from.
    pub fn set_pins(&self, pins: Pins) {
        self.core.kept().pins = Arc::new(pins);
        self.core.keep_seen();
        self.core.changed();
    }

    /// What it listed last; none before it was connected.
    pub fn catalogue(&self) -> Option<Arc<Catalogue>> {
        self.core.kept().catalogue.clone()
    }

    /// Its tools that are as they were approved, each under the name that it keeps (`S001-57`, `S001-59`).
    pub fn tools(self: &Arc<Self>) -> Vec<Arc<dyn Tool>> {
        let (pins, catalogue) = {
            let kept = self.core.kept();
            (kept.pins.clone(), kept.catalogue.clone())
        };
        let usable =
            |pinned: &&Pinned| Pins::standing(&pinned.tool, catalogue.as_deref()) == Pin::Pinned;
        let made =
            |pinned: &Pinned| Arc::new(ServerTool::new(self.clone(), pinned)) as Arc<dyn Tool>;
        let mut tools: Vec<_> = pins.tools.iter().filter(usable).map(made).collect();
        let listed = catalogue.as_ref().map(|all| all.has_resources);
        if listed.unwrap_or(pins.has_resources) {
            tools.push(Arc::new(ReadResource::new(self.clone(), &pins)));
        }
        tools
    }

    /// Everything that is known of it.
    pub fn view(&self) -> ServerView {
        let phase = self.core.phase.borrow().clone();
        let (pins, catalogue) = {
            let kept = self.core.kept();
            (kept.pins.clone(), kept.catalogue.clone())
        };
        let catalogue = catalogue.or_else(|| self.core.seen());
        let said = match &phase {
            Phase::Ready(link) => Some(link.said.clone()),
            Phase::Idle
            | Phase::Starting { .. }
            | Phase::Unavailable { .. }
            | Phase::NeedsSignIn => None,
        };
        let waits = catalogue.as_ref().filter(|all| pins.waits(all));
        ServerView {
            settings: self.core.settings.clone(),
            state: match phase {
                _ if !self.core.settings.enabled => ServerState::Off,
                Phase::Idle => ServerState::Idle,
                Phase::Starting { .. } => ServerState::Starting,
                Phase::Ready(_) => ServerState::Ready,
                Phase::Unavailable { why, retry } => ServerState::Unavailable {
                    why,
                    retry_in_s: u32::try_from(retry.as_secs()).unwrap_or(u32::MAX),
                },
                Phase::NeedsSignIn => ServerState::NeedsSignIn,
            },
            sign_in: self.core.sign_in_told(),
            said,
            tools: pins.told(catalogue.as_deref()),
            left_out: catalogue
                .as_ref()
                .map(|all| all.left_out.clone())
                .unwrap_or_default(),
            waits: waits.map(|all| all.digest()),
        }
    }

    /// What it said, and what happened to it, oldest first.
    pub fn lines(&self) -> Vec<ServerLine> {
        self.core.handler.log.lines()
    }

    /// Adds a workspace that its tools are used in, which it may ask for.
    pub fn add_root(&self, root: &Path) {
        if !self.core.handler.add_root(root) {
            return;
        }
        if let Phase::Ready(link) = self.core.phase.borrow().clone() {
            tokio::spawn(async move { link.tell_roots().await });
        }
    }

    /// Starts it if nobody did, and waits until it is connected or cannot be.
    ///
    /// # Errors
    /// Why it is unavailable. It is not tried again here: that goes on by itself (`S001-58`).
    pub async fn connected(&self) -> Result<(), Fault> {
        let core = &self.core;
        core.link(true).await.map(drop).map_err(|why| {
            let hint = match &*core.phase.borrow() {
                Phase::NeedsSignIn => "Sign in to it, then try it again.",
                Phase::Idle
                | Phase::Starting { .. }
                | Phase::Ready(_)
                | Phase::Unavailable { .. } => "Its log holds what it said.",
            };
            Fault::new(unavailable(core.settings.id.as_str(), &why), hint)
        })
    }

    /// Tries to connect now, also where it would be tried again later.
    ///
    /// # Errors
    /// Why it is unavailable.
    pub async fn retry(&self) -> Result<(), Fault> {
        self.core.forget_failure();
        self.connected().await
    }

    /// Ends it for good, also for calls that still wait: for one that is switched off, or takes another's place.
    pub fn let_go(&self) {
        self.core.stop.cancel();
    }
}

/// Forgets what was kept of a server beside what was approved of it: for one that is removed.
///
/// # Errors
/// It cannot be removed.
pub fn forget(data_dir: &Path, id: &ServerId) -> Result<(), Fault> {
    seen::forget(data_dir, id)?;
    challenge::forget(data_dir, id)
}

/// Why nothing goes to a server that is off, or was set up otherwise since.
const LET_GO: &str = "it is switched off, or was set up anew";

/// The sentence that everybody gets.
fn unavailable(id: &str, why: &str) -> String {
    format!(
        "mcp server {id} is unavailable: {}.",
        why.trim_end_matches('.')
    )
}

impl Core {
    fn kept(&self) -> MutexGuard<'_, Kept> {
        // A panic while the lock was held leaves plain data behind; going on with it is safe.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn changed(&self) {
        self.version.send_modify(|version| *version += 1);
    }

    fn log(&self, text: &str) {
        self.handler.log.add(ServerVoice::Us, text);
    }

    fn timeout(&self) -> Duration {
        Duration::from_millis(self.settings.timeout_ms.into())
    }

    /// The connection: there, or made now by whoever asks first. After it was lost only a person waits for it.
    async fn link(self: &Arc<Self>, waits: bool) -> Result<Arc<Link>, String> {
        if !self.settings.enabled || self.stop.is_cancelled() {
            return Err(LET_GO.to_owned());
        }
        if !std::mem::replace(&mut self.kept().is_kept, true) {
            self.phase.send_replace(Phase::Starting { lost: None });
            let (core, stop) = (self.clone(), self.stop.clone());
            tokio::spawn(async move {
                tokio::select! {
                    () = stop.cancelled() => {}
                    () = core.keep() => {}
                }
                let last = core.phase.send_replace(Phase::Unavailable {
                    why: LET_GO.to_owned(),
                    retry: Duration::ZERO,
                });
                if let Phase::Ready(link) = last {
                    link.close(LET_GO);
                }
            });
        }
        let mut phase = self.phase.subscribe();
        let settled = phase.wait_for(|phase| match phase {
            Phase::Idle | Phase::Starting { lost: None } => false,
            Phase::Starting { lost: Some(_) } => !waits,
            Phase::Ready(_) | Phase::Unavailable { .. } | Phase::NeedsSignIn => true,
        });
        match settled.await.as_deref() {
            Ok(Phase::Ready(link)) => Ok(link.clone()),
            Ok(
                Phase::Unavailable { why, .. }
                | Phase::Starting {
                    lost: Some(why), ..
                },
            ) => Err(why.clone()),
            Ok(Phase::NeedsSignIn) => Err(UNKNOWN.to_owned()),
            Ok(Phase::Idle | Phase::Starting { lost: None }) | Err(_) => Err(LET_GO.to_owned()),
        }
    }

    fn forget_failure(&self) {
        let mut is_waiting = false;
        self.phase.send_if_modified(|phase| {
            is_waiting = matches!(phase, Phase::Unavailable { .. } | Phase::NeedsSignIn);
            if is_waiting {
                *phase = Phase::Starting { lost: None };
            }
            is_waiting
        });
        if is_waiting {
            self.now.notify_one();
        }
    }
}
