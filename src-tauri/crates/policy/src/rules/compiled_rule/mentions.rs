//! Matching of rules with calls of somebody else's tool, of which only the arguments are known.

use protocol::{Capability, ResolvedAccess, RuleAction};

use super::{CompiledPattern, CompiledRule};
use crate::patterns::ArgumentPattern;

impl CompiledRule {
    /// The argument that the rule is about, if it is about one.
    pub(crate) fn argument_pattern(&self) -> Option<&ArgumentPattern> {
        match &self.pattern {
            CompiledPattern::Argument(pattern) => Some(pattern),
            CompiledPattern::Everything
            | CompiledPattern::Exactly(_)
            | CompiledPattern::Remote(_)
            | CompiledPattern::Cache(_)
            | CompiledPattern::Some { .. } => None,
        }
    }

    /// Whether an allow covers an access that the arguments of somebody else's tool name.
    pub(super) fn allows_mention(&self, fact: &ResolvedAccess, root: Option<&str>) -> bool {
        let is_certain = fact.doubt.is_none() && fact.unresolved.is_none();
        is_certain && (self.matches_fact(fact, true, root) || self.names_outside_path(fact))
    }

    /// Whether its pattern names this path outside the workspace.
    pub(super) fn names_outside_path(&self, fact: &ResolvedAccess) -> bool {
        let is_path = match fact.capability {
            Capability::FsRead | Capability::FsWrite | Capability::FsDelete => !fact.inside,
            Capability::NetFetch | Capability::ShellRun => false,
        };
        is_path
            && self
                .mask_pattern()
                .is_some_and(|pattern| pattern.allows_outside(&fact.real))
    }

    /// Whether the rule lets somebody else's tool name this path outside the workspace: the rule names the tool, or its
    /// family, and the path.
    pub(in crate::rules) fn opens_path(&self, tool: &str, fact: &ResolvedAccess) -> bool {
        let permission = self.permission();
        let names_tool = match permission.strip_suffix('*') {
            Some(family) => !family.is_empty() && tool.starts_with(family),
            None => permission == tool,
        };
        self.trusted
            && self.rule.action == RuleAction::Allow
            && names_tool
            && fact.unresolved.is_none()
            && self.names_outside_path(fact)
    }
}
