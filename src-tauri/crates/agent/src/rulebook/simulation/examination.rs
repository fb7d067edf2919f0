//! Calls that were made elsewhere: what a verdict on each would be made from, without a verdict.

use std::path::Path;
use std::sync::Arc;

use policy::RuleSet;
use protocol::rule::evidence::Evidence;
use protocol::view::preview::UndoAvailability;
use protocol::{At, CallId, ToolKind, ToolMode};
use runtime::Workspace;
use serde_json::{Map, Value};
use tools::registry::Registry;

use super::{PolicySimulation, UNKNOWN_UNDO_REASON};
use crate::permissions::policy_input::PolicyInput;

/// What is known of a call that was made elsewhere.
pub(crate) struct ExaminedCall {
    /// The tool's id; the called name if there is no such tool.
    pub tool: String,
    /// Name of the tool for people.
    pub title: String,
    /// Target of the call.
    pub target: String,
    /// Mode of the tool; none if nothing defines it, or the arguments could not be read.
    pub mode: Option<ToolMode>,
    /// Kind of the call.
    pub kind: ToolKind,
    /// Whether such a call could be undone.
    pub undo: UndoAvailability,
    /// Evidence for a verdict; none if the arguments could not be read, or if the evidence is too long.
    pub evidence: Option<Box<Evidence>>,
}

impl PolicySimulation {
    /// Returns an examination of calls of these tools in a folder, by no rules. A folder that does not exist has no links:
    /// names will do.
    pub(crate) fn in_folder(folder: &Path, registry: Arc<Registry>, now: At) -> Self {
        let bare = Self::from_rules(RuleSet::default(), registry, now);
        let workspace = Workspace::open(folder).ok();
        let root = workspace.as_ref().map_or(folder, Workspace::root);
        Self {
            root: root.display().to_string(),
            workspace,
            ..bare
        }
    }

    /// Returns what is known of a call that was made elsewhere, without a verdict.
    pub(crate) fn examine(&self, tool: &str, arguments: &Map<String, Value>) -> ExaminedCall {
        let registered = self.registry.find(tool).ok();
        let undo = UndoAvailability::Unsecured {
            reason: UNKNOWN_UNDO_REASON.to_owned(),
        };
        let mut examined = ExaminedCall {
            tool: tool.to_owned(),
            title: registered
                .as_ref()
                .map_or(tool, |found| found.interface.title())
                .to_owned(),
            target: String::new(),
            mode: None,
            kind: ToolKind::Other,
            undo: undo.clone(),
            evidence: None,
        };
        let Ok(called) = self.resolve_call(tool, arguments) else {
            return examined;
        };
        let mut facts = self.collect_facts(&called, arguments);
        let alarms = self.find_alarms(&called, arguments, &mut facts);
        let capabilities = facts.declared_capabilities();
        let classified = called.classified.clone().tighten_for_accesses(capabilities);
        examined.tool.clone_from(&called.id);
        examined.target.clone_from(&called.target);
        (examined.mode, examined.kind) = (classified.mode, classified.kind);
        examined.evidence = PolicyInput {
            call: CallId::from("imported"),
            tool: called.id,
            classified,
            facts,
            undo,
            needs_person: called.needs_person,
            alarms,
            later_runs: Vec::new(),
            dry_run: None,
            dry_run_first: false,
            is_complete: true,
        }
        .evidence();
        examined
    }
}
