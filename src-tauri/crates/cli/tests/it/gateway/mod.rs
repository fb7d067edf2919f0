//! `gateway mcp`: a client starts the program and calls tools over its standard streams, in both eras.

mod backing_server;
mod call_lifecycle;
mod client;
mod handshake;
#[cfg(unix)]
mod http;
#[cfg(unix)]
mod nested_gateway;

use serde_json::{Value, json};

use self::client::Client;
use crate::support::{CliFixture, HEADLESS_REFUSAL};

/// Rules by which every command runs, and writing asks.
const RULES: &str = "[[rule]]\npermission = \"bash\"\naction = \"allow\"\n\n\
    [[rule]]\npermission = \"fs.write\"\npattern = \"locked/**\"\naction = \"ask\"\nreason = \"locked by hand\"\n";

/// The calls of the last session, by tool and state, in order.
fn recorded(place: &CliFixture) -> Vec<(String, String)> {
    let out = place.run_ok(&["show", "last", "--json"]);
    let entries = out
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let calls = entries.filter(|entry| entry["body"]["type"] == "call");
    let word = |value: &Value| value.as_str().unwrap().to_owned();
    calls
        .map(|entry| (word(&entry["body"]["tool"]), word(&entry["body"]["state"])))
        .collect()
}

fn pairs(wanted: &[(&str, &str)]) -> Vec<(String, String)> {
    let owned = |word: &str| word.to_owned();
    wanted.iter().map(|(a, b)| (owned(a), owned(b))).collect()
}

/// The tools are those that an agent would be offered, but for what needs a model of ours or a person; in pages.
#[test]
fn tools_are_listed_as_they_publish_themselves() {
    let place = CliFixture::new();
    place.write_file(
        ".countersign/tools/own.json",
        r#"{"own":{"type":"object","description":"Is the project's.","properties":{"text":{"type":"string"},"_output":{"type":"object"}},"required":["text"]}}"#,
    );
    let mut client = Client::greeted(&place, &[]);
    let listed = client.ask("tools/list", json!({}));
    let tools = listed["result"]["tools"].as_array().unwrap();
    let names: Vec<&str> = tools
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        [
            "read",
            "write",
            "edit",
            "glob",
            "grep",
            "bash",
            "todo",
            "web_search",
            "web_fetch",
            "skill",
            "delete_path",
            "apply_patch",
            "repo_overview",
            "lsp",
            "lsp_rename",
            "own",
        ]
    );
    let published = place.run_json(&["tools"]);
    let published = published["tools"].as_array().unwrap();
    for tool in tools {
        let name = &tool["name"];
        assert_eq!(tool["inputSchema"]["type"], "object", "{name}");
        assert!(tool.get("outputSchema").is_none(), "{name}");
        let Some(own) = published
            .iter()
            .find(|own| own["record"]["identity"]["tool_id"] == *name)
        else {
            assert_eq!(name, "own");
            continue;
        };
        let discovery = &own["record"]["discovery"];
        assert_eq!(tool["description"], discovery["description"], "{name}");
        let schema = &own["record"]["schemas"]["model_input_schema"];
        assert_eq!(
            tool["inputSchema"]["required"], schema["required"],
            "{name}"
        );
    }
    let hints = |name: &str| {
        let tool = tools.iter().find(|tool| tool["name"] == name).unwrap();
        let hint = |hint: &str| tool["annotations"][hint].as_bool().unwrap();
        (
            hint("readOnlyHint"),
            hint("destructiveHint"),
            hint("openWorldHint"),
        )
    };
    for (name, wanted) in [
        ("read", (true, false, false)),
        ("write", (false, false, false)),
        ("delete_path", (false, true, false)),
        ("bash", (false, true, true)),
        ("web_fetch", (true, false, true)),
    ] {
        assert_eq!(hints(name), wanted, "{name}");
    }
    let (code, heard, log) = client.close();
    assert_eq!((code, heard, log.as_str()), (0, Vec::new(), ""));
    // Listing tools leaves no session.
    assert_eq!(place.run_json(&["sessions"])["sessions"], json!([]));
}

