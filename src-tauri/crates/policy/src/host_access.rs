//! The limit of a rule about hosts: it lets a call reach a host, but change nothing there.

use protocol::{Capability, RuleAction, ToolMode};

use crate::request::EvaluationRequest;
use crate::rules::{RuleDecision, Subject, SubjectKind, quote_truncated};

/// Returns the subject that remains of a call where an allow speaks of no more than reaching a host, while the call may
/// change something there: its tool is destructive or of unknown mode. None if the allow covers the whole call.
///
/// A command is judged by its own words beside its hosts, so nothing remains of one.
pub(crate) fn find_unlisted_change(
    request: &EvaluationRequest<'_>,
    subject: &Subject<'_>,
    decision: &RuleDecision,
) -> Option<String> {
    let may_change = match request.tool_class.mode {
        Some(ToolMode::Destructive) | None => true,
        Some(ToolMode::Read | ToolMode::SafeWrite | ToolMode::Local | ToolMode::External) => false,
    };
    let (SubjectKind::Host(host), true) = (&subject.seen, may_change) else {
        return None;
    };
    let first = decision.traces.first()?;
    let about_hosts = first.won
        && first.rule.action == RuleAction::Allow
        && first.rule.permission == Capability::NetFetch.as_str();
    let mut facts = request.facts.all().iter();
    let is_command = facts.any(|fact| fact.capability == Capability::ShellRun);
    (about_hosts && !is_command)
        .then(|| format!("what it does at `{}`", quote_truncated(&host.real)))
}
