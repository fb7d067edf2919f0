//! Changes made for real over a snapshot of the workspace: recorded afterwards, also at the next start after a kill,
//! and undone to the byte.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use super::crash::assert_clean;
use super::*;
use crate::dry_run::{CopyMethod, DryRunEnvironment, RecoveredRuns, Snapshot as Whole};
use crate::fs::fault_injection::strike;
use crate::fs::fault_injection::strike::InjectedFault;

/// Every method of this system, and the methods of every system.
const COPIERS: [CopyMethod; 2] = [CopyMethod::System, CopyMethod::Plain];

/// Variable for the process that is to be killed: the step before which it is killed, and its folder.
const ORDER: &str = "COUNTERSIGN_TEST_KILL_PICTURED";

/// Everything that a command can do to a tree: bytes, modes, times, links, folders, names.
const LINES: &str = r#"
    echo more >> keep/a.txt
    chmod 751 keep
    touch -d 2001-02-03 old/run.sh
    chmod 000 old/secret
    rm old/deep/empty
    mv old/deep/er moved
    rm -r old/hollow
    ln -sfn keep old/link
    rm old/dangling; mkdir old/dangling; echo in > old/dangling/in
    rm -r old/deep; echo file > old/deep
    mkdir -p new/hollow
    echo odd > $'new/b\xff'
    touch keep/passing; rm keep/passing
"#;

fn meta(id: &str) -> UndoEntryMeta {
    UndoEntryMeta {
        id: id.into(),
        session: "ses_1".into(),
        call: "call_1".into(),
        at: NOW,
        title: "Ran it".into(),
    }
}

impl Fixture {
    fn whole(&self, id: &str) -> Whole {
        self.whole_by(id, CopyMethod::System)
    }

    fn whole_by(&self, id: &str, copier: CopyMethod) -> Whole {
        Whole::take(&self.history, &self.workspace, meta(id), copier).unwrap()
    }

    /// Runs lines in the workspace itself.
    fn runs(&self, lines: &str) {
        let mut shell = Command::new("bash");
        shell.arg("-c").arg(format!("set -e; {lines}"));
        let ran = shell.current_dir(self.workspace.root()).output().unwrap();
        assert!(ran.status.success(), "{ran:?}");
    }

    fn pictures(&self) -> usize {
        fs::read_dir(self.history.snapshots_folder()).map_or(0, Iterator::count)
    }
}

#[test]
fn what_was_done_for_real_is_taken_back_whole_and_done_again() {
    for copier in COPIERS {
        let fixture = Fixture::new();
        fixture.everything();
        let before = fixture.picture();
        let whole = fixture.whole_by("und_1", copier);
        fixture.runs(LINES);
        let after = fixture.picture();
        let done = DryRunEnvironment::record_changes(whole).unwrap();
        assert!(fixture.picture() == after, "looking changes nothing");
        let entry = done.entry.clone().unwrap();
        assert_eq!(
            (entry.state, entry.paths),
            (UndoState::Applied, done.plan.paths().len() as u64)
        );
        drop(done);
        assert_eq!(fixture.pictures(), 0);
        for _ in 0..2 {
            fixture.undo(&entry.id).unwrap();
            assert!(fixture.picture() == before, "not as before");
            fixture.redo(&entry.id).unwrap();
            assert!(fixture.picture() == after, "not as after");
        }
        assert_clean(&fixture, "done and undone");
    }
}

#[test]
fn where_nothing_happened_there_is_no_act() {
    for copier in COPIERS {
        let fixture = Fixture::new();
        fixture.everything();
        let whole = fixture.whole_by("und_1", copier);
        // Looked at anew, and found the same.
        fixture.runs(
            "cp -p keep/a.txt t; mv t keep/a.txt; chmod 600 old/run.sh; chmod 755 old/run.sh",
        );
        let done = DryRunEnvironment::record_changes(whole).unwrap();
        assert_eq!((&done.entry, done.effects.changes.len()), (&None, 0));
        drop(done);
        assert_eq!(
            (fixture.pictures(), fixture.history.entries().unwrap().len()),
            (0, 0)
        );
        assert_clean(&fixture, "nothing happened");
    }
}

#[test]
fn pipes_and_sockets_are_told_and_do_not_stand_in_the_way() {
    for copier in COPIERS {
        let fixture = Fixture::new();
        fixture.everything();
        let before = fixture.picture();
        let whole = fixture.whole_by("und_1", copier);
        fixture.runs("mkfifo pipe; mkdir -p new; echo in > new/in; mkfifo new/pipe; rm -r old");
        let done = DryRunEnvironment::record_changes(whole).unwrap();
        let notes = done.effects.notes.join(" ");
        assert!(notes.contains("`pipe` is a pipe"), "{notes}");
        let id = done.entry.clone().unwrap().id;
        drop(done);
        fixture.undo(&id).unwrap();
        // The test made the pipes and removes them.
        fixture.runs("test -p pipe; test -p new/pipe; rm pipe new/pipe; rmdir new");
        assert!(without_folder_times(fixture.picture()) == without_folder_times(before));
    }
}

