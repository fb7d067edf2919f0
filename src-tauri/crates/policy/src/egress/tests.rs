//! Which hosts and remotes rules open, and which stay closed.

use protocol::RuleScope;
use protocol::rule::evidence::{RemoteUse, RemoteUseKind};

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

const ADDRESS: &str = "https://git.example/app.git";

/// Builds the facts of a command that uses a remote.
fn uses(kind: RemoteUseKind, command: &str, address: &str) -> CallFacts {
    let host = RemoteAddress::parse(address).unwrap().host().to_owned();
    let mut facts = CallFacts::from_iter([
        ResolvedAccess::new_inside(Capability::ShellRun, command),
        ResolvedAccess {
            derived: true,
            ..ResolvedAccess::new_inside(Capability::NetFetch, host)
        },
    ]);
    facts.add_remote(RemoteUse {
        kind,
        words: command.split(' ').map(str::to_owned).collect(),
        remote: "origin".to_owned(),
        address: address.to_owned(),
    });
    facts
}

#[test]
fn a_rule_about_a_remote_allows_its_use_and_opens_its_host() {
    let push = rule("git.push", ADDRESS, "allow");
    let fetch = rule("git.fetch", ADDRESS, "allow");
    let (fetches, pushes) = (RemoteUseKind::Fetch, RemoteUseKind::PushNewBranch);
    let near = "http://169.254.169.254/app.git";
    for (text, kind, address, is_open) in [
        (fetch.clone(), fetches, ADDRESS, true),
        (push.clone(), pushes, ADDRESS, true),
        (fetch.clone(), pushes, ADDRESS, false),
        (push.clone(), fetches, ADDRESS, false),
        (push.clone(), pushes, "https://git.example/app", false),
        (push.clone(), pushes, "http://git.example/app.git", false),
        (push.clone(), pushes, "https://git.example/other.git", false),
        // What is said of the command or the host counts first.
        (
            [&push, &*rule("bash", "git push*", "ask")].concat(),
            pushes,
            ADDRESS,
            false,
        ),
        (
            [&push, &*rule("shell.run", "git push*", "deny")].concat(),
            pushes,
            ADDRESS,
            false,
        ),
        (
            [&push, &*rule("net.fetch", "git.example", "deny")].concat(),
            pushes,
            ADDRESS,
            false,
        ),
        (rule("git.push", near, "allow"), pushes, near, false),
    ] {
        let command = match kind {
            RemoteUseKind::Fetch => "git fetch origin",
            RemoteUseKind::PushNewBranch => "git push origin new",
        };
        let facts = uses(kind, command, address);
        let set = rules(&text, true);
        let mut subjects = Subject::from_facts("bash", None, &facts).into_iter();
        let passes = subjects.all(|subject| {
            let decision = set.evaluate_subject(&subject, 0, Verdict::Ask);
            decision.verdict == Some(Verdict::Allow)
                || subject.tightens && decision.verdict.is_none()
        });
        let opens = resolve_rule_egress(&facts, &set, 0).is_some();
        assert_eq!(passes && opens, is_open, "{text} {address}");
        assert!(resolve_rule_egress(&facts, &rules(&text, false), 0).is_none());
    }
    // The rule is about the very command that was looked up.
    let mut facts = uses(pushes, "git push origin new", ADDRESS);
    facts.add(ResolvedAccess::new_inside(
        Capability::ShellRun,
        "git push origin main",
    ));
    let set = rules(&push, true);
    let mut subjects = Subject::from_facts("bash", None, &facts).into_iter();
    assert!(subjects.any(|subject| {
        let decision = set.evaluate_subject(&subject, 0, Verdict::Ask);
        decision.verdict.is_none() && !subject.tightens
    }));
}

#[test]
fn evidence_keeps_which_remote_a_command_used() {
    let facts = uses(RemoteUseKind::Fetch, "git fetch origin", ADDRESS);
    let set = rules(&rule("git.fetch", ADDRESS, "allow"), true);
    let restored = CallFacts::from_evidence(facts.to_evidence());
    assert_eq!(
        resolve_rule_egress(&restored, &set, 0),
        resolve_rule_egress(&facts, &set, 0)
    );
    assert!(resolve_rule_egress(&restored, &set, 0).is_some());
}
