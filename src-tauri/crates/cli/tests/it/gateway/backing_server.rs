//! A server behind `gateway mcp`: given by its command or its address, or set up before.

use agent::{Engine, EngineConfig, Host};
use gateway::endpoint_server::{self, ServeOptions};
use serde_json::{Value, json};

use super::client::Client;
use super::{pairs, recorded};
use crate::support::CliFixture;

/// A server of a few lines: `say` says what it is told, `folder` where it works; what `say` says of itself is in TOLD.
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
        answer["result"] = {"tools": [
            {"name": "say", "description": told, "inputSchema": {"type": "object",
             "properties": {"text": {"type": "string"}}, "required": ["text"]}},
            {"name": "folder", "inputSchema": {"type": "object"}}]}
    elif asked["method"] == "tools/call":
        text = asked["params"].get("arguments", {}).get("text", os.getcwd())
        answer["result"] = {"content": [{"type": "text", "text": text}]}
    else:
        answer["error"] = {"code": -32601, "message": "no such method"}
    print(json.dumps(answer), flush=True)
"#;

const ALLOW: &str = "[[rule]]\npermission = \"small__*\"\naction = \"allow\"\n";

/// The names of the tools that a client is served.
fn names(client: &mut Client) -> Vec<String> {
    let listed = client.ask("tools/list", json!({}));
    let tools = listed["result"]["tools"].as_array().unwrap();
    let names = tools.iter().map(|tool| tool["name"].as_str().unwrap());
    names.map(str::to_owned).collect()
}

#[test]
fn a_given_server_is_judged_and_recorded() {
    let place = CliFixture::new();
    let script = place.write_outside_file("server.py", SERVER);
    let rules = place.write_outside_file("rules.toml", ALLOW);
    let given = ["--name", "small", "--", "python3", &script];
    let args = [&["--rules", rules.as_str()], &given[..]].concat();
    for begin in [Client::greeted, Client::modern] {
        let mut client = begin(&place, &args);
        assert_eq!(names(&mut client), ["say", "folder"]);
        assert_eq!(
            client.called("say", json!({ "text": "hello" })),
            ("hello".to_owned(), false)
        );
        let (folder, _) = client.called("folder", json!({}));
        assert_eq!(
            std::path::Path::new(&folder),
            place.workspace().canonicalize().unwrap()
        );
        let unknown = client.call("bash", json!({ "command": "true" }));
        assert_eq!(unknown["code"], -32602, "{unknown}");
        assert_eq!(client.close().0, 0);
        let calls = [
            ("small__say", "done"),
            ("small__folder", "done"),
            ("bash", "failed"),
        ];
        assert_eq!(recorded(&place), pairs(&calls));
    }
    assert_eq!(place.run_json(&["servers", "list"])["servers"], json!([]));

    // Without the rule it would ask, and nobody is there.
    let mut client = Client::greeted(&place, &given);
    let (why, is_error) = client.called("say", json!({ "text": "hello" }));
    assert!(is_error && why.contains("nobody is there to ask"), "{why}");
    assert_eq!(client.close().0, 0);
}

#[test]
fn a_tool_that_changed_between_two_starts_is_withheld() {
    let place = CliFixture::new();
    let script = place.write_outside_file("server.py", SERVER);
    let given = |told: &'static str| ["--env", told, "--name", "small", "--", "python3", &script];
    let mut client = Client::greeted(&place, &given("TOLD=Says it."));
    assert_eq!(names(&mut client), ["say", "folder"]);
    client.close();
    let mut client = Client::greeted(&place, &given("TOLD=Says it to all."));
    assert_eq!(names(&mut client), ["folder"]);
    client.close();
    // The value may be a variable of the gateway.
    let mut client = Client::greeted(&place, &given("TOLD=${HOME}"));
    assert_eq!(names(&mut client), ["folder"]);
    client.close();
    let approves = [&["--approve-tools"], &given("TOLD=Says it to all.")[..]].concat();
    let mut client = Client::greeted(&place, &approves);
    assert_eq!(names(&mut client), ["say", "folder"]);
    client.close();
}

/// An agent of a session that is closed may still start its gateways.
#[test]
fn an_agent_is_served_nothing_where_its_session_is_not_open() {
    let place = CliFixture::new();
    let script = place.write_outside_file("server.py", SERVER);
    place.run_ok(&["servers", "add", "small", "--", "python3", &script]);
    place.run_ok(&["servers", "enable", "small"]);
    let words = ["--server", "small", "--agent-session", "ses_1"];
    let refused = place.run(&[&["gateway", "mcp"], &words[..]].concat());
    assert_eq!((refused.code, refused.out.as_str()), (1, ""), "{refused:?}");
    let why = "The session of this agent is not open";
    assert!(refused.err.contains(why), "{refused:?}");
}

