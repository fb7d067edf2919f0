//! Network access of a command in its sandbox: the hosts that a person names for it, or that rules allow it by
//! themselves, and none that a rule denies.

use protocol::rule::verdict::{RuleTrace, TrailStep};
use protocol::{At, Capability, Gate, ResolvedAccess, Verdict};

use crate::explanation;
use crate::facts::CallFacts;
use crate::patterns::RemoteAddress;
use crate::patterns::host;
use crate::patterns::host::{HostLocality, host_locality};
use crate::request::EvaluationRequest;
use crate::rules::traces::merge_traces;
use crate::rules::{RuleDecision, RuleSet, Subject, SubjectKind, quote_truncated};

/// Network access that rules grant to a command without asking a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AllowedEgress {
    /// The hosts, in the form in which they are looked up.
    pub hosts: Vec<String>,
    /// Why, for the trail of the call.
    pub step: TrailStep,
}

/// Resolves the network access of a command: the hosts that the command names, where rules about hosts, or about the
/// remotes of the repository, allow every one of them. None where it names no host, or one that no rule allows.
pub fn resolve_rule_egress(facts: &CallFacts, rules: &RuleSet, now: At) -> Option<AllowedEgress> {
    if rules.broken.is_some() {
        return None;
    }
    let mut hosts = Vec::new();
    let mut reasons =
        vec!["It runs in a sandbox with access to the hosts that it names.".to_owned()];
    let mut traces: Vec<RuleTrace> = Vec::new();
    let named = |fact: &&ResolvedAccess| fact.capability == Capability::NetFetch && fact.derived;
    for fact in facts.all().iter().filter(named) {
        let (subject, decision) = evaluate_host(fact, rules, now);
        let locality = host_locality(&fact.real);
        let is_open = locality == HostLocality::Public || rules.opens_host("", &fact.real, now);
        let is_known = fact.inside && fact.unresolved.is_none() && fact.doubt.is_none();
        // Nobody means the place where machines hand out their own secrets.
        let is_remote = locality != HostLocality::LinkLocal
            && decision
                .verdict
                .is_none_or(|verdict| verdict == Verdict::Allow)
            && is_host_of_remotes(&fact.real, facts)
            && allows_remotes(facts, rules, now);
        if !(is_known && (is_remote || is_open && is_allowed_by_host_rule(&decision))) {
            return None;
        }
        if is_remote {
            reasons.push(format!(
                "A rule lets it use the remote at `{}`.",
                quote_truncated(&fact.real)
            ));
        }
        if !hosts.contains(&fact.real) {
            hosts.push(fact.real.clone());
            reasons.extend(explanation::explain_piece(&subject, &decision));
        }
        merge_traces(&mut traces, decision.traces);
    }
    (!hosts.is_empty()).then(|| AllowedEgress {
        hosts,
        step: TrailStep {
            gate: Gate::Rules,
            verdict: None,
            text: reasons.join(" "),
            rules: traces,
        },
    })
}

/// Whether the commands of a call use remotes and nothing else, and rules about remotes allow each use.
fn allows_remotes(facts: &CallFacts, rules: &RuleSet, now: At) -> bool {
    let mut used = facts.remotes().iter();
    rules.broken.is_none()
        && !facts.remotes().is_empty()
        && used.all(|remote| rules.allows_remote(remote, now))
}

/// Whether a host is that of a remote which the commands of a call use.
fn is_host_of_remotes(real: &str, facts: &CallFacts) -> bool {
    let mut used = facts.remotes().iter();
    used.any(|remote| RemoteAddress::parse(&remote.address).is_ok_and(|at| at.host() == real))
}

/// Whether the hosts that a call names are the loopback of the sandbox that it runs in first, and no rule opens that of
/// this machine instead.
pub fn names_own_loopback(facts: &CallFacts, rules: &RuleSet, now: At) -> bool {
    let hosts = facts.all().iter();
    let mut hosts = hosts.filter(|fact| fact.capability == Capability::NetFetch);
    let is_own = |fact: &ResolvedAccess| {
        let is_known = fact.derived && fact.unresolved.is_none() && fact.doubt.is_none();
        is_known && host::is_loopback(&fact.real) && !rules.opens_host("", &fact.real, now)
    };
    facts.is_sandboxed() && hosts.all(is_own)
}

/// Whether a dry run of a call is no evidence any more: it reached no host, and by now rules let the call reach the
/// remotes that it uses.
pub fn is_dry_run_outdated(request: &EvaluationRequest<'_>) -> bool {
    request.dry_run.is_some_and(|dry_run| {
        !dry_run.agreed
            && dry_run.reached.is_empty()
            && allows_remotes(request.facts, request.rules, request.now)
    })
}

/// The host that a person names for one run, as it is looked up: `docs.rs`, `localhost:8080`.
///
/// # Errors
/// Why it stays closed all the same, as a sentence: a rule denies it, or it is no host.
pub fn resolve_named_host(host: &str, rules: &RuleSet, now: At) -> Result<String, String> {
    let resolved = host::resolve_host(host);
    let is_pattern = resolved.real.contains(['*', '?', '[']) && !resolved.real.starts_with('[');
    if let Some(why) = resolved.unresolved {
        return Err(format!("`{}` is not a host: {why}", quote_truncated(host)));
    }
    if is_pattern {
        return Err(format!(
            "`{}` is not a host but a pattern of many.",
            quote_truncated(host)
        ));
    }
    if let Some(why) = &rules.broken {
        return Err(format!(
            "The rules could not be read, so no host is open: {why}"
        ));
    }
    let fact = ResolvedAccess {
        real: resolved.real,
        ..ResolvedAccess::new_inside(Capability::NetFetch, host)
    };
    let (subject, decision) = evaluate_host(&fact, rules, now);
    if decision.verdict == Some(Verdict::Deny) {
        let why = explanation::explain_piece(&subject, &decision);
        return Err(why.unwrap_or_else(|| format!("A rule denies {}.", subject.display_text())));
    }
    // Whoever names this machine means it; nobody means the place where machines hand out their own secrets.
    if host_locality(&fact.real) == HostLocality::LinkLocal
        && !rules.opens_host("", &fact.real, now)
    {
        return Err(format!(
            "`{}` is where machines hand out their own secrets, which stays closed unless a rule names that host.",
            quote_truncated(&fact.real)
        ));
    }
    Ok(fact.real)
}

/// Evaluates the rules about hosts for one host. Rules about a tool are about commands, and rules about a mode are
/// about the call, so neither applies.
fn evaluate_host<'a>(
    fact: &'a ResolvedAccess,
    rules: &RuleSet,
    now: At,
) -> (Subject<'a>, RuleDecision) {
    let subject = Subject::new("", SubjectKind::Host(fact));
    let decision = rules.evaluate_subject(&subject, now, Verdict::Ask);
    (subject, decision)
}

/// Whether a rule about hosts allows the host. A rule that allows everything does not count: it is not about hosts.
fn is_allowed_by_host_rule(decision: &RuleDecision) -> bool {
    let won = decision.traces.iter().find(|trace| trace.won);
    decision.verdict == Some(Verdict::Allow)
        && won.is_some_and(|trace| {
            let rule = &trace.rule;
            rule.permission == Capability::NetFetch.as_str() || rule.pattern.is_some()
        })
}

#[cfg(test)]
mod tests;