#[test]
fn what_cannot_be_pictured_is_not_begun() {
    let fixture = Fixture::new();
    fixture.everything();
    let small = History::open(&fixture.home.path().join("history"), 1).unwrap();
    let refused = Whole::take(
        &small,
        &fixture.workspace,
        meta("und_1"),
        CopyMethod::System,
    );
    assert!(
        matches!(&refused, Err(FileError::SandboxUnavailable { reason }) if reason.contains("can be undone at once")),
        "{refused:?}"
    );
    for at in 0..2 {
        let full = || {
            let (history, workspace) = (&fixture.history, &fixture.workspace);
            Whole::take(history, workspace, meta("und_1"), CopyMethod::System)
        };
        let (refused, hit) = strike::after(at, InjectedFault::Full, full);
        assert!(hit && refused.unwrap().is_err());
        assert_eq!(fixture.pictures(), 0);
    }
}

/// The process that is killed. Without its variable this is no test.
#[test]
#[ignore = "started by the test beside it"]
fn the_one_that_is_killed() {
    let order = std::env::var(ORDER).unwrap();
    let (at, home) = order.split_once(' ').unwrap();
    let fixture = Fixture::standing(Home::Other(home.into()));
    println!("begins");
    strike::after(at.parse().unwrap(), InjectedFault::Kill, || {
        let whole = fixture.whole("und_1");
        fixture.runs(LINES);
        drop(DryRunEnvironment::record_changes(whole).unwrap());
    });
    println!("done");
}

/// Returns whether the process ran to its end.
fn killed(at: usize, fixture: &Fixture) -> bool {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args([
            "undo::tests::pictured::the_one_that_is_killed",
            "--exact",
            "--ignored",
            "--nocapture",
        ])
        .env(ORDER, format!("{at} {}", fixture.home.path().display()))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let lines: Vec<String> = BufReader::new(child.stdout.take().unwrap())
        .lines()
        .map(Result::unwrap)
        .collect();
    child.wait().unwrap();
    assert!(
        lines.iter().any(|line| line.ends_with("begins")),
        "{lines:?}"
    );
    lines.iter().any(|line| line.ends_with("done"))
}

#[test]
fn killed_before_every_step_from_the_picture_to_the_act() {
    let (mut never_ran, mut not_recorded, mut recorded) = (0, 0, 0);
    for at in 0.. {
        let fixture = Fixture::new();
        fixture.everything();
        let before = fixture.picture();
        let done = killed(at, &fixture);
        let ran = fixture.picture() != before;
        let what = format!("step {at}");
        let again = History::open(&fixture.home.path().join("history"), 1 << 30).unwrap();
        again.recover_interrupted(|_| false).unwrap();
        let known = again.entries().unwrap().len();
        let after = fixture.picture();
        let up = DryRunEnvironment::recover_runs(&again);
        assert!(
            fixture.picture() == after,
            "{what}: looking changes nothing"
        );
        assert_clean(&fixture, &what);
        assert_eq!(fixture.pictures(), 0, "{what}: a snapshot is left");
        let entries = again.entries().unwrap();
        assert_eq!(entries.len(), usize::from(ran), "{what}");
        match (ran, known) {
            (false, _) => never_ran += 1,
            (true, 0) => {
                not_recorded += 1;
                assert_eq!(
                    (&up.entries, up.failed.len()),
                    (&entries, 0),
                    "{what}: told of"
                );
            }
            (true, _) => recorded += 1,
        }
        if let [entry] = &entries[..] {
            assert_eq!(entry.state, UndoState::Applied, "{what}");
            carry(&again, &entry.id, UndoDirection::Undo).unwrap();
            assert!(fixture.picture() == before, "{what}: not as before");
            carry(&again, &entry.id, UndoDirection::Redo).unwrap();
            assert!(fixture.picture() == after, "{what}: not as after");
        }
        if done {
            break;
        }
    }
    assert!(
        never_ran >= 2 && not_recorded >= 5 && recorded >= 2,
        "{never_ran} {not_recorded} {recorded}"
    );
}

/// Another process works on the same history: changes that it has not recorded yet are its own.
#[test]
fn a_picture_that_somebody_holds_is_left_to_them() {
    let fixture = Fixture::new();
    fixture.everything();
    let whole = fixture.whole("und_1");
    fixture.runs("echo more >> keep/a.txt");
    let other = History::open(&fixture.home.path().join("history"), 1 << 30).unwrap();
    assert_eq!(
        DryRunEnvironment::recover_runs(&other),
        RecoveredRuns::default()
    );
    let done = DryRunEnvironment::record_changes(whole).unwrap();
    assert!(done.entry.is_some());
}
