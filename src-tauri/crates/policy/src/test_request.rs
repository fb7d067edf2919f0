//! One call of a tool under a person's rules, as tests judge it.

use protocol::view::preview::UndoAvailability;
use protocol::{CallId, Digest, ResolvedAccess, RuleScope, ToolMode};

use crate::classify::{ToolDeclaration, classify_tool};
use crate::facts::CallFacts;
use crate::request::EvaluationRequest;
use crate::rules::RuleSet;
use crate::rules_file::{RulesFileSource, parse_rules_file};

/// Calls `then` with the request of a call that touches one thing; a person is there, and the call can be undone.
pub(crate) fn with_request<T>(
    tool: &str,
    mode: ToolMode,
    fact: ResolvedAccess,
    rules: &str,
    then: impl FnOnce(&EvaluationRequest<'_>) -> T,
) -> T {
    let mut set = RuleSet::builtin();
    set.add(parse_rules_file(rules, &RulesFileSource::new("rules.toml", RuleScope::User)).unwrap());
    let declared = ToolDeclaration {
        mode: Some(mode),
        ..ToolDeclaration::default()
    };
    then(&EvaluationRequest {
        call: &CallId::from("c"),
        tool,
        tool_class: &classify_tool(tool, declared),
        facts: &CallFacts::from_iter([fact]),
        undo: &UndoAvailability::Secured,
        needs_person: false,
        rules: &set,
        ask_for_everything: false,
        headless: None,
        alarms: &[],
        dry_run: None,
        dry_run_first: false,
        judges_effects: false,
        skips_asks: false,
        now: 0,
        rules_only: false,
        shown_digest: &|| Digest(String::new()),
    })
}
