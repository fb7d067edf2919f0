//! Tests of a person's use of the history, and of failures on the way.

use protocol::view::preview::UndoAvailability;

use super::*;
use crate::fs::dir::make_pipe;

/// S000-24: a deletion comes back to the byte, and goes again.
#[test]
fn a_deleted_tree_comes_back_exactly_and_goes_again() {
    let fixture = Fixture::new();
    fixture.everything();
    let before = fixture.picture();
    let id = fixture.effect("und_1", &fixture.removal("old"));
    let after = fixture.picture();
    assert!(!after.contains_key(Path::new("old")));
    for _ in 0..2 {
        assert_eq!(fixture.undo(&id), Ok(14));
        assert_eq!(fixture.picture(), before);
        assert_eq!(fixture.state(&id), UndoState::Undone);
        assert_eq!(fixture.redo(&id), Ok(14));
        assert_eq!(fixture.picture(), after);
        assert_eq!(fixture.state(&id), UndoState::Applied);
    }
}

#[test]
fn written_files_go_back_and_forth() {
    let fixture = Fixture::new();
    fixture.everything();
    let before = fixture.picture();
    let changes = [
        ("keep/a.txt", "changed"),
        ("new/deep/b.txt", "b"),
        ("new/c.txt", "c"),
        ("old/run.sh", "#!/bin/sh\n"),
    ];
    let id = fixture.effect("und_1", &fixture.writing(&changes));
    let after = fixture.picture();
    assert_eq!(after[Path::new("keep/a.txt")].mode, 0o640);
    assert_eq!(fixture.undo(&id), Ok(6));
    assert_eq!(fixture.picture(), before);
    assert_eq!(fixture.redo(&id), Ok(6));
    assert_eq!(fixture.picture(), after);
}

#[test]
fn the_entry_says_what_it_holds() {
    let fixture = Fixture::new();
    fixture.file("d/a", "12345", 0o644);
    fixture.file("d/b", "678", 0o644);
    let entry = fixture.prepare("und_1", &fixture.removal("d")).unwrap();
    let expected = UndoEntry {
        id: "und_1".into(),
        session: "ses_1".into(),
        call: "call_1".into(),
        action: None,
        at: NOW,
        workspace: fixture.workspace.root().display().to_string(),
        title: "Did it".into(),
        paths: 3,
        bytes: 8,
        shown: vec!["d".into(), "d/a".into(), "d/b".into()],
        state: UndoState::Prepared,
    };
    assert_eq!(entry, expected);
    let reopened = History::open(&fixture.home.path().join("history"), 1).unwrap();
    assert_eq!(reopened.entry(&entry.id), Ok(Some(expected)));
    assert_eq!(reopened.entry(&"und_2".into()), Ok(None));
}

/// Everything of the store is for the owner alone.
#[test]
fn nobody_else_can_read_the_copies() {
    let fixture = Fixture::new();
    fixture.file("a", "secret", 0o644);
    fixture.effect("und_1", &fixture.writing(&[("a", "other")]));
    for (path, seen) in picture(&fixture.home.path().join("history")) {
        let expected = if seen.kind == 'd' { 0o700 } else { 0o600 };
        assert_eq!(seen.mode, expected, "{path:?}");
    }
}

#[test]
fn what_changed_since_is_a_conflict_and_nothing_is_touched() {
    type Change = fn(&Fixture);
    let cases: [(&str, Change, &[&str]); 6] = [
        (
            "edited",
            |fixture| fs::write(fixture.at("a"), "person").unwrap(),
            &["a"],
        ),
        (
            "removed",
            |fixture| fs::remove_file(fixture.at("a")).unwrap(),
            &["a"],
        ),
        (
            "new mode",
            |fixture| fixture.file("a", "after", 0o600),
            &["a"],
        ),
        (
            "other kind",
            |fixture| {
                fs::remove_file(fixture.at("n/new")).unwrap();
                fs::create_dir(fixture.at("n/new")).unwrap();
            },
            &["n/new"],
        ),
        (
            "linked away",
            |fixture| {
                fs::rename(fixture.at("n"), fixture.at("m")).unwrap();
                symlink("m", fixture.at("n")).unwrap();
            },
            &["n"],
        ),
        (
            "both",
            |fixture| {
                fs::write(fixture.at("a"), "x").unwrap();
                fs::write(fixture.at("n/new"), "x").unwrap();
            },
            &["a", "n/new"],
        ),
    ];
    for (name, change, paths) in cases {
        let fixture = Fixture::new();
        fixture.file("a", "before", 0o644);
        let id = fixture.effect(
            "und_1",
            &fixture.writing(&[("a", "after"), ("n/new", "after")]),
        );
        change(&fixture);
        let now = fixture.picture();
        let conflicts: Vec<String> = paths.iter().map(|path| (*path).into()).collect();
        let undo = RestoreRequest::Undo {
            entries: vec![id.clone()],
        };
        let looked = fixture
            .history
            .preview_restore(&undo)
            .unwrap()
            .preview
            .conflicts;
        let looked: Vec<String> = looked.into_iter().map(|one| one.path).collect();
        assert_eq!(looked, conflicts, "{name}");
        assert_eq!(
            fixture.undo(&id),
            Err(RestoreError::Conflict(conflicts)),
            "{name}"
        );
        assert_eq!(fixture.picture(), now, "{name}");
        assert_eq!(fixture.state(&id), UndoState::Applied, "{name}");
    }
}

