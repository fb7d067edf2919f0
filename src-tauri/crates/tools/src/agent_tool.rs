//! A tool of another agent that is none of ours: the agent runs it itself, and its calls are judged by what their
//! arguments name.

use async_trait::async_trait;
use policy::Approved;
use protocol::interface::ToolOrigin;
use protocol::rule::evidence::Confinement;
use protocol::{
    Access, Digest, RequirementSet, ToolError, ToolInterface, ToolKind, ToolMode, ToolOutput,
};
use serde_json::{Map, Value, json};

use crate::limits::AGENT_TOOL_TIMEOUT_MS;
use crate::mentions::{Mentions, collect_mentions, is_deleting_name};
use crate::sources::build_tool_id;
use crate::text::escape_invisible;
use crate::tool::{ExecutionContext, Tool, ToolContext};

/// Description of a tool of which nothing but its name is known.
const DESCRIPTION: &str = "A tool of the agent itself; its name and arguments say what it does.";

/// What is known of another agent's tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentToolReach {
    /// It changes nothing but the agent's own notes, plans and questions.
    Agent,
    /// Nobody vouches for what it does.
    Unknown,
}

/// A tool of another agent.
pub struct AgentTool {
    interface: ToolInterface,
    schema: Value,
    reach: AgentToolReach,
    deletes: bool,
}

impl AgentTool {
    /// Creates the tool of this name, in the namespace of its agent or of the server that it comes from. One of unknown
    /// reach declares no mode: without a rule it asks (M21).
    pub fn new(namespace: &str, name: &str, reach: AgentToolReach) -> Self {
        let schema = json!({ "type": "object" });
        let callable = callable_name(name);
        let requires = RequirementSet {
            capabilities: vec![format!("agent:{namespace}")],
            ..RequirementSet::empty()
        };
        let interface = ToolInterface::builder(callable.as_str())
            .namespace(namespace)
            .tool_id(build_tool_id(namespace, &callable, name))
            .user_facing_name(escape_invisible(&format!("{name} ({namespace})")))
            .description(DESCRIPTION)
            .model_input_schema(schema.clone())
            .strict(false)
            .requires(requires)
            .sandbox_profile("command")
            .execution_profile_ref("agent")
            .timeout_ms(AGENT_TOOL_TIMEOUT_MS)
            .classifier_input(callable.clone())
            .origin(ToolOrigin::Foreign {
                source: format!("agent:{namespace}"),
            });
        let interface = match reach {
            AgentToolReach::Agent => interface
                .mode(ToolMode::Read)
                .kind(ToolKind::Think)
                .mark_read_only()
                .is_destructive(false)
                .is_open_world(false),
            AgentToolReach::Unknown => interface.kind(ToolKind::Other).is_open_world(true),
        };
        Self {
            interface: interface.build(),
            schema,
            reach,
            deletes: is_deleting_name(name),
        }
    }
}

/// Returns the name in the letters that names of tools are made of; one that had others ends with a part of its digest,
/// so that it stays unique.
fn callable_name(name: &str) -> String {
    const DIGEST_CHARS: usize = 8;
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !name.is_empty() && name.chars().all(is_allowed) {
        return name.to_owned();
    }
    let replaced = name.replace(|c: char| !is_allowed(c), "_");
    let digest = Digest::from_bytes(name.as_bytes());
    format!("{replaced}_{}", &digest.0[..DIGEST_CHARS])
}

#[async_trait]
impl Tool for AgentTool {
    fn interface(&self) -> &ToolInterface {
        &self.interface
    }

    /// Returns the paths and hosts in the arguments; otherwise the first argument that is a text.
    fn target(&self, arguments: &Map<String, Value>) -> String {
        let first = arguments.values().find_map(Value::as_str);
        self.mentions(arguments)
            .to_target(first.unwrap_or_default())
    }

    /// Declares no accesses, since only the agent knows what the tool touches.
    fn accesses(&self, _arguments: &Map<String, Value>) -> Vec<Access> {
        Vec::new()
    }

    fn mentions(&self, arguments: &Map<String, Value>) -> Mentions {
        match self.reach {
            AgentToolReach::Agent => Mentions::default(),
            AgentToolReach::Unknown => collect_mentions(&self.schema, arguments, self.deletes),
        }
    }

    fn confinement(&self) -> Confinement {
        match self.reach {
            AgentToolReach::Agent => Confinement::Held,
            AgentToolReach::Unknown => Confinement::Unconfined,
        }
    }

    async fn execute(
        &self,
        _approved: &Approved,
        _context: &ToolContext,
        _execution: &ExecutionContext,
    ) -> Result<ToolOutput, ToolError> {
        Err(ToolError::Failed(format!(
            "{} can be run by its agent alone.",
            self.interface.title()
        )))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::Registry;

    #[test]
    fn every_tool_of_an_agent_joins_under_a_name_of_its_own() {
        let names = [
            "WebSearch",
            "do.it",
            "do it",
            "",
            "mcp__a__b",
            &"x".repeat(300),
        ];
        for reach in [AgentToolReach::Agent, AgentToolReach::Unknown] {
            let tools = names.map(|name| Arc::new(AgentTool::new("claude-code", name, reach)));
            let ids = tools.clone().map(|tool| tool.interface().id().to_owned());
            let tools = tools.map(|tool| tool as Arc<dyn Tool>).to_vec();
            let (registry, faults) = Registry::builtin().with_tools(tools);
            assert_eq!(faults, []);
            for id in &ids {
                assert!(registry.find(id).is_ok(), "{id}");
                assert_eq!(ids.iter().filter(|other| *other == id).count(), 1, "{id}");
            }
        }
    }
}
