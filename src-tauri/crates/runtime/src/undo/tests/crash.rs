//! A crash, or a full disk, at every single step: afterwards everything is on one of two sides.

use protocol::SessionId;

use super::*;
use crate::fs::fault_injection::strike;
use crate::fs::fault_injection::strike::InjectedFault;

/// Everything that can be undone: every kind of plan, and the changes of a command.
fn acts(fixture: &Fixture) -> Vec<Plan> {
    let mut acts = plans(fixture).to_vec();
    acts.push(fixture.command(captured::LINES));
    acts
}

fn plans(fixture: &Fixture) -> [Plan; 3] {
    let changes = [
        ("keep/a.txt", "changed"),
        ("new/deep/b.txt", "b"),
        ("old/secret", "t"),
    ];
    [
        fixture.removal("old"),
        fixture.writing(&changes),
        fixture.patching(),
    ]
}

fn reopened(fixture: &Fixture) -> History {
    History::open(&fixture.home.path().join("history"), 1 << 30).unwrap()
}

/// No half-written file stays, neither in the workspace nor in the store.
pub(super) fn assert_clean(fixture: &Fixture, what: &str) {
    for (path, _) in picture(fixture.home.path()) {
        let name = path.display().to_string();
        assert!(!name.contains(".countersign-"), "{what}: {name}");
        assert!(!name.contains("copies/new/"), "{what}: {name}");
        assert!(!name.ends_with(".journal"), "{what}: {name}");
        assert!(!name.contains("history/unlocked/"), "{what}: {name}");
    }
}

#[test]
fn stopped_while_the_effect_is_made() {
    for which in 0..3 {
        let mut reached = 0;
        for at in 0.. {
            let fixture = Fixture::in_memory();
            fixture.everything();
            let before = fixture.picture();
            let plan = &plans(&fixture)[which];
            let (_, hit) = strike::after(at, InjectedFault::Stop, || fixture.effect("und_1", plan));
            if !hit {
                break;
            }
            reached += 1;
            let what = format!("plan {which}, step {at}");
            let again = reopened(&fixture);
            let settled = again.recover_interrupted(|_| false).unwrap();
            assert_clean(&fixture, &what);
            let Some(entry) = again.entry(&"und_1".into()).unwrap() else {
                assert_eq!(settled, [], "{what}");
                assert_eq!(
                    fixture.picture(),
                    before,
                    "{what}: stopped while copies were taken"
                );
                continue;
            };
            assert_eq!(settled, std::slice::from_ref(&entry.id), "{what}");
            match entry.state {
                UndoState::Undone => {
                    assert_eq!(fixture.picture(), before, "{what}");
                    carry(&again, &entry.id, UndoDirection::Redo).unwrap();
                }
                UndoState::Applied => {
                    assert_ne!(fixture.picture(), before, "{what}");
                    carry(&again, &entry.id, UndoDirection::Undo).unwrap();
                    assert_eq!(fixture.picture(), before, "{what}");
                }
                UndoState::Prepared => panic!("{what}: not settled"),
            }
            assert_eq!(
                again.recover_interrupted(|_| false),
                Ok(vec![]),
                "{what}: nothing is left to do"
            );
        }
        assert!(reached >= 6, "plan {which} has only {reached} steps");
    }
}

#[test]
fn stopped_while_it_is_undone_or_redone() {
    for which in 0..4 {
        for direction in [UndoDirection::Undo, UndoDirection::Redo] {
            let mut reached = 0;
            for at in 0.. {
                let fixture = Fixture::in_memory();
                fixture.everything();
                let before = fixture.picture();
                let id = fixture.effect("und_1", &acts(&fixture)[which]);
                let after = fixture.picture();
                if direction == UndoDirection::Redo {
                    fixture.undo(&id).unwrap();
                }
                let work = || carry(&fixture.history, &id, direction);
                let (_, hit) = strike::after(at, InjectedFault::Stop, work);
                if !hit {
                    break;
                }
                reached += 1;
                let what = format!("plan {which}, {direction:?}, step {at}");
                let again = reopened(&fixture);
                // Until the act is written down nothing is touched, and from then on it is finished.
                let direction = match again.recover_interrupted(|_| false).unwrap().len() {
                    0 => direction.opposite(),
                    _ => direction,
                };
                let expected = match direction {
                    UndoDirection::Undo => &before,
                    UndoDirection::Redo => &after,
                };
                assert_eq!(fixture.picture(), *expected, "{what}");
                assert_clean(&fixture, &what);
                assert_eq!(fixture.state(&id), direction.state(), "{what}");
                carry(&again, &id, direction.opposite()).unwrap();
            }
            assert!(
                reached >= 6,
                "plan {which}, {direction:?}: only {reached} steps"
            );
        }
    }
}

