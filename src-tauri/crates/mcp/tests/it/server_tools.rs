//! Servers that do as they should.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use mcp::{McpServer, ToolPins};
use protocol::server::mcp_servers::{ServerId, ServerSettings, ServerState, ServerTransport};
use protocol::{ToolError, ToolMode};
use serde_json::json;
use tokio_util::sync::CancellationToken;
use tools::{Registry, Tool};

use crate::support::*;

/// `S001-57`: each tool is one of ours, `server__tool`, with its schemas, and asks.
#[tokio::test]
async fn s001_57_tools_of_a_server_are_tools_like_any_other() {
    let server = fixture(&[]).await;
    let (registry, faults) = Registry::builtin().with_tools(server.tools());
    assert_eq!(faults, []);
    let found = registry.find("one__echo").unwrap();
    assert_eq!(found.classified.mode, None, "nobody vouches for it");
    assert_eq!(found.interface.identity.native_ids["mcp.tool"], "echo");
    assert!(
        !found.interface.safety.is_concurrency_safe,
        "its hint that it only reads is not believed"
    );
    assert!(
        registry
            .find("one__delete_all")
            .unwrap()
            .interface
            .safety
            .is_destructive
    );
    let problems = found.find_problems(json!({ "message": 7 }).as_object().unwrap());
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert_eq!(echo(&server, "hello").await, "hello");
    for (_, mode) in [("read", ToolMode::Read), ("external", ToolMode::External)] {
        assert!(
            registry.check_setting("one__echo", Some(mode)).is_err(),
            "a person cannot loosen it as a whole"
        );
    }
}

/// `S001-59`: the name of its server stands before each tool's, so that equal names of two servers do not collide with each
/// other, nor with ours. It is never left out (M11).
#[tokio::test]
async fn s001_59_equal_names_of_two_servers_do_not_collide() {
    let one = fixture(&[]).await;
    let second = ServerSettings {
        id: ServerId::try_from("two".to_owned()).unwrap(),
        ..settings(&[])
    };
    let two = approved(second, ground()).await;
    let (registry, faults) = Registry::builtin().with_tools([one.tools(), two.tools()].concat());
    assert_eq!(faults, []);
    for (server, id) in [("one", "one__echo"), ("two", "two__echo")] {
        let found = registry.find(id).unwrap();
        let identity = &found.interface.identity;
        assert_eq!(identity.native_ids["mcp.server"], server);
        assert_eq!(
            (identity.namespace.as_str(), identity.name.as_str()),
            (server, "echo")
        );
    }
    assert!(registry.find("echo").is_err());
}

/// `S002-07`, `S003-16`: the record of a server's tool says what the tool needs, which is its server and the host that it is
/// reached at, and what its answers look like where the server says so.
#[test]
fn a_servers_tool_publishes_what_it_needs_and_gives() {
    let shape = json!({ "type": "object", "properties": { "degrees": { "type": "number" } } });
    let at = |url: &str| ServerTransport::Http {
        url: url.to_owned(),
        headers: BTreeMap::new(),
        client: None,
    };
    let program = settings(&[]).transport;
    let alone = json!({ "capabilities": ["mcp:one"] });
    let known = json!({ "net": { "hosts": ["tools.example:8443"] }, "capabilities": ["mcp:one"] });
    for (transport, requires, profile) in [
        (program, &alone, "command"),
        (at("https://Tools.example:8443/mcp"), &known, "network"),
        (at("keychain:address"), &alone, "network"),
        (at("https://${HOST}/mcp"), &alone, "network"),
    ] {
        let server = ServerSettings {
            transport,
            ..settings(&[])
        };
        let server = Arc::new(McpServer::new(server, ToolPins::default(), ground()));
        for (output, gives) in [(json!(null), None), (shape.clone(), Some(&shape))] {
            let tool = json!({ "name": "weather", "outputSchema": output });
            let pinned = json!({ "called": "weather", "tool": tool });
            let pinned = serde_json::from_value(pinned).unwrap();
            let tool = mcp::McpTool::new(server.clone(), &pinned);
            let record = tool.interface();
            assert_eq!(json!(record.requires), *requires);
            assert_eq!(record.safety.sandbox_profile, profile);
            assert_eq!(record.schemas.output_schema.as_ref(), gives);
            let (_, faults) = Registry::builtin().with_tools(vec![Arc::new(tool)]);
            assert_eq!(faults, []);
        }
    }
}

/// `S001-58`: whoever calls, and however many at once, there is one program and one connection.
#[tokio::test]
async fn s001_58_all_tools_of_a_server_share_one_connection() {
    let server = Arc::new(McpServer::new(settings(&[]), ToolPins::default(), ground()));
    assert_eq!(
        server.view().state,
        ServerState::Idle,
        "nothing is started before somebody calls"
    );
    let first = fixture(&[]).await;
    server.set_pins((*first.pins()).clone());
    let calls = (0..8).map(|_| {
        let server = server.clone();
        tokio::spawn(async move { said(&server, "count", json!({})).await })
    });
    let mut told = Vec::new();
    for call in calls.collect::<Vec<_>>() {
        told.push(call.await.unwrap());
    }
    told.sort();
    let program = told[0].split(' ').next().unwrap().to_owned();
    let expected: Vec<String> = (1..=8).map(|n| format!("{program} {n}")).collect();
    assert_eq!(told, expected);
    assert_ne!(
        said(&first, "count", json!({})).await.split(' ').next(),
        Some(program.as_str())
    );
}

