//! A backing server: the one whose tools a gateway serves, served alone to an external program.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use mcp::catalogue::ServerToolDefinition;
use mcp::{
    ChangedList, ListChanges, LogLevel, LogMessage, LogReceiver, McpServer, ResourceWatch,
    ServerList, ServerOffers, ServerRead, WantedLogLevel,
};
use protocol::UserError;
use protocol::event::ClientInfo;
use protocol::server::mcp_servers::ServerId;
use runtime::Workspace;
use serde_json::Value;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::engine::Engine;
use crate::engine::external_client::{self, ExternalClient};
use crate::session::engine_state::EngineState;
use crate::toolset::servers::backing::{ServerChoice, ServerUse};

/// A connected server whose tools a gateway serves. A server that was given ends when the last one of these is dropped.
#[derive(Clone)]
pub struct BackingServer {
    engine: Arc<EngineState>,
    used: Arc<ServerUse>,
    workspace: PathBuf,
}

/// A tool of a server behind a gateway.
#[derive(Debug, Clone)]
pub struct BackingTool {
    /// Name by which calls and rules know it: `server__tool`.
    pub id: String,
    /// The tool as its server defines it, and as it was approved.
    pub definition: Arc<ServerToolDefinition>,
}

impl Engine {
    /// Connects the server whose tools a gateway serves in a folder.
    ///
    /// # Errors
    /// The server is off or unavailable, its name is another server's, or the folder cannot be opened.
    pub async fn connect_backing_server(
        &self,
        choice: &ServerChoice,
        workspace: &Path,
    ) -> Result<BackingServer, UserError> {
        let workspace = Workspace::open(workspace)?.root().to_owned();
        let servers = &self.state.servers;
        Ok(BackingServer {
            used: servers.connect_choice(choice, &workspace).await?,
            engine: self.state.clone(),
            workspace,
        })
    }
}

impl BackingServer {
    /// Returns the name of the server.
    pub fn id(&self) -> &ServerId {
        &self.used.server().settings().id
    }

    /// Returns the tools that are offered: those that are as they were approved, and not switched off.
    ///
    /// # Errors
    /// The folder cannot be opened any more.
    pub fn list_tools(&self) -> Result<Vec<BackingTool>, UserError> {
        let offered =
            external_client::list_tools(&self.engine, &self.workspace, Some(self.id().clone()))?;
        let mut definitions = self.current().gateway_definitions();
        let tools = offered.into_iter().filter_map(|offer| {
            let id = offer.definition.name;
            let definition = definitions.remove(&id)?;
            Some(BackingTool { id, definition })
        });
        Ok(tools.collect())
    }

    /// Returns the name by which calls know a tool of the server; the server's own name for it if there is no such tool.
    pub fn tool_id(&self, name: &str) -> String {
        let definitions = self.current().gateway_definitions();
        let mut tools = definitions.into_iter();
        let tool = tools.find(|(_, definition)| definition.name == name);
        tool.map_or_else(|| name.to_owned(), |(id, _)| id)
    }

    /// Whether tools of the server are withheld until the person approved them.
    pub fn has_withheld_tools(&self) -> bool {
        self.current().pinned_tools().pending_digest().is_some()
    }

    /// Returns a receiver of the changes of the server's lists from now on.
    pub fn watch_lists(&self) -> BackingChanges {
        let current = self.current();
        BackingChanges {
            changes: current.watch_lists(),
            watched: current,
            server: self.clone(),
        }
    }

    /// Returns what the server offers beside its tools, as it announced when it was connected last.
    pub fn offers(&self) -> ServerOffers {
        self.current().offers()
    }

    /// Returns one page of a list of the server, as the server gives it.
    ///
    /// # Errors
    /// The server is off or unavailable, or refuses.
    pub async fn list_page(
        &self,
        list: ServerList,
        cursor: Option<&str>,
        cancel: &CancellationToken,
    ) -> Result<Value, UserError> {
        self.current().list_page(list, cursor, cancel).await
    }

    /// Returns the name by which calls know a read of this kind. What it is called with is `uri`, or `name` and `arguments`.
    pub fn read_tool_id(&self, read: ServerRead) -> String {
        self.current().read_tool_id(read)
    }

    /// Begins to watch a resource of the server. It tells of changes once a read of the resource with `subscribe` was approved.
    ///
    /// # Errors
    /// Too many resources are watched already.
    pub fn watch_resource(&self, uri: &str) -> Result<ResourceWatch, UserError> {
        self.current().watch_resource(uri)
    }

    /// Returns a receiver of the server's log messages from now on.
    pub fn watch_log(&self) -> BackingLog {
        let current = self.current();
        BackingLog {
            messages: current.watch_log(),
            changes: current.watch_version(),
            watched: current,
            server: self.clone(),
        }
    }

    /// Has the server log from a level on, for as long as the returned value is kept.
    ///
    /// # Errors
    /// The server is off or unavailable, or refuses.
    pub async fn want_log_level(
        &self,
        level: LogLevel,
        cancel: &CancellationToken,
    ) -> Result<WantedLogLevel, UserError> {
        self.current().want_log_level(level, cancel).await
    }

    /// Opens a session for the calls of an external program that has the tools of the server alone.
    ///
    /// # Errors
    /// The folder cannot be opened any more, and a record that cannot be written.
    pub async fn open_client(&self, client: ClientInfo) -> Result<Arc<ExternalClient>, UserError> {
        let server = Some(self.id().clone());
        ExternalClient::open(&self.engine, &self.workspace, client, server).await
    }

    /// Returns the server as it is set up now.
    fn current(&self) -> Arc<McpServer> {
        let current = self.engine.servers.find_backing(self.id(), &self.workspace);
        current.unwrap_or_else(|| self.used.server().clone())
    }
}

/// Receiver of the changes of a backing server's lists, also after the server was set up anew.
pub struct BackingChanges {
    server: BackingServer,
    watched: Arc<McpServer>,
    changes: ListChanges,
}

impl BackingChanges {
    /// Waits until one of the lists may have changed.
    pub async fn next(&mut self) -> ChangedList {
        let changed = self.changes.next().await;
        let current = self.server.current();
        if !Arc::ptr_eq(&current, &self.watched) {
            (self.changes, self.watched) = (current.watch_lists(), current);
        }
        changed.unwrap_or(ChangedList::Tools)
    }
}

/// Receiver of a backing server's log messages, also after the server was set up anew.
pub struct BackingLog {
    server: BackingServer,
    watched: Arc<McpServer>,
    messages: LogReceiver,
    changes: watch::Receiver<u64>,
}

impl BackingLog {
    /// Waits for the next message.
    pub async fn next(&mut self) -> LogMessage {
        loop {
            tokio::select! {
                biased;
                Some(message) = self.messages.next() => return message,
                _ = self.changes.changed() => self.follow_server(),
            }
        }
    }

    /// Returns the next message that came already.
    pub fn try_next(&mut self) -> Option<LogMessage> {
        self.messages.try_next()
    }

    /// Listens to the server that is set up now.
    fn follow_server(&mut self) {
        let current = self.server.current();
        if !Arc::ptr_eq(&current, &self.watched) {
            self.messages = current.watch_log();
            self.changes = current.watch_version();
            self.watched = current;
        }
    }
}
