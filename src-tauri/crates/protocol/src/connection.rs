//! Connections to other people's agents: how an agent is shown, and one change of its configuration.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::view::preview::FileDiff;
use crate::{Digest, UserError};

/// An agent that can be connected, as it is on this machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ConnectionView {
    /// Name on the command line.
    pub id: String,
    /// Name for people.
    pub title: String,
    /// File of its program; `None` if it was not found.
    pub program: Option<String>,
    /// The file that its hooks are written into.
    pub config: String,
    /// Whether it is connected.
    pub state: ConnectionState,
    /// What can be put in front of its calls.
    pub interfaces: Vec<AgentInterface>,
    /// What is started so that it answers in a session; `None` if it does not speak the Agent Client Protocol.
    pub acp: Option<AcpProgram>,
    /// What it can still do without being judged.
    pub gaps: Vec<AgentGap>,
    /// The version that its connection was tried with; `None` if it was tried with none.
    pub checked_with: Option<String>,
    /// Number of its sessions that went on in the last week; `None` if it keeps no transcripts that can be read.
    pub recent_sessions: Option<u64>,
    /// Servers of tools in its own configuration; `None` if where it keeps them is not known.
    pub servers: Option<AgentServersView>,
}

/// The servers of tools in an agent's own configuration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum AgentServersView {
    /// They could be read.
    Readable {
        /// The file that they stand in.
        config: String,
        /// The servers, in the order of the file.
        servers: Vec<AgentServerView>,
        /// Whether some were put behind the gateway, and can be put back.
        can_restore: bool,
    },
    /// The configuration cannot be read.
    Unreadable {
        /// Why.
        error: UserError,
    },
}

/// A server of tools in an agent's own configuration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct AgentServerView {
    /// Name, as the agent has it.
    pub name: String,
    /// The folder that it is used in; `None` if it is used everywhere.
    pub folder: Option<String>,
    /// Whether its calls are judged.
    pub route: ServerRoute,
}

/// How an agent reaches a server of its own configuration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ServerRoute {
    /// Through the gateway, which judges each call.
    Gateway,
    /// By itself; it can be put behind the gateway.
    Direct,
    /// By itself; it cannot be put behind the gateway.
    Fixed {
        /// Why, in one sentence.
        reason: String,
    },
}

/// The program by which an agent speaks the Agent Client Protocol.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct AcpProgram {
    /// File of the program; `None` if it was not found.
    pub program: Option<String>,
    /// Command that installs it.
    pub install: String,
}

/// Whether an agent is connected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ConnectionState {
    /// It has none of our hooks.
    NotConnected,
    /// It has our hooks, all and as they were written.
    Connected,
    /// The same, but they call a program at another path.
    OtherProgram {
        /// The path.
        program: String,
    },
    /// It has our hooks, but some are missing, or say something else.
    Changed,
    /// It was connected, and our hooks are gone.
    Removed,
    /// It has our hooks, and its configuration switches hooks off.
    SwitchedOff {
        /// Place in the configuration, as a JSON pointer.
        switch: String,
    },
    /// Its configuration cannot be read.
    Unreadable {
        /// Why.
        error: UserError,
    },
}

/// What can be put in front of an agent's calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum AgentInterface {
    /// Programs that it runs before and after it uses a tool.
    Hooks,
    /// The Agent Client Protocol.
    Acp,
    /// Servers of tools (MCP).
    Mcp,
    /// A tool that it asks for permission.
    PermissionTool,
}

/// Something that an agent can do without being judged, in one sentence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct AgentGap {
    /// What it can do.
    pub text: String,
    /// What closes the gap; `None` if nothing does.
    #[serde(default)]
    pub closed_by: Option<String>,
}

/// What is done to a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum ConnectionAction {
    /// Our hooks are put into the agent's configuration.
    Connect,
    /// They are taken out of it.
    Disconnect,
    /// The servers of its configuration are put behind the gateway.
    ConnectServers,
    /// They are put back as they were.
    RestoreServers,
}

/// A change of an agent's configuration, as it is shown before it is made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ConnectionPlan {
    /// What changes in the file; no hunks if the file stays as it is.
    pub diff: FileDiff,
    /// The file in which a copy of the configuration is kept; `None` if none is.
    pub copy: Option<String>,
    /// What is told of servers that stay as they are, in the order of the file.
    pub notes: Vec<ServerNote>,
    /// Digest of the file before the change and after it: only what was shown is made.
    pub digest: Digest,
}

/// What is told of a server in an agent's configuration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ServerNote {
    /// Name of the server, as the agent has it.
    pub server: String,
    /// What is told, in one sentence.
    pub text: String,
}

/// What an import of an agent's sessions added to the record.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct SessionImport {
    /// Number of sessions that were not on record.
    pub added: u64,
    /// Number of sessions on record that had something new.
    pub grown: u64,
    /// Number of sessions on record that had nothing new.
    pub unchanged: u64,
    /// Number of messages and calls that were added.
    pub entries: u64,
    /// Number of sessions that were left out, because they were in other folders, or in one that is not known.
    pub elsewhere: u64,
    /// Number of files and lines that cannot be read.
    pub faults: u64,
    /// The first of these, each with its reason.
    pub reasons: Vec<String>,
}