#[test]
fn what_is_there_already_and_what_came_beside_it_is_no_conflict() {
    let fixture = Fixture::new();
    fixture.file("a", "before", 0o644);
    let id = fixture.effect(
        "und_1",
        &fixture.writing(&[("a", "after"), ("n/new", "after")]),
    );
    fixture.file("n/mine", "mine", 0o644);
    fixture.file("a", "before", 0o644);
    fixture.undo(&id).unwrap();
    let now = fixture.picture();
    let names: Vec<_> = now.keys().map(|path| path.to_str().unwrap()).collect();
    assert_eq!(
        names,
        ["", "a", "n", "n/mine"],
        "a folder that somebody uses by now stays"
    );
    fixture.redo(&id).unwrap();
    assert_eq!(fs::read(fixture.at("n/new")).unwrap(), b"after");
}

#[test]
fn a_redo_does_not_take_what_came_in_between() {
    let fixture = Fixture::new();
    fixture.everything();
    let id = fixture.effect("und_1", &fixture.removal("old"));
    fixture.undo(&id).unwrap();
    fixture.file("old/deep/mine", "mine", 0o644);
    let now = fixture.picture();
    let conflict = RestoreError::Conflict(vec!["old/deep/mine".into()]);
    assert_eq!(fixture.redo(&id), Err(conflict));
    assert_eq!(fixture.picture(), now);
}

#[test]
fn wrong_order_is_refused() {
    let fixture = Fixture::new();
    fixture.file("a", "1", 0o644);
    let id = fixture.effect("und_1", &fixture.writing(&[("a", "2")]));
    let refused = |result: Result<u64, RestoreError>, what: &str| match result {
        Err(RestoreError::Failed(fault)) => assert!(fault.to_string().contains(what), "{fault}"),
        other => panic!("{other:?}"),
    };
    refused(fixture.redo(&id), "not undone");
    fixture.undo(&id).unwrap();
    refused(fixture.undo(&id), "undone already");
    refused(fixture.undo(&"und_9".into()), "no history entry `und_9`");
    let prepared = fixture
        .prepare("und_2", &fixture.writing(&[("a", "3")]))
        .unwrap()
        .id;
    refused(fixture.undo(&prepared), "never carried out");
}

#[test]
fn a_plan_that_no_longer_fits_leaves_no_entry() {
    let fixture = Fixture::new();
    fixture.file("d/a", "1", 0o644);
    let (write, remove) = (fixture.writing(&[("d/a", "2")]), fixture.removal("d"));
    fixture.file("d/a", "person", 0o644);
    for plan in [write, remove] {
        let error = fixture.prepare("und_1", &plan).unwrap_err();
        assert!(matches!(error, FileError::Changed { .. }), "{error:?}");
        assert_eq!(fixture.history.entry(&"und_1".into()), Ok(None));
    }
    let through = fixture.writing(&[("new", "x")]);
    fixture.file("new", "", 0o644);
    assert!(matches!(
        fixture.prepare("und_1", &through),
        Err(FileError::Changed { .. })
    ));
    let below = Plan::Write(vec![FileChange {
        path: "new/x".into(),
        before: None,
        after: Some(Vec::new()),
        from: None,
    }]);
    assert_eq!(
        fixture.prepare("und_1", &below),
        Err(FileError::NotAFolder {
            path: "new/x".into()
        })
    );
}

#[test]
fn the_outlook_tells_the_truth() {
    let fixture = Fixture::new();
    fixture.file("d/a", "12345", 0o644);
    fixture.file("pipes/a", "", 0o644);
    make_pipe(&fixture.at("pipes/p"));
    let small = History::open(&fixture.home.path().join("small"), 4).unwrap();
    let outlook =
        |history: &History, plan: &Plan| history.undo_availability(&fixture.workspace, plan);
    assert_eq!(
        outlook(&fixture.history, &Plan::None),
        UndoAvailability::NotNeeded
    );
    assert_eq!(
        outlook(&fixture.history, &fixture.removal("d")),
        UndoAvailability::Secured
    );
    assert_eq!(
        outlook(&small, &fixture.writing(&[("n", "1234")])),
        UndoAvailability::Secured
    );
    for (history, plan, why) in [
        (&small, fixture.removal("d"), "5 bytes"),
        (&small, fixture.writing(&[("n", "12345")]), "5 bytes"),
        (&fixture.history, fixture.removal("pipes"), "pipes/p"),
    ] {
        let UndoAvailability::Unsecured { reason } = outlook(history, &plan) else {
            panic!("{plan:?}");
        };
        assert!(reason.contains(why), "{reason}");
        let meta = UndoEntryMeta {
            id: "und_1".into(),
            session: "ses_1".into(),
            call: "call_1".into(),
            at: 0,
            title: String::new(),
        };
        assert!(
            history
                .prepare_entry(&fixture.workspace, &plan, meta)
                .is_err()
        );
    }
}

