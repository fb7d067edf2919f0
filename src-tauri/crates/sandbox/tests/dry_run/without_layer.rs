//! Commands that are expected to change nothing: they run without a layer, and over one after all if they try to change
//! something.

use std::path::Path;

use protocol::view::effects::Effects;
use runtime::{DryRunOutput, NetworkClient};
use tokio_util::sync::CancellationToken;

use crate::fixture::{DISK, Stage, furnish, told};
use crate::single_commands::{each_way, furnished};
use crate::tree_snapshot::{picture, same};

/// Runs a command as one that is expected to change nothing. Returns what it did, and what was shown while it ran.
fn rehearse_expecting_no_change(stage: &Stage, line: &str) -> (DryRunOutput, String) {
    let (command, never) = (stage.command(line), CancellationToken::new());
    let (net, mut shown) = (NetworkClient::offline(), String::new());
    let environment = stage.environment.expecting_no_change(true);
    let ran = environment.dry_run(&command, &net, |text| shown.push_str(text), &never);
    let ran = stage.block_on(ran).unwrap();
    (ran, shown)
}

/// What a command printed, as text.
fn printed(ran: &DryRunOutput) -> String {
    String::from_utf8_lossy(&ran.command.head).into_owned()
}

/// What a person reads of the effects.
fn summary(effects: &Effects) -> impl PartialEq + std::fmt::Debug {
    (
        told(&effects.changes),
        effects.refused.clone(),
        effects.notes.clone(),
        effects.exit_code,
        effects.output.clone(),
    )
}

#[test]
fn what_changes_nothing_runs_without_a_layer_and_what_tries_to_runs_over_one() {
    let Some(stage) = furnished() else { return };
    let file_system = "stat -f -c %T .";
    let layered = |line: &str| {
        let (ran, shown) = rehearse_expecting_no_change(&stage, line);
        assert_eq!(shown, printed(&ran), "{line}");
        shown.starts_with("overlay")
    };
    for line in [
        "true",
        "cat a; ls",
        "test -r a",
        "echo x > /tmp/x; cat /tmp/x",
    ] {
        assert!(!layered(&format!("{file_system}; {line}")), "{line}");
    }
    for line in [
        "echo x > new",
        "rm a",
        "chmod 600 b",
        "exec 3<>a",
        "test -w a",
        "touch b",
    ] {
        assert!(layered(&format!("{file_system}; {line}")), "{line}");
    }
}

#[test]
fn the_effects_are_the_same_whatever_was_expected() {
    for stage in each_way() {
        let before = picture(&stage.root());
        for line in [
            "true",
            "cat a; exit 3",
            "ls -a; cat missing",
            "echo one; sleep 0.1; echo two > new; echo three",
            "test -w a && rm a",
            "mkdir new && cp a new/b",
            "echo x > /etc/new; echo y > /tmp/new; cat /tmp/new",
        ] {
            let over_layer = stage.rehearse(line);
            let (ran, shown) = rehearse_expecting_no_change(&stage, line);
            assert_eq!(
                summary(&ran.effects),
                summary(&over_layer.effects),
                "{line}"
            );
            assert_eq!(shown, printed(&over_layer), "{line}");
        }
        same(&picture(&stage.root()), &before, "the workspace");
    }
}

#[test]
fn what_was_expected_to_change_nothing_can_be_carried_out() {
    let mut stage = Stage::below(Path::new(DISK), "workspace");
    if !stage.works() {
        return;
    }
    furnish(&stage.root());
    let (ran, _) = rehearse_expecting_no_change(&stage, "echo new > n");
    stage.commit(&ran.plan);
    assert_eq!(std::fs::read(stage.root().join("n")).unwrap(), b"new\n");
}
