//! The capability check of a call of somebody else's tool, of which only the arguments are known.
//!
//! Such a tool may have nothing to do with the workspace, so a path outside that its arguments name is not denied: the
//! call asks, unless a rule names the tool and the place. A rule for the tool alone does not lift that.

use protocol::rule::evidence::Confinement;
use protocol::rule::verdict::TrailStep;
use protocol::text::display_text::format_count;
use protocol::{At, Capability, Gate, ResolvedAccess, Verdict};

use super::{find_doubt_reason, is_path_capability};
use crate::facts::CallFacts;
use crate::patterns::host::{HostLocality, host_locality};
use crate::rules::{RuleSet, quote_truncated};

/// Judges where the arguments of a call lead.
pub(super) fn check_mentions(tool: &str, facts: &CallFacts, rules: &RuleSet, now: At) -> TrailStep {
    let step = |verdict, text| TrailStep::new(Gate::Capability, verdict, text);
    let steps = facts.all().iter().filter_map(|fact| {
        let (verdict, text) = find_hold_reason(tool, facts.confinement(), fact, rules, now)?;
        Some(step(Some(verdict), text))
    });
    if let Some(strictest) = steps.max_by_key(|step| step.verdict) {
        return strictest;
    }
    if let Some(why) = facts.denial_reason() {
        return step(Some(Verdict::Deny), why.to_owned());
    }
    if let Some(why) = facts.all().iter().find_map(find_doubt_reason) {
        return step(Some(Verdict::Ask), why);
    }
    step(None, describe_mentions(facts))
}

/// Returns the verdict on a fact that does not pass unless a rule names it, and the reason.
fn find_hold_reason(
    tool: &str,
    confinement: Confinement,
    fact: &ResolvedAccess,
    rules: &RuleSet,
    now: At,
) -> Option<(Verdict, String)> {
    let is_here = match confinement {
        Confinement::Held | Confinement::Unconfined | Confinement::Sandboxed => true,
        Confinement::Remote => false,
    };
    let target = quote_truncated(&fact.target);
    match fact.capability {
        Capability::ShellRun => None,
        // Free text of an argument that is called like a host is none; an address leads somewhere, and who reads it
        // otherwise may go there.
        Capability::NetFetch if !fact.target.contains("://") && fact.unresolved.is_some() => None,
        Capability::NetFetch => {
            if let Some(why) = &fact.unresolved {
                let text = format!("`{target}` cannot be resolved: {why}");
                return Some((Verdict::Ask, text));
            }
            let whose = match host_locality(&fact.real) {
                HostLocality::LinkLocal => {
                    let whose = "where machines hand out their own secrets";
                    (Verdict::Deny, whose)
                }
                HostLocality::Private if is_here && is_address(fact) => {
                    (Verdict::Ask, "this machine or its network")
                }
                HostLocality::Private | HostLocality::Public => return None,
            };
            (!rules.opens_host(tool, &fact.real, now)).then(|| {
                let why = "which stays closed unless a rule names that host";
                (
                    whose.0,
                    format!("`{}` is {}, {why}.", quote_truncated(&fact.real), whose.1),
                )
            })
        }
        Capability::FsRead | Capability::FsWrite | Capability::FsDelete => {
            if !is_here || (fact.inside && fact.unresolved.is_none()) {
                return None;
            }
            let why = match &fact.unresolved {
                Some(why) => format!("`{target}` cannot be resolved: {why}."),
                None => format!(
                    "`{target}` is outside the workspace, and no rule for `{tool}` names that path."
                ),
            };
            (!rules.opens_path(tool, fact, now)).then_some((Verdict::Ask, why))
        }
    }
}

/// Whether a host was named by more than a single word, which is as often no host at all.
fn is_address(fact: &ResolvedAccess) -> bool {
    fact.target.contains("://") || fact.real.contains(['.', ':']) || fact.real == "localhost"
}

/// Describes what the arguments name and the confinement that keeps the tool to that.
fn describe_mentions(facts: &CallFacts) -> String {
    let count = |of: &dyn Fn(&ResolvedAccess) -> bool| {
        let mut targets: Vec<&str> = facts
            .all()
            .iter()
            .filter(|fact| of(fact))
            .map(|fact| fact.target.as_str())
            .collect();
        targets.sort_unstable();
        targets.dedup();
        targets.len() as u64
    };
    let inside = count(&|fact| is_path_capability(fact.capability) && fact.inside);
    let outside = count(&|fact| is_path_capability(fact.capability) && !fact.inside);
    let hosts = count(&|fact| fact.capability == Capability::NetFetch);
    let commands = count(&|fact| fact.capability == Capability::ShellRun);
    let kinds = [
        (inside, "path", " inside the workspace"),
        (outside, "path", " outside the workspace"),
        (hosts, "host", ""),
        (commands, "command", ""),
    ];
    let named: Vec<String> = kinds
        .into_iter()
        .filter(|(count, ..)| *count > 0)
        .map(|(count, noun, place)| format!("{}{place}", format_count(count, noun)))
        .collect();
    let named = match named.is_empty() {
        true => "Its arguments name no path and no host.".to_owned(),
        false => format!("Its arguments name {}.", named.join(", ")),
    };
    match facts.confinement() {
        Confinement::Held => named,
        Confinement::Unconfined => format!(
            "{named} It runs as you, outside any sandbox, so it can touch more than its arguments name."
        ),
        Confinement::Sandboxed => format!(
            "{named} It runs in a sandbox: it can read more than its arguments name, change nothing outside the folder of its sandbox, and reach only the hosts that were named for it."
        ),
        Confinement::Remote => format!("{named} It runs on another machine."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::patterns::host::resolve_host;

    #[test]
    fn an_address_that_cannot_be_resolved_asks() {
        for (named, verdict) in [
            ("https://docs.rs/serde", None),
            ("http://169.254.169.254/latest", Some(Verdict::Deny)),
            ("http://[169.254.169.254]/latest", Some(Verdict::Ask)),
            ("http://169.254.169.254:99999/latest", Some(Verdict::Ask)),
            ("http://", Some(Verdict::Ask)),
            ("sales & marketing", None),
        ] {
            let host = resolve_host(named);
            let fact = ResolvedAccess {
                real: host.real,
                inside: host.unresolved.is_none(),
                unresolved: host.unresolved,
                derived: true,
                ..ResolvedAccess::new_inside(Capability::NetFetch, named)
            };
            let facts = CallFacts::from_iter([fact]);
            let step = check_mentions("notes__fetch", &facts, &RuleSet::builtin(), 0);
            assert_eq!(step.verdict, verdict, "{named}: {}", step.text);
        }
    }
}
