//! Stage 7, beside the watchdogs: a call that is one of another tool in the end is held to the rules that name that tool.

use policy::Facts;
use policy::rules::Subject;
use policy::watchdog::Alarm;
use protocol::Verdict;

use super::found::Called;
use crate::session::Session;

/// What the rules that name the other tool say against the call; nothing if they let it pass. Rules for what it touches, for
/// its mode and for everything are asked of the call itself.
pub(crate) fn said(session: &Session, called: &Called<'_>, facts: &Facts) -> Option<Alarm> {
    let other = called.0.tool.stands_for()?;
    let (rules, now) = (session.rules(), session.shared.config.clock.now());
    let pieces = Subject::all(other, called.0.classified.mode, facts).into_iter();
    let said = pieces.map(|piece| rules.said(&piece, now, Verdict::Allow));
    let named = said.filter(|said| {
        let speaks = said
            .traces
            .first()
            .map(|trace| trace.rule.permission.as_str());
        speaks.is_some_and(|name| !(name == "*" || name.starts_with("mode:") || name.contains('.')))
    });
    match named.filter_map(|said| said.verdict).max()? {
        Verdict::Allow => None,
        Verdict::Ask => Some(Alarm::ask(format!(
            "It calls `{other}`, and a rule wants that asked."
        ))),
        Verdict::Deny => Some(Alarm::deny(format!(
            "It calls `{other}`, which a rule denies."
        ))),
    }
}
