//! Changes of a command, carried out and undone: whole, in part, and stopped at every single step.

use std::collections::BTreeSet;
use std::sync::Arc;

use protocol::history::Node;
use protocol::view::preview::UndoAvailability;
use protocol::{CapturedEffects, CommandExit, CommandRun, Digest, EffectStep};

use super::*;
use crate::fs::fault_injection::strike;
use crate::fs::fault_injection::strike::InjectedFault;

impl Fixture {
    /// Returns the folder that holds the changes of a command.
    pub(super) fn layer(&self) -> PathBuf {
        self.home.path().join("layer")
    }

    /// Returns a plan for the changes of these lines, as a sandbox's layer would hold them.
    pub(super) fn command(&self, lines: &str) -> Plan {
        self.runs_in("", "umask 022; cp -a ws layer");
        self.runs_in("layer", lines);
        self.captured()
    }

    pub(super) fn runs_in(&self, folder: &str, lines: &str) {
        let mut shell = std::process::Command::new("bash");
        let ran = shell
            .arg("-c")
            .arg(format!("set -e; {lines}"))
            .current_dir(self.home.path().join(folder))
            .output()
            .unwrap();
        assert!(ran.status.success(), "{lines}: {ran:?}");
    }

    /// Returns the plan for the content of the layer.
    pub(super) fn captured(&self) -> Plan {
        let layer = self.layer();
        let (before, after) = (self.picture(), picture(&layer));
        let paths: BTreeSet<&PathBuf> = before.keys().chain(after.keys()).collect();
        let steps = paths
            .into_iter()
            .map(|path| (path, node(before.get(path)), node(after.get(path))))
            .filter(|(_, one, other)| match (one, other) {
                (Node::Folder { mode, .. }, Node::Folder { mode: same, .. }) => mode != same,
                _ => one != other,
            })
            .zip(0..)
            .map(|((path, before, after), effect)| EffectStep {
                path: path.clone(),
                before,
                after,
                effect,
            });
        Plan::Effects(Arc::new(CapturedEffects {
            steps: steps.collect(),
            layer,
            ran: CommandRun::without_output(CommandExit::Code(0)),
        }))
    }
}

fn node(seen: Option<&Seen>) -> Node {
    let Some(seen) = seen else {
        return Node::Absent;
    };
    let mtime_ns = i64::try_from(seen.mtime_ns).unwrap();
    match seen.kind {
        'd' => Node::Folder {
            mode: seen.mode,
            mtime_ns,
        },
        'l' => Node::Link {
            target: seen.content.clone(),
            mtime_ns,
        },
        _ => Node::File {
            blob: Digest::from_bytes(&seen.content),
            bytes: seen.content.len() as u64,
            mode: seen.mode,
            mtime_ns,
        },
    }
}

/// Every kind of change, and every kind of entry in the place of every other.
pub(super) const LINES: &str = "
    echo more >> keep/a.txt; chmod 600 keep/a.txt
    chmod 700 old/run.sh
    touch -d 2001-02-03 old/secret
    rm -r old/deep; echo file > old/deep
    rm -r old/hollow; ln -s ../keep old/hollow
    rm old/link; mkdir old/link; echo in > old/link/in
    rm old/out; mkdir -p old/out/a; echo in > old/out/a/in; chmod 750 old/out
    rm old/dangling
    mkdir -p new/er; echo n > new/er/n; ln -s n new/er/l; chmod 711 new
    chmod 700 keep";

/// Each content is kept once, and therefore counts once.
#[test]
fn what_was_renamed_counts_once() {
    let fixture = Fixture::new();
    fixture.file("a", "12345", 0o644);
    fixture.file("b", "678", 0o644);
    let small = History::open(&fixture.home.path().join("small"), 5).unwrap();
    let outlook = |plan: &Plan| small.undo_availability(&fixture.workspace, plan);
    assert_eq!(
        outlook(&fixture.command("mv a c; cp c d")),
        UndoAvailability::Secured
    );
    std::fs::remove_dir_all(fixture.layer()).unwrap();
    let two = outlook(&fixture.command("mv a c; rm b"));
    assert!(matches!(two, UndoAvailability::Unsecured { .. }), "{two:?}");
}

#[test]
fn carried_out_and_taken_back_and_brought_again() {
    let fixture = Fixture::new();
    fixture.everything();
    let before = fixture.picture();
    let plan = fixture.command(LINES);
    let expected = without_folder_times(picture(&fixture.layer()));
    let id = fixture.effect("und_1", &plan);
    let after = fixture.picture();
    assert_eq!(without_folder_times(after.clone()), expected);
    fixture.undo(&id).unwrap();
    assert_eq!(fixture.picture(), before);
    fixture.redo(&id).unwrap();
    assert_eq!(fixture.picture(), after);
}

