//! First messages of a client, and the answers to wrong ones.

use serde_json::{Value, json};

use super::client::{Client, text};
use super::{pairs, recorded};
use crate::support::CliFixture;

/// Each of these is answered, and the connection goes on.
#[test]
fn bad_input_is_answered_and_nothing_breaks() {
    let place = CliFixture::new();
    place.write_file("a.txt", "alpha\n");
    let mut client = Client::greeted(&place, &[]);
    let deep = (0..100).fold(json!(1), |below, _| json!({ "a": below }));
    let huge = "x".repeat(11 * 1024 * 1024);
    let long = "n".repeat(100_000);
    // The request, its code if it is an error of the protocol, and words of it.
    let table: &[(&str, Value, Option<i64>, &str)] = &[
        (
            "no/such",
            json!({}),
            Some(-32601),
            "There is no method `no/such` here",
        ),
        (
            "resources/read",
            json!({ "uri": "a:b" }),
            Some(-32601),
            "does not offer this",
        ),
        (
            "tools/call",
            Value::Null,
            Some(-32602),
            "parameters of `tools/call`",
        ),
        (
            "tools/call",
            json!({ "name": 7 }),
            Some(-32602),
            "parameters of `tools/call`",
        ),
        (
            "tools/call",
            json!({ "name": "read", "arguments": [1] }),
            Some(-32602),
            "parameters of `tools/call`",
        ),
        (
            "tools/call",
            json!({ "name": "nope" }),
            Some(-32602),
            "Tool not found: nope",
        ),
        (
            "tools/call",
            json!({ "name": "" }),
            Some(-32602),
            "Tool not found",
        ),
        (
            "tools/call",
            json!({ "name": long }),
            Some(-32602),
            "Tool not found: nnn",
        ),
        (
            "tools/call",
            json!({ "name": "task", "arguments": {} }),
            Some(-32602),
            "Tool not found: task",
        ),
        (
            "tools/call",
            json!({ "name": "plan", "arguments": {} }),
            Some(-32602),
            "Tool not found: plan",
        ),
        (
            "tools/list",
            json!({ "cursor": "elsewhere" }),
            Some(-32602),
            "no such page",
        ),
        (
            "tools/list",
            json!({ "cursor": "9999999" }),
            Some(-32602),
            "no such page",
        ),
        (
            "tools/call",
            json!({ "name": "read" }),
            None,
            "Invalid arguments",
        ),
        (
            "tools/call",
            json!({ "name": "read", "arguments": { "path": 7 } }),
            None,
            "Invalid arguments",
        ),
        (
            "tools/call",
            json!({ "name": "read", "arguments": { "path": "a.txt", "more": 1 } }),
            None,
            "more",
        ),
        (
            "tools/call",
            json!({ "name": "read", "arguments": { "path": deep } }),
            None,
            "Invalid arguments",
        ),
        (
            "tools/call",
            json!({ "name": "write", "arguments": { "path": "h", "content": huge } }),
            None,
            "at most 10485760",
        ),
        (
            "tools/call",
            json!({ "name": "read", "arguments": { "path": "../../x" } }),
            None,
            "outside the workspace",
        ),
    ];
    for (method, params, code, words) in table {
        let said = client.ask(method, params.clone());
        let text = match code {
            Some(code) => {
                assert_eq!(said["error"]["code"], *code, "{method}: {said}");
                said["error"]["message"].as_str().unwrap().to_owned()
            }
            None => {
                let (text, is_error) = text(&said["result"]);
                assert!(is_error, "{text}");
                text
            }
        };
        assert!(
            text.contains(words) && text.len() < 2_000,
            "{method}: {text}"
        );
    }
    for line in [
        "{nope",
        "",
        "\u{feff}",
        "null",
        "[]",
        "7",
        "{}",
        "{\"jsonrpc\":\"2.0\",\"id\":99}",
    ] {
        client.raw(line);
    }
    // Longer than any message may be.
    client.raw(&format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":98,\"method\":\"{}\"}}",
        "x".repeat(17 * 1024 * 1024)
    ));
    client.tell("notifications/cancelled", json!({ "requestId": 4242 }));
    client.tell("notifications/none-such", json!({}));
    let (read, is_error) = client.called("read", json!({ "path": "a.txt" }));
    assert!(read.contains("alpha") && !is_error, "{read}");
    let (code, heard, _) = client.close();
    assert_eq!(code, 0);
    let codes: Vec<_> = heard
        .iter()
        .map(|said| (said["id"].clone(), said["error"]["code"].as_i64().unwrap()))
        .collect();
    let nameless = |code| (Value::Null, code);
    let expected = [
        nameless(-32700),
        nameless(-32600),
        nameless(-32600),
        nameless(-32600),
        nameless(-32600),
        (json!(99), -32600),
        (json!(98), -32600),
    ];
    assert_eq!(codes, expected, "{heard:?}");
}

