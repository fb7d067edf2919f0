//! A process that is really killed, before every step and at random moments: afterwards everything is exactly before or
//! exactly after, can be recovered, and nothing is left behind.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use super::captured::LINES;
use super::crash::assert_clean;
use super::*;
use crate::fs::fault_injection::strike;
use crate::fs::fault_injection::strike::InjectedFault;
use crate::ordinary_user::is_ordinary_user;

/// Variable for the process that is to be killed: its work, the step before which it is killed, and its folder.
const ORDER: &str = "COUNTERSIGN_TEST_KILL";
/// Random moments for each kind of work, unless `FUZZ_CASES` says how many.
const MOMENTS: usize = 30;

/// The work that is interrupted by the kill.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Work {
    Commit,
    Undo,
    Redo,
    Several,
    Collect,
    /// The changes of a command are carried out.
    Effects,
    /// The changes of a command are undone.
    EffectsBack,
    /// The same three kinds of work where modes are in the way.
    Locked,
    LockedBack,
    LockedAgain,
}

/// Kinds of work that are meaningful only for a user who is subject to permissions.
const LOCKED: [Work; 3] = [Work::Locked, Work::LockedBack, Work::LockedAgain];

const WORKS: [Work; 7] = [
    Work::Commit,
    Work::Undo,
    Work::Redo,
    Work::Several,
    Work::Collect,
    Work::Effects,
    Work::EffectsBack,
];

fn all() -> Vec<Work> {
    [&WORKS[..], &LOCKED[..]].concat()
}

/// A fixture in which the work can begin at once, with the state before and after the work.
struct Scene {
    fixture: Fixture,
    before: Picture,
    after: Picture,
}

fn scene(work: Work) -> Scene {
    let fixture = Fixture::in_memory();
    match LOCKED.contains(&work) {
        true => fixture.locked(),
        false => fixture.everything(),
    }
    let untouched = fixture.picture();
    let after = match work {
        Work::Commit => Picture::new(),
        Work::Effects => {
            fixture.command(LINES);
            picture(&fixture.layer())
        }
        Work::EffectsBack => {
            fixture.effect("und_1", &fixture.command(LINES));
            untouched
        }
        Work::Locked => {
            fixture.locked_layer(modes::LINES);
            picture(&fixture.layer())
        }
        Work::LockedBack => {
            fixture.effect("und_1", &fixture.locked_command(modes::LINES));
            untouched
        }
        Work::LockedAgain => {
            let id = fixture.effect("und_1", &fixture.locked_command(modes::LINES));
            let after = fixture.picture();
            fixture.undo(&id).unwrap();
            after
        }
        Work::Undo => {
            fixture.effect("und_1", &second(&fixture));
            untouched
        }
        Work::Redo => {
            let id = fixture.effect("und_1", &second(&fixture));
            let after = fixture.picture();
            fixture.undo(&id).unwrap();
            after
        }
        Work::Several | Work::Collect => {
            fixture.effect("und_1", &first(&fixture));
            fixture.effect("und_2", &second(&fixture));
            fixture.effect("und_3", &fixture.removal("old"));
            match work {
                Work::Several => untouched,
                _ => fixture.picture(),
            }
        }
    };
    Scene {
        before: fixture.picture(),
        fixture,
        after,
    }
}

fn first(fixture: &Fixture) -> Plan {
    fixture.writing(&[("keep/a.txt", "first"), ("made/first.txt", "1")])
}

fn second(fixture: &Fixture) -> Plan {
    fixture.patching()
}

/// Returns the plan that the work carries out, if it has one. Making it unlocks unreadable files for a moment, and is
/// not interrupted.
fn plan(fixture: &Fixture, work: Work) -> Option<Plan> {
    match work {
        Work::Commit => Some(second(fixture)),
        Work::Effects => Some(fixture.captured()),
        Work::Locked => Some(fixture.locked_captured()),
        Work::Undo
        | Work::Redo
        | Work::Several
        | Work::Collect
        | Work::EffectsBack
        | Work::LockedBack
        | Work::LockedAgain => None,
    }
}

