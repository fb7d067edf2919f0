//! `servers`: set up, approved, called and removed from a script.

use serde_json::json;

use crate::support::CliFixture;

/// A server of a few lines, with one tool that says what it is told.
const SERVER: &str = r#"
import json, os, sys
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    answer = {"jsonrpc": "2.0", "id": asked["id"]}
    if asked["method"] == "initialize":
        answer["result"] = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                            "serverInfo": {"name": "small", "version": "1"}}
    elif asked["method"] == "tools/list":
        told = os.environ.get("TOLD", "Says it.")
        answer["result"] = {"tools": [{"name": "say", "description": told, "inputSchema":
            {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}}]}
    elif asked["method"] == "tools/call":
        text = asked["params"]["arguments"]["text"]
        answer["result"] = {"content": [{"type": "text", "text": "You said " + text}]}
    else:
        answer["error"] = {"code": -32601, "message": "no such method"}
    print(json.dumps(answer), flush=True)
"#;

fn with_server() -> CliFixture {
    let place = CliFixture::new();
    let script = place.write_outside_file("server.py", SERVER);
    let env = ["--env", "TOLD=${TOLD:-Says it.}"];
    let added = place.run_ok(&[
        "servers", "add", "small", env[0], env[1], "--", "python3", &script,
    ]);
    assert!(added.starts_with("small  off"), "{added}");
    place
}

