//! Tools of a server that touch files: named with their server, called by hand, explained, in the history and undone.

use crate::support::CliFixture;

/// A server with more tools than a model is shown at first; one writes a file where it is told to.
const SERVER: &str = r#"
import json, sys
text = {"type": "string"}
tools = [{"name": "write_file", "description": "Writes a file.", "inputSchema": {"type": "object",
          "properties": {"content": text, "path": text}, "required": ["path", "content"]}}]
tools += [{"name": f"other_{n}", "description": "Does nothing.", "inputSchema": {"type": "object"}}
          for n in range(60)]
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    answer = {"jsonrpc": "2.0", "id": asked["id"]}
    if asked["method"] == "initialize":
        answer["result"] = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                            "serverInfo": {"name": "files", "version": "1"}}
    elif asked["method"] == "tools/list":
        answer["result"] = {"tools": tools}
    elif asked["method"] == "tools/call":
        given = asked["params"].get("arguments", {})
        if asked["params"]["name"] == "write_file":
            open(given["path"], "w").write(given["content"])
        answer["result"] = {"content": [{"type": "text", "text": "Wrote it."}]}
    else:
        answer["error"] = {"code": -32601, "message": "no such method"}
    print(json.dumps(answer), flush=True)
"#;

fn with_server(rules: &str) -> CliFixture {
    let place = CliFixture::new();
    let script = place.write_outside_file("server.py", SERVER);
    place.run_ok(&["servers", "add", "files", "--", "python3", &script]);
    place.run_ok(&["servers", "enable", "files"]);
    std::fs::write(place.data().join("rules.toml"), rules).unwrap();
    place
}

/// A model would have to search for the tool first; who calls it by hand has it before them. What it changed is undone.
#[test]
fn a_tool_of_many_is_called_by_hand_and_undone() {
    let rules =
        "[[rule]]\npermission = \"files__write_file\"\npattern = \"*.txt\"\naction = \"allow\"\n";
    let place = with_server(rules);
    let path = place.workspace().join("new.txt");
    let arguments = serde_json::json!({ "path": path, "content": "hello" }).to_string();
    let explained = place.run_json(&["policy", "explain", "files__write_file", &arguments]);
    assert_eq!(explained["verdict"], "allow", "{explained}");
    let called = place.run_ok(&["call", "files__write_file", &arguments]);
    assert!(called.contains("write_file (files)"), "{called}");
    assert!(called.contains("new.txt"), "{called}");
    assert_eq!(place.read_file("new.txt").as_deref(), Some("hello"));
    let history = place.run_ok(&["history"]);
    assert!(history.contains("write_file (files)"), "{history}");
    place.run_ok(&["undo"]);
    assert_eq!(place.read_file("new.txt"), None);

    // A call that no rule names is explained and run alike: denied, because nobody is there to ask.
    let other = serde_json::json!({ "path": place.workspace().join("new.md"), "content": "x" });
    let other = other.to_string();
    let explain = [
        "policy",
        "explain",
        "files__write_file",
        &other,
        "--headless",
    ];
    assert_eq!(place.run_json(&explain)["verdict"], "deny");
    let called = place.run(&["call", "files__write_file", &other]);
    assert_eq!(called.code, 3, "{called:?}");
    assert!(
        called.out.contains("runs as you, outside any sandbox"),
        "{}",
        called.out
    );
}

/// A server is moved into a sandbox and out of it, and is said to be where it is. Where there is no sandbox it is not started, and stays
/// off.
#[cfg(target_os = "linux")]
#[test]
fn a_server_is_moved_into_a_sandbox_and_back() {
    let place = with_server("");
    // Where no sandbox program is installed beside it.
    let folder = tempfile::tempdir_in(place.data().parent().unwrap()).unwrap();
    let alone = folder.path().join("countersign");
    std::fs::copy(env!("CARGO_BIN_EXE_countersign"), &alone).unwrap();
    let run = |args: &[&str]| {
        let mut command = std::process::Command::new(&alone);
        command.args(args).current_dir(place.workspace());
        command.env_clear().envs(place.environment());
        let ran = command.output().unwrap();
        let said = String::from_utf8([ran.stdout, ran.stderr].concat()).unwrap();
        (ran.status.code(), said)
    };
    let offered = "Runs as you, outside any sandbox. To run it in a sandbox: countersign servers sandbox files FOLDER";
    let (_, list) = run(&["servers", "list"]);
    assert!(list.contains(offered), "{list}");

    let (code, moved) = run(&[
        "servers",
        "sandbox",
        "files",
        ".",
        "--allow-host",
        "docs.rs",
    ]);
    assert_eq!(code, Some(1), "{moved}");
    assert!(moved.contains("it was not started"), "{moved}");
    assert!(
        moved.contains("`countersign-sandbox`, is not installed"),
        "{moved}"
    );
    let (_, list) = run(&["servers", "list"]);
    let workspace = place.workspace().display().to_string();
    let says = format!("Runs in a sandbox: changes {workspace} alone, reaches docs.rs.");
    assert!(list.starts_with("files  off"), "{list}");
    assert!(list.contains(&says), "{list}");

    // The name that the command had before.
    let (code, back) = run(&["servers", "room", "files", "--leave"]);
    assert_eq!(code, Some(0), "{back}");
    assert!(
        back.starts_with("files  off") && back.contains(offered),
        "{back}"
    );
    let (code, on) = run(&["servers", "enable", "files"]);
    assert_eq!(code, Some(0), "{on}");
    let (_, moved) = run(&["servers", "sandbox", "files", "--leave"]);
    assert!(moved.starts_with("files  connected"), "{moved}");
}

#[test]
fn what_cannot_be_a_sandbox_is_named() {
    let place = with_server("");
    place.run_ok(&["servers", "add", "far", "--url", "http://127.0.0.1:9/mcp"]);
    for (args, why) in [
        (&["files", "/"][..], "the whole disk"),
        (&["files", ".", "--allow-host", "*.rs"], "a pattern of many"),
        (&["files"], "<FOLDER"),
        (&["files", ".", "--leave"], "cannot be used with"),
        (&["far", "."], "on another machine"),
    ] {
        let ran = place.run(&[&["servers", "sandbox"], args].concat());
        assert_ne!(ran.code, 0, "{args:?}");
        assert!(ran.err.contains(why), "{args:?}: {}", ran.err);
        let list = place.run_ok(&["servers", "list"]);
        assert!(list.contains("Runs as you, outside any sandbox."), "{list}");
    }
}
