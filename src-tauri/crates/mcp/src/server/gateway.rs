//! A server as a gateway has it: what it offers, its lists as they are, and which of them changed.

use std::collections::BTreeMap;
use std::sync::Arc;

use protocol::UserError;
use serde_json::Value;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tools::Tool;

use super::McpServer;
use crate::catalogue::ServerToolDefinition;
use crate::connection::{ServerList, ServerOffers};
use crate::server::read_tools::{ServerRead, ServerReadTool, read_tool_id};
use crate::server::tool::{McpTool, server_tool_id};

/// A list of a server that may have changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangedList {
    /// Its tools.
    Tools,
    /// Its resources, and their templates.
    Resources,
    /// Its prompts.
    Prompts,
}

/// Receiver of the changes of a server's lists.
pub struct ListChanges {
    tools: watch::Receiver<u64>,
    resources: watch::Receiver<u64>,
    prompts: watch::Receiver<u64>,
}

impl ListChanges {
    /// Waits until one of the lists may have changed; none once the server is gone.
    pub async fn next(&mut self) -> Option<ChangedList> {
        let (changed, list) = tokio::select! {
            changed = self.tools.changed() => (changed, ChangedList::Tools),
            changed = self.resources.changed() => (changed, ChangedList::Resources),
            changed = self.prompts.changed() => (changed, ChangedList::Prompts),
        };
        changed.is_ok().then_some(list)
    }
}

impl McpServer {
    /// Returns what the server offers beside its tools.
    pub fn offers(&self) -> ServerOffers {
        self.core.lock_state().offers
    }

    /// Returns a receiver of the changes of its lists from now on.
    pub fn watch_lists(&self) -> ListChanges {
        ListChanges {
            tools: self.core.version.subscribe(),
            resources: self.core.handler.resources_version.subscribe(),
            prompts: self.core.handler.prompts_version.subscribe(),
        }
    }

    /// Returns one page of a list as the server gives it.
    ///
    /// # Errors
    /// The server is switched off or unavailable, or refuses.
    pub async fn list_page(
        &self,
        list: ServerList,
        cursor: Option<&str>,
        cancel: &CancellationToken,
    ) -> Result<Value, UserError> {
        let page = self.request_page(list, cursor, cancel).await;
        page.map_err(|error| UserError::new(error.to_string(), "Look at its state and at its log."))
    }

    /// Returns the server's own tools for a gateway that serves them alone: as [`McpServer::tools`], each keeping the whole
    /// result of a call; and what reads the rest that it offers.
    pub fn gateway_tools(self: &Arc<Self>) -> Vec<Arc<dyn Tool>> {
        let pinned = self.pinned_tools();
        let mut tools: Vec<Arc<dyn Tool>> = Vec::new();
        for tool in pinned.usable_tools() {
            tools.push(Arc::new(McpTool::new(self.clone(), tool).keeping_result()));
        }
        for read in self.offers().reads() {
            tools.push(Arc::new(ServerReadTool::new(self.clone(), read)));
        }
        tools
    }

    /// Returns the name by which rules and calls know a read of this kind.
    pub fn read_tool_id(&self, read: ServerRead) -> String {
        read_tool_id(self, read)
    }

    /// Returns the definitions of the tools that are as they were approved, by the names that our tools have.
    pub fn gateway_definitions(&self) -> BTreeMap<String, Arc<ServerToolDefinition>> {
        let pinned = self.pinned_tools();
        let tools = pinned.usable_tools();
        tools
            .map(|tool| {
                (
                    server_tool_id(&self.settings().id, tool),
                    tool.definition.clone(),
                )
            })
            .collect()
    }
}