/// Does the work; its result does not matter, only how far it gets.
fn carry_out(fixture: &Fixture, work: Work, plan: Option<&Plan>) {
    if let Some(plan) = plan {
        fixture.effect("und_1", plan);
        return;
    }
    let several = RestoreRequest::Undo {
        entries: ["und_1", "und_2", "und_3"].map(UndoId::from).to_vec(),
    };
    match work {
        Work::Commit | Work::Effects | Work::Locked => {}
        Work::Undo | Work::EffectsBack | Work::LockedBack => {
            fixture.undo(&"und_1".into()).unwrap();
        }
        Work::Redo | Work::LockedAgain => {
            fixture.redo(&"und_1".into()).unwrap();
        }
        Work::Several => {
            act(&fixture.history, &several, &[]).unwrap();
        }
        Work::Collect => {
            let keep = RetentionLimits {
                since: NOW + 2,
                bytes_max: 1 << 30,
            };
            fixture.history.collect_garbage(&keep).unwrap();
        }
    }
}

/// The process that is killed. Without its variable this is no test.
#[test]
#[ignore = "started by the tests beside it"]
fn the_one_that_is_killed() {
    let order = std::env::var(ORDER).unwrap();
    let [work, at, home] = order.splitn(3, ' ').collect::<Vec<_>>()[..] else {
        panic!("{order}");
    };
    let work = all()[work.parse::<usize>().unwrap()];
    let fixture = Fixture::standing(Home::Other(home.into()));
    let plan = plan(&fixture, work);
    println!("begins");
    match at.parse() {
        Ok(at) => {
            strike::after(at, InjectedFault::Kill, || {
                carry_out(&fixture, work, plan.as_ref())
            });
        }
        Err(_) => carry_out(&fixture, work, plan.as_ref()),
    }
    println!("done");
}

/// Starts the process, and waits until the work begins.
fn start(work: Work, at: &str, fixture: &Fixture) -> (Child, BufReader<std::process::ChildStdout>) {
    let number = all().iter().position(|one| *one == work).unwrap();
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args([
            "undo::tests::killed::the_one_that_is_killed",
            "--exact",
            "--ignored",
            "--nocapture",
        ])
        .env(
            ORDER,
            format!("{number} {at} {}", fixture.home.path().display()),
        )
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    while !line.ends_with("begins\n") {
        line.clear();
        assert_ne!(lines.read_line(&mut line).unwrap(), 0, "it did not begin");
    }
    (child, lines)
}

/// Whether the process ran to its end.
fn ended(mut lines: BufReader<std::process::ChildStdout>, mut child: Child) -> bool {
    let mut rest = String::new();
    std::io::Read::read_to_string(&mut lines, &mut rest).unwrap();
    child.wait().unwrap();
    rest.contains("done\n")
}

