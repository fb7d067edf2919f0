//! The servers of a desk: those that its person set up, each connected once, and the tools that they bring.

mod change;
mod found;
mod rooms;
mod sign_ins;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use mcp::config::ServersFile;
use mcp::{Lookup, Pins, Server};
use protocol::Fault;
use protocol::server_has::{ServerAsked, ServerHas};
use protocol::servers::{ServerId, ServerLine, ServerSettings, ServerView};
use provider::Keys;
use runtime::Inherited;
use tools::Tool;

use crate::config::DeskConfig;
use crate::shelf::{Shelf, Standing};

pub(crate) use change::change;
pub(crate) use found::found;
pub use found::servers_of_file;
pub(crate) use rooms::ServerRooms;
use sign_ins::SignIns;

/// Under which provider's name the keychain files a secret of a server.
const SECRETS: &str = "mcp:";

/// Every server of a desk.
pub(crate) struct Servers {
    shelf: Shelf<Server>,
    /// Those that could not be switched on, ended: what they said is looked at for as long as the one that they were made after
    /// is there.
    failed: Mutex<BTreeMap<ServerId, Failed>>,
}

/// One that could not be switched on, beside the one that it was made after.
type Failed = (Weak<Server>, Arc<Server>);

/// What the servers of a desk stand on.
pub(crate) struct Ground {
    given: mcp::Ground,
    /// The workspaces that tools are used in.
    roots: Mutex<BTreeSet<PathBuf>>,
}

impl Ground {
    fn roots(&self) -> MutexGuard<'_, BTreeSet<PathBuf>> {
        self.roots.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Standing for Server {
    type File = ServersFile;
    type Ground = Ground;

    fn made(settings: ServerSettings, data_dir: &Path, ground: &Ground) -> (Self, Option<Fault>) {
        let (pins, fault) = match Pins::load(data_dir, &settings.id) {
            Ok(pins) => (pins.unwrap_or_default(), None),
            Err(fault) => (Pins::default(), Some(fault)),
        };
        (Self::new(settings, pins, ground.given.clone()), fault)
    }

    fn settings(&self) -> &ServerSettings {
        self.settings()
    }

    fn version(&self) -> u64 {
        self.version()
    }

    fn tools(self: &Arc<Self>) -> Vec<Arc<dyn Tool>> {
        Self::tools(self)
    }

    fn joins(&self, ground: &Ground) {
        ground.roots().iter().for_each(|root| self.add_root(root));
    }

    fn leaves(&self) {
        self.let_go();
    }
}

impl Servers {
    /// Those of a desk: read who is set up; nobody is started.
    pub fn of_desk(
        config: &DeskConfig,
        inherited: &Inherited,
        rooms: ServerRooms,
        keys: &Arc<dyn Keys>,
    ) -> Self {
        let home = directories::BaseDirs::new().map(|dirs| dirs.home_dir().to_owned());
        let given = mcp::Ground {
            inherited: inherited.clone(),
            home: home.unwrap_or_else(|| config.data_dir.clone()),
            rooms: Arc::new(rooms),
            lookup: Arc::new(Surroundings(keys.clone())),
            vault: Arc::new(SignIns::new(keys.clone(), &config.data_dir)),
            data_dir: Some(config.data_dir.clone()),
            clock: config.clock.clone(),
            retry_after: mcp::Ground::retries(),
        };
        let ground = Ground {
            given,
            roots: Mutex::default(),
        };
        Self {
            shelf: Shelf::open(&config.data_dir, ground),
            failed: Mutex::default(),
        }
    }

    /// Those of the file, as they stand.
    pub fn shelf(&self) -> &Shelf<Server> {
        &self.shelf
    }

    /// Adds a workspace that tools are used in.
    pub fn add_root(&self, root: &Path) {
        if self.shelf.ground().roots().insert(root.to_owned()) {
            self.shelf.each(|server| server.add_root(root));
        }
    }

    /// Every server, by its name.
    pub fn views(&self) -> Vec<ServerView> {
        self.shelf.read();
        self.shelf.each(|server| server.view())
    }

    /// Keeps one that could not be switched on in the place of another.
    fn failed(&self, known: &Arc<Server>, server: Arc<Server>) {
        let id = server.settings().id.clone();
        let mut failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        failed.insert(id, (Arc::downgrade(known), server));
    }

    /// What a server said; where it could not be switched on, what it said then.
    pub fn lines(&self, id: &ServerId) -> Result<Vec<ServerLine>, Fault> {
        self.shelf.read();
        let server = self.shelf.find(id)?;
        let mut failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        failed.retain(|_, (known, _)| known.strong_count() > 0);
        let said = failed.get(id);
        let said = said.filter(|(known, _)| known.as_ptr() == Arc::as_ptr(&server));
        Ok(said
            .map_or(server.clone(), |(_, said)| said.clone())
            .lines())
    }

    /// What a server has for a person beside its tools.
    pub async fn has(&self, id: &ServerId, asked: &ServerAsked) -> Result<ServerHas, Fault> {
        self.shelf.read();
        self.shelf.find(id)?.has(asked).await
    }

    /// Ends all of them.
    pub fn close(&self) {
        self.shelf.each(|server| server.let_go());
    }
}

/// Where the references of servers are looked up: the app's environment and the system keychain.
pub(crate) struct Surroundings(pub Arc<dyn Keys>);

impl Lookup for Surroundings {
    fn variable(&self, name: &str) -> Option<String> {
        std::env::var(name).ok()
    }

    fn secret(&self, name: &str) -> Result<Option<String>, String> {
        let found = self.0.get(&format!("{SECRETS}{name}"), None);
        let found = found.map_err(|fault| fault.to_string())?;
        Ok(found.map(|key| key.secret.reveal().to_owned()))
    }
}
