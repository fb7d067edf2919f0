//! Commands that run for real: over a picture of the workspace, told and judged afterwards, taken back whole.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use agent::Host;
use protocol::view::effects::Assurance;
use protocol::view::preview::UndoAvailability;
use protocol::{CallState, CallView, Decision, Gate, Op, Preview, UndoState, Verdict};
use serde_json::Value;
use support::{
    Fixture, HEADLESS, HEADLESS_APPROVED, call_bash, call_write, expect_variant, rule_text,
    shown_effects,
};

mod interruptions;

/// A sandbox in which no layer holds.
const SANDBOX_IN_PLACE: &str = env!("CARGO_BIN_EXE_sandbox_program_in_place");
/// A sandbox in which a layer holds.
const SANDBOX_LAYERED: &str = env!("CARGO_BIN_EXE_sandbox_program");

const DENIES: &str =
    "[[rule]]\npermission = \"fs.write\"\npattern = \"folder/**\"\naction = \"deny\"\n";
const ASKS: &str =
    "[[rule]]\npermission = \"fs.write\"\npattern = \"folder/**\"\naction = \"ask\"\n";
const ALLOWS: &str =
    "[[rule]]\npermission = \"bash\"\npattern = \"python3*\"\naction = \"allow\"\n";

/// A desk whose agent makes these calls, in a workspace with two files.
async fn open_desk_with(calls: &[Value], sandbox: &str, host: Host) -> Fixture {
    let mut desk = Fixture::with_sandbox(calls, host, Some(sandbox)).await;
    desk.write_file("a", "first\n")
        .write_file("folder/b", "second\n");
    desk
}

async fn open_desk(command: &str, sandbox: &str, host: Host) -> Fixture {
    open_desk_with(&[call_bash(command)], sandbox, host).await
}

fn in_place_decision() -> Decision {
    Decision::InPlace { hosts: Vec::new() }
}

fn effect_lines(view: &CallView) -> Vec<String> {
    let changes = shown_effects(view).changes.iter();
    changes.map(ToString::to_string).collect()
}

/// A path with its bytes or where it leads, its mode with its kind, and its time.
type FileState = (PathBuf, Option<Vec<u8>>, u32, i64, i64);

/// Everything in a folder.
fn snapshot_tree(root: &Path) -> Vec<FileState> {
    let mut all = Vec::new();
    let mut left = vec![root.to_owned()];
    while let Some(path) = left.pop() {
        let meta = path.symlink_metadata().unwrap();
        let content = match meta.file_type() {
            kind if kind.is_symlink() => Some(
                std::fs::read_link(&path)
                    .unwrap()
                    .into_os_string()
                    .into_encoded_bytes(),
            ),
            kind if kind.is_file() => Some(std::fs::read(&path).unwrap()),
            _ => None,
        };
        if meta.is_dir() {
            left.extend(
                std::fs::read_dir(&path)
                    .unwrap()
                    .map(|entry| entry.unwrap().path()),
            );
        }
        all.push((path, content, meta.mode(), meta.mtime(), meta.mtime_nsec()));
    }
    all.sort();
    all
}

fn count_snapshots(desk: &Fixture) -> usize {
    std::fs::read_dir(desk.data_dir().join("history/pictures")).map_or(0, Iterator::count)
}

#[tokio::test]
async fn where_no_layer_holds_an_allowed_command_runs_for_real_and_is_taken_back_to_the_byte() {
    let line = "echo more >> a; chmod 700 folder; touch -d 2001-02-03 folder/b; ln -sfn folder link; \
                rmdir empty; mkdir -p new/empty; echo said";
    let mut desk = open_desk(line, SANDBOX_IN_PLACE, Host::Person).await;
    std::fs::create_dir(desk.workspace_root().join("empty")).unwrap();
    symlink("a", desk.workspace_root().join("link")).unwrap();
    std::fs::set_permissions(
        desk.workspace_root().join("a"),
        std::fs::Permissions::from_mode(0o640),
    )
    .unwrap();
    let before = snapshot_tree(&desk.workspace_root());

    desk.start("Go.").await;
    let asked = desk.wait_for_call().await;
    let command = expect_variant!(&asked.preview, Preview::Command(command) => command);
    assert_eq!(
        command.assurance,
        Some(Assurance::Snapshot),
        "{:?}",
        command.assured
    );
    assert!(command.assured.join(" ").contains("can be undone"));
    assert_eq!(asked.undo_availability, UndoAvailability::Snapshot);
    let said: Vec<&str> = asked
        .pending
        .as_ref()
        .unwrap()
        .grants
        .iter()
        .map(|grant| grant.text.as_str())
        .collect();
    assert!(
        said[0].contains("what it changes in this folder can be undone"),
        "{said:?}"
    );
    assert_eq!(
        count_snapshots(&desk),
        0,
        "nothing is begun before it is allowed"
    );
    desk.allow_call(&asked).await;
    desk.wait_until_ended().await;

    let done = &desk.only_call().await;
    assert_eq!(done.state, CallState::Done);
    assert_eq!(
        (shown_effects(done).assurance, shown_effects(done).exit_code),
        (Assurance::Snapshot, Some(0))
    );
    assert_eq!(
        effect_lines(done),
        [
            "changed a",
            "deleted empty",
            "mode 755 -> 700 folder",
            "changed folder/b",
            "link link -> folder",
            "added new",
            "added new/empty"
        ]
    );
    let diff = shown_effects(done).changes[0].diff.as_ref().unwrap();
    assert_eq!((diff.added, diff.removed), (1, 0));
    let text = done.outcome.as_ref().unwrap().model_text();
    assert!(text.contains("said"), "{text}");
    assert_eq!(done.undo.as_ref().unwrap().state, UndoState::Applied);
    assert_eq!(count_snapshots(&desk), 0);
    let after = snapshot_tree(&desk.workspace_root());

    desk.undo_call(done).await;
    assert_eq!(snapshot_tree(&desk.workspace_root()), before);
    let entry = done.undo.clone().unwrap().id;
    desk.submit(Op::Redo { entry }).await;
    assert_eq!(snapshot_tree(&desk.workspace_root()), after);
}

