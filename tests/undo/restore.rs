//! Deletions and changes taken back and brought again.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, SystemTime};

use protocol::event::CallChange;
use protocol::history::{ConflictChoice, PathChoice, RestoreRequest};
use protocol::query::{Answer, Query};
use protocol::{CallState, EventBody, Op, UndoEntry, UndoState};
use serde_json::json;
use support::{Fixture, call_edit, call_tool, call_write, expect_variant};

/// Everything that an undo must bring back: content, mode and time of every path.
#[derive(Debug, PartialEq, Eq)]
struct TreeEntry {
    content: Option<Vec<u8>>,
    mode: u32,
    mtime: SystemTime,
}

#[cfg(unix)]
fn read_tree(root: &Path) -> BTreeMap<String, TreeEntry> {
    use std::os::unix::fs::MetadataExt;
    let mut found = BTreeMap::new();
    let mut open = vec![root.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let meta = std::fs::symlink_metadata(&path).unwrap();
            let content = match (meta.is_dir(), meta.is_symlink()) {
                (true, _) => None,
                (_, true) => Some(
                    std::fs::read_link(&path)
                        .unwrap()
                        .into_os_string()
                        .into_encoded_bytes(),
                ),
                _ => Some(std::fs::read(&path).unwrap()),
            };
            let name = path.strip_prefix(root).unwrap().display().to_string();
            let mtime = if meta.is_symlink() {
                SystemTime::UNIX_EPOCH
            } else {
                meta.modified().unwrap()
            };
            found.insert(
                name,
                TreeEntry {
                    content,
                    mode: meta.mode(),
                    mtime,
                },
            );
            if meta.is_dir() {
                open.push(path);
            }
        }
    }
    found
}

#[cfg(unix)]
fn furnish(desk: &mut Fixture) {
    use std::os::unix::fs::{PermissionsExt, symlink};
    desk.write_file("old/a.txt", "first\n")
        .write_file("old/deep/b.bin", [0, 159, 255, 10])
        .write_file("kept.txt", "stays\n");
    let root = desk.workspace_root();
    std::fs::create_dir(root.join("old/empty")).unwrap();
    symlink("a.txt", root.join("old/link")).unwrap();
    std::fs::set_permissions(
        root.join("old/a.txt"),
        std::fs::Permissions::from_mode(0o751),
    )
    .unwrap();
    let long_ago = SystemTime::UNIX_EPOCH + Duration::new(1_000_000_000, 123_456_789);
    for path in ["old/a.txt", "old/deep/b.bin"] {
        std::fs::File::options()
            .write(true)
            .open(root.join(path))
            .unwrap()
            .set_modified(long_ago)
            .unwrap();
    }
    for path in ["old/deep", "old/empty", "old"] {
        std::fs::File::open(root.join(path))
            .unwrap()
            .set_modified(long_ago)
            .unwrap();
    }
}

async fn history(desk: &Fixture) -> Vec<UndoEntry> {
    let query = Query::History {
        offset: 0,
        limit: 100,
    };
    expect_variant!(desk.query(query).await, Answer::History { entries, .. } => entries)
}

/// `S000-24`: a deletion is undone to the byte, with modes and times, and can be brought again.
#[cfg(unix)]
#[tokio::test]
async fn a_deletion_is_undone_to_the_byte() {
    let mut desk = Fixture::new([call_tool("delete_path", json!({ "path": "old" }))]).await;
    furnish(&mut desk);
    let before = read_tree(&desk.workspace_root());
    desk.play().await;
    assert_eq!(desk.call_states().await, [CallState::Done]);
    assert!(!desk.workspace_root().join("old").exists());
    let after = read_tree(&desk.workspace_root());

    let entry = history(&desk).await.remove(0);
    assert_eq!(
        (entry.title.as_str(), entry.state),
        ("Deleted old", UndoState::Applied)
    );
    desk.submit(Op::Undo {
        entry: entry.id.clone(),
    })
    .await;
    assert_eq!(read_tree(&desk.workspace_root()), before);
    assert_eq!(desk.call_states().await, [CallState::Undone]);
    assert_eq!(history(&desk).await[0].state, UndoState::Undone);

    desk.submit(Op::Redo {
        entry: entry.id.clone(),
    })
    .await;
    assert_eq!(read_tree(&desk.workspace_root()), after);
    desk.submit(Op::Undo { entry: entry.id }).await;
    assert_eq!(
        read_tree(&desk.workspace_root()),
        before,
        "an undo can be undone, and undone again"
    );
}

/// An edit is undone without touching anything else, not even a time.
#[cfg(unix)]
#[tokio::test]
async fn an_edit_is_undone_and_nothing_else() {
    let mut desk = Fixture::new([call_edit("old/a.txt", "first", "second")]).await;
    furnish(&mut desk);
    let before = read_tree(&desk.workspace_root());
    desk.play().await;
    assert_eq!(desk.read_file("old/a.txt").unwrap(), "second\n");
    let entry = history(&desk).await.remove(0);
    desk.submit(Op::Undo { entry: entry.id }).await;
    assert_eq!(read_tree(&desk.workspace_root()), before);
}

/// A new file in a new folder goes again, with the folder.
#[cfg(unix)]
#[tokio::test]
async fn a_created_file_goes_again() {
    let mut desk = Fixture::new([call_write("new/folder/a.txt", "hello\n")]).await;
    furnish(&mut desk);
    desk.play().await;
    assert_eq!(desk.read_file("new/folder/a.txt").unwrap(), "hello\n");
    let entry = history(&desk).await.remove(0);
    desk.submit(Op::Undo {
        entry: entry.id.clone(),
    })
    .await;
    assert!(!desk.workspace_root().join("new").exists());
    desk.submit(Op::Redo { entry: entry.id }).await;
    assert_eq!(desk.read_file("new/folder/a.txt").unwrap(), "hello\n");
}

