//! Opening: what is refused is not touched, and says why.

use std::fs;
use std::path::Path;

use record::RecordError;
use rusqlite::Connection;

use crate::sample_events;
use crate::support::{Desk, open};

/// A record with some entries, closed; gives its folder.
fn closed() -> tempfile::TempDir {
    let mut desk = Desk::new();
    desk.tell("ses_1", sample_events::opened("Old"));
    for n in 0..300 {
        desk.tell_all(
            "ses_1",
            sample_events::read_call(&format!("c{n}"), "a.rs", "text of a file"),
        );
    }
    desk.folder
}

/// Every file of a folder with its content.
fn contents(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|file| {
            let file = file.unwrap();
            let name = file.file_name().into_string().unwrap();
            (name, fs::read(file.path()).unwrap())
        })
        .collect();
    files.sort();
    files
}

/// Opens what must be refused, and checks that no byte of the folder changed.
fn refused(folder: &Path) -> RecordError {
    let before = contents(folder);
    let error = open(folder.join("record.db")).map(|_| ()).unwrap_err();
    let after = contents(folder);
    let names = |files: &[(String, Vec<u8>)]| files.iter().map(|f| f.0.clone()).collect::<Vec<_>>();
    assert_eq!(names(&after), names(&before), "{error}");
    assert!(after == before, "a file changed: {error}");
    error
}

#[test]
fn a_record_of_a_newer_version_is_refused_untouched() {
    let folder = closed();
    let file = folder.path().join("record.db");
    let conn = Connection::open(&file).unwrap();
    conn.pragma_update(None, "journal_mode", "delete").unwrap();
    conn.pragma_update(None, "user_version", 99).unwrap();
    drop(conn);
    let error = refused(folder.path());
    assert!(
        matches!(
            &error,
            RecordError::Newer {
                found: 99,
                known: 9,
                ..
            }
        ),
        "{error:?}"
    );
    let fault = error.to_user_error();
    assert!(fault.message.contains("record.db"), "{fault}");
    assert!(fault.message.contains("newer version"), "{fault}");
    assert!(fault.hint.contains("was not changed"), "{fault}");
}

/// Since the fifth format the history's copies are in pieces. A program that knows four of them would take these for
/// files that nobody needs; the number keeps it out.
#[test]
fn a_folder_with_copies_in_pieces_says_so_by_its_format() {
    let folder = closed();
    let conn = Connection::open(folder.path().join("record.db")).unwrap();
    let format = conn.query_row("PRAGMA user_version", [], |row| row.get::<_, i64>(0));
    assert!(format.unwrap() > 4);
}

#[test]
fn a_newer_format_that_stands_only_in_the_log_is_refused_too() {
    let folder = closed();
    let file = folder.path().join("record.db");
    let kept = tempfile::tempdir().unwrap();
    let conn = Connection::open(&file).unwrap();
    conn.pragma_update(None, "journal_mode", "wal").unwrap();
    conn.pragma_update(None, "user_version", 99).unwrap();
    // As after a crash: the log is there, and nobody has it open.
    for name in ["record.db", "record.db-wal"] {
        fs::copy(folder.path().join(name), kept.path().join(name)).unwrap();
    }
    let before = contents(kept.path());
    let error = open(kept.path().join("record.db")).map(|_| ()).unwrap_err();
    assert!(
        matches!(error, RecordError::Newer { found: 99, .. }),
        "{error:?}"
    );
    let after = contents(kept.path());
    for (name, content) in before {
        assert!(after.contains(&(name.clone(), content)), "{name} changed");
    }
}

#[test]
fn what_is_not_a_record_is_refused_untouched() {
    for (content, named) in [
        (
            &b"Dear diary, this is no database, but it is long enough to be taken for one."[..],
            "not an SQLite database",
        ),
        (&[0_u8; 4096][..], "not an SQLite database"),
        (&b"x"[..], "not an SQLite database"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("record.db"), content).unwrap();
        let error = refused(folder.path());
        assert!(matches!(error, RecordError::NotARecord { .. }), "{error:?}");
        assert!(
            error.to_user_error().message.contains(named),
            "{}",
            error.to_user_error()
        );
    }

    let folder = tempfile::tempdir().unwrap();
    let other = Connection::open(folder.path().join("record.db")).unwrap();
    other.execute_batch("CREATE TABLE recipes (title)").unwrap();
    drop(other);
    let error = refused(folder.path());
    assert!(
        error.to_user_error().message.contains("another program"),
        "{}",
        error.to_user_error()
    );
}

#[test]
fn a_damaged_record_is_refused_untouched() {
    // Cut off, as a copy that was interrupted; and overwritten behind its header.
    let folder = closed();
    let file = folder.path().join("record.db");
    let whole = fs::read(&file).unwrap();
    let cut = &whole[..whole.len() / 2];
    let mut scribbled = whole.clone();
    scribbled[4096..].fill(0xa5);
    let mut headless = whole.clone();
    headless[..16].fill(b'?');
    for damaged in [cut, &scribbled, &headless] {
        fs::write(&file, damaged).unwrap();
        let error = refused(folder.path());
        assert!(
            matches!(
                error,
                RecordError::Damaged { .. } | RecordError::NotARecord { .. }
            ),
            "{error:?}"
        );
        assert!(!error.to_user_error().hint.is_empty());
    }
    fs::write(&file, whole).unwrap();
    assert!(open(file).is_ok());
}

#[test]
fn where_nothing_can_be_made_it_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let error = open(folder.path().join("missing/record.db")).unwrap_err();
    assert!(matches!(error, RecordError::CannotOpen { .. }), "{error:?}");
    assert!(
        error.to_user_error().message.contains("missing"),
        "{}",
        error.to_user_error()
    );

    let error = open(folder.path().to_owned()).unwrap_err();
    assert!(matches!(error, RecordError::CannotOpen { .. }), "{error:?}");
}

#[test]
fn odd_names_and_empty_files_are_fine() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a b?c#d%41.db", "ünï.db", "file:x.db"] {
        let file = folder.path().join(name);
        fs::write(&file, b"").unwrap();
        for _ in 0..2 {
            let (record, _) = open(file.clone()).unwrap();
            assert_eq!(record.last_seq().unwrap(), 0);
        }
        assert!(fs::metadata(&file).unwrap().len() > 0, "{name}");
    }
}

#[cfg(unix)]
#[test]
fn only_its_owner_can_read_it() {
    use std::os::unix::fs::PermissionsExt;
    let mut desk = Desk::new();
    desk.tell("ses_1", sample_events::opened("Private"));
    for (name, _) in contents(desk.folder.path()) {
        let mode = fs::metadata(desk.folder.path().join(&name))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
}
