//! `data backup` and `data restore`: everything comes back, and nothing is lost on the way.

use std::fs;

use serde_json::json;

use crate::support::CliFixture;

/// A place with a session on record, a setting, and a change that can be undone.
fn place_with_data() -> CliFixture {
    let place = CliFixture::new();
    place.write_file("notes.md", "The walrus knows.\n");
    place.run_ok(&["config", "set", "theme", "dark"]);
    place.run_ok(&["call", "read", r#"{"path":"notes.md"}"#]);
    let write = r#"{"path":"notes.md","content":"Nobody knows.\n"}"#;
    place.run_ok(&["call", "write", write, "--approve-all"]);
    place
}

fn hits(place: &CliFixture) -> usize {
    let found = place.run_json(&["search", "walrus"]);
    found["hits"].as_array().unwrap().len()
}

#[test]
fn a_backup_restores_record_settings_and_undo() {
    let place = place_with_data();
    let file = place.create_outside_folder("backups") + "/countersign.tar.zst";
    let told = place.run_ok(&["data", "backup", &file]);
    assert!(
        told.starts_with("Backed up ") && told.contains("Keys are not in it"),
        "{told}"
    );
    let again = place.run(&["data", "backup", &file]);
    assert_eq!(again.code, 4, "{again:?}");
    let inside = place.data().join("backup.tar.zst");
    let refused = place.run(&["data", "backup", &inside.display().to_string()]);
    assert!(refused.err.contains("would be lost with it"), "{refused:?}");

    // The disk is gone.
    fs::remove_dir_all(place.data()).unwrap();
    let told = place.run_json(&["data", "restore", &file]);
    assert_eq!(told["replaced"], json!(null));
    assert_eq!(hits(&place), 1);
    assert_eq!(place.run_ok(&["config", "get", "theme"]).trim(), "dark");
    let history = place.run_json(&["history"]);
    let entry = history["entries"][0]["id"].as_str().unwrap();
    place.run_ok(&["undo", entry]);
    assert_eq!(place.read_file("notes.md").unwrap(), "The walrus knows.\n");
}

#[test]
fn what_is_there_is_replaced_only_if_that_is_wanted_and_then_kept() {
    let place = place_with_data();
    let file = place.create_outside_folder("backups") + "/countersign.tar.zst";
    place.run_ok(&["data", "backup", &file]);
    fs::write(
        place.data().join("record.db"),
        "not a database, and longer than the header of one",
    )
    .unwrap();
    let refused = place.run(&["data", "restore", &file]);
    assert_eq!(refused.code, 4, "{refused:?}");
    assert!(refused.err.contains("--replace"), "{refused:?}");

    let in_use = fs::File::options()
        .write(true)
        .open(place.data().join("in-use"))
        .unwrap();
    in_use.lock_shared().unwrap();
    let refused = place.run(&["data", "restore", &file, "--replace"]);
    assert!(
        refused
            .err
            .contains("Another Countersign uses the data folder"),
        "{refused:?}"
    );
    drop(in_use);

    let told = place.run_ok(&["data", "restore", &file, "--replace"]);
    assert!(told.contains("What was there before is kept as "), "{told}");
    assert_eq!(hits(&place), 1);
    let replaced = place.data().with_file_name("data.replaced");
    assert!(
        fs::read(replaced.join("record.db"))
            .unwrap()
            .starts_with(b"not a database")
    );
}

#[test]
fn what_is_no_backup_changes_nothing() {
    let place = place_with_data();
    let file = place.create_outside_folder("backups") + "/countersign.tar.zst";
    place.run_ok(&["data", "backup", &file]);
    let whole = fs::read(&file).unwrap();
    for (bytes, reason) in [
        (&b"text"[..], "is not a backup"),
        (&whole[..whole.len() - 1], "countersign.tar.zst"),
    ] {
        fs::write(&file, bytes).unwrap();
        let refused = place.run(&["data", "restore", &file, "--replace"]);
        assert_eq!(refused.code, 4, "{refused:?}");
        assert!(refused.err.contains(reason), "{refused:?}");
        assert_eq!(hits(&place), 1);
    }
    let missing = place.run(&["data", "restore", "nowhere.tar.zst"]);
    assert!(missing.err.contains("nowhere.tar.zst"), "{missing:?}");
}
