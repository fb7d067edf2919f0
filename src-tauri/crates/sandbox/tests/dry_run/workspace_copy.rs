//! A copy in the place of the workspace: how far it goes, and what of two copies that part is whose.

use std::fs;

use protocol::view::effects::Assurance;
use runtime::{DryRunEnvironment, FileError, LayerKind, ShellCommand, Workspace};
use tokio_util::sync::CancellationToken;

use crate::fixture::{DISK, Stage, furnish, told};
use crate::tree_snapshot::{dated, same};

fn furnished() -> Option<Stage> {
    let stage = Stage::over_a_copy(DISK.as_ref());
    furnish(&stage.root());
    stage.works().then_some(stage)
}

#[test]
fn a_copy_is_the_last_that_is_tried_and_says_how_far_it_goes() {
    let Some(stage) = furnished() else { return };
    let probe = stage.block_on(stage.environment.probe(&stage.workspace));
    assert_eq!(
        (probe.assurance, probe.layer, probe.reasons[0].as_str()),
        (
            Assurance::Speculative,
            LayerKind::Copy,
            "A command runs in a sandbox; until you agree it changes a copy of the workspace, of at most 512 MiB and 50000 paths."
        )
    );
    let memory = match sandbox::can_limit_memory() {
        true => "by a control group",
        false => "added up a few times a second",
    };
    assert!(probe.reasons[1].contains(memory), "{:?}", probe.reasons);
    assert_eq!(probe.reasons.len(), 2);
    // The better way comes first, and where it does not work it is said why.
    let home = tempfile::tempdir_in(DISK).unwrap();
    let program = env!("CARGO_BIN_EXE_countersign-sandbox");
    let open = |kinds: &[LayerKind]| {
        let folder = home.path().join("sandboxes");
        DryRunEnvironment::open_with(Some(program.into()), &folder, Vec::new(), kinds, &[]).unwrap()
    };
    let all = [LayerKind::Disk, LayerKind::Memory, LayerKind::Copy];
    for (kinds, layer) in [
        (&all[..], LayerKind::Disk),
        (&all[1..], LayerKind::Memory),
        (&all[2..], LayerKind::Copy),
        (&[], LayerKind::None),
    ] {
        let probe = stage.block_on(open(kinds).probe(&stage.workspace));
        assert_eq!(probe.layer, layer, "{probe:?}");
    }
    // A copy would hold itself.
    let around = Workspace::open(home.path()).unwrap();
    let probe = stage.block_on(open(&[LayerKind::Copy]).probe(&around));
    assert_eq!(probe.assurance, Assurance::GateOnly);
    assert_eq!(
        probe.reasons,
        ["A copy of the workspace does not work: the data folder lies in the workspace."]
    );
}

#[test]
fn what_is_too_much_to_copy_is_not_begun() {
    let Some(stage) = furnished() else { return };
    let sparse = fs::File::create(stage.root().join("sparse")).unwrap();
    sparse.set_len(5 << 30).unwrap();
    let why = "The workspace cannot be copied for a command: it is larger than 512 MiB.";
    let probe = stage.block_on(stage.environment.probe(&stage.workspace));
    assert_eq!(probe.assurance, Assurance::GateOnly);
    assert_eq!(probe.reasons, [why]);
    let refused = stage.try_rehearse(&stage.command("true"));
    assert_eq!(
        refused.map(drop),
        Err(FileError::SandboxUnavailable { reason: why.into() })
    );
    // It is looked at anew each time.
    sparse.set_len(1 << 20).unwrap();
    let probe = stage.block_on(stage.environment.probe(&stage.workspace));
    assert_eq!(probe.assurance, Assurance::Speculative);
    assert_eq!(
        told(&stage.rehearse("rm sparse").effects.changes),
        ["Deleted sparse"]
    );
    assert_eq!(stage.layers(), Vec::<std::path::PathBuf>::new());
}

/// Things that change places keep their numbers and their times: by those alone they are not known again.
#[test]
fn what_changes_places_is_seen() {
    let Some(stage) = furnished() else { return };
    for folder in ["one", "two"] {
        fs::create_dir(stage.root().join(folder)).unwrap();
        fs::write(stage.root().join(folder).join("same"), folder).unwrap();
    }
    let before = dated(&stage.root());
    for (line, expected) in [
        (
            "mv one t; mv two one; mv t two",
            vec!["Changed one/same", "Changed two/same"],
        ),
        ("mv a t; mv b a; mv t b", vec!["Changed a", "Changed b"]),
        (
            "cp -p a keep; echo first > a; touch -r keep a; rm keep",
            vec!["Changed a"],
        ),
        (
            "printf 'FIRST\\nsecond\\n' > t; touch -r a t; cat t > a; touch -r t a; rm t",
            vec!["Changed a"],
        ),
        ("ln a t; rm a; mv t a", vec![]),
    ] {
        let rehearsed = stage.rehearse(line);
        assert_eq!(told(&rehearsed.effects.changes), expected, "{line}");
    }
    same(&dated(&stage.root()), &before, "nothing changed");
}

/// Changes of a person to files that the command leaves alone are no effects and no conflict.
#[test]
fn what_a_person_does_meanwhile_is_the_persons() {
    let Some(stage) = furnished() else { return };
    let root = stage.root();
    let meanwhile = move |_: &str| {
        fs::write(root.join("b"), "edited").unwrap();
        fs::write(root.join("d/mine"), "came").unwrap();
        fs::remove_file(root.join("d/x")).unwrap();
    };
    let command = ShellCommand {
        ..stage.command("echo begun; sleep 0.3; echo more >> a")
    };
    let never = CancellationToken::new();
    let rehearsed = stage.block_on(stage.environment.dry_run(
        &command,
        &runtime::NetworkClient::offline(),
        meanwhile,
        &never,
    ));
    let rehearsed = rehearsed.unwrap();
    assert_eq!(told(&rehearsed.effects.changes), ["Changed a"]);
    stage
        .history
        .apply_plan(&stage.workspace, &rehearsed.plan)
        .unwrap();
    let read = |path: &str| fs::read_to_string(stage.root().join(path)).unwrap();
    assert_eq!(
        (read("a"), read("b"), read("d/mine")),
        (
            "first\nsecond\nmore\n".to_owned(),
            "edited".to_owned(),
            "came".to_owned()
        )
    );
    assert!(!stage.root().join("d/x").exists());
}

#[test]
fn a_folder_that_a_person_removes_meanwhile_is_not_made_again() {
    let Some(stage) = furnished() else { return };
    let root = stage.root();
    let meanwhile = move |_: &str| fs::remove_dir_all(root.join("d/e")).unwrap();
    let command = stage.command("echo begun; sleep 0.3; echo more >> d/e/z");
    let never = CancellationToken::new();
    let rehearsed = stage.block_on(stage.environment.dry_run(
        &command,
        &runtime::NetworkClient::offline(),
        meanwhile,
        &never,
    ));
    assert_eq!(
        rehearsed.map(drop),
        Err(FileError::Changed { path: "d/e".into() })
    );
}
