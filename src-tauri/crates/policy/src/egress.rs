//! Network access of a command in its sandbox: the hosts that a person names for it, or that rules allow it by
//! themselves, and none that a rule denies.

use protocol::rule::verdict::{RuleTrace, TrailStep};
use protocol::{At, Capability, Gate, ResolvedAccess, Verdict};

use crate::explanation;
use crate::facts::CallFacts;
use crate::patterns::host;
use crate::patterns::host::{HostLocality, host_locality};
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

/// Resolves the network access of a command: the hosts that the command names, where rules about hosts allow every one
/// of them. None where it names no host, or one that no rule allows.
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
        let is_open = host_locality(&fact.real) == HostLocality::Public
            || rules.opens_host("", &fact.real, now);
        let is_known = fact.inside && fact.unresolved.is_none() && fact.doubt.is_none();
        if !(is_known && is_open && is_allowed_by_host_rule(&decision)) {
            return None;
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
mod tests {
    use protocol::RuleScope;

    use super::*;
    use crate::rules_file::{RulesFileSource, parse_rules_file};

    fn rules(text: &str, trusted: bool) -> RuleSet {
        let scope = match trusted {
            true => RuleScope::User,
            false => RuleScope::Project,
        };
        let mut source = RulesFileSource::new("rules.toml", scope);
        source.trusted = trusted;
        let mut set = RuleSet::builtin();
        set.add(parse_rules_file(text, &source).unwrap());
        set
    }

    fn rule(permission: &str, pattern: &str, action: &str) -> String {
        let pattern = match pattern {
            "" => String::new(),
            some => format!("pattern = \"{some}\"\n"),
        };
        format!("[[rule]]\npermission = \"{permission}\"\n{pattern}action = \"{action}\"\n")
    }

    /// Builds the facts of a command that names these hosts.
    fn names(hosts: &[&str]) -> CallFacts {
        let facts = hosts.iter().map(|named| ResolvedAccess {
            real: host::resolve_host(named).real,
            derived: true,
            ..ResolvedAccess::new_inside(Capability::NetFetch, *named)
        });
        facts.collect()
    }

    #[test]
    fn only_rules_about_hosts_let_a_command_reach_them() {
        let docs = rule("net.fetch", "docs.rs", "allow");
        let all = rule("net.fetch", "", "allow");
        let near = rule("net.fetch", "localhost:8080", "allow");
        for (text, hosts, expected) in [
            (
                docs.clone(),
                &["https://docs.rs/serde"][..],
                Some("docs.rs"),
            ),
            (docs.clone(), &[], None),
            (String::new(), &["docs.rs"], None),
            // One that is not allowed closes the way to all.
            (docs.clone(), &["docs.rs", "packages.example"], None),
            (docs.clone(), &["docs.rs:8443"], None),
            (
                all.clone(),
                &["docs.rs", "packages.example"],
                Some("docs.rs packages.example"),
            ),
            (rule("*", "docs.rs", "allow"), &["docs.rs"], Some("docs.rs")),
            // A rule that allows all commands names no host.
            (rule("*", "", "allow"), &["docs.rs"], None),
            (rule("bash", "", "allow"), &["docs.rs"], None),
            (rule("bash", "docs.rs", "allow"), &["docs.rs"], None),
            (
                [&docs, &*rule("net.fetch", "*.rs", "deny")].concat(),
                &["docs.rs"],
                Some("docs.rs"),
            ),
            (
                [&all, &*rule("net.fetch", "evil.example", "deny")].concat(),
                &["a.evil.example"],
                None,
            ),
            (
                [&all, &*rule("net.fetch", "docs.rs", "ask")].concat(),
                &["docs.rs"],
                None,
            ),
            // Local addresses are open only by their name.
            (all.clone(), &["localhost:8080"], None),
            (
                near.clone(),
                &["http://localhost:8080/x"],
                Some("localhost:8080"),
            ),
            (all, &["169.254.169.254"], None),
        ] {
            let way = resolve_rule_egress(&names(hosts), &rules(&text, true), 0);
            let found = way.map(|way| way.hosts.join(" "));
            assert_eq!(found.as_deref(), expected, "{text} {hosts:?}");
        }
        // A file that nobody trusts opens nothing.
        assert_eq!(
            resolve_rule_egress(&names(&["docs.rs"]), &rules(&docs, false), 0),
            None
        );
        let doubted = CallFacts::from_iter([ResolvedAccess {
            doubt: Some("It is spelled in two scripts.".to_owned()),
            ..names(&["docs.rs"]).all()[0].clone()
        }]);
        assert_eq!(resolve_rule_egress(&doubted, &rules(&docs, true), 0), None);
        let mut broken = rules(&docs, true);
        broken.broken = Some("It is not TOML.".to_owned());
        assert_eq!(resolve_rule_egress(&names(&["docs.rs"]), &broken, 0), None);
        let way = resolve_rule_egress(&names(&["docs.rs"]), &rules(&docs, true), 0).unwrap();
        assert_eq!(
            way.step.text,
            "It runs in a sandbox with access to the hosts that it names. For reaching `docs.rs`, `net.fetch docs.rs` (your rules, rules.toml, line 1) says allow."
        );
    }

    #[test]
    fn a_person_names_hosts_and_no_word_lifts_a_denial() {
        let denies = rule("net.fetch", "evil.example", "deny");
        let opens = rule("net.fetch", "169.254.169.254", "allow");
        for (text, host, expected) in [
            ("", "docs.rs", Ok("docs.rs")),
            ("", " https://DOCS.rs./serde ", Ok("docs.rs")),
            ("", "localhost:8080", Ok("localhost:8080")),
            ("", "[::1]:80", Ok("[::1]")),
            ("", "10.0.0.7", Ok("10.0.0.7")),
            ("", "", Err("is not a host")),
            ("", "a b", Err("is not a host")),
            ("", "*.docs.rs", Err("a pattern of many")),
            ("", "169.254.169.254", Err("hand out their own secrets")),
            (&opens, "169.254.169.254", Ok("169.254.169.254")),
            (&denies, "docs.rs", Ok("docs.rs")),
            (&denies, "evil.example", Err("`net.fetch evil.example`")),
            (&denies, "a.evil.example:81", Err("says deny")),
        ] {
            match (resolve_named_host(host, &rules(text, true), 0), expected) {
                (found, Ok(real)) => assert_eq!(found.as_deref(), Ok(real), "{host}"),
                (found, Err(why)) => {
                    let told = found.unwrap_err();
                    assert!(told.contains(why), "{host}: {told}");
                }
            }
        }
        let mut broken = RuleSet::builtin();
        broken.broken = Some("It is not TOML.".to_owned());
        assert!(resolve_named_host("docs.rs", &broken, 0).is_err());
    }
}
