//! What is asked of a session's model, for whom, and what came of an answer to it.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use ts_rs::TS;

use crate::model::Effort;

/// What is asked of a session's model beyond the person's words.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct SessionOptions {
    /// JSON Schema of the output that the run must come to; none if words will do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "unknown")]
    pub output_schema: Option<Value>,
    /// Names of the tools that may be called; all that there are if none are named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub tools: Option<Vec<String>>,
    /// What the agent is told beside what every session is told; all that it is told if it is `alone`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub instructions: String,
    /// How freely the model chooses its words, from 0 to 2; as the provider has it if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub temperature: Option<f64>,
    /// How much the model is to think before it answers; as its name or its provider has it if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub effort: Option<Effort>,
    /// Tools that the request itself brings, by their names, each a schema that the model fills by itself (`S004-43`).
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    #[ts(optional, type = "Record<string, unknown>")]
    pub own_tools: Map<String, Value>,
    /// What the request is about several times over: the instances by their names, each with the state that it begins with
    /// (`S004-13`). Where there are any, `_instance` names one of them and nothing else.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    #[ts(optional, type = "Record<string, unknown>")]
    pub instances: Map<String, Value>,
    /// The manifest of the agent that works here; none for the built-in agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub agent: Option<AgentManifestFile>,
    /// The manifests of those that work was given to since, one below the other: each only narrows what its caller may do.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(optional, as = "Option<Vec<AgentManifestFile>>")]
    pub below: Vec<AgentManifestFile>,
    /// Whether the model is told its instructions and nothing else: nothing of the project, of skills and of other agents.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[ts(optional, as = "Option<bool>")]
    pub alone: bool,
    /// Who makes the calls in the place of a model of ours; none where a model does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub client: Option<ClientInfo>,
}

/// A program outside that makes a session's calls itself, as it named itself: nothing of that is proven.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct ClientInfo {
    /// Its name: `inspector-client`.
    pub name: String,
    /// Its version; empty if it did not say.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[ts(optional, as = "Option<String>")]
    pub version: String,
    /// By what it calls: `MCP 2025-11-25`.
    pub by: String,
}

impl ClientInfo {
    /// Name and version: `inspector-client 2.12.0`.
    pub fn summary(&self) -> String {
        format!("{} {}", self.name, self.version).trim().to_owned()
    }
}

/// An agent's manifest as it was read when the session was opened: it holds for the session's whole life, whatever
/// becomes of the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct AgentManifestFile {
    /// The file, as it was named.
    pub file: String,
    /// Its text.
    pub text: String,
}

/// By whom planning is switched on or off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum PlanningActor {
    /// The person.
    Person,
    /// The agent, which began to plan or came to a plan that was accepted.
    Agent,
    /// The session that this one works for, which plans itself.
    Caller,
}