/// A fault that keeps the gateway from serving is on standard error; standard output stays empty.
#[test]
fn a_beginning_that_is_none_is_told() {
    let place = CliFixture::new();
    let bad = place.write_outside_file("bad.toml", "[[rule]]\npermission = 7\n");
    for (args, code, words) in [
        (&["--workspace", "gone"][..], 2, "gone"),
        (&["--workspace", "gone", "--json"], 2, "gone"),
        (&["--rules", &bad], 4, "bad.toml"),
        (&["--rules", "none.toml"], 4, "none.toml"),
    ] {
        let (ended, heard, log) = Client::start(&place, args).close();
        assert_eq!((ended, heard), (code, Vec::new()), "{args:?}: {log}");
        assert!(log.contains(words), "{args:?}: {log}");
    }
    // Nobody came.
    assert_eq!(
        Client::start(&place, &[]).close(),
        (0, Vec::new(), String::new())
    );
    // Somebody who does not begin.
    let mut client = Client::start(&place, &[]);
    let early = client.ask("tools/list", json!({}));
    assert_eq!(early["error"]["code"], -32602, "{early}");
    client.tell("notifications/initialized", json!({}));
    let (code, _, log) = client.ended();
    assert_eq!(code, 1);
    assert!(
        log.contains("did not begin as the Model Context Protocol has it"),
        "{log}"
    );
}

/// The older versions are agreed on; the requests of 2026 stand for themselves, and one session has them all.
#[test]
fn both_eras_are_spoken() {
    let place = CliFixture::new();
    place.write_file("a.txt", "alpha\n");
    for (wanted, agreed) in [
        ("2024-11-05", "2024-11-05"),
        ("2025-06-18", "2025-06-18"),
        ("1999-01-01", "2025-11-25"),
        ("2026-07-28", "2025-11-25"),
    ] {
        let mut client = Client::start(&place, &[]);
        let info = json!({ "name": "old", "version": "" });
        let hello = json!({ "protocolVersion": wanted, "capabilities": {}, "clientInfo": info });
        let said = client.ask("initialize", hello);
        assert_eq!(said["result"]["protocolVersion"], agreed, "{said}");
        let (read, is_error) = client.called("read", json!({ "path": "a.txt" }));
        assert!(read.contains("alpha") && !is_error, "{read}");
        assert_eq!(client.close().0, 0);
        assert!(place.run_ok(&["show", "last"]).contains("Calls of old\n"));
    }
    let mut client = Client::modern(&place, &[]);
    let found = client.ask("server/discover", json!({}));
    let versions = found["result"]["supportedVersions"].as_array().unwrap();
    assert!(versions.contains(&json!("2026-07-28")) && versions.contains(&json!("2025-11-25")));
    let listed = client.ask("tools/list", json!({}));
    assert_eq!(listed["result"]["resultType"], "complete");
    for _ in 0..2 {
        let read = client.call("read", json!({ "path": "a.txt" }));
        assert_eq!(read["resultType"], "complete", "{read}");
        assert!(text(&read).0.contains("alpha"), "{read}");
    }
    let initialize = client.ask("ping", json!({}));
    assert_eq!(
        initialize["error"]["code"], -32601,
        "there is no ping any more"
    );
    assert_eq!(client.close().0, 0);
    let story = place.run_ok(&["show", "last"]);
    assert!(
        story.contains("Calls of modern 2.0\n") && story.contains("by MCP 2026-07-28"),
        "{story}"
    );
    assert_eq!(
        recorded(&place),
        pairs(&[("read", "done"), ("read", "done")])
    );
}
