//! The services of a desk: those that its person set up by their documents, and the tools that they bring.

mod change;

use std::path::Path;
use std::sync::Arc;

use openapi::config::ApisFile;
use openapi::{Api, Ground, Pins};
use protocol::Fault;
use protocol::apis::{ApiSettings, ApiView};
use provider::Keys;
use tools::Tool;
use tools::searching::Searches;

use crate::config::DeskConfig;
use crate::servers::Surroundings;
use crate::shelf::{Shelf, Standing};

pub(crate) use crate::shelf::Seen;
pub(crate) use change::change;

/// Every service of a desk.
pub(crate) struct Apis {
    shelf: Shelf<Api>,
}

impl Standing for Api {
    type File = ApisFile;
    type Ground = Ground;

    fn made(settings: ApiSettings, data_dir: &Path, ground: &Ground) -> (Self, Option<Fault>) {
        let (pins, fault) = match Pins::load(data_dir, &settings.id) {
            Ok(pins) => (pins.unwrap_or_default(), None),
            Err(fault) => (Pins::default(), Some(fault)),
        };
        (Self::new(settings, pins, ground.clone()), fault)
    }

    fn settings(&self) -> &ApiSettings {
        self.settings()
    }

    fn version(&self) -> u64 {
        self.version()
    }

    fn tools(self: &Arc<Self>) -> Vec<Arc<dyn Tool>> {
        Self::tools(self)
    }

    fn joins(&self, _ground: &Ground) {}

    fn leaves(&self) {}
}

impl Apis {
    /// Those of a desk. No document is looked at: what was approved is kept.
    pub fn of_desk(config: &DeskConfig, keys: &Arc<dyn Keys>) -> Self {
        let ground = Ground {
            lookup: Arc::new(Surroundings(keys.clone())),
            clock: config.clock.clone(),
        };
        Self {
            shelf: Shelf::open(&config.data_dir, ground),
        }
    }

    /// Reads the file again if it is another.
    pub fn read(&self) {
        self.shelf.read();
    }

    /// What the tools depend on at the moment.
    pub fn seen(&self) -> Seen {
        self.shelf.seen()
    }

    /// The tools of every service that is on, as far as they are as they were approved.
    pub fn tools(&self) -> Vec<Arc<dyn Tool>> {
        self.shelf.tools()
    }

    /// The operation of this name among the tools, to be called as a search.
    pub fn searches(&self, id: &str) -> Option<Arc<dyn Searches>> {
        let of = |api: &Arc<Api>| api.settings().enabled.then(|| api.searches(id))?;
        self.shelf.each(of).into_iter().flatten().next()
    }

    /// What is wrong with the file, or with what was approved.
    pub fn faults(&self) -> Vec<Fault> {
        self.shelf.faults()
    }

    /// Every service, by its name.
    pub fn views(&self) -> Vec<ApiView> {
        self.shelf.read();
        self.shelf.each(|api| api.view())
    }
}
