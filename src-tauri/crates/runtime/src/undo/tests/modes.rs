//! Trees with modes that lock out their own owner: each act is exact there, wherever it is interrupted.

use super::crash::assert_clean;
use super::*;
use crate::fs::fault_injection::strike;
use crate::fs::fault_injection::strike::InjectedFault;
use crate::ordinary_user::is_ordinary_user;

/// Changes of a command where modes are in the way, and that leave such modes behind.
pub(super) const LINES: &str = "
    chmod 600 locked/secret; echo other > locked/secret; chmod 000 locked/secret
    chmod 755 locked/ro; echo new > locked/ro/new; rm locked/ro/f; chmod 555 locked/ro
    chmod 700 locked/none; echo more >> locked/none/in; mkdir locked/none/deep; chmod 000 locked/none/deep locked/none
    chmod 755 locked/gone locked/gone/er; rm -r locked/gone
    chmod 600 keep/a.txt; echo broken > keep/a.txt; chmod 000 keep/a.txt
    mkdir l; echo x > l/i; chmod 000 l/i l
    mkdir -p c/m; echo x > c/m/f; chmod 444 c/m/f; chmod 555 c/m c
    chmod 000 locked/opened; chmod 755 locked/entered; echo e > locked/entered/new; chmod 311 locked/entered
    chmod 700 locked/file; rm -r locked/file; echo file > locked/file; chmod 200 locked/file
    chmod 555 locked";

impl Fixture {
    /// A tree with one of every mode that is in the way.
    pub(super) fn locked(&self) {
        self.everything();
        self.file("locked/secret", "secret", 0o000);
        self.file("locked/ro/f", "f", 0o444);
        self.file("locked/none/in", "in", 0o600);
        self.file("locked/gone/er/g", "g", 0o000);
        self.file("locked/opened/o", "o", 0o644);
        self.file("locked/entered/e", "e", 0o200);
        self.file("locked/file/f", "f", 0o100);
        self.age();
        let modes = [
            ("locked/ro", 0o555),
            ("locked/none", 0o000),
            ("locked/gone/er", 0o500),
            ("locked/gone", 0o555),
            ("locked/entered", 0o311),
            ("locked/file", 0o000),
        ];
        for (path, mode) in modes {
            fs::set_permissions(self.at(path), fs::Permissions::from_mode(mode)).unwrap();
        }
    }

    /// Returns a plan for the changes of these lines, where modes are in the way.
    pub(super) fn locked_command(&self, lines: &str) -> Plan {
        self.locked_layer(lines);
        self.locked_captured()
    }

    /// Returns the plan for the content of the layer, unlocked as the diff of a layer leaves it.
    pub(super) fn locked_captured(&self) -> Plan {
        let plan = self.captured();
        open_up(&self.layer());
        plan
    }

    /// Writes the changes of these lines into the layer, with the modes that they leave.
    pub(super) fn locked_layer(&self, lines: &str) {
        let stands = self.picture();
        open_up(self.workspace.root());
        self.runs_in("", "cp -a ws layer");
        close(self.workspace.root(), &stands);
        close(&self.layer(), &stands);
        self.runs_in("layer", lines);
    }
}

/// Gives the owner every right at and below a folder.
pub(super) fn open_up(root: &Path) {
    let opened = std::process::Command::new("chmod")
        .args(["-R", "u+rwX"])
        .arg(root)
        .status();
    assert!(opened.unwrap().success());
}

/// Gives every path the mode that it has in a recorded state.
pub(super) fn close(root: &Path, picture: &Picture) {
    for (path, seen) in picture.iter().rev().filter(|(_, seen)| seen.kind != 'l') {
        let mode = fs::Permissions::from_mode(seen.mode);
        fs::set_permissions(root.join(path), mode).unwrap();
    }
}

/// Asserts that nothing of an act is left, and removes the files of the test.
fn ended(fixture: &Fixture, what: &str) {
    assert_clean(fixture, what);
    open_up(fixture.home.path());
}

