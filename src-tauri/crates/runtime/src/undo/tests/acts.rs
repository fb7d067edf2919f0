//! Tests of undo by a person: one entry, several, or all after a point, with a choice where files changed since.

use protocol::history::{PathChange, PathReceipt};
use protocol::view::effects::PathType;

use super::*;
use crate::fs::dir::make_pipe;

fn undo(ids: &[&UndoId]) -> RestoreRequest {
    RestoreRequest::Undo {
        entries: ids.iter().map(|id| (*id).clone()).collect(),
    }
}

fn paths(done: &RestoreResult) -> Vec<(&str, PathChange)> {
    let paths = done.receipt.paths.iter();
    paths.map(|one| (one.path.as_str(), one.change)).collect()
}

fn read(fixture: &Fixture, path: &str) -> Option<String> {
    fs::read_to_string(fixture.at(path)).ok()
}

/// An undo is an entry of its own; undoing it redoes the entries that it undid.
#[test]
fn an_undo_is_an_entry_and_can_be_undone() {
    let fixture = Fixture::new();
    fixture.everything();
    let before = fixture.picture();
    let id = fixture.effect("und_1", &fixture.removal("old"));
    let after = fixture.picture();
    let undone = act(&fixture.history, &undo(&[&id]), &[]).unwrap();
    assert_eq!(undone.receipt.entry.title, "Undid: Did it");
    assert_eq!(undone.changed_entries.len(), 1);
    assert_eq!(undone.changed_entries[0].state, UndoState::Undone);
    assert_eq!(fixture.picture(), before);
    assert_eq!(
        fixture.history.receipt(&undone.receipt.entry.id).unwrap(),
        undone.receipt
    );

    let redone = act(&fixture.history, &undo(&[&undone.receipt.entry.id]), &[]).unwrap();
    assert_eq!(redone.receipt.entry.title, "Redid: Did it");
    assert_eq!(redone.changed_entries[0].state, UndoState::Applied);
    assert_eq!(fixture.picture(), after);
    let again = RestoreRequest::Redo {
        entry: undone.receipt.entry.id.clone(),
    };
    let again = act(&fixture.history, &again, &[]).unwrap();
    assert_eq!(again.receipt.entry.title, "Undid: Did it");
    assert_eq!(fixture.picture(), before);
    let states: Vec<_> = fixture.history.entries().unwrap();
    let states: Vec<UndoState> = states.into_iter().map(|entry| entry.state).collect();
    use UndoState::{Applied, Undone};
    assert_eq!(states, [Undone, Applied, Undone, Applied]);
}

#[test]
fn each_choice_does_what_it_says_and_can_be_taken_back() {
    let base = "one\ntwo\nthree\nfour\nfive\n";
    let by_call = "one\ntwo\nthree\nfour\nFIVE\n";
    let by_person = "ONE\ntwo\nthree\nfour\nFIVE\n";
    let tables = [
        (ConflictChoice::Keep, by_person, None),
        (ConflictChoice::Restore, base, Some(PathChange::Restored)),
        (
            ConflictChoice::Merge,
            "ONE\ntwo\nthree\nfour\nfive\n",
            Some(PathChange::Merged),
        ),
    ];
    for (choice, expected, change) in tables {
        let fixture = Fixture::new();
        fixture.file("a", base, 0o640);
        fixture.file("b", "b", 0o644);
        let plan = fixture.writing(&[("a", by_call), ("b", "B")]);
        let id = fixture.effect("und_1", &plan);
        fixture.file("a", by_person, 0o600);
        let now = fixture.picture();

        let looked = fixture.history.preview_restore(&undo(&[&id])).unwrap();
        let [conflict] = &looked.preview.conflicts[..] else {
            panic!("{looked:?}");
        };
        assert_eq!(
            conflict.choices,
            [
                ConflictChoice::Keep,
                ConflictChoice::Restore,
                ConflictChoice::Merge
            ]
        );
        let sides = [&conflict.left, &conflict.wanted, &conflict.now];
        let modes = sides.map(|side| side.as_ref().map(|it| (it.what, it.mode)));
        let expected_modes = [0o640, 0o640, 0o600].map(|mode| Some((PathType::File, mode)));
        assert_eq!(modes, expected_modes);
        let none = act(&fixture.history, &undo(&[&id]), &[]);
        assert_eq!(none, Err(RestoreError::Conflict(vec!["a".into()])));
        assert_eq!(
            fixture.picture(),
            now,
            "without a choice nothing is touched"
        );

        let done = act(&fixture.history, &undo(&[&id]), &[("a", choice)]).unwrap();
        assert_eq!(read(&fixture, "a").as_deref(), Some(expected), "{choice:?}");
        assert_eq!(read(&fixture, "b").as_deref(), Some("b"));
        let expected_paths = [
            ("a", change.unwrap_or(PathChange::Kept)),
            ("b", PathChange::Restored),
        ];
        assert_eq!(paths(&done), expected_paths);
        act(&fixture.history, &undo(&[&done.receipt.entry.id]), &[]).unwrap();
        assert_eq!(
            fixture.picture(),
            now,
            "{choice:?}: what was overwritten is back"
        );
    }
}

