//! `sessions delete`: nothing goes without a yes, and then nothing is left but a line.

use crate::support::CliFixture;

fn ids(place: &CliFixture) -> Vec<String> {
    let listed = place.run_json(&["sessions"]);
    let sessions = listed["sessions"].as_array().unwrap();
    let ids = sessions
        .iter()
        .map(|one| one["id"].as_str().unwrap().to_owned());
    ids.collect()
}

#[test]
fn sessions_are_deleted_once_somebody_agreed() {
    let place = CliFixture::new();
    place.write_file("notes.md", "The walrus knows.\n");
    for _ in 0..2 {
        place.run_ok(&["call", "read", r#"{"path":"notes.md"}"#]);
    }
    let both = ids(&place);
    let (newer, older) = (&both[0], &both[1]);
    // Without a terminal nobody agrees.
    for args in [
        &["sessions", "delete", "last"][..],
        &["sessions", "delete", "last", "--json"],
    ] {
        let ran = place.run(args);
        assert_eq!(ran.code, 2, "{ran:?}");
        assert!((ran.err + &ran.out).contains("Nothing was deleted."));
    }
    // One wrong name, and nothing is deleted.
    assert_eq!(
        place
            .run(&["sessions", "delete", older, "nothing", "--yes"])
            .code,
        2
    );
    assert_eq!(ids(&place), both);
    assert_eq!(
        place.run_ok(&["sessions", "--deleted"]),
        "No session was deleted.\n"
    );

    let told = place.run_ok(&["sessions", "delete", older, "--yes"]);
    assert!(
        told.starts_with("Deleted: ") && told.ends_with("; 1 call.\n"),
        "{told}"
    );
    assert_eq!(ids(&place), std::slice::from_ref(newer));
    let listed = place.run_ok(&["sessions", "--deleted"]);
    assert!(
        listed.contains(older) && listed.contains("on the command line"),
        "{listed}"
    );
    let line = &place.run_json(&["sessions", "--deleted"])["deleted"][0];
    assert_eq!(
        (line["session"].as_str(), line["calls"].as_u64()),
        (Some(older.as_str()), Some(1))
    );

    let told = place.run_json(&["sessions", "delete", newer, newer, "--yes"]);
    assert_eq!(told["deleted"].as_array().unwrap().len(), 1);
    assert_eq!(told["deleted"][0]["erased"]["calls"], 1);
    assert!(ids(&place).is_empty());
    assert_eq!(
        place.run_json(&["search", "walrus"])["hits"]
            .as_array()
            .unwrap()
            .len(),
        0
    );
}
