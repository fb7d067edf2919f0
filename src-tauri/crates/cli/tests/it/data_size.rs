//! `data size`: every file is counted once, in its part, whatever state the folder is in.

use std::fs;

use serde_json::Value;

use crate::support::{CliFixture, read_folder};

/// A place in which most of what the app can write was written.
fn place_with_all_parts() -> CliFixture {
    let place = CliFixture::new();
    place.write_file("notes.md", "The walrus knows.\n");
    place.run_ok(&["config", "set", "theme", "dark"]);
    let write = r#"{"path":"notes.md","content":"Nobody knows.\n"}"#;
    place.run_ok(&["call", "write", write, "--approve-all"]);
    let many = format!("{}\n", "walrus ".repeat(12)).repeat(4_000);
    place.write_file("long.txt", &many);
    let print = r#"{"command":"cat long.txt"}"#;
    place.run(&["call", "bash", print, "--approve-all"]);
    place.run_ok(&["servers", "add", "files", "--", "no-such-program"]);
    let token = place.run(&["gateway", "token", "add", "editor"]);
    assert_eq!(token.code, 0, "{token:?}");
    let data = place.data().display().to_string();
    place.run_ok(&["demo", "--data-dir", &data]);
    #[cfg(unix)]
    place.connect_claude_code();
    place
}

fn bytes_of(size: &Value, part: &str) -> Option<u64> {
    let parts = size["parts"].as_array().unwrap();
    let found = parts.iter().find(|one| one["part"] == part);
    found.map(|one| one["bytes"].as_u64().unwrap())
}

fn bytes_on_disk(place: &CliFixture) -> u64 {
    let files = read_folder(&place.data());
    files.iter().map(|(_, content)| content.len() as u64).sum()
}

#[test]
fn every_file_belongs_to_a_part_and_the_parts_are_the_sum() {
    let place = place_with_all_parts();
    let size = place.run_json(&["data", "size"]);
    assert_eq!(size["bytes"], bytes_on_disk(&place));
    for part in ["record", "undo", "outputs", "demo", "settings", "approvals"] {
        assert!(bytes_of(&size, part) > Some(0), "{part}: {size}");
    }
    assert_eq!(bytes_of(&size, "other"), None, "{size}");

    let told = place.run_ok(&["data", "size"]);
    assert!(told.contains("countersign history gc"), "{told}");
    fs::create_dir(place.data().join("letters")).unwrap();
    fs::write(place.data().join("letters/one.txt"), "Dear walrus").unwrap();
    let size = place.run_json(&["data", "size"]);
    assert_eq!(bytes_of(&size, "other"), Some(11));
}

#[test]
fn a_folder_that_nothing_opens_is_measured() {
    let place = CliFixture::new();
    let size = place.run_json(&["data", "size"]);
    assert_eq!(size["bytes"], 0);
    assert!(!place.data().exists(), "it was not made");

    place.run_ok(&["config", "set", "theme", "dark"]);
    place.run_ok(&["sessions"]);
    fs::write(place.data().join("record.db"), "not a database").unwrap();
    fs::write(place.data().join("settings.toml"), "not settings").unwrap();
    let in_use = fs::File::options()
        .write(true)
        .open(place.data().join("in-use"))
        .unwrap();
    in_use.lock_shared().unwrap();
    let size = place.run_json(&["data", "size"]);
    assert_eq!(bytes_of(&size, "settings"), Some(12), "{size}");
    assert_eq!(size["bytes"], bytes_on_disk(&place));
}
