//! The offers for each kind of call, and those that are never made.

use protocol::{Access, Capability, ToolMode};

use super::*;
use crate::test_request::with_request;
use crate::watchdogs::Alarm;

/// Lists the offers for a call of a tool under a person's rules: `permission pattern` each, or why there are none.
fn offers_for(
    tool: &str,
    mode: ToolMode,
    access: Access,
    rules: &str,
    alarms: &[Alarm],
) -> GrantOffers {
    let fact = protocol::ResolvedAccess::new_inside(access.capability, access.target);
    with_request(tool, mode, fact, rules, |request| {
        list_offers(&EvaluationRequest { alarms, ..*request })
    })
}

fn bash(command: &str, rules: &str) -> GrantOffers {
    let access = Access::new(Capability::ShellRun, command);
    offers_for("bash", ToolMode::Local, access, rules, &[])
}

fn patterns(offers: &GrantOffers, action: RuleAction) -> Vec<&str> {
    let of_action = offers.offers.iter().filter(|offer| offer.action == action);
    of_action
        .map(|offer| offer.pattern.as_deref().unwrap_or("-"))
        .collect()
}

#[test]
fn commands_are_offered_by_their_literal_words() {
    for (command, expected) in [
        ("ls", &["ls"][..]),
        ("ls -la", &["ls -la", "ls -la*"]),
        ("cargo update", &["cargo update", "cargo update*"]),
        (
            "cargo test -p tidemark-parser --lib",
            &[
                "cargo test -p tidemark-parser --lib",
                "cargo test -p tidemark-parser --lib*",
                "cargo test*",
            ],
        ),
        (
            "npm run build -- --watch",
            &[
                "npm run build -- --watch",
                "npm run build -- --watch*",
                "npm run build*",
                "npm run*",
            ],
        ),
        ("grep '*' x", &[r"grep \* x", r"grep \* x*"]),
        ("timeout 5 cargo build", &["cargo build", "cargo build*"]),
    ] {
        let offers = bash(command, "");
        assert_eq!(offers.refused, None, "{command}");
        assert_eq!(patterns(&offers, RuleAction::Allow), expected, "{command}");
    }
}

#[test]
fn wrappers_interpreters_and_what_is_not_literal_are_never_offered() {
    for (command, why) in [
        ("sudo ls", "No rule may allow"),
        ("sh x.sh", "runs what its arguments or a file say"),
        ("python3.12 x.py", "runs what its arguments or a file say"),
        ("npx left-pad", "runs what its arguments or a file say"),
        ("docker run x", "runs what its arguments or a file say"),
        ("ls $HOME", "No rule may allow"),
        ("ls *.rs", "No rule may allow"),
        ("ls `pwd`", "No rule may allow"),
        ("./run", "runs what its arguments or a file say"),
        ("A=1 make", "No rule may allow"),
        ("ls; cat x; wc x", "Nothing about this call"),
    ] {
        let offers = bash(command, "");
        let told = offers.refused.clone().unwrap_or_default();
        assert!(told.contains(why), "{command}: {told}");
        assert!(patterns(&offers, RuleAction::Allow).is_empty(), "{command}");
    }
}

#[test]
fn of_several_commands_the_one_that_is_not_allowed_yet_is_offered() {
    let allows_ls = "[[rule]]\npermission = \"bash\"\npattern = \"ls *\"\naction = \"allow\"\n";
    let offers = bash("ls -l && cat x", allows_ls);
    assert_eq!(patterns(&offers, RuleAction::Allow), ["cat x", "cat x*"]);
}

#[test]
fn of_several_commands_each_can_be_denied_and_the_one_that_matters_comes_first() {
    let allows_ls = "[[rule]]\npermission = \"bash\"\npattern = \"ls *\"\naction = \"allow\"\n";
    let offers = bash("cd a && ls -l && git push origin", allows_ls);
    assert_eq!(
        patterns(&offers, RuleAction::Deny),
        [
            "git push origin",
            "git push origin *",
            "git push *",
            "cd a",
            "cd a *",
            "ls -l",
            "ls -l *",
        ]
    );
    let many = (0..9).map(|n| format!("make part{n}")).collect::<Vec<_>>();
    let offers = bash(&many.join("; "), "");
    assert!(patterns(&offers, RuleAction::Deny).contains(&"make part3"));
    assert!(!patterns(&offers, RuleAction::Deny).contains(&"make part4"));
}

#[test]
fn a_configured_ask_that_would_be_overridden_is_named() {
    let asks = "[[rule]]\npermission = \"bash\"\npattern = \"cargo publish*\"\naction = \"ask\"\n";
    let offers = bash("cargo publish", asks);
    let offer = &offers.offers[0];
    assert_eq!(offer.overrides.as_ref().unwrap().line, Some(1));
    // As specific as the ask, and from the same scope, it would lose; closer ones win.
    assert_eq!(offer.pattern.as_deref(), Some("cargo publish"));
    assert_eq!(offer.lasts, [GrantScope::Session, GrantScope::Project]);
}

