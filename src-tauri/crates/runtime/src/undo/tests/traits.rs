//! Attributes beside content, mode and time: attributes and owners are restored, other names are reported.

use std::os::unix::fs::chown;

use protocol::history::PathChange;
use rustix::fs::XattrFlags;

use super::*;
use crate::fs::dir::FileAttributes;

fn give(room: &Room, path: &str, value: &str) -> bool {
    let file = fs::File::open(room.at(path)).unwrap();
    // Some file systems have none.
    rustix::fs::fsetxattr(file, "user.note", value.as_bytes(), XattrFlags::empty()).is_ok()
}

fn traits(room: &Room, path: &str) -> FileAttributes {
    FileAttributes::from_file(&fs::File::open(room.at(path)).unwrap())
}

#[test]
fn attributes_and_owners_come_back() {
    let room = Room::new();
    room.file("d/a", "a", 0o4750);
    room.file("b", "b", 0o640);
    let has_attributes =
        give(&room, "d/a", "of a") && give(&room, "d", "of d") && give(&room, "b", "of b");
    let may_give_away = chown(room.at("d/a"), Some(1234), Some(1235)).is_ok();
    fs::set_permissions(room.at("d/a"), fs::Permissions::from_mode(0o4750)).unwrap();
    let before = room.picture();
    let had = ["d", "d/a", "b"].map(|path| traits(&room, path));
    assert_eq!(had[1].owner, may_give_away.then_some((1234, 1235)));
    assert_eq!(had[1].attributes.len(), usize::from(has_attributes));

    let removed = room.effect("und_1", &room.removal("d"));
    let written = room.effect("und_2", &room.writing(&[("b", "B")]));
    assert_eq!(
        traits(&room, "b"),
        had[2],
        "a file that is written over keeps what it has"
    );
    if has_attributes {
        give(&room, "b", "of B");
    }
    let of_now = traits(&room, "b");
    let back = room.undo(&written);
    assert_eq!(back, Ok(1), "attributes alone are no conflict");
    room.undo(&removed).unwrap();
    assert_eq!(room.picture(), before);
    assert_eq!(["d", "d/a", "b"].map(|path| traits(&room, path)), had);
    room.redo(&written).unwrap();
    assert_eq!(
        traits(&room, "b"),
        of_now,
        "also what was overwritten has its own again"
    );
}

#[test]
fn a_file_that_moves_takes_its_own_along() {
    let room = Room::new();
    room.everything();
    give(&room, "old/run.sh", "of the file");
    // Only root may.
    let _ = chown(room.at("old/run.sh"), Some(1234), Some(1235));
    fs::set_permissions(room.at("old/run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    let (before, had) = (room.picture(), traits(&room, "old/run.sh"));
    let id = room.effect("und_1", &room.patching());
    assert_eq!(traits(&room, "moved/run.sh"), had);
    let mode = fs::metadata(room.at("moved/run.sh")).unwrap().permissions();
    assert_eq!(mode.mode() & 0o7777, 0o755);
    room.undo(&id).unwrap();
    assert_eq!(room.picture(), before);
    assert_eq!(traits(&room, "old/run.sh"), had);
}

/// Names of one file cannot be linked again: that is reported before.
#[test]
fn other_names_of_a_file_are_told_of() {
    let room = Room::new();
    room.file("a", "a", 0o644);
    room.file("c", "c", 0o644);
    fs::hard_link(room.at("a"), room.at("b")).unwrap();
    let id = room.effect("und_1", &room.removal("a"));
    let restore = RestoreRequest::Undo { entries: vec![id] };
    let paths = room
        .history
        .preview_restore(&restore)
        .unwrap()
        .preview
        .paths;
    assert_eq!(paths[0].change, PathChange::Created);
    assert!(paths[0].note.contains("2 names"), "{paths:?}");
    let other = room.effect("und_2", &room.removal("c"));
    let restore = RestoreRequest::Undo {
        entries: vec![other],
    };
    assert_eq!(
        room.history
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
    let room = Room::new();
    room.file("a", "a", 0o640);
    if !give(&room, "a", "before") {
        println!("skipped: this file system has no extended attributes");
        return;
    }
    let had = traits(&room, "a");
    let plan = room.command("echo more >> a");
    let file = fs::File::open(room.layer().join("a")).unwrap();
    rustix::fs::fsetxattr(&file, "user.note", b"after", XattrFlags::empty()).unwrap();
    let id = room.effect("und_1", &plan);
    let has = traits(&room, "a");
    assert_eq!(
        has.attributes,
        [("user.note".to_owned(), b"after".to_vec())]
    );
    room.undo(&id).unwrap();
    assert_eq!(traits(&room, "a"), had);
    room.redo(&id).unwrap();
    assert_eq!(traits(&room, "a"), has);
}