/// A file with a hole takes no more disk space when it is written, neither from the layer nor from the copies.
#[test]
fn a_hole_comes_as_a_hole() {
    let fixture = Fixture::new();
    let plan = fixture.command("printf start > big; truncate -s 60M big; printf end >> big");
    let expected = fs::read(fixture.layer().join("big")).unwrap();
    let id = fixture.effect("und_1", &plan);
    for _ in 0..2 {
        assert!(fs::read(fixture.at("big")).unwrap() == expected);
        let taken = fs::metadata(fixture.at("big")).unwrap().blocks() * 512;
        assert!(!cfg!(target_os = "linux") || taken < 8 << 20, "{taken}");
        fixture.undo(&id).unwrap();
        assert!(!fixture.at("big").exists());
        fixture.redo(&id).unwrap();
    }
    assert!(fixture.history.disk_bytes().unwrap() < 100_000);
}

#[test]
fn nothing_is_touched_when_something_changed_meanwhile() {
    let changes: [(&str, &str); 6] = [
        ("the content of one that changes", "echo other > keep/a.txt"),
        ("the mode of one that changes", "chmod 444 keep/a.txt"),
        ("one more in a folder that goes", "echo new > old/deep/new"),
        ("one where one is to come", "mkdir new"),
        ("one that goes is gone", "rm old/dangling"),
        ("a link leads elsewhere", "ln -sfn elsewhere old/link"),
    ];
    for (what, line) in changes {
        let fixture = Fixture::new();
        fixture.everything();
        let plan = fixture.command(LINES);
        let mut shell = std::process::Command::new("bash");
        let changed = shell
            .arg("-c")
            .arg(line)
            .current_dir(fixture.at(""))
            .status()
            .unwrap();
        assert!(changed.success());
        let before = fixture.picture();
        let applied = fixture.carry_out(&plan);
        assert!(
            matches!(applied, Err(FileError::Changed { .. })),
            "{what}: {applied:?}"
        );
        assert_eq!(fixture.picture(), before, "{what}");
    }
}

#[test]
fn a_layer_that_is_gone_does_nothing() {
    let fixture = Fixture::new();
    fixture.everything();
    let plan = fixture.command(LINES);
    fs::remove_dir_all(fixture.layer()).unwrap();
    let before = fixture.picture();
    let applied = fixture.carry_out(&plan);
    assert!(
        matches!(applied, Err(FileError::SandboxUnavailable { .. })),
        "{applied:?}"
    );
    assert_eq!(fixture.picture(), before);
}

/// Stopped anywhere, or with a full disk anywhere: exactly before or exactly after, and nothing temporary.
#[test]
fn stopped_at_every_step() {
    for how in [InjectedFault::Stop, InjectedFault::Full] {
        let mut reached = 0;
        for at in 0.. {
            let fixture = Fixture::in_memory();
            fixture.everything();
            let before = without_folder_times(fixture.picture());
            let plan = fixture.command(LINES);
            let after = without_folder_times(picture(&fixture.layer()));
            let work = || {
                let entry = fixture.prepare("und_1", &plan)?;
                match fixture.carry_out(&plan) {
                    Ok(()) => fixture.history.mark_applied(&entry.id)?,
                    // As the engine does.
                    Err(_) => drop(fixture.history.settle_failed(&entry.id)),
                }
                Ok::<_, FileError>(())
            };
            let (_, hit) = strike::after(at, how, work);
            if !hit {
                break;
            }
            reached += 1;
            let what = format!("{how:?}, step {at}");
            let again = History::open(&fixture.home.path().join("history"), 1 << 30).unwrap();
            again.recover_interrupted(|_| false).unwrap();
            let state = again
                .entry(&"und_1".into())
                .unwrap()
                .map(|entry| entry.state);
            let stands = without_folder_times(fixture.picture());
            match state {
                None | Some(UndoState::Undone) => assert_eq!(stands, before, "{what}"),
                Some(UndoState::Applied) => assert_eq!(stands, after, "{what}"),
                Some(UndoState::Prepared) => panic!("{what}: not settled"),
            }
            if state == Some(UndoState::Applied) {
                carry(&again, &"und_1".into(), UndoDirection::Undo).unwrap();
                assert_eq!(without_folder_times(fixture.picture()), before, "{what}");
            }
        }
        assert!(reached >= 20, "{how:?}: only {reached} steps");
    }
}