fn there_and_back(lines: &str) {
    let fixture = Fixture::new();
    fixture.locked();
    let before = fixture.picture();
    let plan = fixture.locked_command(lines);
    assert!(
        fixture.picture() == before,
        "{lines}: a look changed something"
    );
    let id = fixture.effect("und_1", &plan);
    assert_eq!(fixture.state(&id), UndoState::Applied, "{lines}");
    let after = fixture.picture();
    let undo = RestoreRequest::Undo {
        entries: vec![id.clone()],
    };
    for _ in 0..2 {
        fixture.history.preview_restore(&undo).unwrap();
        assert!(
            fixture.picture() == after,
            "{lines}: a look changed something"
        );
        let undone = act(&fixture.history, &undo, &[]).unwrap();
        assert!(fixture.picture() == before, "{lines}: not as before");
        fixture.redo(&id).unwrap();
        assert!(fixture.picture() == after, "{lines}: not as after");
        assert_ne!(undone.receipt.paths.len(), 0);
    }
    ended(&fixture, lines);
}

/// Each shape alone, so that none depends on another.
#[test]
fn what_nobody_can_read_comes_and_goes_exactly() {
    if !is_ordinary_user("undo::tests::modes::what_nobody_can_read_comes_and_goes_exactly") {
        return;
    }
    let shapes = [
        "chmod 600 keep/a.txt; echo broken > keep/a.txt; chmod 000 keep/a.txt",
        "echo y > z; chmod 000 z; echo broken > keep/a.txt",
        "mkdir l; echo x > l/i; chmod 000 l; echo z > z; echo broken > keep/a.txt",
        "mkdir -p c/m; echo x > c/m/f; chmod 555 c/m c; echo changed > keep/a.txt",
        "chmod 000 old",
        "chmod 000 old/deep/er old/deep old; chmod 311 keep",
        "rm -f locked/secret; echo again > locked/secret",
        "chmod -R u+rwX locked; rm -r locked",
        "echo e > locked/entered/new",
        "chmod 000 locked/opened/o; chmod 111 locked/opened",
        LINES,
    ];
    for lines in shapes {
        there_and_back(lines);
    }
}

/// The workspace itself may be closed to changes.
#[test]
fn a_workspace_that_is_read_only_is_taken_back_too() {
    if !is_ordinary_user("undo::tests::modes::a_workspace_that_is_read_only_is_taken_back_too") {
        return;
    }
    let fixture = Fixture::new();
    fixture.locked();
    let before = fixture.picture();
    let plan = fixture.locked_command("echo new > new; chmod 555 .");
    let id = fixture.effect("und_1", &plan);
    assert_eq!(fixture.picture()[Path::new("")].mode, 0o555);
    fixture.undo(&id).unwrap();
    assert!(fixture.picture() == before);
    ended(&fixture, "read-only");
}

/// Stopped anywhere, or with a full disk anywhere: exactly before or exactly after, with every mode.
#[test]
fn a_commit_is_all_or_nothing() {
    if !is_ordinary_user("undo::tests::modes::a_commit_is_all_or_nothing") {
        return;
    }
    for how in [InjectedFault::Stop, InjectedFault::Full] {
        let mut reached = 0;
        for at in 0.. {
            let fixture = Fixture::in_memory();
            fixture.locked();
            let before = without_folder_times(fixture.picture());
            let plan = fixture.locked_command(LINES);
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
            fixture.history.recover_interrupted(|_| false).unwrap();
            assert_clean(&fixture, &what);
            let entry = fixture.history.entry(&"und_1".into()).unwrap();
            match entry.map(|entry| entry.state) {
                None | Some(UndoState::Undone) => {}
                Some(UndoState::Applied) => {
                    fixture.undo(&"und_1".into()).unwrap();
                }
                Some(UndoState::Prepared) => panic!("{what}: not settled"),
            }
            assert_same(&without_folder_times(fixture.picture()), &before, &what);
            ended(&fixture, &what);
        }
        assert!(reached >= 40, "{how:?}: only {reached} steps");
    }
}

