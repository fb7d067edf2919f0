//! Tests of the verdict on the effects of a dry run.

use protocol::ToolMode;

use super::*;
use crate::test_request::with_request;
use crate::watchdogs::Alarm;

/// The verdict on a command that changed these paths, and the gate that its reason comes from.
fn verdict(rules: &str, dry_run: &DryRunEvidence, alarms: &[Alarm]) -> (Verdict, String) {
    let fact = ResolvedAccess::new_inside(Capability::ShellRun, "make all");
    with_request("bash", ToolMode::Local, fact, rules, |request| {
        let judgement = crate::evaluate::evaluate(&EvaluationRequest {
            alarms,
            dry_run: Some(dry_run),
            ..*request
        });
        (judgement.verdict(), judgement.trail().lead.clone())
    })
}

fn dry_run(effects: &[(Capability, &str)]) -> DryRunEvidence {
    let facts = effects.iter();
    DryRunEvidence {
        effects: facts
            .map(|(capability, path)| ResolvedAccess::new_inside(*capability, *path))
            .collect(),
        ..DryRunEvidence::default()
    }
}

#[test]
fn effects_are_judged_by_the_rules_for_changing_them() {
    use Capability::{FsDelete, FsWrite};
    use Verdict::{Allow, Ask, Deny};
    let writes_out =
        "[[rule]]\npermission = \"fs.write\"\npattern = \"out/**\"\naction = \"allow\"\n";
    let asks_src = "[[rule]]\npermission = \"fs.write\"\npattern = \"src/**\"\naction = \"ask\"\n";
    let denies_src =
        "[[rule]]\npermission = \"fs.write\"\npattern = \"src/**\"\naction = \"deny\"\n";
    let asks_make = "[[rule]]\npermission = \"bash\"\npattern = \"make*\"\naction = \"ask\"\n";
    let allows_make = "[[rule]]\npermission = \"bash\"\npattern = \"make*\"\naction = \"allow\"\n";
    let out = &[(FsWrite, "out/a")][..];
    let src = &[(FsWrite, "out/a"), (FsWrite, "src/a")][..];
    for (rules, effects, agreed, expected) in [
        // Nobody spoke of it: a person looks at what it changes.
        ("", &[][..], false, Ask),
        ("", out, false, Ask),
        (writes_out, out, false, Allow),
        (writes_out, src, false, Ask),
        // Permission to write does not permit deleting.
        (writes_out, &[(FsDelete, "out/a")], false, Ask),
        // A rule about the command was meant for the command.
        (&[writes_out, asks_make].concat(), out, false, Ask),
        (denies_src, src, false, Deny),
        // Let through before: only what a rule says of its effects counts.
        ("", src, true, Allow),
        (allows_make, src, true, Allow),
        (asks_make, src, true, Allow),
        (asks_src, src, true, Ask),
        (denies_src, src, true, Deny),
        // To write is not to delete, but who may not write may not delete.
        (denies_src, &[(FsDelete, "src/a")], true, Deny),
        // Protections hold for effects; a repository's records are git's own, its hooks are nobody's.
        ("", &[(FsWrite, ".git/index")], true, Allow),
        ("", &[(FsWrite, ".git/hooks/post-commit")], true, Deny),
        ("", &[(FsWrite, ".env")], true, Ask),
        ("", &[(FsWrite, ".countersign/rules.toml")], true, Deny),
        (writes_out, &[(FsWrite, "out/.bashrc")], false, Deny),
    ] {
        let dry_run = DryRunEvidence {
            agreed,
            ..dry_run(effects)
        };
        let (verdict, lead) = verdict(rules, &dry_run, &[]);
        assert_eq!(verdict, expected, "{rules} {effects:?} {agreed}: {lead}");
    }
}

