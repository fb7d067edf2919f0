//! Tools offered to an external program that makes its calls itself: no model of ours and no person is behind the
//! calls.

use std::collections::HashSet;
use std::sync::Arc;

use protocol::interface::{InterfaceBuilder, SchemaVisibility};
use protocol::model::ToolDefinition;
use protocol::{ToolInterface, ToolMode};

use super::{Registry, ToolEntry};
use crate::builtin::{PLAN, TOOL_SEARCH};
use crate::sub_agent;

/// Ids of tools that are not offered externally. `plan`: whether an external client plans first is its own matter, and
/// nobody here would accept the plan. `tool_search`: its results are shown to a model of ours; a client that lists the
/// tools gets all of them.
const INTERNAL_TOOL_IDS: [&str; 2] = [PLAN, TOOL_SEARCH];

/// Execution profiles of tools that are not offered externally. A person (`question`, `plan_exit`): nobody can answer,
/// so the tools are not shown and are refused. A sub-agent (`task`, delegates, sub-agents): it would run on its
/// caller's model, and there is none.
const INTERNAL_PROFILES: [&str; 3] = ["person", "delegate", sub_agent::SUB_AGENT_PROFILE];

/// A tool as it is offered to external clients.
#[derive(Debug, Clone)]
pub struct OfferedTool {
    /// Definition that a model sees.
    pub definition: ToolDefinition,
    /// Published interface.
    pub interface: Arc<ToolInterface>,
    /// Mode of the tool, as the person set it if they did; `None` if it is unspecified.
    pub mode: Option<ToolMode>,
}

impl Registry {
    /// Restricts the registry to tools that an external program can use. Tools that need a person's answer are kept but
    /// hidden: a call of one is refused in the tool's own words (`S002-105`).
    #[must_use]
    pub fn for_external_clients(&self) -> Self {
        let entries = self.entries.iter().filter(|entry| {
            entry.is_usable_externally() || entry.tool.headless_refusal().is_some()
        });
        let ids: HashSet<&str> = entries.map(|entry| entry.interface.id()).collect();
        let mut registry = self.subset(&ids);
        for entry in &mut registry.entries {
            if !entry.is_usable_externally() {
                *entry = Arc::new(entry.to_hidden());
            }
        }
        registry
    }

    /// Returns all tools that a model may know of, in order, including those that a model of ours would have to search
    /// for.
    pub fn offered_tools(&self) -> Vec<OfferedTool> {
        let offered = self.entries.iter().filter(|entry| entry.is_offered());
        let offer = |entry: &Arc<ToolEntry>| OfferedTool {
            definition: entry.definition(),
            interface: entry.interface.clone(),
            mode: entry.classified.mode,
        };
        offered.map(offer).collect()
    }
}

impl ToolEntry {
    /// Returns a copy of the entry that is hidden from models.
    fn to_hidden(&self) -> Self {
        let interface = InterfaceBuilder::from(ToolInterface::clone(&self.interface));
        let hidden = interface.schema_visibility(SchemaVisibility::Host);
        Self {
            interface: Arc::new(hidden.build()),
            ..self.clone()
        }
    }

    fn is_usable_externally(&self) -> bool {
        let carried_out_by = self.interface.execution.execution_profile_ref.as_str();
        !INTERNAL_TOOL_IDS.contains(&self.interface.id())
            && !INTERNAL_PROFILES.contains(&carried_out_by)
    }
}
