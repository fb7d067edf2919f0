//! `record rescue`: a damaged record is refused, and what can be read of it goes on.

use std::fs;

use serde_json::json;

use crate::support::CliFixture;

/// A place with one session on record, whose database has lost its first bytes.
fn place_with_damaged_record() -> CliFixture {
    let place = CliFixture::new();
    place.write_file("notes.md", "The walrus knows.\n");
    place.run_ok(&["call", "read", r#"{"path":"notes.md"}"#]);
    let file = place.data().join("record.db");
    let mut bytes = fs::read(&file).unwrap();
    bytes[..16].fill(b'?');
    fs::write(file, bytes).unwrap();
    place
}

#[test]
fn a_damaged_record_is_refused_and_goes_on_once_it_is_rescued() {
    let place = place_with_damaged_record();
    let damaged = fs::read(place.data().join("record.db")).unwrap();
    let refused = place.run(&["sessions"]);
    assert_eq!(refused.code, 4, "{refused:?}");
    assert!(
        refused.err.contains("countersign record rescue"),
        "{refused:?}"
    );

    let told = place.run_ok(&["record", "rescue", "--out", "saved.db"]);
    let lines: Vec<_> = told.lines().collect();
    assert!(
        lines[0].starts_with("Saved ") && lines[0].contains(" of 1 session in "),
        "{told}"
    );
    assert!(lines[0].ends_with("saved.db."), "{told}");
    assert_eq!(
        lines[1..],
        [
            "Nothing was unreadable.",
            "To go on with what was saved: countersign record rescue --replace"
        ]
    );
    assert_eq!(fs::read(place.data().join("record.db")).unwrap(), damaged);
    let again = place.run(&["record", "rescue", "--out", "saved.db"]);
    assert_eq!(again.code, 4, "{again:?}");
    assert!(again.err.contains("saved.db"), "{again:?}");

    place.run_ok(&["record", "rescue"]);
    assert!(place.data().join("record.rescued.db").exists());
    let told = place.run_json(&["record", "rescue", "--replace"]);
    assert_eq!((&told["sessions"], &told["lost"]), (&json!(1), &json!([])));
    let kept = place.data().join("record.damaged.db");
    assert_eq!(told["damaged"], json!(kept));
    assert_eq!(fs::read(kept).unwrap(), damaged);
    let found = place.run_json(&["search", "walrus"]);
    assert_eq!(found["hits"].as_array().unwrap().len(), 1, "{found}");
}

#[test]
fn a_record_that_is_in_use_is_not_replaced() {
    let place = place_with_damaged_record();
    let in_use = fs::File::options()
        .write(true)
        .open(place.data().join("in-use"))
        .unwrap();
    in_use.lock_shared().unwrap();
    let refused = place.run(&["record", "rescue", "--replace"]);
    assert_eq!(refused.code, 4, "{refused:?}");
    assert!(
        refused
            .err
            .contains("Another Countersign uses the data folder"),
        "{refused:?}"
    );
    assert!(!place.data().join("record.damaged.db").exists());

    in_use.unlock().unwrap();
    in_use.lock().unwrap();
    let refused = place.run(&["sessions"]);
    assert!(
        refused.err.contains("is just being replaced"),
        "{refused:?}"
    );
}