/// Both eras: a server of 2026 is asked by its own words, and asks back in between. One of 2025 that answers whatever it is
/// asked is asked again in words that it knows.
#[tokio::test]
async fn both_eras_are_spoken() {
    for (traits, protocol) in [
        (&[][..], "2025-11-25"),
        (&["agrees"], "2025-11-25"),
        (&["modern"], "2026-07-28"),
    ] {
        let server = fixture(traits).await;
        let said_of_itself = server.view().said.unwrap();
        assert_eq!(
            (
                said_of_itself.name.as_str(),
                said_of_itself.protocol.as_str()
            ),
            ("fixture", protocol)
        );
        server.add_root(std::path::Path::new("/work place"));
        assert_eq!(echo(&server, "x").await, "x");
        let roots = said(&server, "roots", json!({})).await;
        assert!(roots.contains("file:///work%20place"), "{roots}");
    }
}

#[tokio::test]
async fn errors_are_told_in_the_servers_words() {
    let server = fixture(&[]).await;
    for (tool, told) in [
        ("fail", "the printer is on fire"),
        (
            "refuse",
            "The mcp server one refused the call: I will not (-32602)",
        ),
    ] {
        let error = call(&server, tool, json!({})).await.unwrap_err();
        assert_eq!(error, ToolError::Failed(told.to_owned()));
    }
    let strange = call(&server, "strange", json!({})).await;
    let told = "The server's answer cannot be read: its content is not a list. Whether the call did something is not known.";
    assert_eq!(strange, Err(ToolError::Failed(told.to_owned())));
}

#[tokio::test]
async fn progress_is_heard_by_its_own_call() {
    let server = fixture(&[]).await;
    let heard = Arc::new(Mutex::new(Vec::new()));
    let never = CancellationToken::new();
    call_hearing(&server, "progress", json!({}), &never, &heard)
        .await
        .unwrap();
    assert_eq!(
        *heard.lock().unwrap(),
        ["1 of 3: step 1", "2 of 3: step 2", "3 of 3: step 3"]
    );
}

/// Variables of its configuration are looked up when it starts; a secret is in no view and no log.
#[tokio::test]
async fn variables_are_looked_up_when_it_starts() {
    let mut own = settings(&[]);
    let ServerTransport::Stdio { env, .. } = &mut own.transport else {
        unreachable!()
    };
    env.insert("A".to_owned(), "${KNOWN}!".to_owned());
    env.insert("B".to_owned(), "keychain:token".to_owned());
    let server = approved(own.clone(), ground()).await;
    for (name, value) in [("A", "known!"), ("B", "hush"), ("C", "nothing")] {
        assert_eq!(said(&server, "env", json!({ "name": name })).await, value);
    }
    let told = format!("{:?} {:?}", server.view(), server.log_lines());
    assert!(!told.contains("hush"));
    let ServerTransport::Stdio { env, .. } = &mut own.transport else {
        unreachable!()
    };
    env.insert("D".to_owned(), "${MISSING}".to_owned());
    let fault = McpServer::new(own, ToolPins::default(), ground())
        .ensure_connected()
        .await
        .unwrap_err();
    assert!(
        fault.message.contains("the variable MISSING is not set"),
        "{fault}"
    );
}

#[tokio::test]
async fn one_that_is_switched_off_is_not_started() {
    let off = ServerSettings {
        enabled: false,
        ..settings(&[])
    };
    let server = McpServer::new(off, ToolPins::default(), ground());
    let fault = server.ensure_connected().await.unwrap_err();
    assert!(fault.message.contains("it is switched off"));
    assert_eq!(server.view().state, ServerState::Off);
    assert_eq!(server.log_lines(), []);
}

/// Also a call that waits ends, and what was made before finds nothing any more.
#[tokio::test]
async fn one_that_is_let_go_of_answers_nobody() {
    let server = fixture(&[]).await;
    let (hung, ()) = tokio::join!(call(&server, "hang", json!({})), async {
        logged(&server, "holds hang").await;
        server.shut_down();
    });
    for ended in [hung, call(&server, "echo", json!({ "message": "x" })).await] {
        let told = ended.unwrap_err().to_string();
        assert!(
            told.contains("it is switched off, or was set up anew"),
            "{told}"
        );
    }
}

/// When nobody holds it any more its program ends.
#[cfg(unix)]
#[tokio::test]
async fn its_program_ends_with_it() {
    let server = fixture(&[]).await;
    let program = said(&server, "count", json!({})).await;
    let program: i32 = program.split(' ').next().unwrap().parse().unwrap();
    drop(server);
    let pid = rustix::process::Pid::from_raw(program).unwrap();
    until(|| rustix::process::test_kill_process(pid).is_err()).await;
}

/// Resources of a server are listed and read by a tool of ours, which asks like its own; one without them has no such tool.
#[tokio::test]
async fn resources_are_read_by_a_tool_that_asks() {
    let names = |server: &Arc<McpServer>| {
        let tools = server.tools();
        let ids = tools.iter().map(|tool| tool.interface().id().to_owned());
        ids.filter(|id| id.contains("resource")).collect::<Vec<_>>()
    };
    assert_eq!(names(&fixture(&[]).await), Vec::<String>::new());
    for traits in [&["resources"][..], &["resources", "modern"]] {
        let server = fixture(traits).await;
        assert_eq!(names(&server), ["one__read_resource"]);
        let (registry, faults) = Registry::builtin().with_tools(server.tools());
        assert_eq!(faults, []);
        let found = registry.find("one__read_resource").unwrap();
        assert_eq!(found.classified.mode, None, "without a rule it asks");
        let later = McpServer::new(settings(traits), (*server.pins()).clone(), ground());
        let later = Arc::new(later);
        assert_eq!(
            names(&later),
            ["one__read_resource"],
            "known before it is started"
        );
    }
}
