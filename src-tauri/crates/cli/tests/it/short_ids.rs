//! `sessions`, `history` and what names one of many: columns, short ids, `last`, closing.

use serde_json::{Value, json};

use crate::support::CliFixture;

/// A file that is written, then a file that is read, each in a session of its own.
fn worked() -> CliFixture {
    let place = CliFixture::new();
    place.run_ok(&["call", "write", r#"{"path":"a.txt","content":"one\n"}"#]);
    place.run_ok(&["call", "read", r#"{"path":"a.txt"}"#]);
    place
}

fn ids(list: &Value) -> Vec<String> {
    let each = list.as_array().unwrap().iter();
    each.map(|one| one["id"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn sessions_stand_in_columns_with_ids_that_can_be_typed() {
    let place = worked();
    let all = ids(&place.run_json(&["sessions"])["sessions"]);
    let list = place.run_ok(&["sessions"]);
    let lines: Vec<&str> = list.lines().collect();
    assert_eq!(lines.len(), 2, "{list}");
    for (line, id) in lines.iter().zip(&all) {
        let short = line.split_whitespace().nth(1).unwrap();
        assert!(short.len() < 10 && id.ends_with(short), "{line}");
        assert!(line.contains("done  just now  "), "{line}");
        assert_eq!(place.run_ok(&["show", short]), place.run_ok(&["show", id]));
    }
    let starts: Vec<_> = lines.iter().map(|line| line.find("just now")).collect();
    assert_eq!(starts[0], starts[1], "{list}");
    assert_eq!(
        place.run_ok(&["sessions", "--limit", "1"]).lines().count(),
        1
    );
    let elsewhere = place.run_ok(&["sessions", "--workspace", "elsewhere"]);
    assert!(elsewhere.contains("no session"), "{elsewhere}");
    assert_eq!(
        place
            .run_ok(&["sessions", "--workspace", "."])
            .lines()
            .count(),
        2
    );
}

/// An undo is no work of the session whose change it takes back.
#[test]
fn last_is_the_session_that_was_begun_last_also_after_an_undo() {
    let place = worked();
    let before = place.run_ok(&["show", "last"]);
    assert!(before.contains("✓ Read a.txt"), "{before}");
    place.run_ok(&["undo"]);
    assert_eq!(place.read_file("a.txt"), None);
    assert_eq!(place.run_ok(&["show", "last"]), before);
    assert_eq!(place.run_ok(&["show", "last", "--color", "never"]), before);
}

#[test]
fn history_entries_are_named_by_their_ends() {
    let place = worked();
    let all = ids(&place.run_json(&["history"])["entries"]);
    let list = place.run_ok(&["history"]);
    let short = list.split_whitespace().next().unwrap();
    assert!(short.len() < 10 && all[0].ends_with(short), "{list}");
    assert!(list.contains("can be undone"), "{list}");
    place.run_ok(&["undo", short]);
    assert_eq!(place.read_file("a.txt"), None);
    let ran = place.run(&["redo", "zzzz"]);
    assert_eq!(ran.code, 2);
    assert!(
        ran.err.contains("There is no history entry zzzz."),
        "{}",
        ran.err
    );
    place.run_ok(&["redo", short]);
    assert_eq!(place.read_file("a.txt").as_deref(), Some("one\n"));
}

#[test]
fn a_call_is_named_by_its_end() {
    let place = worked();
    let entries = place.run_ok(&["show", "last", "--json"]);
    let call = entries
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .find(|entry| entry["body"]["type"] == "call")
        .unwrap();
    let id = call["id"].as_str().unwrap();
    let whole = place.run_ok(&["show", "last", "--call", id]);
    assert_eq!(
        place.run_ok(&["show", "last", "--call", &id[id.len() - 6..]]),
        whole
    );
}

/// The archive is out of the way, and a wrong name moves nothing.
#[test]
fn a_session_is_archived_and_pinned_from_the_command_line() {
    let place = CliFixture::new();
    for path in ["one", "two", "three"] {
        let arguments = format!(r#"{{"path":"{path}"}}"#);
        place.run(&["call", "read", &arguments]);
    }
    let all = ids(&place.run_json(&["sessions"])["sessions"]);
    let [third, second, first] = all.as_slice() else {
        panic!("{all:?}");
    };
    let ran = place.run(&["sessions", "archive", second, "nobody"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert_eq!(ids(&place.run_json(&["sessions"])["sessions"]), all);
    let moved = place.run_json(&["sessions", "archive", second]);
    assert_eq!(moved, json!({ "moved": [second], "place": "archived" }));
    place.run_ok(&["sessions", "pin", first]);
    let listed = place.run_json(&["sessions"]);
    assert_eq!(ids(&listed["sessions"]), [first.clone(), third.clone()]);
    let archived = place.run_json(&["sessions", "--archived"]);
    assert_eq!(ids(&archived["sessions"]), *std::slice::from_ref(second));
    assert!(place.run_ok(&["sessions"]).contains("In the archive: 1."));
    place.run_ok(&["sessions", "restore", first, second]);
    let listed = place.run_json(&["sessions", "--archived"]);
    assert_eq!(listed["sessions"], json!([]));
}

/// Closing removes what a session left beside its record; a session that works is left alone.
#[test]
fn a_session_is_closed_from_the_command_line() {
    let place = CliFixture::new();
    place.run_ok(&[
        "call",
        "bash",
        r#"{"command":"yes word | head -n 90000"}"#,
        "--approve-all",
    ]);
    let id = ids(&place.run_json(&["sessions"])["sessions"]).remove(0);
    let files = || crate::support::read_folder(&place.data().join("sessions").join(&id)).len();
    let before = files();
    assert!(before > 0, "the long output stands beside the record");
    let ran = place.run(&["sessions", "close", "last", "nobody"]);
    assert_eq!((ran.code, files()), (2, before), "{ran:?}");
    let told = place.run_ok(&["sessions", "close", "last"]);
    assert!(told.contains("Closed: Call bash"), "{told}");
    assert!(files() < before);
    assert!(place.run_ok(&["show", "last"]).contains("was closed"));
    let closed = place.run_json(&["sessions", "close", &id[id.len() - 6..]]);
    assert_eq!(closed["closed"][0], id.as_str());
}
