//! The servers of a desk: those that its person set up, each connected once, and the tools that they bring.

mod change;
mod found;
mod sign_ins;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mcp::{Ground, Lookup, Pins, Server, config};
use protocol::Fault;
use protocol::server_has::{ServerAsked, ServerHas};
use protocol::servers::{ServerId, ServerLine, ServerSettings, ServerView};
use provider::Keys;
use runtime::Inherited;
use tools::Tool;

use crate::config::DeskConfig;

pub(crate) use change::change;
pub(crate) use found::found;
pub use found::servers_of_file;
use sign_ins::SignIns;

/// Under which provider's name the keychain files a secret of a server.
const SECRETS: &str = "mcp:";

/// Every server of a desk.
pub(crate) struct Servers {
    data_dir: PathBuf,
    ground: Ground,
    known: Mutex<Known>,
    /// Held by whoever changes one of them.
    changing: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct Known {
    /// The file as it was read last.
    text: Option<String>,
    servers: BTreeMap<ServerId, Arc<Server>>,
    faults: Vec<Fault>,
    roots: BTreeSet<PathBuf>,
    /// Those that could not be switched on, ended: what they said is looked at.
    failed: BTreeMap<ServerId, Arc<Server>>,
    /// How often the list became another.
    changes: u64,
}

/// What the tools of all servers depend on: while it is the same, so are they.
pub(crate) type Seen = (u64, Vec<u64>);

impl Servers {
    /// Those of a desk.
    pub fn of_desk(config: &DeskConfig, inherited: &Inherited, keys: &Arc<dyn Keys>) -> Self {
        let home = directories::BaseDirs::new().map(|dirs| dirs.home_dir().to_owned());
        let ground = Ground {
            inherited: inherited.clone(),
            home: home.unwrap_or_else(|| config.data_dir.clone()),
            lookup: Arc::new(Surroundings(keys.clone())),
            vault: Arc::new(SignIns(keys.clone())),
            clock: config.clock.clone(),
            retry_after: Ground::retries(),
        };
        Self::open(&config.data_dir, ground)
    }

    /// Reads who is set up; nobody is started.
    pub fn open(data_dir: &Path, ground: Ground) -> Self {
        let servers = Self {
            data_dir: data_dir.to_owned(),
            ground,
            known: Mutex::default(),
            changing: tokio::sync::Mutex::default(),
        };
        servers.read();
        servers
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn file(&self) -> PathBuf {
        self.data_dir.join(config::FILE)
    }

    /// Reads the file again if it is another: a person edits it, and another process may.
    pub fn read(&self) {
        let mut known = self.known();
        let text = match runtime::read_text(&self.file()) {
            Ok(text) => text.unwrap_or_default(),
            Err(error) => return known.none(error.into()),
        };
        if known.text.as_ref() == Some(&text) {
            return;
        }
        match config::read(&text) {
            Ok(all) => {
                known.faults.clear();
                self.take(&mut known, all);
            }
            Err(fault) => known.none(fault),
        }
        known.text = Some(text);
    }

    /// Puts these servers in the place of those before; one that is as it was goes on.
    fn take(&self, known: &mut Known, all: Vec<ServerSettings>) {
        let mut servers = BTreeMap::new();
        for settings in all {
            let id = settings.id.clone();
            let same = known.servers.get(&id);
            let server = match same.filter(|server| *server.settings() == settings) {
                Some(same) => same.clone(),
                None => {
                    let (server, fault) = self.made(settings);
                    known.faults.extend(fault);
                    known.roots.iter().for_each(|root| server.add_root(root));
                    server
                }
            };
            servers.insert(id, server);
        }
        known.failed.clear();
        let before = std::mem::replace(&mut known.servers, servers);
        for (id, server) in before {
            let still = known.servers.get(&id);
            if still.is_none_or(|still| !Arc::ptr_eq(still, &server)) {
                server.let_go();
            }
        }
        known.changes += 1;
    }

    /// A server that is not started. What was approved of it and cannot be read is approved no more.
    fn made(&self, settings: ServerSettings) -> (Arc<Server>, Option<Fault>) {
        let (pins, fault) = match Pins::load(&self.data_dir, &settings.id) {
            Ok(pins) => (pins.unwrap_or_default(), None),
            Err(fault) => (Pins::default(), Some(fault)),
        };
        let server = Server::new(settings, pins, self.ground.clone());
        (Arc::new(server), fault)
    }

    fn find(&self, id: &ServerId) -> Result<Arc<Server>, Fault> {
        let found = self.known().servers.get(id).cloned();
        found.ok_or_else(|| config::unknown(id))
    }

    /// Adds a workspace that tools are used in.
    pub fn add_root(&self, root: &Path) {
        let mut known = self.known();
        if known.roots.insert(root.to_owned()) {
            known
                .servers
                .values()
                .for_each(|server| server.add_root(root));
        }
    }

    /// What the tools depend on at the moment.
    pub fn seen(&self) -> Seen {
        let known = self.known();
        let versions = known.servers.values().map(|server| server.version());
        (known.changes, versions.collect())
    }

    /// The tools of every server that is on, as far as they are as they were approved.
    pub fn tools(&self) -> Vec<Arc<dyn Tool>> {
        let known = self.known();
        let on = known
            .servers
            .values()
            .filter(|server| server.settings().enabled);
        on.flat_map(Server::tools).collect()
    }

    /// What is wrong with the file, or with what was approved.
    pub fn faults(&self) -> Vec<Fault> {
        self.known().faults.clone()
    }

    /// Every server, by its name.
    pub fn views(&self) -> Vec<ServerView> {
        self.read();
        self.known()
            .servers
            .values()
            .map(|server| server.view())
            .collect()
    }

    /// What a server said; where it could not be switched on, what it said then.
    pub fn lines(&self, id: &ServerId) -> Result<Vec<ServerLine>, Fault> {
        self.read();
        let server = self.find(id)?;
        let failed = self.known().failed.get(id).cloned();
        Ok(failed.unwrap_or(server).lines())
    }

    /// What a server has for a person beside its tools.
    pub async fn has(&self, id: &ServerId, asked: &ServerAsked) -> Result<ServerHas, Fault> {
        self.read();
        self.find(id)?.has(asked).await
    }

    /// Ends all of them.
    pub fn close(&self) {
        self.known()
            .servers
            .values()
            .for_each(|server| server.let_go());
    }
}

impl Known {
    /// None is used until the file is right again.
    fn none(&mut self, fault: Fault) {
        for server in std::mem::take(&mut self.servers).into_values() {
            server.let_go();
        }
        self.faults = vec![fault];
        self.changes += 1;
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
