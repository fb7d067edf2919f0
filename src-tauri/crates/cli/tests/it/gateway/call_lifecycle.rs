//! How calls of a client run beside each other, and how they end.

use std::io::{Read, Write};
use std::net::TcpListener;
#[cfg(unix)]
use std::process::Command;

use serde_json::json;

use super::client::{Client, text};
#[cfg(unix)]
use super::{RULES, pairs, recorded};
use crate::support::CliFixture;

/// A request that is cancelled ends its call and no other; no answer comes. Whoever closes the connection ends what runs.
#[cfg(unix)]
#[test]
fn calls_end_with_their_request_and_with_the_connection() {
    let place = CliFixture::new();
    place.write_file("a.txt", "alpha\n");
    let rules = place.write_outside_file("rules.toml", RULES);
    let mut client = Client::greeted(&place, &["--rules", &rules]);
    let sleeps = client.begins_to_sleep();
    // A command is not proven safe beside others: this one waits for its end.
    let waits = client.begin(
        "tools/call",
        json!({ "name": "read", "arguments": { "path": "a.txt" } }),
    );
    let never = client.begin(
        "tools/call",
        json!({ "name": "bash", "arguments": { "command": "touch never" } }),
    );
    client.tell("notifications/cancelled", json!({ "requestId": never }));
    client.tell(
        "notifications/cancelled",
        json!({ "requestId": sleeps, "reason": "enough" }),
    );
    let read = client.answer(waits);
    assert!(text(&read["result"]).0.contains("alpha"), "{read}");
    assert_eq!(client.ask("ping", json!({}))["result"], json!({}));
    let sleeps = client.begins_to_sleep();
    let (code, heard, _) = client.close();
    assert_eq!(code, 0);
    let [last] = &heard[..] else {
        panic!("{heard:?}");
    };
    assert_eq!(
        (last["id"].as_u64(), text(&last["result"])),
        (Some(sleeps), ("Cancelled".to_owned(), true))
    );
    // Two requests that are on their way at the same time may come in either order.
    let mut made = recorded(&place);
    made[1..3].sort();
    assert_eq!(
        made,
        pairs(&[
            ("bash", "interrupted"),
            ("bash", "skipped"),
            ("read", "done"),
            ("bash", "interrupted")
        ])
    );
    assert_eq!(place.read_file("never"), None);

    let mut client = Client::greeted(&place, &["--rules", &rules]);
    client.begins_to_sleep();
    let told = Command::new("kill")
        .args(["-TERM", &client.id().to_string()])
        .status();
    assert!(told.unwrap().success());
    assert_eq!(client.ended().0, 0);
    assert_eq!(recorded(&place), pairs(&[("bash", "interrupted")]));
}

/// Calls that are proven safe beside others run side by side: each of two fetches is answered only once both have come.
#[test]
fn calls_run_side_by_side() {
    let place = CliFixture::new();
    let site = TcpListener::bind("127.0.0.1:0").unwrap();
    let host = site.local_addr().unwrap().to_string();
    let answers = std::thread::spawn(move || {
        let both = [site.accept().unwrap().0, site.accept().unwrap().0];
        for mut stream in both {
            let mut request = [0; 4096];
            assert!(stream.read(&mut request).unwrap() > 0);
            let body =
                "content-type: text/plain\r\ncontent-length: 5\r\nconnection: close\r\n\r\nsaid\n";
            stream
                .write_all(format!("HTTP/1.1 200 OK\r\n{body}").as_bytes())
                .unwrap();
        }
    });
    let rule =
        format!("[[rule]]\npermission = \"web_fetch\"\npattern = \"{host}\"\naction = \"allow\"\n");
    let rules = place.write_outside_file("rules.toml", &rule);
    let mut client = Client::greeted(&place, &["--rules", &rules]);
    let fetch = json!({ "name": "web_fetch", "arguments": { "url": format!("http://{host}/") } });
    let ids = [
        client.begin("tools/call", fetch.clone()),
        client.begin("tools/call", fetch),
    ];
    for id in ids {
        let (said, is_error) = text(&client.answer(id)["result"]);
        assert!(said.contains("said") && !is_error, "{said}");
    }
    answers.join().unwrap();
    assert_eq!(client.close().0, 0);
}

/// Answers are on disk whatever comes: a program that is killed in the middle of a call loses none of them,
/// and whoever looks next finds that call over.
#[cfg(unix)]
#[test]
fn nothing_that_was_answered_is_lost() {
    let place = CliFixture::new();
    let rules = place.write_outside_file("rules.toml", RULES);
    let mut client = Client::greeted(&place, &["--rules", &rules]);
    for name in ["a", "b", "c"] {
        let (said, is_error) = client.called("write", json!({ "path": name, "content": name }));
        assert!(!is_error, "{said}");
    }
    let (said, is_error) = client.called("read", json!({ "path": "a" }));
    assert!(!is_error, "{said}");
    client.begins_to_sleep();
    client.kill();
    let calls = [
        ("write", "done"),
        ("write", "done"),
        ("write", "done"),
        ("read", "done"),
        ("bash", "interrupted"),
    ];
    assert_eq!(recorded(&place), pairs(&calls));
    place.run_ok(&["undo"]);
    assert_eq!(
        (place.read_file("b"), place.read_file("c")),
        (Some("b".to_owned()), None)
    );
}
