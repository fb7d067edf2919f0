//! The tools that a program outside is offered, which makes its calls itself: no model of ours and no person is behind it.

use std::collections::HashSet;
use std::sync::Arc;

use protocol::interface::{InterfaceBuilder, SchemaVisibility};
use protocol::model::ToolDefinition;
use protocol::{ToolInterface, ToolMode};

use super::{Registry, ToolEntry};
use crate::builtin::{PLAN, TOOL_SEARCH};
use crate::sub_agent;

/// Left out by their ids. `plan`: whether somebody outside plans first is their own matter, and nobody here would accept the
/// plan. `tool_search`: its finds are shown to a model of ours; whoever lists the tools outside is given all of them.
const INTERNAL_TOOL_IDS: [&str; 2] = [PLAN, TOOL_SEARCH];

/// Left out by who carries them out. A person (`question`, `plan_exit`): nobody is there to answer, so they are not shown and
/// are refused. An agent below (`task`, delegates, sub-agents): it would run on its caller's model, and there is none.
const INTERNAL_PROFILES: [&str; 3] = ["person", "delegate", sub_agent::SUB_AGENT_PROFILE];

/// A tool as it is offered outside.
#[derive(Debug, Clone)]
pub struct OfferedTool {
    /// What a model sees of it.
    pub definition: ToolDefinition,
    /// What it publishes.
    pub interface: Arc<ToolInterface>,
    /// Its mode, as the person set it if they did; none if nothing says which.
    pub mode: Option<ToolMode>,
}

impl Registry {
    /// Of these tools only those that a program outside can use. What needs a person's answer is kept for whoever calls it
    /// nevertheless, and is not shown: it is refused in its own words (`S002-105`).
    #[must_use]
    pub fn for_external_clients(&self) -> Self {
        let kept = self.entries.iter().filter(|entry| {
            entry.is_usable_externally() || entry.tool.headless_refusal().is_some()
        });
        let ids: HashSet<&str> = kept.map(|entry| entry.interface.id()).collect();
        let mut outside = self.subset(&ids);
        for entry in &mut outside.entries {
            if !entry.is_usable_externally() {
                *entry = Arc::new(entry.to_hidden());
            }
        }
        outside
    }

    /// All of these tools that a model may know of, also those that one of ours would have to search for, in order.
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
    /// The same, which no model is told of.
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
