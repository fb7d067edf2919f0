//! The tools of a desk: its own and those of servers and services, as the person set them; made anew when theirs are others.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use protocol::UserError;
use protocol::settings::ToolSettings;
use tools::Registry;

use crate::toolset::apis;
use crate::toolset::apis::Apis;
use crate::toolset::config_store;
use crate::toolset::servers::Servers;

/// The tools of a desk.
pub(crate) struct EngineTools {
    /// Those of the house and of the caller.
    builtin: Registry,
    cached: Mutex<CachedTools>,
    registrations: AtomicU64,
}

/// The tools at one moment. Cheap to clone.
#[derive(Clone)]
pub(crate) struct ToolSnapshot {
    /// As they come.
    pub defaults: Arc<Registry>,
    /// As the person set them.
    pub configured: Arc<Registry>,
}

struct CachedTools {
    current: ToolSnapshot,
    /// What of the servers and services they were made from.
    versions: (config_store::ConfigVersion, apis::ConfigVersion),
    /// Tools of servers that could not join.
    errors: Vec<UserError>,
}

impl EngineTools {
    /// The tools, and which settings of them do not hold.
    pub fn new(
        own: Registry,
        servers: &Servers,
        apis: &Apis,
        settings: &BTreeMap<String, ToolSettings>,
    ) -> (Self, Vec<UserError>) {
        let (made, unset) = CachedTools::new(&own, servers, apis, settings);
        let tools = Self {
            builtin: own,
            cached: Mutex::new(made),
            registrations: AtomicU64::new(0),
        };
        (tools, unset)
    }

    fn lock_cached(&self) -> MutexGuard<'_, CachedTools> {
        self.cached.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The tools, with those of the servers as they are now. Sessions look here when a run of theirs begins, so that the list
    /// stays the same within it.
    pub fn current_tools(
        &self,
        servers: &Servers,
        apis: &Apis,
        settings: &BTreeMap<String, ToolSettings>,
    ) -> ToolSnapshot {
        servers.store().reload();
        apis.reload();
        let mut made = self.lock_cached();
        if made.versions != source_versions(servers, apis) {
            *made = CachedTools::new(&self.builtin, servers, apis, settings).0;
        }
        made.current.clone()
    }

    /// Puts tools in force that the person set otherwise.
    pub fn set_builtin(&self, set: Registry) {
        self.lock_cached().current.configured = Arc::new(set);
        self.registrations.fetch_add(1, Ordering::SeqCst);
    }

    /// How often the person set them.
    pub fn registrations(&self) -> u64 {
        self.registrations.load(Ordering::SeqCst)
    }

    /// Which tools of servers could not join, and why.
    pub fn errors(&self) -> Vec<UserError> {
        self.lock_cached().errors.clone()
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
        own: &Registry,
        servers: &Servers,
        apis: &Apis,
        settings: &BTreeMap<String, ToolSettings>,
    ) -> (Self, Vec<UserError>) {
        let seen = source_versions(servers, apis);
        let mut tools = servers.store().tools();
        tools.extend(apis.tools());
        let (all, faults) = own.with_tools(tools);
        let (set, unset) = all.with_settings(settings);
        let made = Self {
            current: ToolSnapshot {
                defaults: Arc::new(all),
                configured: Arc::new(set),
            },
            versions: seen,
            errors: faults,
        };
        (made, unset)
    }
}
