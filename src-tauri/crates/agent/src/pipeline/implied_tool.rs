//! Step 5, beside the watchdogs: a call that amounts to a call of another tool is also held to the rules that name that
//! tool.

use policy::CallFacts;
use policy::rules::Subject;
use policy::watchdogs::Alarm;
use protocol::Verdict;

use crate::pipeline::resolve::ResolvedTool;
use crate::session::Session;

/// Returns the objection of the rules that name the other tool; nothing if they allow the call. Rules for accesses, for
/// the mode and for everything are evaluated for the call itself.
pub(crate) fn check_implied_tool(
    session: &Session,
    tool: &ResolvedTool<'_>,
    facts: &CallFacts,
) -> Option<Alarm> {
    let other = tool.0.tool.underlying_tool()?;
    let (rules, now) = (session.rules(), session.engine.now());
    let pieces = Subject::from_facts(other, tool.0.classified.mode, facts).into_iter();
    let verdicts = pieces.map(|piece| rules.evaluate_subject(&piece, now, Verdict::Allow));
    let named = verdicts.filter(|verdicts| {
        let speaks = verdicts
            .traces
            .first()
            .map(|trace| trace.rule.permission.as_str());
        speaks.is_some_and(|name| !(name == "*" || name.starts_with("mode:") || name.contains('.')))
    });
    match named.filter_map(|verdicts| verdicts.verdict).max()? {
        Verdict::Allow => None,
        Verdict::Ask => Some(Alarm::ask(format!(
            "It calls `{other}`, and a rule wants that asked."
        ))),
        Verdict::Deny => Some(Alarm::deny(format!(
            "It calls `{other}`, which a rule denies."
        ))),
    }
}
