//! Tools that a model does not see at first: tools that declare it, and tools of servers once there are many
//! (`S002-41`).

use std::collections::BTreeSet;
use std::sync::Arc;

use protocol::model::ToolDefinition;

use super::{RegisteredTool, Registry, ToolEntry};
use crate::limits::TOOLS_AT_ONCE_MAX;
use crate::tool_index::ToolIndex;

impl Registry {
    /// Whether a model must search for a tool before it can call it.
    pub fn is_deferred(&self, tool: &RegisteredTool<'_>) -> bool {
        let entry = self.names.get(tool.interface.id());
        entry.is_some_and(|(place, _)| self.is_entry_deferred(&self.entries[*place]))
    }

    /// Returns the definitions that the model sees once it has found the tools with the ids in `loaded`; they come
    /// after all others.
    pub fn definitions_with(&self, loaded: &BTreeSet<String>) -> Arc<Vec<ToolDefinition>> {
        let mut definitions = self.definitions();
        let ids = loaded.iter().filter_map(|id| self.names.get(id));
        let entries = ids.map(|(place, _)| &self.entries[*place]);
        let deferred = entries.filter(|entry| entry.is_offered() && self.is_entry_deferred(entry));
        for entry in deferred {
            Arc::make_mut(&mut definitions).push(entry.definition());
        }
        definitions
    }

    /// Returns an index of the tools that must be searched for.
    pub fn search_index(&self) -> ToolIndex {
        let offered = self.entries.iter().filter(|entry| entry.is_offered());
        let deferred = offered.filter(|entry| self.is_entry_deferred(entry));
        ToolIndex::new(deferred.map(|entry| entry.interface.clone()).collect())
    }

    pub(super) fn is_entry_deferred(&self, entry: &ToolEntry) -> bool {
        let discovery = &entry.interface.discovery;
        if discovery.always_load || entry.locked {
            return false;
        }
        discovery.should_defer || is_foreign(entry) && self.has_many_foreign()
    }

    /// Whether there are too many tools of servers to show a model all of them.
    fn has_many_foreign(&self) -> bool {
        let count = || {
            let offered = self.entries.iter().filter(|entry| entry.is_offered());
            offered.filter(|entry| is_foreign(entry)).count()
        };
        *self.has_many.get_or_init(|| count() > TOOLS_AT_ONCE_MAX)
    }
}

/// Whether a tool belongs to a server, and is neither built in nor of the project.
fn is_foreign(entry: &ToolEntry) -> bool {
    !entry.interface.identity.namespace.is_empty()
}
