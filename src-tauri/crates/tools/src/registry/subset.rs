//! Subsets of the registry, for sessions that may do less than another.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::{Registry, ToolEntry};

impl Registry {
    /// Returns only the tools with one of these ids.
    #[must_use]
    pub fn subset(&self, ids: &HashSet<&str>) -> Self {
        let is_named = |entry: &Arc<ToolEntry>| ids.contains(entry.interface.id());
        let mut places = HashMap::new();
        let mut entries = Vec::new();
        for (place, entry) in self
            .entries
            .iter()
            .enumerate()
            .filter(|(_, entry)| is_named(entry))
        {
            places.insert(place, entries.len());
            entries.push(entry.clone());
        }
        let names = self.names.iter().filter_map(|(name, (place, alias))| {
            Some((name.clone(), (*places.get(place)?, *alias)))
        });
        Self {
            names: names.collect(),
            entries,
            ..Self::default()
        }
    }
}
