//! M32: which asks are skipped, and which never are.

use protocol::rule::evidence::DryRunEvidence;
use protocol::{Capability, ResolvedAccess, ToolMode, Verdict};

use crate::evaluate::evaluate;
use crate::request::EvaluationRequest;
use crate::test_request::with_request;
use crate::watchdogs::Alarm;

const ASKS: &str = "[[rule]]\npermission = \"bash\"\npattern = \"make*\"\naction = \"ask\"\n";
const DENIES: &str = "[[rule]]\npermission = \"bash\"\npattern = \"make*\"\naction = \"deny\"\n";

/// Effects that ask only because something was refused.
fn refused() -> DryRunEvidence {
    DryRunEvidence {
        effects: vec![ResolvedAccess::new_inside(Capability::FsWrite, "out/a")],
        refused: 1,
        nothing_is_allowed: true,
        undoable_is_allowed: true,
        ..DryRunEvidence::default()
    }
}

/// The verdict on `make all`, while asks are skipped or not.
fn verdict(rules: &str, skips_asks: bool, dry_run: Option<&DryRunEvidence>) -> (Verdict, String) {
    let command = ResolvedAccess::new_inside(Capability::ShellRun, "make all");
    with_request("bash", ToolMode::Local, command, rules, |request| {
        let judged = evaluate(&EvaluationRequest {
            dry_run,
            skips_asks,
            judges_effects: true,
            ..*request
        });
        (judged.verdict(), judged.trail().lead.clone())
    })
}

#[test]
fn a_command_whose_effects_can_be_undone_passes_and_says_why() {
    let effects = refused();
    assert_eq!(verdict("", false, Some(&effects)).0, Verdict::Ask);
    assert_eq!(
        verdict("", true, Some(&effects)),
        (
            Verdict::Allow,
            "Allowed: you skip asks for a while.".to_owned()
        )
    );
}

#[test]
fn what_is_lost_runs_later_or_is_unknown_still_asks() {
    let one = || vec!["It plants something.".to_owned()];
    let unknown: [(&str, DryRunEvidence); 8] = [
        (
            "later runs",
            DryRunEvidence {
                later_runs: one(),
                ..refused()
            },
        ),
        (
            "loss",
            DryRunEvidence {
                loss: Some("It is gone.".to_owned()),
                ..refused()
            },
        ),
        (
            "extent",
            DryRunEvidence {
                extent: one(),
                ..refused()
            },
        ),
        (
            "repository",
            DryRunEvidence {
                repository_change: Some("A tag.".to_owned()),
                ..refused()
            },
        ),
        (
            "begun",
            DryRunEvidence {
                begun: vec![".git".to_owned()],
                ..refused()
            },
        ),
        (
            "secrets",
            DryRunEvidence {
                secrets: vec![".env".to_owned()],
                ..refused()
            },
        ),
        (
            "delegated",
            DryRunEvidence {
                delegated: true,
                ..refused()
            },
        ),
        (
            "not undoable",
            DryRunEvidence {
                undoable_is_allowed: false,
                ..refused()
            },
        ),
    ];
    for (name, effects) in unknown {
        assert_eq!(verdict("", true, Some(&effects)).0, Verdict::Ask, "{name}");
    }
    assert_eq!(verdict("", true, None).0, Verdict::Ask, "no dry run");
}

#[test]
fn rules_that_ask_or_deny_hold() {
    let effects = refused();
    for (rules, expected) in [(ASKS, Verdict::Ask), (DENIES, Verdict::Deny)] {
        assert_eq!(verdict(rules, true, Some(&effects)).0, expected, "{rules}");
    }
}

#[test]
fn a_watchdog_and_a_tool_that_needs_an_answer_still_ask() {
    let write = || ResolvedAccess::new_inside(Capability::FsWrite, "a");
    with_request("write", ToolMode::SafeWrite, write(), "", |request| {
        let skipping = EvaluationRequest {
            skips_asks: true,
            ..*request
        };
        let everything = EvaluationRequest {
            ask_for_everything: true,
            ..skipping
        };
        assert_eq!(evaluate(&everything).verdict(), Verdict::Allow);
        let alarms = [Alarm::ask("A secret leaves.")];
        let alarmed = EvaluationRequest {
            alarms: &alarms,
            ..skipping
        };
        assert_eq!(evaluate(&alarmed).verdict(), Verdict::Ask);
        let asking = EvaluationRequest {
            needs_person: true,
            ..skipping
        };
        assert_eq!(evaluate(&asking).verdict(), Verdict::Ask);
    });
}