#[test]
fn what_a_rule_cannot_lift_is_not_offered() {
    let access = Access::new(Capability::ShellRun, "ls");
    let alarm = [Alarm::ask("Look closely.")];
    let offers = offers_for("bash", ToolMode::Local, access, "", &alarm);
    assert!(offers.refused.unwrap().contains("Look closely."));
    assert!(
        offers
            .offers
            .iter()
            .all(|offer| offer.action == RuleAction::Deny)
    );
    // A redirect into a protected place stays asked about, whatever a rule for the command says.
    let offers = bash("echo x > .env", "");
    assert!(
        patterns(&offers, RuleAction::Allow).is_empty(),
        "{offers:#?}"
    );
}

#[test]
fn paths_hosts_and_tools() {
    let asks = "[[rule]]\npermission = \"*\"\naction = \"ask\"\n";
    for (tool, mode, access, expected) in [
        (
            "edit",
            ToolMode::SafeWrite,
            Access::new(Capability::FsWrite, "src/a[1].rs"),
            &["src/a[[]1].rs", "src/**", "-"][..],
        ),
        (
            "delete_path",
            ToolMode::Destructive,
            Access::new(Capability::FsDelete, "old/x"),
            &["old/x", "old/**"],
        ),
        (
            "write",
            ToolMode::SafeWrite,
            Access::new(Capability::FsWrite, "a.txt"),
            &["a.txt", "-"],
        ),
        (
            "web_fetch",
            ToolMode::External,
            Access::new(Capability::NetFetch, "docs.rs"),
            &["docs.rs"],
        ),
    ] {
        let offers = offers_for(tool, mode, access, asks, &[]);
        assert_eq!(patterns(&offers, RuleAction::Allow), expected, "{tool}");
        assert!(!patterns(&offers, RuleAction::Deny).is_empty(), "{tool}");
    }
}

/// Asks about a script whose dry run read this outside of the workspace.
fn with_outside_reads<T>(paths: &[&str], ask: impl FnOnce(&EvaluationRequest<'_>) -> T) -> T {
    let fact = protocol::ResolvedAccess::new_inside(Capability::ShellRun, "sh script");
    let dry_run = protocol::rule::evidence::DryRunEvidence {
        outside_reads: paths.iter().map(|path| (*path).to_owned()).collect(),
        nothing_is_allowed: true,
        undoable_is_allowed: true,
        ..Default::default()
    };
    with_request("bash", ToolMode::Local, fact, "", |request| {
        ask(&EvaluationRequest {
            dry_run: Some(&dry_run),
            ..*request
        })
    })
}

fn allow_rule(permission: &str, pattern: Option<String>) -> CompiledRule {
    let rule = Rule {
        pattern,
        ..build_rule(permission, RuleAction::Allow, RuleScope::User)
    };
    CompiledRule::new(rule, Os::CURRENT, true).unwrap()
}

/// Lists the allows that are offered for such a script, each of which can be granted.
fn read_offers(paths: &[&str]) -> Vec<String> {
    with_outside_reads(paths, |request| {
        let offers = list_offers(request);
        let allows = offers
            .offers
            .iter()
            .filter(|offer| offer.action == RuleAction::Allow);
        let allows = allows.map(|offer| {
            let rule = allow_rule(&offer.permission, offer.pattern.clone());
            assert_eq!(check_grant(request, &rule), Ok(()), "{offer:?}");
            let pattern = offer.pattern.clone().unwrap_or_default();
            format!("{} {pattern}", offer.permission)
        });
        allows.collect()
    })
}

#[test]
fn what_a_script_read_elsewhere_is_offered_by_its_file_and_folder() {
    for (paths, expected) in [
        (
            &["/home/mira/notes/[a]"][..],
            &[
                "fs.read /home/mira/notes/[[]a]",
                "fs.read /home/mira/notes/**",
            ][..],
        ),
        (&["/home/mira/notes"], &["fs.read /home/mira/notes"]),
        (
            &["/home/mira/lib/src/a", "/home/mira/lib/b"],
            &["fs.read /home/mira/lib/**"],
        ),
        (&["/home/mira/lib", "/home/mira/library"], &[]),
        (&["/home/mira/lib/a", "/home/mira/notes"], &[]),
        (&["/srv/a", "/mnt/b"], &[]),
    ] {
        assert_eq!(read_offers(paths), expected, "{paths:?}");
    }
}

#[test]
fn a_broader_rule_than_what_a_script_read_elsewhere_is_not_granted() {
    with_outside_reads(&["/home/mira/notes/a"], |request| {
        for pattern in ["/home/**", "/**", "**"] {
            let rule = allow_rule("fs.read", Some(pattern.to_owned()));
            assert!(check_grant(request, &rule).is_err(), "{pattern}");
        }
    });
}
