//! The server behind a gateway: one that the person set up, or one that was named where the gateway was started, which no
//! other session uses.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};

use mcp::{McpServer, ReferenceResolver, ServerDependencies, ToolPins};
use parking_lot::Mutex;
use protocol::UserError;
use protocol::server::mcp_servers::{ServerId, ServerSettings};
use serde::{Deserialize, Serialize};
use tools::sources::Catalogue;

use crate::toolset::servers::Servers;

/// Which server a gateway stands in front of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ServerChoice {
    /// One that the person set up.
    Configured(ServerId),
    /// One that was named where the gateway was started.
    Given(GivenServer),
}

/// A server that was named where a gateway was started. Whoever named it started it; its tools are judged and pinned as
/// those of any server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GivenServer {
    /// Its settings.
    pub settings: ServerSettings,
    /// Variables of the gateway, which references in the settings name.
    pub variables: BTreeMap<String, String>,
    /// Whether its tools are approved as they are now.
    pub approves_tools: bool,
}

/// A server that a gateway uses. One that was given ends with its last use: sessions keep its tools for longer.
pub struct ServerUse {
    server: Arc<McpServer>,
    is_given: bool,
}

impl ServerUse {
    /// Returns the server as it was when the use began.
    pub fn server(&self) -> &Arc<McpServer> {
        &self.server
    }
}

impl Drop for ServerUse {
    fn drop(&mut self) {
        if self.is_given {
            self.server.shut_down();
        }
    }
}

/// The given servers that are in use, by name and workspace.
#[derive(Default)]
pub(super) struct GivenServers(Mutex<HashMap<GivenKey, (GivenServer, Weak<ServerUse>)>>);

type GivenKey = (ServerId, PathBuf);

impl GivenServers {
    pub fn find(&self, id: &ServerId, workspace: &Path) -> Option<Arc<McpServer>> {
        let servers = self.0.lock();
        let used = servers.get(&(id.clone(), workspace.to_owned()));
        let used = used.and_then(|(_, used)| used.upgrade())?;
        Some(used.server.clone())
    }

    pub fn close(&self) {
        let servers = self.0.lock();
        let used = servers.values().filter_map(|(_, used)| used.upgrade());
        used.for_each(|used| used.server.shut_down());
    }

    /// Returns the server that was given in the same way in a workspace, or builds it.
    ///
    /// # Errors
    /// Another server is in use there under its name.
    fn find_or_build(
        &self,
        given: &GivenServer,
        workspace: &Path,
        build: impl FnOnce() -> Result<McpServer, UserError>,
    ) -> Result<Arc<ServerUse>, UserError> {
        let id = &given.settings.id;
        let key = (id.clone(), workspace.to_owned());
        let mut servers = self.0.lock();
        servers.retain(|_, (_, used)| used.strong_count() > 0);
        if let Some((same, used)) = servers.get(&key)
            && let Some(used) = used.upgrade()
        {
            return match same == given {
                true => Ok(used),
                false => Err(name_taken_error(id)),
            };
        }
        let used = Arc::new(ServerUse {
            server: Arc::new(build()?),
            is_given: true,
        });
        servers.insert(key, (given.clone(), Arc::downgrade(&used)));
        Ok(used)
    }
}

impl Servers {
    /// Returns the server behind a gateway that serves it in a workspace, once it is connected. The tools of a given server
    /// are approved as they are when it is used for the first time.
    ///
    /// # Errors
    /// The server is off or unavailable; its name is another server's; approvals cannot be read or written.
    pub async fn connect_choice(
        &self,
        choice: &ServerChoice,
        workspace: &Path,
    ) -> Result<Arc<ServerUse>, UserError> {
        self.store.reload();
        let given = match choice {
            ServerChoice::Configured(id) => {
                let server = self.find_enabled(id)?;
                server.ensure_connected().await?;
                return Ok(Arc::new(ServerUse {
                    server,
                    is_given: false,
                }));
            }
            ServerChoice::Given(given) => given,
        };
        let id = &given.settings.id;
        if self.store.find(id).is_ok() {
            return Err(name_taken_error(id));
        }
        let used = self
            .given
            .find_or_build(given, workspace, || self.build_given(given, workspace))?;
        let server = used.server();
        server.ensure_connected().await?;
        match server.catalogue() {
            Some(catalogue) if given.approves_tools => {
                self.store.approve(server, &catalogue.digest())?;
            }
            Some(_) if !self.store.was_approved(id) => self.store.approve_initial(server)?,
            Some(_) | None => {}
        }
        Ok(used)
    }

    /// Returns a server that is set up and on.
    ///
    /// # Errors
    /// It is not set up, or it is off.
    pub fn find_enabled(&self, id: &ServerId) -> Result<Arc<McpServer>, UserError> {
        self.store.reload();
        let server = self.store.find(id)?;
        match server.settings().enabled {
            true => Ok(server),
            false => Err(UserError::new(
                format!("The server `{id}` is off."),
                format!("Switch it on first: countersign servers enable {id}."),
            )),
        }
    }

    /// Returns the server behind a gateway that serves it in a workspace; none if it is gone or off.
    pub fn find_backing(&self, id: &ServerId, workspace: &Path) -> Option<Arc<McpServer>> {
        self.given.find(id, workspace).or_else(|| {
            self.store.reload();
            let server = self.store.find(id).ok();
            server.filter(|server| server.settings().enabled)
        })
    }

    fn build_given(&self, given: &GivenServer, workspace: &Path) -> Result<McpServer, UserError> {
        let pins = ToolPins::load(self.store.data_dir(), &given.settings.id)?;
        let context = &self.store.context().connection;
        let dependencies = ServerDependencies {
            lookup: Arc::new(GivenVariables {
                variables: given.variables.clone(),
                keychain: context.lookup.clone(),
            }),
            ..context.clone()
        };
        let server = McpServer::new(
            given.settings.clone(),
            pins.unwrap_or_default(),
            dependencies,
        );
        server.add_root(workspace);
        Ok(server)
    }
}

/// Resolver of references in the settings of a given server: the variables of its gateway, and the system keychain.
struct GivenVariables {
    variables: BTreeMap<String, String>,
    keychain: Arc<dyn ReferenceResolver>,
}

impl ReferenceResolver for GivenVariables {
    fn resolve_variable(&self, name: &str) -> Option<String> {
        self.variables.get(name).cloned()
    }

    fn resolve_secret(&self, name: &str) -> Result<Option<String>, String> {
        self.keychain.resolve_secret(name)
    }
}

fn name_taken_error(id: &ServerId) -> UserError {
    UserError::new(
        format!("Another server has the name `{id}`."),
        "Give this one another name with --name, or use the one that is set up with --server.",
    )
}
