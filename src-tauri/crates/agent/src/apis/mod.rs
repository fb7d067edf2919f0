//! The services of a desk: those that its person set up by their documents, and the tools that they bring.

mod change;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use openapi::{Api, Ground, Pins, config};
use protocol::Fault;
use protocol::apis::{ApiSettings, ApiView};
use protocol::servers::ServerId;
use provider::Keys;
use tools::Tool;

use crate::config::DeskConfig;
use crate::servers::Surroundings;

pub(crate) use change::change;

/// Every service of a desk.
pub(crate) struct Apis {
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
    apis: BTreeMap<ServerId, Arc<Api>>,
    faults: Vec<Fault>,
    /// How often the list became another.
    changes: u64,
}

/// What the tools of all services depend on: while it is the same, so are they.
pub(crate) type Seen = (u64, Vec<u64>);

impl Apis {
    /// Those of a desk. No document is looked at: what was approved is kept.
    pub fn of_desk(config: &DeskConfig, keys: &Arc<dyn Keys>) -> Self {
        let apis = Self {
            data_dir: config.data_dir.clone(),
            ground: Ground {
                lookup: Arc::new(Surroundings(keys.clone())),
                clock: config.clock.clone(),
            },
            known: Mutex::default(),
            changing: tokio::sync::Mutex::default(),
        };
        apis.read();
        apis
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn file(&self) -> PathBuf {
        self.data_dir.join(config::FILE)
    }

    fn data_dir(&self) -> &Path {
        &self.data_dir
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

    /// Puts these services in the place of those before; one that is as it was stays.
    fn take(&self, known: &mut Known, all: Vec<ApiSettings>) {
        let mut apis = BTreeMap::new();
        for settings in all {
            let id = settings.id.clone();
            let same = known.apis.get(&id);
            let api = match same.filter(|api| *api.settings() == settings) {
                Some(same) => same.clone(),
                None => {
                    let (api, fault) = self.made(settings);
                    known.faults.extend(fault);
                    api
                }
            };
            apis.insert(id, api);
        }
        known.apis = apis;
        known.changes += 1;
    }

    /// A service. What was approved of it and cannot be read is approved no more.
    fn made(&self, settings: ApiSettings) -> (Arc<Api>, Option<Fault>) {
        let (pins, fault) = match Pins::load(&self.data_dir, &settings.id) {
            Ok(pins) => (pins.unwrap_or_default(), None),
            Err(fault) => (Pins::default(), Some(fault)),
        };
        let api = Api::new(settings, pins, self.ground.clone());
        (Arc::new(api), fault)
    }

    fn find(&self, id: &ServerId) -> Result<Arc<Api>, Fault> {
        let found = self.known().apis.get(id).cloned();
        found.ok_or_else(|| config::unknown(id))
    }

    /// What the tools depend on at the moment.
    pub fn seen(&self) -> Seen {
        let known = self.known();
        let versions = known.apis.values().map(|api| api.version());
        (known.changes, versions.collect())
    }

    /// The tools of every service that is on, as far as they are as they were approved.
    pub fn tools(&self) -> Vec<Arc<dyn Tool>> {
        let known = self.known();
        let on = known.apis.values().filter(|api| api.settings().enabled);
        on.flat_map(Api::tools).collect()
    }

    /// What is wrong with the file, or with what was approved.
    pub fn faults(&self) -> Vec<Fault> {
        self.known().faults.clone()
    }

    /// Every service, by its name.
    pub fn views(&self) -> Vec<ApiView> {
        self.read();
        self.known().apis.values().map(|api| api.view()).collect()
    }
}

impl Known {
    /// None is used until the file is right again.
    fn none(&mut self, fault: Fault) {
        self.apis.clear();
        self.faults = vec![fault];
        self.changes += 1;
    }
}