#[test]
fn an_act_that_is_stopped_is_finished_and_one_that_fails_is_put_back() {
    if !is_ordinary_user(
        "undo::tests::modes::an_act_that_is_stopped_is_finished_and_one_that_fails_is_put_back",
    ) {
        return;
    }
    for how in [InjectedFault::Stop, InjectedFault::Full] {
        for direction in [UndoDirection::Undo, UndoDirection::Redo] {
            let mut reached = 0;
            for at in 0.. {
                let fixture = Fixture::in_memory();
                fixture.locked();
                let before = fixture.picture();
                let id = fixture.effect("und_1", &fixture.locked_command(LINES));
                let after = fixture.picture();
                if direction == UndoDirection::Redo {
                    fixture.undo(&id).unwrap();
                }
                let work = || carry(&fixture.history, &id, direction);
                let (done, hit) = strike::after(at, how, work);
                if !hit {
                    break;
                }
                reached += 1;
                let what = format!("{how:?}, {direction:?}, step {at}");
                let finished = fixture
                    .history
                    .recover_interrupted(|_| false)
                    .unwrap()
                    .len();
                let stands = match done.is_some_and(|done| done.is_ok()) || finished > 0 {
                    true => direction,
                    false => direction.opposite(),
                };
                let expected = match stands {
                    UndoDirection::Undo => &before,
                    UndoDirection::Redo => &after,
                };
                assert_same(&fixture.picture(), expected, &what);
                assert_eq!(fixture.state(&id), stands.state(), "{what}");
                ended(&fixture, &what);
            }
            assert!(reached >= 40, "{how:?}, {direction:?}: only {reached}");
        }
    }
}

/// Entries that an earlier version could not seal are repaired at the next start, and so is an effect that it left half
/// recorded.
#[test]
fn what_was_left_prepared_is_sealed_by_recovery() {
    if !is_ordinary_user("undo::tests::modes::what_was_left_prepared_is_sealed_by_recovery") {
        return;
    }
    let fixture = Fixture::new();
    fixture.locked();
    let before = fixture.picture();
    let plan = fixture.locked_command(LINES);
    let id = fixture.prepare("und_1", &plan).unwrap().id;
    fixture.carry_out(&plan).unwrap();
    let after = fixture.picture();
    assert_eq!(fixture.state(&id), UndoState::Prepared);
    assert_eq!(
        fixture.history.recover_interrupted(|_| false),
        Ok(vec![id.clone()])
    );
    assert_eq!(fixture.state(&id), UndoState::Applied);
    assert!(without_folder_times(fixture.picture()) == without_folder_times(after));
    fixture.undo(&id).unwrap();
    assert!(fixture.picture() == before);
    ended(&fixture, "healed");
}

/// A person's change of an unreadable file is a conflict like any other.
#[test]
fn conflicts_are_found_and_settled_where_nobody_can_read() {
    if !is_ordinary_user(
        "undo::tests::modes::conflicts_are_found_and_settled_where_nobody_can_read",
    ) {
        return;
    }
    let fixture = Fixture::new();
    fixture.locked();
    let before = fixture.picture();
    let id = fixture.effect("und_1", &fixture.locked_command(LINES));
    fixture.runs_in(
        "ws",
        "chmod 700 l keep/a.txt; echo mine > keep/a.txt; chmod 000 keep/a.txt
         mkdir l/mine; echo mine > l/mine/m; chmod 000 l/mine/m l/mine l",
    );
    let edited = fixture.picture();
    let undo = RestoreRequest::Undo {
        entries: vec![id.clone()],
    };
    let refused = act(&fixture.history, &undo, &[]).unwrap_err();
    let paths = ["keep/a.txt", "l/mine"].map(str::to_owned).to_vec();
    assert_eq!(refused, RestoreError::Conflict(paths));
    assert!(fixture.picture() == edited, "nothing was touched");
    assert_clean(&fixture, "a conflict");
    let all = [
        ("keep/a.txt", ConflictChoice::Restore),
        ("l/mine", ConflictChoice::Restore),
    ];
    let undone = act(&fixture.history, &undo, &all).unwrap();
    assert!(without_folder_times(fixture.picture()) == without_folder_times(before));
    // Nothing of the person's is lost by that choice.
    let back = RestoreRequest::Undo {
        entries: vec![undone.receipt.entry.id],
    };
    act(&fixture.history, &back, &[]).unwrap();
    assert!(without_folder_times(fixture.picture()) == without_folder_times(edited));
    ended(&fixture, "a conflict");
}