/// An answer of a host may be read unless a rule on reading answers asks or denies; rules about the request do not
/// apply to the answer.
#[test]
fn what_came_is_judged_by_its_own_rules() {
    use Verdict::{Allow, Ask, Deny};
    let rule = |permission: &str, pattern: &str, action: &str| {
        format!(
            "[[rule]]\npermission = \"{permission}\"\npattern = \"{pattern}\"\naction = \"{action}\"\n"
        )
    };
    let dry_run = DryRunEvidence {
        response_hosts: vec!["docs.rs".to_owned(), "a.example.com".to_owned()],
        agreed: true,
        for_real: true,
        ..DryRunEvidence::default()
    };
    let asks = rule("net.read", "*.example.com", "ask");
    for (rules, expected) in [
        (String::new(), Allow),
        (rule("net.fetch", "*.example.com", "ask"), Allow),
        (rule("bash", "make*", "ask"), Allow),
        (
            "[[rule]]\npermission = \"*\"\naction = \"ask\"\n".to_owned(),
            Allow,
        ),
        (rule("net.read", "packages.example", "ask"), Allow),
        (asks.clone(), Ask),
        (
            "[[rule]]\npermission = \"net.read\"\naction = \"ask\"\n".to_owned(),
            Ask,
        ),
        (asks + &rule("net.read", "a.example.com", "allow"), Allow),
        (rule("net.read", "docs.rs", "deny"), Deny),
    ] {
        let (verdict, lead) = verdict(&rules, &dry_run, &[]);
        assert_eq!(verdict, expected, "{rules}: {lead}");
        let told = lead.ends_with(" on the response.");
        assert_eq!(told, expected != Allow, "{rules}: {lead}");
    }
}

#[test]
fn a_new_repository_is_looked_at_and_an_old_one_keeps_its_hooks() {
    use Capability::FsWrite;
    let effects = [
        (FsWrite, "lib/.git"),
        (FsWrite, "lib/.git/config"),
        (FsWrite, "lib/.git/hooks/pre-commit"),
    ];
    let begun = DryRunEvidence {
        begun: vec!["lib/.git".to_owned()],
        agreed: true,
        ..dry_run(&effects)
    };
    assert_eq!(verdict("", &begun, &[]).0, Verdict::Ask);
    let mut elsewhere = begun.clone();
    let hook = ResolvedAccess::new_inside(FsWrite, "lib/.github/.git/config");
    elsewhere.effects.push(hook);
    assert_eq!(verdict("", &elsewhere, &[]).0, Verdict::Deny);
    let old = DryRunEvidence {
        begun: Vec::new(),
        ..begun.clone()
    };
    assert_eq!(verdict("", &old, &[]).0, Verdict::Deny);
    // A rule that somebody wrote denies it all the same.
    let denies = "[[rule]]\npermission = \"fs.write\"\npattern = \"lib/**\"\naction = \"deny\"\n";
    assert_eq!(verdict(denies, &begun, &[]).0, Verdict::Deny);
}

/// Writes beyond the surface of the agent are denied, whatever a rule or a person says.
#[test]
fn what_lies_beyond_the_agent_is_denied() {
    let allows = "[[rule]]\npermission = \"fs.write\"\npattern = \"src/**\"\naction = \"allow\"\n";
    for agreed in [false, true] {
        let beyond = DryRunEvidence {
            beyond: Some("It lies beyond.".to_owned()),
            agreed,
            ..dry_run(&[(Capability::FsWrite, "src/a")])
        };
        let (verdict, lead) = verdict(allows, &beyond, &[]);
        assert_eq!(verdict, Verdict::Deny);
        assert_eq!(lead, "Denied: it lies beyond.");
    }
}

#[test]
fn what_changes_nothing_needs_no_question_where_the_person_chose_so() {
    let nothing = DryRunEvidence {
        nothing_is_allowed: true,
        ..DryRunEvidence::default()
    };
    let refused = DryRunEvidence {
        refused: 1,
        ..nothing.clone()
    };
    let reached = DryRunEvidence {
        reached: vec!["docs.rs".to_owned()],
        ..nothing.clone()
    };
    let asks = [Alarm::ask("It looks odd.".to_owned())];
    for (dry_run, alarms, expected) in [
        (&nothing, &[][..], Verdict::Allow),
        (&DryRunEvidence::default(), &[], Verdict::Ask),
        (&refused, &[], Verdict::Ask),
        (&reached, &[], Verdict::Ask),
        // A call that a watchdog wants shown is shown, whatever its effects.
        (&nothing, &asks, Verdict::Ask),
    ] {
        assert_eq!(verdict("", dry_run, alarms).0, expected, "{dry_run:?}");
    }
}

