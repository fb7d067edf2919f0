//! A gateway behind the gateway: our own client reaches what we serve, and both keep their rules and their record.

use serde_json::json;

use super::client::Client;
use super::{pairs, recorded};
use crate::support::CliFixture;

/// The tools of the one behind are tools of the one in front, under its name; each judges a call for itself.
#[test]
fn a_gateway_stands_behind_a_gateway() {
    let (front, behind) = (CliFixture::new(), CliFixture::new());
    behind.write_file("a.txt", "alpha\n");
    let (data, workspace) = (behind.data(), behind.workspace());
    let program = env!("CARGO_BIN_EXE_countersign");
    let serve = [
        "--data-dir",
        data.to_str().unwrap(),
        "gateway",
        "mcp",
        "--workspace",
    ];
    let add = ["servers", "add", "behind", "--", program];
    front.run_ok(&[&add[..], &serve, &[workspace.to_str().unwrap()]].concat());
    let on = front.run_ok(&["servers", "enable", "behind"]);
    assert!(on.contains("behind  connected"), "{on}");
    let rules = "[[rule]]\npermission = \"behind__*\"\naction = \"allow\"\n";
    let rules = front.write_outside_file("rules.toml", rules);

    let mut client = Client::greeted(&front, &["--rules", &rules]);
    let listed = client.ask("tools/list", json!({}));
    let tools = listed["result"]["tools"].as_array().unwrap();
    let read = tools.iter().find(|tool| tool["name"] == "behind__read");
    assert_eq!(read.unwrap()["inputSchema"]["required"], json!(["path"]));
    let (read, is_error) = client.called("behind__read", json!({ "path": "a.txt" }));
    assert!(read.contains("alpha") && !is_error, "{read}");
    // The one in front allows it; the one behind would have to ask.
    let (refused, is_error) = client.called("behind__bash", json!({ "command": "touch made" }));
    assert!(
        refused.contains("nobody is there to ask") && is_error,
        "{refused}"
    );
    assert_eq!(client.close().0, 0);

    let calls = [("behind__read", "done"), ("behind__bash", "failed")];
    assert_eq!(recorded(&front), pairs(&calls));
    assert_eq!(
        recorded(&behind),
        pairs(&[("read", "done"), ("bash", "denied")])
    );
    let story = behind.run_ok(&["show", "last"]);
    assert!(
        story.contains("Calls of countersign") && story.contains("by MCP 2026-07-28"),
        "{story}"
    );
    assert_eq!(behind.read_file("made"), None);
}
