//! The MCP servers whose tools an agent in a session is given. Before each stands a gateway, which the agent starts itself and
//! which reaches the session's endpoint: a call is one of the agent's turn, judged there alone.

use std::path::PathBuf;

use agent::{AgentTurn, ServerChoice, WeakEngine};
use parking_lot::Mutex;
use protocol::UserError;
use protocol::server::mcp_servers::ServerId;

use crate::agent_calls::{ExternalAgent, is_tool_of_server};
use crate::endpoint::McpRequest;
use crate::mcp::ServedTools;

/// Length of the end of a server's name that nobody could know before, in characters.
const SUFFIX_CHARS: usize = 10;

/// The servers of one agent.
pub(crate) struct AgentServers {
    engine: WeakEngine,
    workspace: PathBuf,
    servers: Vec<AgentServer>,
    /// Why servers could not be served, until somebody is told.
    faults: Mutex<Vec<UserError>>,
}

/// A server that an agent is given.
pub(crate) struct AgentServer {
    /// The server.
    pub id: ServerId,
    /// Name that the agent knows it by. Calls of its tools are judged by its gateway alone, so another server of this name
    /// would not be judged at all: its end is another one whenever the agent starts.
    pub name: String,
}

impl AgentServers {
    /// Names the servers that the agent of a turn is given.
    pub fn new(turn: &AgentTurn, servers: Vec<ServerId>) -> Self {
        let named = servers.into_iter().map(|id| {
            let unknown = turn.new_name("srv");
            let start = unknown.len().saturating_sub(SUFFIX_CHARS);
            let name = format!("{id}-{}", unknown.get(start..).unwrap_or(&unknown));
            AgentServer { id, name }
        });
        Self {
            engine: turn.weak_engine(),
            workspace: turn.folder().to_owned(),
            servers: named.collect(),
            faults: Mutex::default(),
        }
    }

    /// Returns the servers.
    pub fn list(&self) -> &[AgentServer] {
        &self.servers
    }

    /// Whether a tool, as an agent names it, is one of these servers.
    pub fn has_tool(&self, agent: ExternalAgent, tool: &str) -> bool {
        let mut servers = self.servers.iter();
        servers.any(|server| is_tool_of_server(agent, tool, &server.name))
    }

    /// Opens what a gateway is to serve.
    ///
    /// # Errors
    /// It is not one of these servers, or cannot be connected.
    pub async fn open(&self, request: &McpRequest) -> Result<ServedTools, UserError> {
        let id = match &request.server {
            Some(ServerChoice::Configured(id)) => Some(id),
            Some(ServerChoice::Given(_)) | None => None,
        };
        let id = id.filter(|id| self.servers.iter().any(|server| server.id == **id));
        let Some(id) = id else {
            return Err(UserError::new(
                "The agent of this session was not given these tools.",
                "Name the server when the session is opened: countersign run --servers NAME.",
            ));
        };
        let request = McpRequest {
            workspace: self.workspace.clone(),
            server: Some(ServerChoice::Configured(id.clone())),
        };
        let opened = async { ServedTools::open(&self.engine.upgrade()?, &request).await };
        opened.await.inspect_err(|fault| {
            let what = format!(
                "The agent has no tools of the server {id}: {}",
                fault.message
            );
            let told = UserError::new(what, fault.hint.clone());
            self.faults.lock().push(told);
        })
    }

    /// Takes the reasons why servers could not be served.
    pub fn take_faults(&self) -> Vec<UserError> {
        std::mem::take(&mut *self.faults.lock())
    }
}
