//! Attributes beside content, mode and time: attributes and owners are restored, other names are reported.

use std::os::unix::fs::chown;

use protocol::history::PathChange;
use rustix::fs::XattrFlags;

use super::*;
use crate::fs::dir::FileAttributes;

fn give(fixture: &Fixture, path: &str, value: &str) -> bool {
    let file = fs::File::open(fixture.at(path)).unwrap();
    // Some file systems have none.
    rustix::fs::fsetxattr(file, "user.note", value.as_bytes(), XattrFlags::empty()).is_ok()
}

fn traits(fixture: &Fixture, path: &str) -> FileAttributes {
    FileAttributes::from_file(&fs::File::open(fixture.at(path)).unwrap())
}

#[test]
fn attributes_and_owners_come_back() {
    let fixture = Fixture::new();
    fixture.file("d/a", "a", 0o4750);
    fixture.file("b", "b", 0o640);
    let has_attributes =
        give(&fixture, "d/a", "of a") && give(&fixture, "d", "of d") && give(&fixture, "b", "of b");
    let may_give_away = chown(fixture.at("d/a"), Some(1234), Some(1235)).is_ok();
    fs::set_permissions(fixture.at("d/a"), fs::Permissions::from_mode(0o4750)).unwrap();
    let before = fixture.picture();
    let had = ["d", "d/a", "b"].map(|path| traits(&fixture, path));
    assert_eq!(had[1].owner, may_give_away.then_some((1234, 1235)));
    assert_eq!(had[1].attributes.len(), usize::from(has_attributes));

    let removed = fixture.effect("und_1", &fixture.removal("d"));
    let written = fixture.effect("und_2", &fixture.writing(&[("b", "B")]));
    assert_eq!(
        traits(&fixture, "b"),
        had[2],
        "a file that is written over keeps what it has"
    );
    if has_attributes {
        give(&fixture, "b", "of B");
    }
    let of_now = traits(&fixture, "b");
    let back = fixture.undo(&written);
    assert_eq!(back, Ok(1), "attributes alone are no conflict");
    fixture.undo(&removed).unwrap();
    assert_eq!(fixture.picture(), before);
    assert_eq!(["d", "d/a", "b"].map(|path| traits(&fixture, path)), had);
    fixture.redo(&written).unwrap();
    assert_eq!(
        traits(&fixture, "b"),
        of_now,
        "also what was overwritten has its own again"
    );
}

#[test]
fn a_file_that_moves_takes_its_own_along() {
    let fixture = Fixture::new();
    fixture.everything();
    give(&fixture, "old/run.sh", "of the file");
    // Only root may.
    let _ = chown(fixture.at("old/run.sh"), Some(1234), Some(1235));
    fs::set_permissions(fixture.at("old/run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    let (before, had) = (fixture.picture(), traits(&fixture, "old/run.sh"));
    let id = fixture.effect("und_1", &fixture.patching());
    assert_eq!(traits(&fixture, "moved/run.sh"), had);
    let mode = fs::metadata(fixture.at("moved/run.sh"))
        .unwrap()
        .permissions();
    assert_eq!(mode.mode() & 0o7777, 0o755);
    fixture.undo(&id).unwrap();
    assert_eq!(fixture.picture(), before);
    assert_eq!(traits(&fixture, "old/run.sh"), had);
}

/// Names of one file cannot be linked again: that is reported before.
#[test]
fn other_names_of_a_file_are_told_of() {
    let fixture = Fixture::new();
    fixture.file("a", "a", 0o644);
    fixture.file("c", "c", 0o644);
    fs::hard_link(fixture.at("a"), fixture.at("b")).unwrap();
    let id = fixture.effect("und_1", &fixture.removal("a"));
    let restore = RestoreRequest::Undo { entries: vec![id] };
    let paths = fixture
        .history
        .preview_restore(&restore)
        .unwrap()
        .preview
        .paths;
    assert_eq!(paths[0].change, PathChange::Created);
    assert!(paths[0].note.contains("2 names"), "{paths:?}");
    let other = fixture.effect("und_2", &fixture.removal("c"));
    let restore = RestoreRequest::Undo {
        entries: vec![other],
    };
    assert_eq!(
        fixture
            .history
            .preview_restore(&restore)
            .unwrap()
            .preview
            .paths[0]
            .note,
        ""
    );
}

/// Of a command's changes both sides are known: its attributes are undone and redone.
#[test]
fn attributes_that_a_command_set_come_and_go() {
    let fixture = Fixture::new();
    fixture.file("a", "a", 0o640);
    if !give(&fixture, "a", "before") {
        println!("skipped: this file system has no extended attributes");
        return;
    }
    let had = traits(&fixture, "a");
    let plan = fixture.command("echo more >> a");
    let file = fs::File::open(fixture.layer().join("a")).unwrap();
    rustix::fs::fsetxattr(&file, "user.note", b"after", XattrFlags::empty()).unwrap();
    let id = fixture.effect("und_1", &plan);
    let has = traits(&fixture, "a");
    assert_eq!(
        has.attributes,
        [("user.note".to_owned(), b"after".to_vec())]
    );
    fixture.undo(&id).unwrap();
    assert_eq!(traits(&fixture, "a"), had);
    fixture.redo(&id).unwrap();
    assert_eq!(traits(&fixture, "a"), has);
}
