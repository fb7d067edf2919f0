//! The approved tools of a source, compared with those that it offers now: a tool that differs is not used.

use std::sync::Arc;

use protocol::Digest;
use protocol::server::mcp_servers::PinState;
use similar::TextDiff;

use super::catalogue::{Catalogue, SourceTool, index_by_key};
use super::pins::{PinnedTool, Pins};
use crate::limits::PIN_DIFF_BYTES_MAX;

/// The approved tools of a source, and those that it offers now.
#[derive(Debug, Clone, Default)]
pub struct PinnedCatalogue<C: Catalogue> {
    /// The approved tools.
    pub pins: Arc<Pins<C>>,
    /// The tools that the source offers now; none if they are not known.
    pub catalogue: Option<Arc<C>>,
}

/// A tool of a source, compared with its approval.
#[derive(Debug)]
pub struct ToolComparison<'a, T> {
    /// The approved tool; none if it was never approved.
    pub pinned: Option<&'a PinnedTool<T>>,
    /// The current definition; the approved one if there is no other.
    pub definition: &'a T,
    /// State of the tool relative to its approval.
    pub state: PinState,
}

impl<C: Catalogue> PinnedCatalogue<C> {
    /// Creates the approved tools of a source whose current tools are not known.
    pub fn new(pins: Pins<C>) -> Self {
        Self {
            pins: Arc::new(pins),
            catalogue: None,
        }
    }

    /// Compares a definition with the current tools; pinned if those are not known.
    pub fn pin_state(&self, tool: &C::Tool) -> PinState {
        let Some(catalogue) = &self.catalogue else {
            return PinState::Pinned;
        };
        let mut tools = catalogue.tools().iter();
        compare_definitions(tool, tools.find(|current| current.key() == tool.key()))
    }

    /// Returns every tool: the approved ones, then the others of the source.
    pub fn compare_tools(&self) -> Vec<ToolComparison<'_, C::Tool>> {
        let tools = self.catalogue.as_deref().map(Catalogue::tools);
        let current = tools.map(index_by_key);
        let approved = index_by_key(self.pins.definitions());
        let pinned = self.pins.tools.iter().map(|pinned| {
            let definition = &*pinned.definition;
            let (definition, state) = match &current {
                None => (definition, PinState::Pinned),
                Some(current) => {
                    let current = current.get(&definition.key()).copied();
                    let state = compare_definitions(definition, current);
                    (current.unwrap_or(definition), state)
                }
            };
            ToolComparison {
                pinned: Some(pinned),
                definition,
                state,
            }
        });
        let others = tools.unwrap_or_default().iter();
        let new = others.filter(|tool| !approved.contains_key(&tool.key()));
        let new = new.map(|definition| ToolComparison {
            pinned: None,
            definition,
            state: PinState::New,
        });
        pinned.chain(new).collect()
    }

    /// Returns the tools that are as they were approved.
    pub fn usable_tools(&self) -> impl Iterator<Item = &PinnedTool<C::Tool>> {
        let tools = self.compare_tools().into_iter();
        tools
            .filter(|tool| tool.state == PinState::Pinned)
            .filter_map(|tool| tool.pinned)
    }

    /// Returns the digest that an approval of the current tools names; none if no tool waits for an approval.
    pub fn pending_digest(&self) -> Option<Digest> {
        let catalogue = self.catalogue.as_deref()?;
        let is_pending = self.pins.has_pending_changes(catalogue);
        is_pending.then(|| catalogue.digest())
    }
}

fn compare_definitions<T: PartialEq>(pinned: &T, current: Option<&T>) -> PinState {
    match current {
        Some(current) if current == pinned => PinState::Pinned,
        Some(_) => PinState::Changed,
        None => PinState::Gone,
    }
}

impl<T: SourceTool> ToolComparison<'_, T> {
    /// Returns the diff from the approved definition to the current one; empty if there is none. It is cut: an approval
    /// of more than can be read is no approval.
    pub fn diff(&self) -> String {
        let before = match (self.state, self.pinned) {
            (PinState::Changed, Some(pinned)) => pinned.definition.text(),
            (PinState::New, _) => String::new(),
            (PinState::Pinned | PinState::Gone | PinState::Changed, _) => return String::new(),
        };
        let text = TextDiff::from_lines(&before, self.definition.text().as_str())
            .unified_diff()
            .header("approved", "now")
            .to_string();
        match text
            .char_indices()
            .find(|(at, _)| *at >= PIN_DIFF_BYTES_MAX)
        {
            None => text,
            Some((at, _)) => format!("{}\n[cut here]\n", &text[..at]),
        }
    }
}
