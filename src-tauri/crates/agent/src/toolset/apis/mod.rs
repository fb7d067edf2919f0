//! The services of an engine: those that its person set up by their documents, and their tools.

mod change;

use std::sync::Arc;

use openapi::config::ApisFile;
use openapi::{ApiContext, ApiDocument, ApiService, OperationPins};
use protocol::UserError;
use protocol::server::apis::{ApiSettings, ApiView};
use provider::KeyStore;
use tools::Tool;
use tools::sources::PinnedCatalogue;
use tools::web_search::OperationCaller;

use super::config_store::{ConfigEntry, ConfigStore};
use super::servers::ServerVariables;
use crate::host::config::EngineConfig;

pub(crate) use super::config_store::ConfigVersion;
pub(crate) use change::change_apis;

/// All services of an engine.
pub(crate) struct Apis {
    store: ConfigStore<ApiService>,
}

impl ConfigEntry for ApiService {
    type File = ApisFile;
    type Catalogue = ApiDocument;
    type Context = ApiContext;

    fn from_settings(settings: ApiSettings, pins: OperationPins, context: &ApiContext) -> Self {
        Self::new(settings, pins, context.clone())
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

    fn pinned_tools(&self) -> PinnedCatalogue<ApiDocument> {
        self.pinned_tools()
    }

    fn set_pins(&self, pins: OperationPins) {
        self.set_pins(pins);
    }

    fn on_added(&self, _context: &ApiContext) {}

    fn on_removed(&self) {}
}

impl Apis {
    /// Reads the services of an engine. No document is read: approved operations are stored.
    pub fn from_config(config: &EngineConfig, keys: &Arc<dyn KeyStore>) -> Self {
        let ground = ApiContext {
            lookup: Arc::new(ServerVariables(keys.clone())),
            clock: config.clock.clone(),
        };
        Self {
            store: ConfigStore::open(&config.data_dir, ground),
        }
    }

    /// Reloads the file if it changed.
    pub fn reload(&self) {
        self.store.reload();
    }

    /// Returns the current version that the tools depend on.
    pub fn seen(&self) -> ConfigVersion {
        self.store.seen()
    }

    /// Returns the tools of every service that is switched on, if they have not changed since they were approved.
    pub fn tools(&self) -> Vec<Arc<dyn Tool>> {
        self.store.tools()
    }

    /// Returns the operation of this name among the tools, to be called as a search.
    pub fn search_operation(&self, id: &str) -> Option<Arc<dyn OperationCaller>> {
        let of = |api: &Arc<ApiService>| {
            api.settings()
                .enabled
                .then(|| api.find_search_operation(id))?
        };
        self.store.map_entries(of).into_iter().flatten().next()
    }

    /// Returns the errors of the file, and of the stored approvals.
    pub fn errors(&self) -> Vec<UserError> {
        self.store.errors()
    }

    /// Returns every service, sorted by name.
    pub fn views(&self) -> Vec<ApiView> {
        self.store.reload();
        self.store.map_entries(|api| api.view())
    }
}