#[test]
fn a_damaged_copy_is_found_before_anything_is_touched() {
    let fixture = Fixture::new();
    fixture.everything();
    let id = fixture.effect("und_1", &fixture.removal("old"));
    let after = fixture.picture();
    let blobs = fixture.home.path().join("history/copies");
    let files = picture(&blobs).into_iter();
    let files: Vec<_> = files.filter(|(_, seen)| seen.kind == 'f').collect();
    let ending = |ending: &str| {
        let mut names = files.iter().map(|(path, _)| path.to_string_lossy());
        names.any(|name| name.ends_with(ending))
    };
    assert!(ending(".zst") && ending(".list"), "{files:?}");
    // Each of them: whole contents, pieces, and the list of these.
    for (path, seen) in files {
        let path = blobs.join(path);
        for (what, content) in [("damaged", Some("damaged")), ("missing", None)] {
            match content {
                Some(content) => fs::write(&path, content).unwrap(),
                None => fs::remove_file(&path).unwrap(),
            }
            let Err(RestoreError::Failed(fault)) = fixture.undo(&id) else {
                panic!("restored a {what} copy");
            };
            assert!(fault.message.contains(what), "{fault}");
            assert_eq!(fixture.picture(), after);
            assert_eq!(fixture.state(&id), UndoState::Applied);
        }
        fs::write(&path, seen.content).unwrap();
    }
    fixture.undo(&id).unwrap();
}

#[test]
fn dropped_entries_give_their_space_back() {
    let fixture = Fixture::new();
    fixture.file("a", "shared", 0o644);
    fixture.file("b", "shared", 0o644);
    let first = fixture.effect("und_1", &fixture.writing(&[("a", "only first")]));
    let second = fixture.effect("und_2", &fixture.writing(&[("b", "only second")]));
    let collect = |since: i64, bytes_max: u64| {
        let done = fixture
            .history
            .collect_garbage(&RetentionLimits { since, bytes_max })
            .unwrap();
        assert_eq!(done.bytes_left, fixture.history.disk_bytes().unwrap());
        (done.entries, done.entries_left)
    };
    let blobs = || {
        let blobs = picture(&fixture.home.path().join("history/copies"));
        let contents = blobs.into_values().filter(|seen| seen.kind == 'f');
        let mut contents: Vec<String> = contents
            .map(|seen| String::from_utf8(seen.content).unwrap())
            .collect();
        contents.sort();
        contents
    };
    assert_eq!(collect(0, 1_000), (0, 2));
    assert_eq!(blobs(), ["only first", "only second", "shared"]);
    // "shared" counts once: all three are 27 bytes long.
    assert_eq!(collect(0, 27), (0, 2));
    assert_eq!(
        collect(0, 26),
        (1, 1),
        "the newest stays as long as it fits"
    );
    assert_eq!(blobs(), ["only second", "shared"]);
    assert_eq!(fixture.history.entry(&first), Ok(None));
    fixture.undo(&second).unwrap();
    assert_eq!(fs::read(fixture.at("b")).unwrap(), b"shared");
    let broken = fixture.home.path().join("history/entries/und_3.json");
    fs::write(&broken, "{").unwrap();
    assert_eq!(collect(NOW * 2, 1_000), (2, 0));
    assert_eq!(blobs().len(), 2, "an unreadable entry keeps all copies");
    fs::remove_file(broken).unwrap();
    assert_eq!(collect(0, 1_000), (0, 0));
    assert_eq!(blobs().len(), 0);
}

/// An entry under way is kept, however old it is.
#[test]
fn an_entry_under_way_is_never_dropped() {
    let fixture = Fixture::new();
    fixture.file("a", "one", 0o644);
    let id = fixture
        .prepare("und_1", &fixture.writing(&[("a", "two")]))
        .unwrap()
        .id;
    let keep = RetentionLimits {
        since: i64::MAX,
        bytes_max: 0,
    };
    assert_eq!(
        fixture.history.collect_garbage(&keep).unwrap().entries_left,
        1
    );
    assert_eq!(
        fixture.history.settle_failed(&id).unwrap().state,
        UndoState::Undone
    );
}

#[test]
fn two_thousand_files_go_and_come() {
    let fixture = Fixture::new();
    for number in 0..2_000 {
        let folder = fixture.at(format!("big/d{}", number % 20));
        if number < 20 {
            fs::create_dir_all(&folder).unwrap();
        }
        fs::write(
            folder.join(format!("f{number}")),
            format!("content {number}"),
        )
        .unwrap();
    }
    fixture.age();
    let before = fixture.picture();
    let id = fixture.effect("und_1", &fixture.removal("big"));
    let after = fixture.picture();
    assert_eq!(fixture.undo(&id), Ok(2_021));
    assert!(
        fixture.picture() == before,
        "2,000 files are not back as they were"
    );
    assert_eq!(fixture.redo(&id), Ok(2_021));
    assert!(fixture.picture() == after, "2,000 files did not go again");
}