#[tokio::test]
async fn where_a_layer_holds_only_a_person_has_it_run_for_real() {
    let mut desk = open_desk("echo more >> a", SANDBOX_LAYERED, Host::Person).await;
    desk.start("Go.").await;
    let asked = desk.wait_for_call().await;
    let command = expect_variant!(&asked.preview, Preview::Command(command) => command);
    assert_eq!(
        (command.assurance, command.in_place),
        (Some(Assurance::Speculative), true)
    );
    // Seen first what it does; then for real.
    desk.decide_call(&asked, Decision::DryRun).await.unwrap();
    let shown = desk.wait_for_call().await;
    assert_eq!(shown_effects(&shown).assurance, Assurance::Speculative);
    assert_eq!(desk.read_file("a").unwrap(), "first\n");
    desk.decide_call(&shown, in_place_decision()).await.unwrap();
    desk.wait_until_ended().await;
    let done = &desk.only_call().await;
    assert_eq!(
        (shown_effects(done).assurance, effect_lines(done)),
        (Assurance::Snapshot, vec!["changed a".to_owned()])
    );
    assert_eq!(
        done.decision.as_ref().unwrap().decision,
        in_place_decision()
    );
    // Once, and not what was captured on top of it.
    assert_eq!(desk.read_file("a").unwrap(), "first\nmore\n");
    desk.undo_call(done).await;
    assert_eq!(desk.read_file("a").unwrap(), "first\n");

    // A rule does not: it goes the way that changes nothing before it was looked at.
    let mut ruled = open_desk("python3 change.py", SANDBOX_LAYERED, HEADLESS).await;
    ruled.write_file("change.py", "open('a', 'a').write('x')\n");
    ruled.write_rules(ALLOWS);
    ruled.play().await;
    let done = &ruled.only_call().await;
    assert_eq!(
        (done.state, shown_effects(done).assurance),
        (CallState::Done, Assurance::Speculative)
    );
}

#[tokio::test]
async fn what_it_did_meets_the_rules_and_is_taken_back_where_it_may_not_be() {
    let script = "open('folder/b', 'a').write('x')\nopen('n', 'w').write('n')\n";
    for (text, host, stands) in [
        (&[ALLOWS][..], HEADLESS, true),
        (&[ALLOWS, DENIES], HEADLESS, false),
        (&[DENIES], HEADLESS_APPROVED, false),
        // A person who let it run has agreed to it; without a person, asking means no.
        (&[ALLOWS, ASKS], HEADLESS, false),
        (&[ASKS], HEADLESS_APPROVED, true),
    ] {
        let mut desk = open_desk("python3 change.py", SANDBOX_IN_PLACE, host).await;
        desk.write_file("change.py", script);
        desk.write_rules(text.concat());
        let before = snapshot_tree(&desk.workspace_root());
        desk.play().await;
        let done = &desk.only_call().await;
        let trail = done.trail.as_ref().unwrap();
        let step = trail
            .steps
            .iter()
            .find(|step| step.gate == Gate::Effects)
            .unwrap();
        assert!(step.text.starts_with("Run for real"), "{}", step.text);
        assert_eq!(effect_lines(done), ["changed folder/b", "added n"]);
        let undo = done.undo.clone().unwrap();
        if stands {
            assert_eq!(
                (done.state, undo.state),
                (CallState::Done, UndoState::Applied),
                "{text:?}"
            );
            assert_eq!(desk.read_file("folder/b").unwrap(), "second\nx");
            continue;
        }
        assert_eq!(
            (done.state, undo.state),
            (CallState::Denied, UndoState::Undone),
            "{text:?}"
        );
        assert_ne!(trail.verdict, Verdict::Allow);
        assert_eq!(snapshot_tree(&desk.workspace_root()), before, "{text:?}");
        let heard = done.outcome.as_ref().unwrap().model_text();
        assert!(
            heard.contains("all that it changed in the folder was undone"),
            "{heard}"
        );
    }
}

#[tokio::test]
async fn only_a_command_runs_for_real_and_its_hosts_meet_the_rules() {
    let write = call_write("n", "n");
    let mut desk = open_desk_with(&[write], SANDBOX_LAYERED, Host::Person).await;
    desk.write_rules("[[rule]]\npermission = \"write\"\naction = \"ask\"\n");
    desk.start("Go.").await;
    let asked = desk.wait_for_call().await;
    assert!(desk.decide_call(&asked, in_place_decision()).await.is_err());

    let mut desk = open_desk("true", SANDBOX_LAYERED, Host::Person).await;
    desk.write_rules(rule_text("net.fetch", "docs.rs", "deny"));
    desk.start("Go.").await;
    let asked = desk.wait_for_call().await;
    let to = |host: &str| Decision::InPlace {
        hosts: vec![host.to_owned()],
    };
    assert!(desk.decide_call(&asked, to("docs.rs")).await.is_err());
    desk.decide_call(&asked, to("packages.example"))
        .await
        .unwrap();
    desk.wait_until_ended().await;
    let done = &desk.only_call().await;
    // It changed nothing, so there is nothing to take back.
    assert_eq!(
        (done.state, &done.undo, effect_lines(done)),
        (CallState::Done, &None, Vec::new())
    );
}
