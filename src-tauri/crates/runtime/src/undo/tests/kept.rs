//! Copies in pieces, seen from the history: they are shared, counted as they lie on disk, and stand beside those of
//! earlier versions.

use super::*;
use crate::fs::fault_injection::strike;
use crate::fs::fault_injection::strike::InjectedFault;

/// Edits of one long text, each at another place; their entries, the oldest first.
fn edits(fixture: &Fixture, count: usize) -> Vec<UndoId> {
    let mut text = long("");
    fixture.file("long.txt", &text, 0o644);
    let edit = |number: usize| {
        text.replace_range(number * 5_000..number * 5_000 + 4, &format!("{number:04}"));
        fixture.effect(
            &format!("und_{number:02}"),
            &fixture.writing(&[("long.txt", &text)]),
        )
    };
    (1..=count).map(edit).collect()
}

fn copies(history: &History) -> u64 {
    history.0.store.disk_bytes().unwrap()
}

#[test]
fn edits_of_a_long_file_share_what_they_leave_as_it_is() {
    let fixture = Fixture::new();
    let ids = edits(&fixture, 10);
    let length = fs::metadata(fixture.at("long.txt")).unwrap().len();
    assert!(
        copies(&fixture.history) < length * 4,
        "eleven versions take less than four"
    );
    // All of them fit where their whole lengths would not.
    let keep = RetentionLimits {
        since: 0,
        bytes_max: length * 4,
    };
    assert_eq!(fixture.history.collect_garbage(&keep).unwrap().entries, 0);
    // The oldest go, and the pieces that they share with the others stay.
    let keep = RetentionLimits {
        since: NOW + 5,
        bytes_max: u64::MAX,
    };
    let before = copies(&fixture.history);
    let done = fixture.history.collect_garbage(&keep).unwrap();
    assert_eq!((done.entries, done.entries_left), (5, 5));
    assert!(copies(&fixture.history) < before);
    assert_eq!(done.bytes_left, fixture.history.disk_bytes().unwrap());
    for id in ids[5..].iter().rev() {
        fixture.undo(id).unwrap();
    }
    let mut text = long("");
    for number in 1..=5 {
        text.replace_range(number * 5_000..number * 5_000 + 4, &format!("{number:04}"));
    }
    assert!(fs::read_to_string(fixture.at("long.txt")).unwrap() == text);
}

/// Makes the store as it was before there were pieces: whole contents in `blobs/`, and nothing else.
fn as_before(fixture: Fixture) -> Fixture {
    let folder = fixture.home.path().join("history");
    for entry in fixture.history.entries().unwrap() {
        let manifest = fixture.history.0.load_manifest(&entry.id).unwrap();
        for (blob, bytes) in manifest.required_copies() {
            let shelf = folder.join("blobs").join(&blob.as_str()[..2]);
            fs::create_dir_all(&shelf).unwrap();
            let content = fixture.history.0.store.read_content(blob, bytes).unwrap();
            fs::write(shelf.join(blob.as_str()), content).unwrap();
        }
    }
    fs::create_dir_all(folder.join("blobs/new")).unwrap();
    fs::remove_dir_all(folder.join("copies")).unwrap();
    Fixture::standing(fixture.home)
}

#[test]
fn a_data_folder_of_before_goes_on() {
    let fixture = Fixture::new();
    fixture.everything();
    let at_first = fixture.picture();
    let patched = fixture.effect("und_1", &fixture.patching());
    let after_patch = fixture.picture();
    let fixture = as_before(fixture);
    let whole = picture(&fixture.home.path().join("history/blobs"));
    let whole: usize = whole.values().map(|seen| seen.content.len()).sum();
    assert_eq!(copies(&fixture.history), whole as u64);
    assert_eq!(fixture.history.recover_interrupted(|_| false), Ok(vec![]));
    // There and back from whole copies, and a new entry beside the old one.
    fixture.undo(&patched).unwrap();
    assert_eq!(fixture.picture(), at_first);
    fixture.redo(&patched).unwrap();
    assert_eq!(fixture.picture(), after_patch);
    let removed = fixture.effect("und_2", &fixture.removal("old"));
    let ids = [patched.clone(), removed];
    let both = RestoreRequest::Undo {
        entries: ids.to_vec(),
    };
    let done = act(&fixture.history, &both, &[]).unwrap();
    assert_eq!(fixture.picture(), at_first);
    act(
        &fixture.history,
        &RestoreRequest::Undo {
            entries: vec![done.receipt.entry.id],
        },
        &[],
    )
    .unwrap();
    // A collection keeps of both kinds what is needed, and nothing else.
    let all = RetentionLimits {
        since: 0,
        bytes_max: u64::MAX,
    };
    fixture.history.collect_garbage(&all).unwrap();
    assert_eq!(copies(&fixture.history), needed(&fixture.history).bytes());
    let none = RetentionLimits {
        since: i64::MAX,
        bytes_max: 0,
    };
    assert_eq!(
        fixture.history.collect_garbage(&none).unwrap().entries_left,
        0
    );
    assert_eq!(copies(&fixture.history), 0);
}

/// A damaged copy of an earlier version is found before anything is touched.
#[test]
fn a_damaged_copy_of_before_is_named() {
    let fixture = Fixture::new();
    fixture.everything();
    let id = fixture.effect("und_1", &fixture.removal("old"));
    let fixture = as_before(fixture);
    let after = fixture.picture();
    let blobs = fixture.home.path().join("history/blobs");
    for (path, seen) in picture(&blobs) {
        if seen.kind != 'f' {
            continue;
        }
        fs::write(blobs.join(&path), "damaged").unwrap();
        let Err(RestoreError::Failed(fault)) = fixture.undo(&id) else {
            panic!("restored a damaged copy");
        };
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        assert!(
            fault.message.contains("damaged") && fault.message.contains(&name),
            "{fault}"
        );
        assert_eq!(fixture.picture(), after);
        fs::write(blobs.join(&path), seen.content).unwrap();
    }
    fixture.undo(&id).unwrap();
}

/// Stopped at any step while copies of both kinds are removed: kept entries can be undone, and the next collection
/// finishes.
#[test]
fn stopped_while_copies_of_both_kinds_go() {
    let collect = |fixture: &Fixture, since: i64| {
        let keep = RetentionLimits {
            since,
            bytes_max: u64::MAX,
        };
        fixture.history.collect_garbage(&keep).unwrap().entries_left
    };
    let mut reached = 0;
    for at in 0.. {
        let fixture = Fixture::in_memory();
        fixture.everything();
        fixture.effect("und_1", &fixture.patching());
        let fixture = as_before(fixture);
        edits(&fixture, 2);
        let before = fixture.picture();
        let kept = fixture.effect("und_9", &fixture.removal("old"));
        let since = NOW + 3;
        let (_, hit) = strike::after(at, InjectedFault::Stop, || collect(&fixture, since));
        let fixture = Fixture::standing(fixture.home);
        assert_eq!(fixture.history.recover_interrupted(|_| false), Ok(vec![]));
        // To the end, where it was stopped.
        assert_eq!(collect(&fixture, since), 1, "step {at}");
        assert_eq!(copies(&fixture.history), needed(&fixture.history).bytes());
        fixture.undo(&kept).unwrap();
        assert_eq!(fixture.picture(), before, "step {at}");
        if !hit {
            break;
        }
        reached += 1;
    }
    assert!(reached >= 15, "only {reached} steps");
}
