//! The tools of an engine: its own and those of servers and services, as the person configured them; rebuilt when the
//! tools of servers or services change.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use protocol::UserError;
use protocol::settings::ToolSettings;
use tools::Registry;

use crate::toolset::apis;
use crate::toolset::apis::Apis;
use crate::toolset::config_store;
use crate::toolset::servers::Servers;

/// Tools of an engine.
pub(crate) struct EngineTools {
    /// Built-in tools and those of the caller.
    builtin: Registry,
    cached: Mutex<CachedTools>,
    registrations: AtomicU64,
}

/// Snapshot of the tools. Cheap to clone.
#[derive(Clone)]
pub(crate) struct ToolSnapshot {
    /// Tools without the person's settings.
    pub defaults: Arc<Registry>,
    /// Tools as the person configured them.
    pub configured: Arc<Registry>,
}

struct CachedTools {
    current: ToolSnapshot,
    /// Versions of the servers and services that the tools were built from.
    versions: (config_store::ConfigVersion, apis::ConfigVersion),
    /// Errors of tools of servers that could not be added.
    errors: Vec<UserError>,
}

impl EngineTools {
    /// Returns the tools, and the errors of settings that could not be applied to them.
    pub fn new(
        builtin: Registry,
        servers: &Servers,
        apis: &Apis,
        settings: &BTreeMap<String, ToolSettings>,
    ) -> (Self, Vec<UserError>) {
        let (cached, unset) = CachedTools::new(&builtin, servers, apis, settings);
        let tools = Self {
            builtin,
            cached: Mutex::new(cached),
            registrations: AtomicU64::new(0),
        };
        (tools, unset)
    }

    /// Returns the tools, with the current ones of the servers. Sessions call this when a run begins, so that the list
    /// stays the same within the run.
    pub fn current_tools(
        &self,
        servers: &Servers,
        apis: &Apis,
        settings: &BTreeMap<String, ToolSettings>,
    ) -> ToolSnapshot {
        servers.store().reload();
        apis.reload();
        let mut made = self.cached.lock();
        if made.versions != source_versions(servers, apis) {
            *made = CachedTools::new(&self.builtin, servers, apis, settings).0;
        }
        made.current.clone()
    }

    /// Puts built-in tools in force that the person configured differently.
    pub fn set_builtin(&self, set: Registry) {
        self.cached.lock().current.configured = Arc::new(set);
        self.registrations.fetch_add(1, Ordering::SeqCst);
    }

    /// Returns how often the person has configured the tools.
    pub fn registrations(&self) -> u64 {
        self.registrations.load(Ordering::SeqCst)
    }

    /// Returns which tools of servers could not be added, and why.
    pub fn errors(&self) -> Vec<UserError> {
        self.cached.lock().errors.clone()
    }
}

fn source_versions(
    servers: &Servers,
    apis: &Apis,
) -> (config_store::ConfigVersion, apis::ConfigVersion) {
    (servers.store().seen(), apis.seen())
}

impl CachedTools {
    fn new(
        builtin: &Registry,
        servers: &Servers,
        apis: &Apis,
        settings: &BTreeMap<String, ToolSettings>,
    ) -> (Self, Vec<UserError>) {
        let versions = source_versions(servers, apis);
        let mut tools = servers.store().tools();
        tools.extend(apis.tools());
        let (all, faults) = builtin.with_tools(tools);
        let (set, unset) = all.with_settings(settings);
        let cached = Self {
            current: ToolSnapshot {
                defaults: Arc::new(all),
                configured: Arc::new(set),
            },
            versions,
            errors: faults,
        };
        (cached, unset)
    }
}
