//! Options of a session beyond the person's messages, and the agents, clients and planning that belong to it.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use ts_rs::TS;

use crate::model::Effort;
use crate::server::mcp_servers::ServerId;

/// Options of a session beyond the person's messages.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct SessionOptions {
    /// JSON Schema that the output of the run must fit; none if plain text will do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "unknown")]
    pub output_schema: Option<Value>,
    /// Names of the tools that may be called; none to allow all tools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub tools: Option<Vec<String>>,
    /// Instructions that the agent gets after those of every session; its only instructions if `alone` is set.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub instructions: String,
    /// Sampling temperature of the model, from 0 to 2; none for the provider's default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub temperature: Option<f64>,
    /// Reasoning effort of the model; none for the default of the model's name or provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub effort: Option<Effort>,
    /// Tools that the request itself brings, by their names, each a schema that the model fills by itself (`S004-43`).
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    #[ts(optional, type = "Record<string, unknown>")]
    pub own_tools: Map<String, Value>,
    /// Instances of the subject of the request, by their names, each with its initial state (`S004-13`). If there are
    /// any, `_instance` names one of them and nothing else.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    #[ts(optional, type = "Record<string, unknown>")]
    pub instances: Map<String, Value>,
    /// Manifest of the agent that works in this session; none for the built-in agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub agent: Option<AgentManifestFile>,
    /// Manifests of the agents that work was delegated to since, outermost first: each only narrows its caller's
    /// permissions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(optional, as = "Option<Vec<AgentManifestFile>>")]
    pub below: Vec<AgentManifestFile>,
    /// Whether the model gets its instructions and nothing else: nothing about the project, skills or other agents.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[ts(optional, as = "Option<bool>")]
    pub alone: bool,
    /// The client that makes the calls in place of a model; none where a model makes them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub client: Option<ClientInfo>,
    /// The MCP server that alone has the tools of the session, because a gateway stands in front of it; none for all tools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub server: Option<ServerId>,
    /// MCP servers whose tools the agent of somebody else that answers is given; none given for all that are on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub agent_servers: Option<Vec<ServerId>>,
    /// The session of its own with which the agent of somebody else that answers went on; none for a new one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub former: Option<FormerAgentSession>,
    /// Sandbox around the agent of somebody else that answers in the session; none where it runs in the open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub enclosure: Option<Enclosure>,
}

/// A session that an agent of somebody else had before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct FormerAgentSession {
    /// The agent's own id of the session.
    pub id: String,
    /// Whether the agent goes on in a copy of it, so that it stays as it is.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[ts(optional, as = "Option<bool>")]
    pub fork: bool,
}

/// The sandbox around an agent: it works in a layer over the workspace, and what a turn changed there is judged when the
/// turn ends.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct Enclosure {
    /// Hosts that the agent may reach, beside those of its model's service.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(optional, as = "Option<Vec<String>>")]
    pub hosts: Vec<String>,
}

/// An outside program that makes a session's calls itself, as the program named itself: none of this is verified, but for
/// the token.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct ClientInfo {
    /// Name of the program: `inspector-client`.
    pub name: String,
    /// Version of the program; empty if it gave none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[ts(optional, as = "Option<String>")]
    pub version: String,
    /// Protocol by which the program calls: `MCP 2025-11-25`.
    pub by: String,
    /// The program's own id of the session; empty if it has none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[ts(optional, as = "Option<String>")]
    pub session: String,
    /// Name of the token by which the program was let in; empty if it needed none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[ts(optional, as = "Option<String>")]
    pub token: String,
}

impl ClientInfo {
    /// Returns name and version: `inspector-client 2.12.0`; after the name of its token, if it has one:
    /// `laptop (inspector-client 2.12.0)`.
    pub fn summary(&self) -> String {
        let own = format!("{} {}", self.name, self.version).trim().to_owned();
        match self.token.as_str() {
            "" => own,
            token => format!("{token} ({own})"),
        }
    }
}

/// An agent's manifest as it was read when the session was opened: it applies for the session's whole life, even if the
/// file changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct AgentManifestFile {
    /// The file, as it was named.
    pub file: String,
    /// Text of the manifest.
    pub text: String,
}

/// Actor that switches planning on or off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum PlanningActor {
    /// The person.
    Person,
    /// The agent, which began to plan or submitted a plan that was accepted.
    Agent,
    /// The calling session, which plans itself.
    Caller,
}