/// M24: where the person judges commands by their effects, what a file tool would be let through with passes.
#[test]
fn undoable_changes_need_no_question_where_the_person_chose_so() {
    use Capability::{FsDelete, FsWrite};
    use Verdict::{Allow, Ask, Deny};
    let rule = |permission: &str, pattern: &str, action: &str| {
        format!(
            "[[rule]]\npermission = \"{permission}\"\npattern = \"{pattern}\"\naction = \"{action}\"\n"
        )
    };
    let many: Vec<String> = (0..=UNASKED_CHANGES_MAX)
        .map(|n| format!("out/{n}"))
        .collect();
    let many: Vec<_> = many.iter().map(|path| (FsWrite, path.as_str())).collect();
    for (rules, effects, expected) in [
        (
            String::new(),
            &[(FsWrite, "src/a"), (FsDelete, "old")][..],
            Allow,
        ),
        (String::new(), &many[1..], Allow),
        (String::new(), &many[..], Ask),
        // What git keeps for itself is no file of the project, but for the list of what is staged.
        (String::new(), &[(FsWrite, ".git/index")], Allow),
        (String::new(), &[(FsWrite, ".git/refs/heads/main")], Ask),
        (String::new(), &[(FsDelete, "lib/.git/HEAD")], Ask),
        (String::new(), &[(FsWrite, ".git/hooks/pre-commit")], Deny),
        (String::new(), &[(FsWrite, ".env")], Ask),
        // Rules speak first, of the command as of what it changed.
        (
            rule("fs.write", "src/**", "ask"),
            &[(FsWrite, "src/a")],
            Ask,
        ),
        (
            rule("fs.write", "src/**", "deny"),
            &[(FsWrite, "src/a")],
            Deny,
        ),
        (rule("bash", "make*", "ask"), &[(FsWrite, "src/a")], Ask),
    ] {
        let dry_run = DryRunEvidence {
            nothing_is_allowed: true,
            undoable_is_allowed: true,
            ..dry_run(effects)
        };
        let (verdict, lead) = verdict(&rules, &dry_run, &[]);
        assert_eq!(verdict, expected, "{rules} {effects:?}: {lead}");
    }
    for (path, expected) in [
        (".git/refs/heads/main", Allow),
        ("lib/.git/refs/heads/main", Ask),
    ] {
        let everyday = DryRunEvidence {
            undoable_is_allowed: true,
            is_everyday_git: true,
            ..dry_run(&[(FsWrite, path)])
        };
        assert_eq!(verdict("", &everyday, &[]).0, expected, "{path}");
    }
    // Objects of a commit were examined, and are nothing to look at.
    let objects: Vec<String> = (0..=UNASKED_CHANGES_MAX)
        .map(|n| format!(".git/objects/{n:02x}/{n}"))
        .collect();
    let objects: Vec<_> = objects
        .iter()
        .map(|path| (FsWrite, path.as_str()))
        .collect();
    for (is_everyday_git, expected) in [(true, Allow), (false, Ask)] {
        let committed = DryRunEvidence {
            undoable_is_allowed: true,
            is_everyday_git,
            ..dry_run(&objects)
        };
        assert_eq!(
            verdict("", &committed, &[]).0,
            expected,
            "{is_everyday_git}"
        );
    }
    let sent = DryRunEvidence {
        undoable_is_allowed: true,
        reached: vec!["docs.rs".to_owned()],
        ..dry_run(&[(FsWrite, "src/a")])
    };
    assert_eq!(
        verdict("", &sent, &[]).0,
        Ask,
        "what was sent is not undone"
    );
}

/// M29: what a command did in its dry run is not what its agent does with it, whatever rule allows such changes.
#[test]
fn effects_alone_let_no_command_pass_that_its_agent_runs_itself() {
    let allows = "[[rule]]\npermission = \"fs.write\"\npattern = \"**\"\naction = \"allow\"\n";
    for effects in [&[][..], &[(Capability::FsWrite, "src/a")]] {
        for (delegated, agreed, expected) in [
            (false, false, Verdict::Allow),
            (true, false, Verdict::Ask),
            (true, true, Verdict::Allow),
        ] {
            let dry_run = DryRunEvidence {
                nothing_is_allowed: true,
                undoable_is_allowed: true,
                delegated,
                agreed,
                ..dry_run(effects)
            };
            let (verdict, lead) = verdict(allows, &dry_run, &[]);
            assert_eq!(verdict, expected, "{delegated} {agreed}: {lead}");
            assert_eq!(lead.contains("runs it itself"), verdict == Verdict::Ask);
        }
    }
}