#[test]
fn stopped_again_while_it_is_recovered() {
    for which in 0..3 {
        for at in 0.. {
            let fixture = Fixture::in_memory();
            fixture.everything();
            let before = fixture.picture();
            let id = fixture.effect("und_1", &plans(&fixture)[which]);
            let (_, hit) = strike::after(5, InjectedFault::Stop, || fixture.undo(&id));
            assert!(hit);
            let (_, hit) = strike::after(at, InjectedFault::Stop, || {
                reopened(&fixture).recover_interrupted(|_| false)
            });
            reopened(&fixture).recover_interrupted(|_| false).unwrap();
            assert_eq!(fixture.picture(), before, "plan {which}, step {at}");
            assert_clean(&fixture, &format!("plan {which}, step {at}"));
            if !hit {
                break;
            }
        }
    }
}

#[test]
fn a_full_disk_while_it_is_undone_puts_everything_back() {
    for which in 0..3 {
        let mut reached = 0;
        for at in 0.. {
            let fixture = Fixture::in_memory();
            fixture.everything();
            let id = fixture.effect("und_1", &plans(&fixture)[which]);
            let after = fixture.picture();
            let (result, hit) = strike::after(at, InjectedFault::Full, || fixture.undo(&id));
            if !hit {
                break;
            }
            reached += 1;
            let what = format!("plan {which}, step {at}");
            let Some(Err(RestoreError::Failed(fault))) = result else {
                panic!("{what}: {result:?}");
            };
            assert!(fault.message.contains("disk is full"), "{what}: {fault}");
            assert_eq!(fixture.picture(), after, "{what}");
            assert_clean(&fixture, &what);
            assert_eq!(fixture.state(&id), UndoState::Applied, "{what}");
            fixture.undo(&id).unwrap();
        }
        assert!(reached >= 6, "plan {which}: only {reached} steps");
    }
}

#[test]
fn a_failed_effect_is_settled() {
    let mut reached = 0;
    for at in 0.. {
        let fixture = Fixture::in_memory();
        fixture.everything();
        let before = fixture.picture();
        let plan = &plans(&fixture)[1];
        let id = fixture.prepare("und_1", plan).unwrap().id;
        let (result, hit) = strike::after(at, InjectedFault::Full, || {
            apply_plan(&fixture.workspace, plan)
        });
        if !hit {
            break;
        }
        reached += 1;
        assert!(result.unwrap().is_err());
        assert_eq!(
            without_folder_times(fixture.picture()),
            without_folder_times(before.clone())
        );
        assert_eq!(
            fixture.history.settle_failed(&id).unwrap().state,
            UndoState::Undone,
            "step {at}"
        );
        assert_eq!(fixture.picture(), before, "step {at}");
    }
    assert!(reached >= 6, "only {reached} steps");
}

/// A person who edited after the crash keeps the edit; the rest goes back.
#[test]
fn recovery_leaves_a_persons_edit_alone() {
    let fixture = Fixture::in_memory();
    fixture.everything();
    let plan = &plans(&fixture)[1];
    let id = fixture.prepare("und_1", plan).unwrap().id;
    // Two folders made, three files staged, two of three placed.
    let (_, hit) = strike::after(6, InjectedFault::Stop, || {
        apply_plan(&fixture.workspace, plan)
    });
    assert!(hit && fixture.at("new/deep/b.txt").exists() && !fixture.at("old/secret2").exists());
    fs::write(fixture.at("keep/a.txt"), "person").unwrap();
    assert_eq!(
        reopened(&fixture).recover_interrupted(|_| false),
        Ok(vec![id.clone()])
    );
    assert_eq!(fs::read(fixture.at("keep/a.txt")).unwrap(), b"person");
    assert!(!fixture.at("new").exists());
    assert_eq!(fixture.state(&id), UndoState::Undone);
    assert_clean(&fixture, "after an edit");
}

#[test]
fn what_somebody_is_at_is_left_alone() {
    let fixture = Fixture::in_memory();
    fixture.everything();
    let plan = &plans(&fixture)[1];
    let entry = fixture.prepare("und_1", plan).unwrap();
    let (_, hit) = strike::after(6, InjectedFault::Stop, || {
        apply_plan(&fixture.workspace, plan)
    });
    assert!(hit);
    let under_way = fixture.picture();
    let at_work = |session: &SessionId| *session == entry.session;
    assert_eq!(reopened(&fixture).recover_interrupted(at_work), Ok(vec![]));
    assert_eq!(fixture.picture(), under_way);
    assert_eq!(fixture.state(&entry.id), UndoState::Prepared);
    // Once they are gone, it is nobody's.
    assert_eq!(
        reopened(&fixture).recover_interrupted(|_| false),
        Ok(vec![entry.id.clone()])
    );
    assert_eq!(fixture.state(&entry.id), UndoState::Undone);
    assert_clean(&fixture, "after whoever was at it");
}

#[test]
fn an_entry_whose_workspace_is_gone_is_left_alone() {
    let fixture = Fixture::in_memory();
    fixture.everything();
    let id = fixture
        .prepare("und_1", &fixture.removal("old"))
        .unwrap()
        .id;
    fs::rename(
        fixture.workspace.root(),
        fixture.home.path().join("elsewhere"),
    )
    .unwrap();
    assert_eq!(
        reopened(&fixture).recover_interrupted(|_| false),
        Ok(vec![])
    );
    assert_eq!(fixture.state(&id), UndoState::Prepared);
}
