//! What a rule about hosts lets pass: reaching them, and nothing that is changed there.

use protocol::{Action, Capability, ToolMode};

use crate::judge::Request;
use crate::rules::{Said, Seen, Subject, quoted};

/// The piece of a call that is left where an allow speaks of no more than that a host may be reached, while the call may
/// change something there: its tool destroys, or nobody knows what it does. None if the allow is whole.
///
/// A command is judged by its own words beside its hosts, so there it is.
pub(crate) fn beyond(request: &Request<'_>, subject: &Subject<'_>, said: &Said) -> Option<String> {
    let may_change = match request.classified.mode {
        Some(ToolMode::Destructive) | None => true,
        Some(ToolMode::Read | ToolMode::SafeWrite | ToolMode::Local | ToolMode::External) => false,
    };
    let (Seen::Host(host), true) = (&subject.seen, may_change) else {
        return None;
    };
    let first = said.traces.first()?;
    let about_hosts = first.won
        && first.rule.action == Action::Allow
        && first.rule.permission == Capability::NetFetch.as_str();
    let mut facts = request.facts.all().iter();
    let is_command = facts.any(|fact| fact.capability == Capability::ShellRun);
    (about_hosts && !is_command).then(|| format!("what it does at `{}`", quoted(&host.real)))
}