/// A change since then is a conflict: nothing is touched, and the conflict is named.
#[cfg(unix)]
#[tokio::test]
async fn a_conflict_touches_nothing() {
    let mut desk = Fixture::new([call_edit("old/a.txt", "first", "second")]).await;
    furnish(&mut desk);
    desk.play().await;
    desk.write_file("old/a.txt", "changed by hand\n");
    let entry = history(&desk).await.remove(0);
    let check = Query::UndoCheck {
        entry: entry.id.clone(),
    };
    let check = expect_variant!(desk.query(check).await, Answer::UndoCheck(check) => check);
    assert_eq!(check.conflicts, ["old/a.txt"]);
    let fault = desk
        .engine
        .submit(Op::Undo { entry: entry.id })
        .await
        .unwrap_err();
    assert!(fault.message.contains("old/a.txt"), "{fault}");
    assert_eq!(desk.read_file("old/a.txt").unwrap(), "changed by hand\n");
}

async fn timeline(desk: &Fixture) -> Vec<UndoEntry> {
    let workspace = Some(desk.workspace_root().display().to_string());
    let query = Query::Timeline {
        workspace,
        offset: 0,
        limit: 100,
    };
    let timeline = expect_variant!(desk.query(query).await, Answer::Timeline(timeline) => timeline);
    assert_eq!(timeline.entries_total as usize, timeline.entries.len());
    assert!(timeline.store_bytes > 0 && !timeline.more);
    timeline.entries
}

fn edit(from: &str, to: &str) -> serde_json::Value {
    call_edit("kept.txt", from, to)
}

/// Everything after a point goes back as one act, which stands in the history itself and is told in each call's session.
#[cfg(unix)]
#[tokio::test]
async fn all_after_a_point_goes_back_as_one_act() {
    let deletion = call_tool("delete_path", json!({ "path": "old" }));
    let mut desk = Fixture::new([edit("stays", "one"), edit("one", "two"), deletion]).await;
    furnish(&mut desk);
    desk.play().await;
    assert!(!desk.workspace_root().join("old").exists());
    let first = timeline(&desk).await.remove(2);
    let restore = RestoreRequest::UndoTo { entry: first.id };

    let query = Query::Restore {
        restore: restore.clone(),
    };
    let preview = expect_variant!(desk.query(query).await, Answer::Restore(preview) => preview);
    let told = (preview.coverage.text.as_str(), preview.entries.len());
    assert_eq!(told, ("Restores 7 paths.", 2));
    let choices = Vec::new();
    let op = Op::Restore { restore, choices };
    let receipt = desk.submit(op).await.restored.unwrap();
    assert_eq!(receipt.entry.title, "Undid 2 changes");
    assert_eq!(receipt.paths, preview.paths);
    assert_eq!(desk.read_file("kept.txt").unwrap(), "one\n");
    assert_eq!(desk.read_file("old/a.txt").unwrap(), "first\n");

    let events = desk.events().await;
    let told: Vec<_> = events
        .iter()
        .filter_map(|event| match &event.body {
            EventBody::Call {
                change: CallChange::UndoApplied { action, .. },
                ..
            } => action.clone(),
            _ => None,
        })
        .collect();
    assert_eq!(told, [receipt.entry.id.clone(), receipt.entry.id.clone()]);
    let states: Vec<_> = timeline(&desk).await;
    let states: Vec<UndoState> = states.into_iter().map(|entry| entry.state).collect();
    use UndoState::{Applied, Undone};
    assert_eq!(states, [Applied, Undone, Undone, Applied]);
    let query = Query::RestoreReceipt {
        entry: receipt.entry.id.clone(),
    };
    let again = expect_variant!(desk.query(query).await, Answer::RestoreReceipt(again) => again);
    assert_eq!(again, *receipt);

    // Nothing is too old yet.
    let collected = desk.submit(Op::CollectHistory).await.collected;
    assert_eq!(collected.unwrap().entries_left, 4);
}

/// A file that changed since is a conflict: each choice does what it says; the differences are shown before.
#[cfg(unix)]
#[tokio::test]
async fn a_conflict_is_shown_and_decided_path_by_path() {
    let mut desk = Fixture::new([edit("stays", "one")]).await;
    furnish(&mut desk);
    desk.play().await;
    desk.write_file("kept.txt", "one\nby hand\n");
    let entry = timeline(&desk).await.remove(0);
    let restore = RestoreRequest::Undo {
        entries: vec![entry.id],
    };
    let query = Query::Restore {
        restore: restore.clone(),
    };
    let preview = expect_variant!(desk.query(query).await, Answer::Restore(preview) => preview);
    let [conflict] = &preview.conflicts[..] else {
        panic!("{preview:?}");
    };
    let restored = conflict.restored.as_ref().unwrap();
    assert_eq!((restored.added, restored.removed), (1, 2));
    let choice = |choice| PathChoice {
        path: conflict.path.clone(),
        choice,
    };
    let op = Op::Restore {
        restore,
        choices: vec![choice(ConflictChoice::Restore)],
    };
    let receipt = desk.submit(op).await.restored.unwrap();
    assert_eq!(desk.read_file("kept.txt").unwrap(), "stays\n");
    let entry = receipt.entry.id;
    desk.submit(Op::Undo { entry }).await;
    assert_eq!(desk.read_file("kept.txt").unwrap(), "one\nby hand\n");
    assert_eq!(desk.calls().await[0].state, CallState::Done);
}