#[test]
fn a_choice_that_cannot_be_is_refused_by_name() {
    let fixture = Fixture::new();
    fixture.file("a", "one\n", 0o644);
    let id = fixture.effect("und_1", &fixture.writing(&[("a", "two\n")]));
    fixture.file("a", "three\n", 0o644);
    let merge = act(
        &fixture.history,
        &undo(&[&id]),
        &[("a", ConflictChoice::Merge)],
    );
    let Err(RestoreError::Failed(fault)) = merge else {
        panic!("{merge:?}");
    };
    assert!(
        fault.message.contains("`a`") && fault.message.contains("same lines"),
        "{fault}"
    );
    fs::remove_file(fixture.at("a")).unwrap();
    make_pipe(&fixture.at("a"));
    let looked = fixture.history.preview_restore(&undo(&[&id])).unwrap();
    assert_eq!(looked.preview.conflicts[0].choices, [ConflictChoice::Keep]);
    assert!(
        act(
            &fixture.history,
            &undo(&[&id]),
            &[("a", ConflictChoice::Restore)]
        )
        .is_err()
    );
    let nothing = act(
        &fixture.history,
        &undo(&[&id]),
        &[("a", ConflictChoice::Keep)],
    );
    assert!(
        matches!(nothing, Err(RestoreError::Failed(_))),
        "{nothing:?}"
    );
}

#[test]
fn several_go_back_as_one_and_come_again_as_one() {
    let fixture = Fixture::new();
    fixture.everything();
    let first = fixture.effect(
        "und_1",
        &fixture.writing(&[("keep/a.txt", "1"), ("n/x", "x")]),
    );
    let at_first = fixture.picture();
    let second = fixture.effect(
        "und_2",
        &fixture.writing(&[("keep/a.txt", "2"), ("n/y", "y")]),
    );
    let third = fixture.effect("und_3", &fixture.removal("n"));
    let at_third = fixture.picture();

    let to = RestoreRequest::UndoTo {
        entry: first.clone(),
    };
    let done = act(&fixture.history, &to, &[]).unwrap();
    assert_eq!(done.receipt.entry.title, "Undid 2 changes");
    assert_eq!(done.changed_entries.len(), 2);
    assert_eq!(fixture.picture(), at_first);
    assert_eq!(
        [&first, &second, &third].map(|id| fixture.state(id)),
        [UndoState::Applied, UndoState::Undone, UndoState::Undone,]
    );
    act(&fixture.history, &undo(&[&done.receipt.entry.id]), &[]).unwrap();
    assert_eq!(fixture.picture(), at_third);
    assert!(
        act(&fixture.history, &to, &[]).is_ok(),
        "and again, over two acts"
    );
    assert_eq!(fixture.picture(), at_first);
    let empty = act(&fixture.history, &to, &[]);
    let Err(RestoreError::Failed(fault)) = empty else {
        panic!("{empty:?}");
    };
    assert!(fault.message.contains("nothing to undo"), "{fault}");
}

/// One of several entries in the middle is a conflict where a later one is in its way, and none where it is not.
#[test]
fn one_of_the_middle_goes_alone_where_nothing_is_in_its_way() {
    let fixture = Fixture::new();
    fixture.file("a", "0", 0o644);
    fixture.file("b", "0", 0o644);
    let first = fixture.effect("und_1", &fixture.writing(&[("a", "1"), ("b", "1")]));
    let second = fixture.effect("und_2", &fixture.writing(&[("a", "2")]));
    assert_eq!(
        act(&fixture.history, &undo(&[&first]), &[]),
        Err(RestoreError::Conflict(vec!["a".into()]))
    );
    act(
        &fixture.history,
        &undo(&[&first]),
        &[("a", ConflictChoice::Keep)],
    )
    .unwrap();
    assert_eq!(
        (read(&fixture, "a"), read(&fixture, "b")),
        (Some("2".into()), Some("0".into()))
    );
    act(&fixture.history, &undo(&[&second]), &[]).unwrap();
    assert_eq!(read(&fixture, "a").as_deref(), Some("1"));
}

