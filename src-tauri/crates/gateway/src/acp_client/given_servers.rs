//! Which MCP servers an agent is given, and how it and the person are told of them.

use agent::AgentTurn;
use agent_client_protocol::v1::schema::{McpServer, McpServerStdio};
use protocol::server::mcp_servers::ServerId;
use protocol::{NoticeLevel, SessionId, UserError};

use super::HookHost;
use super::agent_command::AgentCommand;
use crate::agent_servers::AgentServers;

/// The servers of a session, as far as its agent is given them.
pub(super) enum GivenServers {
    /// The agent is given these.
    Given(Vec<ServerId>),
    /// The agent is given none of them.
    Withheld {
        /// The servers.
        servers: Vec<ServerId>,
        /// Why, as a sentence.
        reason: &'static str,
    },
}

impl GivenServers {
    /// Chooses the servers for the agent of a turn.
    pub fn choose(command: &AgentCommand, turn: &AgentTurn, host: Option<&HookHost>) -> Self {
        let servers = turn.servers();
        let reason = match (&command.elsewhere, turn.enclosure(), host) {
            (Some(_), _, _) => "It works elsewhere, and is given nothing of this machine.",
            (None, Some(_), _) => {
                "It is enclosed, and what a server does is real before the turn is judged."
            }
            (None, None, None) => {
                "The program `countersign`, which stands in front of them, was not found beside the app or on PATH."
            }
            (None, None, Some(_)) => return Self::Given(servers),
        };
        Self::Withheld { servers, reason }
    }

    /// Returns the servers that are given.
    pub fn list(&self) -> &[ServerId] {
        match self {
            Self::Given(servers) => servers,
            Self::Withheld { .. } => &[],
        }
    }

    /// Tells the person what the agent is given, if the session has servers.
    pub fn tell(&self, turn: &AgentTurn, title: &str) {
        let (servers, fault) = match self {
            Self::Given(servers) => {
                let what = format!("{title} is given the tools of {}.", name_servers(servers));
                let hint = "Each call of them is judged here before it is made. For others, open a session with --servers or --no-servers.";
                (servers, UserError::new(what, hint))
            }
            Self::Withheld { servers, reason } => {
                let what = format!(
                    "{title} is not given the tools of {}.",
                    name_servers(servers)
                );
                (servers, UserError::new(what, *reason))
            }
        };
        if !servers.is_empty() {
            turn.add_notice(NoticeLevel::Note, fault);
        }
    }
}

/// Returns the commands of the gateways before an agent's servers, as the agent is told of them.
pub(super) fn to_mcp_servers(
    servers: &AgentServers,
    host: &HookHost,
    session: &SessionId,
) -> Vec<McpServer> {
    let data_dir = host.data_dir.to_string_lossy();
    let servers = servers.list().iter().map(|server| {
        let words = [
            "--data-dir",
            data_dir.as_ref(),
            "gateway",
            "mcp",
            "--server",
            server.id.as_str(),
            "--agent-session",
            session.as_str(),
        ];
        let args = words.map(str::to_owned).to_vec();
        McpServer::Stdio(McpServerStdio::new(&server.name, &host.program).args(args))
    });
    servers.collect()
}

fn name_servers(servers: &[ServerId]) -> String {
    let names: Vec<&str> = servers.iter().map(ServerId::as_str).collect();
    match names.as_slice() {
        [name] => format!("the MCP server {name}"),
        names => format!("the MCP servers {}", names.join(", ")),
    }
}