/// `S002-105`: a question is not shown to a client, and one that calls it nevertheless reads the fixed sentence alone: no rule
/// could answer it.
#[test]
fn a_question_has_its_fixed_refusal_there_too() {
    let question = json!({ "questions": [{ "question": "Which one?" }] });
    for allowed in [&[][..], &["--approve-all"]] {
        let place = CliFixture::new();
        let mut client = Client::greeted(&place, allowed);
        let refused = client.called("question", question.clone());
        assert_eq!(refused, (HEADLESS_REFUSAL.to_owned(), true), "{allowed:?}");
        let (text, is_error) = client.called("question", json!({}));
        assert!(
            is_error && text.contains("`questions` is missing"),
            "{text}"
        );
        assert_eq!(client.close().0, 0);
    }
}

/// `S002-85`: what is allowed runs, what asks is refused with its reason and what to do, and nothing of it happens. The record
/// says who asked.
#[test]
fn s002_85_calls_are_judged_and_recorded_like_any_other() {
    let place = CliFixture::new();
    place.write_file("a.txt", "alpha\n");
    let rules = place.write_outside_file("rules.toml", RULES);
    let mut client = Client::greeted(&place, &["--rules", &rules]);
    let (read, is_error) = client.called("read", json!({ "path": "a.txt" }));
    assert!(read.contains("alpha") && !is_error, "{read}");
    let (written, is_error) = client.called("write", json!({ "path": "b.txt", "content": "b" }));
    assert!(!is_error, "{written}");
    let arguments =
        json!({ "path": "locked/c.txt", "content": "c", "_reasoningForCall": "To try it." });
    let (refused, is_error) = client.called("write", arguments);
    assert!(is_error, "{refused}");
    for said in [
        "`fs.write locked/**` (session's rules",
        "nobody is there to ask",
        "With a person there it would have asked",
        "Do not try it in another form",
        "--rules FILE",
    ] {
        assert!(refused.contains(said), "{said}: {refused}");
    }
    let (ran, is_error) = client.called("bash", json!({ "command": "echo ran" }));
    assert!(ran.contains("ran") && !is_error, "{ran}");
    let (failed, is_error) = client.called("read", json!({ "path": "none.txt" }));
    assert!(failed.contains("none.txt") && is_error, "{failed}");
    assert_eq!(
        (place.read_file("b.txt"), place.read_file("locked/c.txt")),
        (Some("b".to_owned()), None)
    );
    assert_eq!(client.close().0, 0);

    let calls = [
        ("read", "done"),
        ("write", "done"),
        ("write", "denied"),
        ("bash", "done"),
        ("read", "failed"),
    ];
    assert_eq!(recorded(&place), pairs(&calls));
    let story = place.run_ok(&["show", "last"]);
    for said in [
        "Calls of probe 1.0\n",
        "probe 1.0 makes the calls of this session itself, by MCP 2025-11-25. No model of ours asks.",
        "“To try it.”",
        "Denied: nobody is there to ask",
    ] {
        assert!(story.contains(said), "{said}: {story}");
    }
    let events = place.run_ok(&["export", "last", "--format", "jsonl"]);
    let opened: Value = serde_json::from_str(events.lines().next().unwrap()).unwrap();
    assert_eq!(
        opened["body"]["options"]["client"],
        json!({ "name": "probe", "version": "1.0", "by": "MCP 2025-11-25" })
    );
    assert!(!events.contains("turn_started"), "no model took a turn");
}

/// A person restores a file that a client deleted, to the byte.
#[test]
fn what_a_client_did_is_taken_back() {
    let place = CliFixture::new();
    place
        .write_file("kept/a.txt", "alpha\n")
        .write_file("kept/b.bin", "\u{1}\u{2}");
    let before = crate::support::read_folder(&place.workspace());
    let mut client = Client::greeted(&place, &[]);
    let (deleted, is_error) = client.called("delete_path", json!({ "path": "kept" }));
    assert!(!is_error, "{deleted}");
    assert_eq!(place.read_file("kept/a.txt"), None);
    assert_eq!(client.close().0, 0);
    place.run_ok(&["undo"]);
    assert_eq!(crate::support::read_folder(&place.workspace()), before);
    assert_eq!(recorded(&place), pairs(&[("delete_path", "undone")]));
}