/// Undo back to a point at which an entry was still undone that is not now.
#[test]
fn a_point_before_an_undo_is_reached_over_the_undo() {
    let fixture = Fixture::new();
    fixture.file("a", "0", 0o644);
    let first = fixture.effect("und_1", &fixture.writing(&[("a", "1")]));
    let second = fixture.effect("und_2", &fixture.writing(&[("b", "b")]));
    act(&fixture.history, &undo(&[&first]), &[]).unwrap();
    assert_eq!(read(&fixture, "a").as_deref(), Some("0"));
    act(
        &fixture.history,
        &RestoreRequest::UndoTo { entry: second },
        &[],
    )
    .unwrap();
    assert_eq!(
        read(&fixture, "a").as_deref(),
        Some("1"),
        "as it was at that point"
    );
    assert_eq!(fixture.state(&first), UndoState::Applied);
}

#[test]
fn what_came_into_a_folder_since_goes_only_if_that_is_chosen() {
    for (choice, left) in [
        (ConflictChoice::Keep, true),
        (ConflictChoice::Restore, false),
    ] {
        let fixture = Fixture::new();
        fixture.everything();
        let id = fixture.effect("und_1", &fixture.removal("old"));
        fixture.undo(&id).unwrap();
        fixture.file("old/mine/x", "mine", 0o600);
        let now = fixture.picture();
        let redo = RestoreRequest::Redo { entry: id };
        assert_eq!(
            act(&fixture.history, &redo, &[]),
            Err(RestoreError::Conflict(vec!["old/mine".into()]))
        );
        let done = act(&fixture.history, &redo, &[("old/mine", choice)]).unwrap();
        assert_eq!(read(&fixture, "old/mine/x").is_some(), left, "{choice:?}");
        assert_eq!(fixture.at("old").exists(), left, "{choice:?}");
        let kept = |path: &str, note: &str| PathReceipt {
            path: path.into(),
            change: PathChange::Kept,
            note: note.into(),
        };
        let mut all_kept = done.receipt.paths.clone();
        all_kept.retain(|one| one.change == PathChange::Kept);
        let expected = match choice {
            ConflictChoice::Keep => vec![
                kept("old", "`old/mine` in it stays."),
                kept("old/mine", "You chose to keep it."),
            ],
            _ => vec![],
        };
        assert_eq!(all_kept, expected);
        act(&fixture.history, &undo(&[&done.receipt.entry.id]), &[]).unwrap();
        assert_eq!(
            fixture.picture(),
            now,
            "{choice:?}: the stranger is back too"
        );
    }
}

#[test]
fn a_folder_that_is_missing_is_made_and_one_that_is_a_file_by_now_stays() {
    let fixture = Fixture::new();
    fixture.file("d/e/a", "a", 0o644);
    let id = fixture.effect("und_1", &fixture.removal("d/e/a"));
    fs::remove_dir_all(fixture.at("d")).unwrap();
    fixture.undo(&id).unwrap();
    assert_eq!(read(&fixture, "d/e/a").as_deref(), Some("a"));
    fixture.redo(&id).unwrap();
    assert!(
        !fixture.at("d").exists(),
        "a folder made for it goes with it"
    );
    fixture.file("d", "a file", 0o644);
    let done = act(&fixture.history, &undo(&[&id]), &[]);
    assert!(matches!(done, Err(RestoreError::Failed(_))), "{done:?}");
    assert_eq!(read(&fixture, "d").as_deref(), Some("a file"));
}

#[test]
fn two_workspaces_are_not_taken_back_at_once() {
    let fixture = Fixture::new();
    fixture.file("a", "0", 0o644);
    let first = fixture.effect("und_1", &fixture.writing(&[("a", "1")]));
    fs::create_dir(fixture.home.path().join("other")).unwrap();
    let other = Workspace::open(&fixture.home.path().join("other")).unwrap();
    let plan = Plan::Write(vec![FileChange {
        path: "b".into(),
        before: None,
        after: Some(b"b".to_vec()),
        from: None,
    }]);
    let meta = UndoEntryMeta {
        id: "und_2".into(),
        session: "ses_2".into(),
        call: "call_2".into(),
        at: NOW + 5,
        title: "Did that".into(),
    };
    fixture.history.prepare_entry(&other, &plan, meta).unwrap();
    apply_plan(&other, &plan).unwrap();
    fixture.history.mark_applied(&"und_2".into()).unwrap();
    let both = undo(&[&first, &"und_2".into()]);
    let refused = act(&fixture.history, &both, &[]);
    let Err(RestoreError::Failed(fault)) = refused else {
        panic!("{refused:?}");
    };
    assert!(fault.message.contains("different workspaces"), "{fault}");
    act(
        &fixture.history,
        &RestoreRequest::UndoTo { entry: first },
        &[],
    )
    .unwrap_err();
    assert!(
        other.root().join("b").exists(),
        "another workspace's history goes on by itself"
    );
}
