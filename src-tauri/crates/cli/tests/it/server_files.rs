//! Tools of a server that touch files: named with their server, called by hand, explained, in the history and undone.

use crate::support::Place;

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

fn with_server(rules: &str) -> Place {
    let place = Place::new();
    let script = place.beside("server.py", SERVER);
    place.ok(&["servers", "add", "files", "--", "python3", &script]);
    place.ok(&["servers", "enable", "files"]);
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
    let explained = place.json(&["policy", "explain", "files__write_file", &arguments]);
    assert_eq!(explained["verdict"], "allow", "{explained}");
    let called = place.ok(&["call", "files__write_file", &arguments]);
    assert!(called.contains("write_file (files)"), "{called}");
    assert!(called.contains("new.txt"), "{called}");
    assert_eq!(place.read("new.txt").as_deref(), Some("hello"));
    let history = place.ok(&["history"]);
    assert!(history.contains("write_file (files)"), "{history}");
    place.ok(&["undo"]);
    assert_eq!(place.read("new.txt"), None);

    // What the rule does not name is explained and called alike: denied, because nobody is there to ask.
    let other = serde_json::json!({ "path": place.workspace().join("new.md"), "content": "x" });
    let other = other.to_string();
    let explain = [
        "policy",
        "explain",
        "files__write_file",
        &other,
        "--headless",
    ];
    assert_eq!(place.json(&explain)["verdict"], "deny");
    let called = place.run(&["call", "files__write_file", &other]);
    assert_eq!(called.code, 3, "{called:?}");
    assert!(
        called.out.contains("runs as you, outside any sandbox"),
        "{}",
        called.out
    );
}