#[test]
fn a_server_that_is_set_up_is_served_alone() {
    let place = CliFixture::new();
    let script = place.write_outside_file("server.py", SERVER);
    place.run_ok(&["servers", "add", "small", "--", "python3", &script]);
    let off = place.run(&["gateway", "mcp", "--server", "small"]);
    assert_eq!(off.code, 2, "{off:?}");
    assert!(off.err.contains("The server `small` is off"), "{off:?}");
    place.run_ok(&["servers", "enable", "small"]);
    let mut client = Client::greeted(&place, &["--server", "small"]);
    assert_eq!(names(&mut client), ["say", "folder"]);
    client.close();
    // Its name is taken then.
    let taken = place.run(&[
        "gateway", "mcp", "--name", "small", "--", "python3", &script,
    ]);
    assert_eq!(taken.code, 2, "{taken:?}");
    assert!(
        taken.err.contains("Another server has the name"),
        "{taken:?}"
    );
    let unknown = place.run(&["gateway", "mcp", "--server", "other"]);
    assert_eq!(unknown.code, 2, "{unknown:?}");
}

#[test]
fn a_server_that_cannot_be_started_is_told() {
    let place = CliFixture::new();
    for given in [
        &["--", "no-such-program"][..],
        &["--url", "http://127.0.0.1:1/mcp"],
    ] {
        let args = [&["gateway", "mcp"], given].concat();
        let ran = place.run(&args);
        assert_eq!(ran.code, 2, "{ran:?}");
        assert!(ran.err.contains("is unavailable"), "{ran:?}");
        assert_eq!(ran.out, "");
    }
}

#[test]
fn bad_input_is_answered_and_the_connection_goes_on() {
    let place = CliFixture::new();
    let script = place.write_outside_file("server.py", SERVER);
    let rules = place.write_outside_file("rules.toml", ALLOW);
    let args = [
        "--rules", &rules, "--name", "small", "--", "python3", &script,
    ];
    let mut client = Client::greeted(&place, &args);
    client.raw("no message");
    let answer = client.hears(|message| message["error"]["code"] == -32700);
    assert_eq!(answer["id"], Value::Null);
    let too_long = json!({ "text": "x".repeat(10 << 20) });
    let (why, is_error) = client.called("say", too_long);
    assert!(is_error && why.contains("Invalid arguments"), "{why}");
    let long = "x".repeat(9 << 20);
    let (said, is_error) = client.called("say", json!({ "text": long }));
    assert!(said == long && !is_error, "{said:.300}");
    assert_eq!(
        client.called("say", json!({ "text": "on" })),
        ("on".to_owned(), false)
    );
    assert_eq!(client.close().0, 0);
}

/// Where the app is open, the gateway is its relay: it starts the server, and ends with it.
#[test]
fn the_app_serves_where_it_is_open() {
    let place = CliFixture::new();
    let script = place.write_outside_file("server.py", SERVER);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let app = runtime.block_on(async {
        let config = EngineConfig::new(place.data(), Host::Person);
        let app = Engine::open(config).await.unwrap();
        let listener = endpoint_server::take_over(&place.data()).await.unwrap();
        let (engine, options) = (
            app.clone(),
            ServeOptions {
                can_ask: true,
                idle_max: None,
            },
        );
        tokio::spawn(async move {
            endpoint_server::serve(&engine, listener, options, engine.wait_until_closed()).await;
        });
        app
    });
    std::fs::write(place.data().join("rules.toml"), ALLOW).unwrap();
    let args = ["--name", "small", "--", "python3", &script];
    let mut client = Client::modern(&place, &args);
    let asked = client.ask("server/discover", json!({}));
    let told = asked["result"]["instructions"].as_str().unwrap();
    assert!(told.contains("waits until that person answered"), "{told}");
    assert_eq!(
        client.called("say", json!({ "text": "hello" })),
        ("hello".to_owned(), false)
    );
    let (folder, _) = client.called("folder", json!({}));
    assert_eq!(
        std::path::Path::new(&folder),
        place.workspace().canonicalize().unwrap()
    );
    assert_eq!(client.close(), (0, Vec::new(), String::new()));

    let mut client = Client::greeted(&place, &args);
    assert_eq!(names(&mut client), ["say", "folder"]);
    app.close();
    assert_eq!(client.ended().0, 0);
}