/// A killed process leaves modes unlocked; the next operation locks them, but not those of files that were replaced
/// meanwhile.
#[test]
fn what_a_crash_left_open_is_closed_by_the_next_work() {
    if !is_ordinary_user("undo::tests::modes::what_a_crash_left_open_is_closed_by_the_next_work") {
        return;
    }
    let fixture = Fixture::new();
    fixture.locked();
    let outside = fixture.home.path().join("outside");
    fs::write(&outside, "outside").unwrap();
    let id = fixture.effect("und_1", &fixture.locked_command(LINES));
    let modes = fixture.picture();
    let look = RestoreRequest::Undo { entries: vec![id] };
    let mut open_then = 0;
    for at in 0.. {
        let (_, hit) = strike::after(at, InjectedFault::Stop, || {
            fixture.history.preview_restore(&look)
        });
        if !hit {
            break;
        }
        let mode = |path: &str| fs::metadata(fixture.at(path)).unwrap().mode() & 0o777;
        open_then += usize::from(mode("l") != 0);
        // Somebody else is quicker at one of them, and puts a link in the place of another.
        let taken = at == 5 && mode("l") != 0;
        if taken {
            fs::set_permissions(fixture.at("l"), fs::Permissions::from_mode(0o750)).unwrap();
        }
        drop(fixture.history.lock_exclusive().unwrap());
        assert_clean(&fixture, &format!("step {at}"));
        if taken {
            assert_eq!(mode("l"), 0o750);
            fs::set_permissions(fixture.at("l"), fs::Permissions::from_mode(0o000)).unwrap();
        }
        assert!(fixture.picture() == modes, "step {at}");
    }
    assert!(open_then > 0);
    ended(&fixture, "closed");
}

/// A link in the place of an unlocked path redirects no change of modes.
#[test]
fn no_mode_is_changed_through_a_link() {
    if !is_ordinary_user("undo::tests::modes::no_mode_is_changed_through_a_link") {
        return;
    }
    let fixture = Fixture::new();
    fixture.locked();
    let outside = fixture.home.path().join("outside");
    fs::create_dir_all(outside.join("m")).unwrap();
    fs::write(outside.join("m/f"), "x\n").unwrap();
    let id = fixture.effect("und_1", &fixture.locked_command(LINES));
    fixture.runs_in("ws", "chmod 755 c c/m; rm -rf c; ln -s ../outside c");
    fixture.runs_in("ws", "rm -f keep/a.txt; ln -s ../../outside/m/f keep/a.txt");
    for (path, mode) in [("m/f", 0o000), ("m", 0o000), ("", 0o111)] {
        fs::set_permissions(outside.join(path), fs::Permissions::from_mode(mode)).unwrap();
    }
    let before = picture(&outside);
    let undo = RestoreRequest::Undo { entries: vec![id] };
    let refused = act(&fixture.history, &undo, &[]);
    assert!(
        matches!(refused, Err(RestoreError::Conflict(_))),
        "{refused:?}"
    );
    let all = [
        ("keep/a.txt", ConflictChoice::Restore),
        ("c", ConflictChoice::Restore),
    ];
    act(&fixture.history, &undo, &all).unwrap();
    assert!(picture(&outside) == before);
    ended(&fixture, "links");
}