impl Scene {
    /// Asserts everything that must hold after a kill.
    fn assert_whole(&self, work: Work, what: &str) {
        let fixture = &self.fixture;
        let again = History::open(&fixture.home.path().join("history"), 1 << 30).unwrap();
        again.recover_interrupted(|_| false).unwrap();
        assert_clean(fixture, what);
        let now = fixture.picture();
        let state = |id: &str| again.entry(&id.into()).unwrap().map(|entry| entry.state);
        // A command that is carried out leaves the times of folders to the system.
        let same = |one: &Picture, other: &Picture| match work {
            Work::Effects | Work::Locked => {
                without_folder_times(one.clone()) == without_folder_times(other.clone())
            }
            _ => one == other,
        };
        let is_before = same(&now, &self.before);
        let is_after = match work {
            // The times of what a call writes are those of its writing.
            Work::Commit => {
                let path = |path: &str| now.get(Path::new(path)).map(|seen| seen.content.clone());
                path("keep/a.txt").as_deref() == Some(b"changed")
                    && path("new/deep/b.txt").as_deref() == Some(b"b")
                    && path("moved/run.sh").as_deref() == Some(b"moved")
                    && path("old/run.sh").or(path("old/secret")).is_none()
            }
            _ => same(&now, &self.after),
        };
        assert!(
            is_before || is_after,
            "{what}: neither before nor after\n{now:#?}\nbefore: {:#?}\nafter: {:#?}",
            self.before,
            self.after
        );
        let all = RetentionLimits {
            since: 0,
            bytes_max: u64::MAX,
        };
        match work {
            Work::Commit | Work::Effects | Work::Locked => {
                let expected = match is_before {
                    true => [None, Some(UndoState::Undone)],
                    false => [Some(UndoState::Applied); 2],
                };
                assert!(expected.contains(&state("und_1")), "{what}");
                if is_after {
                    carry(&again, &"und_1".into(), UndoDirection::Undo).unwrap();
                    assert!(same(&fixture.picture(), &self.before), "{what}: not back");
                }
            }
            Work::Undo | Work::Redo | Work::EffectsBack | Work::LockedBack | Work::LockedAgain => {
                let goes_on = matches!(work, Work::Redo | Work::LockedAgain);
                let undone = goes_on != is_after;
                let (expected, way) = match undone {
                    true => (UndoState::Undone, UndoDirection::Redo),
                    false => (UndoState::Applied, UndoDirection::Undo),
                };
                assert_eq!(state("und_1"), Some(expected), "{what}");
                // To the other side, wherever it was killed.
                carry(&again, &"und_1".into(), way).unwrap();
                let other = if is_after { &self.before } else { &self.after };
                assert!(fixture.picture() == *other, "{what}: not the other side");
            }
            Work::Several => {
                let expected = match is_after {
                    true => UndoState::Undone,
                    false => UndoState::Applied,
                };
                for id in ["und_1", "und_2", "und_3"] {
                    assert_eq!(state(id), Some(expected), "{what}: {id}");
                }
            }
            Work::Collect => {
                carry_out(fixture, work, None);
                assert_eq!(again.entries().unwrap().len(), 1, "{what}");
                carry(&again, &"und_3".into(), UndoDirection::Undo).unwrap();
            }
        }
        // Copies that no entry needs go with the next collection, and all that is left is needed.
        again.collect_garbage(&all).unwrap();
        let left = again.0.store.disk_bytes().unwrap();
        assert_eq!(
            left,
            needed(&again).bytes(),
            "{what}: some of it is needed by nobody"
        );
        if LOCKED.contains(&work) {
            // A folder that nobody may enter cannot be removed with the fixture.
            modes::open_up(fixture.home.path());
        }
    }
}

#[test]
fn killed_before_every_step() {
    kill_before_every_step(&WORKS);
}

#[test]
fn killed_before_every_step_where_modes_are_in_the_way() {
    if is_ordinary_user("undo::tests::killed::killed_before_every_step_where_modes_are_in_the_way")
    {
        kill_before_every_step(&LOCKED);
    }
}

fn kill_before_every_step(works: &[Work]) {
    for work in works.iter().copied() {
        let mut steps = 0;
        loop {
            let scene = scene(work);
            let (child, lines) = start(work, &steps.to_string(), &scene.fixture);
            let done = ended(lines, child);
            scene.assert_whole(work, &format!("{work:?}, step {steps}"));
            if done {
                break;
            }
            steps += 1;
        }
        assert!(steps >= 3, "{work:?} has only {steps} steps");
    }
}

#[test]
fn killed_at_moments_that_nobody_chose() {
    kill_at_any_moment(&WORKS);
}

#[test]
fn killed_at_moments_that_nobody_chose_where_modes_are_in_the_way() {
    if is_ordinary_user(
        "undo::tests::killed::killed_at_moments_that_nobody_chose_where_modes_are_in_the_way",
    ) {
        kill_at_any_moment(&LOCKED);
    }
}

fn kill_at_any_moment(works: &[Work]) {
    let moments = std::env::var("FUZZ_CASES").map_or(MOMENTS, |many| many.parse().unwrap());
    let mut random = 0x2545_f491_4f6c_dd1d_u64;
    for work in works.iter().copied() {
        let mut cut_off = 0;
        let scene_of_one = scene(work);
        let (child, lines) = start(work, "never", &scene_of_one.fixture);
        let began = Instant::now();
        assert!(ended(lines, child), "{work:?}");
        let long = began.elapsed();
        for number in 0..moments {
            let scene = scene(work);
            let (mut child, lines) = start(work, "never", &scene.fixture);
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            std::thread::sleep(long.mul_f64((random % 1_000) as f64 / 1_000.0));
            child.kill().unwrap();
            cut_off += usize::from(!ended(lines, child));
            scene.assert_whole(work, &format!("{work:?}, moment {number}"));
        }
        assert!(cut_off > 0, "{work:?} was always faster");
    }
}