/// M24: a doubt about what a command runs is settled by its effects, unless a rule restricts commands: it may be
/// the one that the rule means.
#[test]
fn a_doubt_is_settled_by_effects_unless_a_rule_restricts_commands() {
    let doubtful = ResolvedAccess {
        doubt: Some("It is decided as it runs.".to_owned()),
        ..ResolvedAccess::new_inside(Capability::FsRead, "$file")
    };
    let denies = "[[rule]]\npermission = \"bash\"\npattern = \"rm*\"\naction = \"deny\"\n";
    let allows = "[[rule]]\npermission = \"bash\"\npattern = \"ls*\"\naction = \"allow\"\n";
    for (rules, undoable_is_allowed, expected) in [
        ("", true, Verdict::Allow),
        (allows, true, Verdict::Allow),
        (denies, true, Verdict::Ask),
        ("", false, Verdict::Ask),
    ] {
        let dry_run = DryRunEvidence {
            nothing_is_allowed: true,
            undoable_is_allowed,
            ..DryRunEvidence::default()
        };
        let judged = with_request(
            "bash",
            ToolMode::Local,
            doubtful.clone(),
            rules,
            |request| {
                let request = EvaluationRequest {
                    dry_run: Some(&dry_run),
                    ..*request
                };
                crate::evaluate::evaluate(&request).verdict()
            },
        );
        assert_eq!(judged, expected, "{rules}");
    }
}

/// M24: where nobody can be asked, a call that its effects may settle is not denied before they are known.
#[test]
fn a_headless_call_waits_for_its_effects() {
    let fact = || ResolvedAccess::new_inside(Capability::ShellRun, "make all");
    let asks = "[[rule]]\npermission = \"bash\"\npattern = \"make*\"\naction = \"ask\"\n";
    for (rules, dry_run_first, expected) in [
        ("", true, Verdict::Ask),
        ("", false, Verdict::Deny),
        // Its effects settle nothing, so it never runs.
        (asks, true, Verdict::Deny),
    ] {
        let judged = with_request("bash", ToolMode::Local, fact(), rules, |request| {
            let request = EvaluationRequest {
                headless: Some("Nobody is there."),
                dry_run_first,
                ..*request
            };
            crate::evaluate::evaluate(&request).verdict()
        });
        assert_eq!(judged, expected, "{rules} {dry_run_first}");
    }
}

#[test]
fn what_was_read_outside_asks_unless_a_rule_names_it_or_allows_the_call() {
    use Verdict::{Allow, Ask, Deny};
    let rule = |permission: &str, pattern: &str, action: &str| {
        format!(
            "[[rule]]\npermission = \"{permission}\"\npattern = \"{pattern}\"\naction = \"{action}\"\n"
        )
    };
    let read = |paths: &[&str], agreed| DryRunEvidence {
        outside_reads: paths.iter().map(|path| (*path).to_owned()).collect(),
        agreed,
        nothing_is_allowed: true,
        undoable_is_allowed: true,
        ..DryRunEvidence::default()
    };
    let notes = &["/home/mira/notes/a", "/home/mira/notes/b"][..];
    let allows_notes = rule("fs.read", "/home/mira/notes/**", "allow");
    for (rules, paths, agreed, expected) in [
        ("", &[][..], false, Allow),
        ("", notes, false, Ask),
        ("", notes, true, Allow),
        (&*allows_notes, notes, false, Allow),
        (
            &*allows_notes,
            &["/home/mira/notes/a", "/home/mira/b"],
            false,
            Ask,
        ),
        (
            &rule("fs.read", "/home/mira/notes/a", "allow"),
            notes,
            false,
            Ask,
        ),
        (
            &*allows_notes,
            &["/home/mira/notes/a", "(more than is listed)"],
            false,
            Ask,
        ),
        (&rule("fs.read", "**", "allow"), notes, false, Ask),
        (&rule("fs.read", "notes/**", "allow"), notes, false, Ask),
        (
            "[[rule]]\npermission = \"fs.read\"\naction = \"allow\"\n",
            notes,
            false,
            Ask,
        ),
        (&rule("fs.read", "notes/a", "deny"), notes, true, Deny),
        (&rule("fs.read", "/home/mira/**", "ask"), notes, true, Ask),
    ] {
        let (found, why) = verdict(rules, &read(paths, agreed), &[]);
        assert_eq!(found, expected, "{rules} {paths:?}: {why}");
    }
    let (_, why) = verdict("", &read(notes, false), &[]);
    assert!(why.contains("`/home/mira/notes/a` and 1 more"), "{why}");
}