#[test]
fn a_server_is_set_up_approved_and_called() {
    let place = with_server();
    let told = place.run_json(&["tools"]).to_string();
    assert!(!told.contains("small__say"), "it is off");
    let on = place.run_ok(&["servers", "enable", "small"]);
    assert!(
        on.contains("small  connected") && on.contains("\n  say\n"),
        "{on}"
    );
    assert!(
        place
            .run_json(&["tools"])
            .to_string()
            .contains("small__say")
    );

    let call = ["call", "small__say", r#"{"text":"hello"}"#];
    assert_eq!(place.run(&call).code, 3, "nobody can be asked");
    let called = place.run_ok(&[&call[..], &["--approve-all"]].concat());
    assert!(called.contains("You said hello"), "{called}");
    let wrong = place.run(&["call", "small__say", "{}", "--approve-all"]);
    assert_eq!(wrong.code, 1, "its schema holds");

    let list = place.run_json(&["servers", "list"]);
    assert_eq!(list["servers"][0]["state"]["type"], "idle");
    assert_eq!(list["servers"][0]["tools"][0]["pin"], "pinned");
    assert!(
        place
            .run_ok(&["servers", "logs", "small"])
            .contains("Connected to `small` 1")
    );
    assert!(
        place
            .run_ok(&["servers", "restart", "small"])
            .contains("connected")
    );
    place.run_ok(&["servers", "disable", "small"]);
    assert_eq!(place.run(&call).code, 1, "there is no such tool any more");
    place.run_ok(&["servers", "remove", "small"]);
    assert_eq!(place.run_json(&["servers", "list"])["servers"], json!([]));
}

#[test]
fn what_changed_is_shown_and_approved_by_its_digest() {
    let place = with_server();
    place.run_ok(&["servers", "enable", "small"]);
    assert!(
        place
            .run_ok(&["servers", "approve", "small"])
            .contains("as they were approved")
    );
    let mut look = place.command(&["servers", "approve", "small"]);
    let looked = look.env("TOLD", "Says it to everybody.").output().unwrap();
    let told = String::from_utf8(looked.stdout).unwrap();
    assert_eq!(looked.status.code(), Some(1), "{told}");
    assert!(
        told.contains("+  \"description\": \"Says it to everybody.\""),
        "{told}"
    );
    let digest = told.trim().rsplit(' ').next().unwrap();
    for (digest, code) in [("other", 1), (digest, 0)] {
        let mut accept = place.command(&["servers", "approve", "small", "--accept", digest]);
        let accepted = accept
            .env("TOLD", "Says it to everybody.")
            .output()
            .unwrap();
        assert_eq!(accepted.status.code(), Some(code), "{accepted:?}");
    }
}

/// A change that one command found is listed by the next one, until it is approved.
#[test]
fn what_waits_for_a_look_is_listed() {
    let place = with_server();
    place.run_ok(&["servers", "enable", "small"]);
    assert!(!place.run_ok(&["servers", "list"]).contains("waits"));
    let mut call = place.command(&["call", "small__say", r#"{"text":"x"}"#, "--approve-all"]);
    let called = call.env("TOLD", "Says it to all.").output().unwrap();
    assert_eq!(called.status.code(), Some(1), "{called:?}");
    let list = place.run_ok(&["servers", "list"]);
    assert!(
        list.contains("say  changed, waits for a look")
            && list.contains("To look at them: countersign servers approve small"),
        "{list}"
    );
    let told = place.run_json(&["servers", "list"]);
    assert_eq!(told["servers"][0]["state"]["type"], "idle");
    let digest = told["servers"][0]["pending_digest"]
        .as_str()
        .unwrap()
        .to_owned();
    let mut accept = place.command(&["servers", "approve", "small", "--accept", &digest]);
    let accepted = accept.env("TOLD", "Says it to all.").output().unwrap();
    assert_eq!(accepted.status.code(), Some(0), "{accepted:?}");
    assert!(!place.run_ok(&["servers", "list"]).contains("waits"));
    place.run_ok(&["servers", "remove", "small"]);
    let left = std::fs::read_dir(place.data().join("servers")).unwrap();
    assert_eq!(left.count(), 0, "nothing of it is left");
}

#[test]
fn servers_of_other_products_are_offered_and_taken_over_off() {
    let place = CliFixture::new();
    place.write_file(
        ".mcp.json",
        r#"{"mcpServers":{"Git Hub":{"command":"npx","args":["-y","hub"],"env":{"GITHUB_TOKEN":"hush4hush4hush4"}}}}"#,
    );
    let found = place.run_ok(&["servers", "import"]);
    assert!(
        found.contains("Claude Code") && found.contains("Git_Hub  npx -y hub"),
        "{found}"
    );
    assert!(
        found.contains("was not taken over") && !found.contains("hush"),
        "{found}"
    );
    assert_eq!(
        place.run_json(&["servers", "list"])["servers"],
        json!([]),
        "offered, not used"
    );
    assert_eq!(place.run(&["servers", "import", "--add", "other"]).code, 2);
    place.run_ok(&["servers", "import", "--add", "Git_Hub"]);
    let written = std::fs::read_to_string(place.data().join("servers.toml")).unwrap();
    assert!(
        written.contains("keychain:Git_Hub.GITHUB_TOKEN") && !written.contains("hush"),
        "{written}"
    );
    assert!(written.contains("enabled = false"), "{written}");
    let codex = place.write_outside_file(
        "config.toml",
        "[mcp_servers.far]\nurl = \"https://example.com/mcp\"\n",
    );
    place.run_ok(&[
        "servers", "import", "--from", "codex", &codex, "--add", "far",
    ]);
    assert_eq!(
        place.run_json(&["servers", "list"])["servers"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
}

/// Servers as `claude mcp add` writes them by default, and a file that is named by a relative path.
#[test]
fn servers_of_this_folder_alone_are_offered_and_a_file_is_named_from_here() {
    let place = CliFixture::new();
    let workspace = place.workspace();
    let claude = serde_json::json!({
        "projects": {
            workspace.to_str().unwrap(): { "mcpServers": { "mem": { "type": "stdio", "command": "npx", "args": ["-y", "mem"], "env": {} } } },
            "/elsewhere": { "mcpServers": { "other": { "command": "other" } } },
        }
    });
    let home = workspace.parent().unwrap().join("home");
    std::fs::write(home.join(".claude.json"), claude.to_string()).unwrap();
    let found = place.run_ok(&["servers", "import"]);
    assert!(
        found.contains("Claude Code, for this folder") && found.contains("mem  npx -y mem"),
        "{found}"
    );
    assert!(!found.contains("other"), "{found}");
    place.run_ok(&["servers", "import", "--add", "mem"]);
    let again = place.run(&["servers", "import", "--add", "mem"]);
    assert_eq!(again.code, 2, "{}", again.err);
    assert!(
        again.err.contains("There is a server `mem` already."),
        "{}",
        again.err
    );
    place.run_ok(&["servers", "import", "--add", "mem", "--replace"]);
    let taken = place.run(&["servers", "add", "mem", "--", "other"]);
    assert_eq!(taken.code, 2, "{}", taken.err);
    let written = std::fs::read_to_string(place.data().join("servers.toml")).unwrap();
    assert!(
        written.contains(&format!("folder = \"{}\"", workspace.display())),
        "{written}"
    );

    place.write_file("sub/config.toml", "[mcp_servers.s1]\ncommand = \"./run\"\n");
    let from = ["servers", "import", "--from", "codex", "sub/config.toml"];
    place.run_ok(&[&from[..], &["--add", "s1"]].concat());
    let written = std::fs::read_to_string(place.data().join("servers.toml")).unwrap();
    assert!(
        written.contains(&format!("folder = \"{}\"", workspace.join("sub").display())),
        "{written}"
    );
}

#[test]
fn what_is_wrong_is_said_with_the_next_step() {
    let place = CliFixture::new();
    for (args, code, told) in [
        (
            &["servers", "enable", "none"][..],
            1,
            "There is no server `none`.",
        ),
        (
            &["servers", "enable", "a__b"],
            2,
            "cannot be the name of a server",
        ),
        (&["servers", "add", "x"], 2, "required"),
        (
            &["servers", "add", "x", "--url", "file:///x"],
            1,
            "neither http nor https",
        ),
        (
            &["servers", "add", "x", "--env", "A", "--", "y"],
            2,
            "has no value",
        ),
        (
            &["servers", "import", "--from", "codex", "none.toml"],
            2,
            "names no servers of codex",
        ),
    ] {
        let ran = place.run(args);
        assert_eq!(ran.code, code, "{args:?}: {}", ran.err);
        assert!(ran.err.contains(told), "{args:?}: {}", ran.err);
    }
    place.run_ok(&[
        "servers",
        "add",
        "x",
        "--audience",
        "others",
        "--",
        "countersign-no-such-program",
    ]);
    // Who reads it stays as it was said when the server is moved into a sandbox.
    place.run_ok(&["servers", "sandbox", "x", "."]);
    let listed = place.run_ok(&["servers", "list"]);
    assert!(
        listed.contains("Others read what is sent there."),
        "{listed}"
    );
    place.run_ok(&["servers", "sandbox", "x", "--leave"]);
    let ran = place.run(&["servers", "enable", "x"]);
    assert_eq!(ran.code, 1);
    assert!(
        ran.err
            .contains("mcp server x is unavailable: its program could not be started"),
        "{}",
        ran.err
    );
    assert!(
        !ran.err.contains("tried again"),
        "a command that ends tries nothing again: {}",
        ran.err
    );
}
