//! The servers of an engine: those that its person set up, each connected once, and their tools.

pub(crate) mod backing;
mod change;
mod discovery;
mod sandboxes;
mod sign_ins;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};

use mcp::catalogue::ToolCatalogue;
use mcp::config::ServersFile;
use mcp::{McpServer, ReferenceResolver, ToolPins};
use parking_lot::Mutex;
use protocol::UserError;
use protocol::server::mcp_servers::{ServerId, ServerLogLine, ServerSettings, ServerView};
use protocol::server::resources::{ServerResourceQuery, ServerResources};
use provider::KeyStore;
use runtime::InheritedEnv;
use tools::Tool;
use tools::sources::PinnedCatalogue;

use crate::host::config::EngineConfig;
use crate::toolset::config_store::{ConfigEntry, ConfigStore};

use crate::toolset::servers::backing::GivenServers;
pub(crate) use crate::toolset::servers::change::change_servers;
pub(crate) use crate::toolset::servers::discovery::find_servers;
pub use crate::toolset::servers::discovery::servers_from_file;
pub(crate) use crate::toolset::servers::sandboxes::ServerSandboxes;
pub(crate) use crate::toolset::servers::sign_ins::SignInVault;

/// Prefix of the provider name under which the keychain stores a secret of a server.
pub(crate) const SECRET_PREFIX: &str = "mcp:";

/// All servers of an engine.
pub(crate) struct Servers {
    store: ConfigStore<McpServer>,
    /// Ended servers that could not be switched on: their log stays available for as long as the server that they were
    /// to replace exists.
    failed: Mutex<BTreeMap<ServerId, FailedServer>>,
    /// Servers that were named where a gateway was started.
    given: GivenServers,
}

/// A server that could not be switched on, and the server that it was to replace.
type FailedServer = (Weak<McpServer>, Arc<McpServer>);

/// Context that the servers of an engine share.
pub(crate) struct ServerContext {
    connection: mcp::ServerDependencies,
    /// Workspaces that tools are used in.
    roots: Mutex<BTreeSet<PathBuf>>,
}

impl ConfigEntry for McpServer {
    type File = ServersFile;
    type Catalogue = ToolCatalogue;
    type Context = ServerContext;

    fn from_settings(settings: ServerSettings, pins: ToolPins, context: &ServerContext) -> Self {
        Self::new(settings, pins, context.connection.clone())
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

    fn pinned_tools(&self) -> PinnedCatalogue<ToolCatalogue> {
        self.pinned_tools()
    }

    fn set_pins(&self, pins: ToolPins) {
        self.set_pins(pins);
    }

    fn on_added(&self, context: &ServerContext) {
        context
            .roots
            .lock()
            .iter()
            .for_each(|root| self.add_root(root));
    }

    fn on_removed(&self) {
        self.shut_down();
    }
}

impl Servers {
    /// Reads the configured servers of an engine; none is started.
    pub fn from_config(
        config: &EngineConfig,
        inherited: &InheritedEnv,
        sandboxes: ServerSandboxes,
        keys: &Arc<dyn KeyStore>,
    ) -> Self {
        let home = directories::BaseDirs::new().map(|dirs| dirs.home_dir().to_owned());
        let dependencies = mcp::ServerDependencies {
            inherited: inherited.clone(),
            home: home.unwrap_or_else(|| config.data_dir.clone()),
            sandbox_launcher: Arc::new(sandboxes),
            lookup: Arc::new(ServerVariables(keys.clone())),
            vault: Arc::new(SignInVault::new(keys.clone(), &config.data_dir)),
            data_dir: Some(config.data_dir.clone()),
            clock: config.clock.clone(),
            retry_after: mcp::ServerDependencies::default_retry_delays(),
        };
        let ground = ServerContext {
            connection: dependencies,
            roots: Mutex::default(),
        };
        Self {
            store: ConfigStore::open(&config.data_dir, ground),
            failed: Mutex::default(),
            given: GivenServers::default(),
        }
    }

    /// Returns the servers of the file.
    pub fn store(&self) -> &ConfigStore<McpServer> {
        &self.store
    }

    /// Adds a workspace that tools are used in.
    pub fn add_root(&self, root: &Path) {
        if self.store.context().roots.lock().insert(root.to_owned()) {
            self.store.map_entries(|server| server.add_root(root));
        }
    }

    /// Returns every server, sorted by name.
    pub fn views(&self) -> Vec<ServerView> {
        self.store.reload();
        self.store.map_entries(|server| server.view())
    }

    /// Returns the names of the servers that are on.
    pub fn enabled_ids(&self) -> Vec<ServerId> {
        let views = self.views().into_iter();
        let enabled = views.filter(|view| view.settings.enabled);
        enabled.map(|view| view.settings.id).collect()
    }

    /// Keeps a server that could not be switched on in place of another.
    fn add_failed(&self, original: &Arc<McpServer>, server: Arc<McpServer>) {
        let id = server.settings().id.clone();
        let mut failed = self.failed.lock();
        failed.insert(id, (Arc::downgrade(original), server));
    }

    /// Returns the log of a server; if it could not be switched on, the log of that attempt.
    pub fn log_lines(&self, id: &ServerId) -> Result<Vec<ServerLogLine>, UserError> {
        self.store.reload();
        let server = self.store.find(id)?;
        let mut failed = self.failed.lock();
        failed.retain(|_, (known, _)| known.strong_count() > 0);
        let said = failed.get(id);
        let said = said.filter(|(known, _)| known.as_ptr() == Arc::as_ptr(&server));
        Ok(said
            .map_or(server.clone(), |(_, said)| said.clone())
            .log_lines())
    }

    /// Returns the contents that a server offers a person beside its tools.
    pub async fn server_contents(
        &self,
        id: &ServerId,
        query: &ServerResourceQuery,
    ) -> Result<ServerResources, UserError> {
        self.store.reload();
        self.store.find(id)?.inspect(query).await
    }

    /// Ends all servers.
    pub fn close(&self) {
        self.store.map_entries(|server| server.shut_down());
        self.given.close();
    }
}

/// Resolver of references in servers' settings: the app's environment and the system keychain.
pub(crate) struct ServerVariables(pub Arc<dyn KeyStore>);

impl ReferenceResolver for ServerVariables {
    fn resolve_variable(&self, name: &str) -> Option<String> {
        std::env::var(name).ok()
    }

    fn resolve_secret(&self, name: &str) -> Result<Option<String>, String> {
        let found = self.0.get(&format!("{SECRET_PREFIX}{name}"), None);
        let found = found.map_err(|fault| fault.to_string())?;
        Ok(found.map(|key| key.secret.reveal().to_owned()))
    }
}
