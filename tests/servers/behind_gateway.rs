//! One server behind a gateway: a client outside has the server's tools under their own names, and every call of them is
//! judged, answered by the person, and recorded.

use agent::ServerChoice;
use gateway::endpoint::McpRequest;
use gateway::mcp::ServedTools;
use protocol::event::CallChange;
use protocol::server::mcp_servers::ServerChange;
use protocol::{CallState, EventBody, Op, ServerAnswer};
use rmcp::model::CallToolRequestParams;
use serde_json::{Value, json};
use support::expect_variant;
use support::servers::{server_id, stdio_server};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, duplex, split};

use super::gateway_client::{ALLOW, Client, given, given_with_variable, open_app, open_headless};

#[tokio::test]
async fn a_client_has_the_tools_of_the_server_and_no_others() {
    let desk = open_headless("").await;
    let client = Client::of_engine(&desk.engine, &given(&desk, &["few", "whole"])).await;
    let tools = client.tools().await;
    let names: Vec<&Value> = tools.iter().map(|tool| &tool["name"]).collect();
    assert_eq!(names, ["echo", "count", "hang", "change", "env", "whole"]);
    let whole = json!({ "name": "whole", "title": "The whole", "description": "Gives all kinds.",
        "inputSchema": { "type": "object" },
        "outputSchema": { "type": "object", "properties": { "n": { "type": "integer" } } },
        "annotations": { "readOnlyHint": true, "idempotentHint": true } });
    assert_eq!(tools[5], whole);

    // A tool of ours is none of the server's.
    let error = client
        .call("read", json!({ "path": "a" }))
        .await
        .unwrap_err();
    assert!(error.to_string().contains("read"), "{error}");
    // And no other session has the server's.
    let names = desk.server_tool_names("given").await;
    assert_eq!(names, Vec::<String>::new());
}

#[tokio::test]
async fn a_call_that_asks_is_denied_where_nobody_is() {
    let desk = open_headless("").await;
    let client = Client::of_engine(&desk.engine, &given(&desk, &["few"])).await;
    let (why, is_error) = client.called("echo", json!({ "message": "hello" })).await;
    assert!(is_error && why.contains("nobody is there to ask"), "{why}");
    assert!(why.contains("allow calls like it by a rule"), "{why}");
}

#[tokio::test]
async fn a_result_is_passed_on_as_the_server_made_it() {
    let desk = open_headless(ALLOW).await;
    let client = Client::of_engine(&desk.engine, &given(&desk, &["whole"])).await;
    let result = client.call("whole", json!({})).await.unwrap();
    let result = serde_json::to_value(result).unwrap();
    let content = json!([
        { "type": "text", "text": "one" },
        { "type": "audio", "mimeType": "audio/wav", "data": "AQID" },
        { "type": "text", "text": "two", "annotations": { "audience": ["user"] } },
        { "type": "resource", "resource": { "uri": "demo://1", "mimeType": "text/plain", "text": "inside" } },
    ]);
    assert_eq!(result["content"], content);
    assert_eq!(result["structuredContent"], json!({ "n": 5 }));
    assert_eq!(result["_meta"], json!({ "fixture.example/trace": "t" }));

    let failed = client.called("fail", json!({})).await;
    assert_eq!(failed, ("the printer is on fire".to_owned(), true));
    // References in its settings name variables of the gateway.
    let told = client.called("env", json!({ "name": "TOLD" })).await;
    assert_eq!(told, ("by the gateway".to_owned(), false));
}

/// A tool that its server runs as a task alone is a tool as any other: no client is told to make a task of it, and one that tries
/// has its call answered.
#[tokio::test]
async fn a_client_knows_no_task_of_the_server() {
    let desk = open_headless(ALLOW).await;
    let request = given(&desk, &["few", "legacy-tasks"]);
    let served = ServedTools::open(&desk.engine, &request).await.unwrap();
    let (ours, theirs) = duplex(1 << 20);
    let (from, to) = split(ours);
    let never = std::future::pending();
    tokio::spawn(gateway::mcp::serve(served, from, to, never));
    let (from, mut to) = split(theirs);
    let mut lines = BufReader::new(from).lines();
    let client = json!({ "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": { "name": "raw", "version": "1" } });
    let call = json!({ "name": "task_required", "arguments": {}, "task": { "ttl": 1_000 } });
    let mut results = Vec::new();
    for (method, params) in [
        ("initialize", client),
        ("tools/list", json!({})),
        ("tools/call", call),
    ] {
        let line = json!({ "jsonrpc": "2.0", "id": method, "method": method, "params": params });
        to.write_all(format!("{line}\n").as_bytes()).await.unwrap();
        let answer = loop {
            let line = lines.next_line().await.unwrap().unwrap();
            let answer: Value = serde_json::from_str(&line).unwrap();
            if answer["id"] == method {
                break answer;
            }
        };
        results.push(answer["result"].clone());
    }
    assert_eq!(results[0]["capabilities"]["tasks"], Value::Null);
    let tools = results[1]["tools"].as_array().unwrap();
    let listed = tools.iter().find(|tool| tool["name"] == "task_required");
    let whole = json!({ "name": "task_required", "description": "Takes its time.", "inputSchema": { "type": "object" } });
    assert_eq!(listed, Some(&whole));
    let content = json!([{ "type": "text", "text": "printed" }]);
    assert_eq!(results[2]["content"], content);
    assert_eq!(results[2]["_meta"], Value::Null);
}

#[tokio::test]
async fn a_secret_in_a_result_is_masked() {
    let desk = open_headless(ALLOW).await;
    let secret = format!("ghp_{}", "a1B2".repeat(9));
    let request = given_with_variable(&desk, &["few"], &secret);
    let client = Client::of_engine(&desk.engine, &request).await;
    let result = client.call("env", json!({ "name": "TOLD" })).await.unwrap();
    let texts = result
        .content
        .iter()
        .map(|item| &item.as_text().unwrap().text);
    let texts: Vec<&str> = texts.map(String::as_str).collect();
    let note = "[1 secret was masked as ***; what stands in the file itself is unchanged.]";
    assert_eq!(texts, ["***", note]);
}

#[tokio::test]
async fn a_server_that_died_is_an_error_and_is_started_again() {
    let desk = open_headless(ALLOW).await;
    let client = Client::of_engine(&desk.engine, &given(&desk, &[])).await;
    let (why, is_error) = client.called("crash", json!({})).await;
    assert!(
        is_error && why.contains("mcp server given is unavailable"),
        "{why}"
    );
    let mut said = (String::new(), true);
    while said.1 {
        said = client.called("echo", json!({ "message": "again" })).await;
    }
    assert_eq!(said.0, "again");
}

#[tokio::test]
async fn a_tool_that_changes_is_withheld_and_the_client_hears_of_it() {
    let desk = open_headless(ALLOW).await;
    let mut client = Client::of_engine(&desk.engine, &given(&desk, &["few"])).await;
    let is_there = |tools: &[Value]| tools.iter().any(|tool| tool["name"] == "echo");
    assert!(is_there(&client.tools().await));
    assert!(!client.called("change", json!({})).await.1);
    client.hears("the list changed").await;
    assert!(
        !is_there(&client.tools().await),
        "it says something else now"
    );
    let error = client
        .call("echo", json!({ "message": "x" }))
        .await
        .unwrap_err();
    assert!(error.to_string().contains("echo"), "{error}");
}

/// The app answers for the gateway, and a call that waits keeps its client waiting.
#[tokio::test]
async fn the_person_at_the_app_answers() {
    let mut desk = open_app().await;
    let mut client = Client::of_app(&desk, given(&desk, &["few"])).await;
    let request = CallToolRequestParams::new("echo")
        .with_arguments(serde_json::from_value(json!({ "message": "hello" })).unwrap());
    let peer = client.service.peer().clone();
    let call = tokio::spawn(async move { peer.call_tool(request).await });
    client.hears("Waits for the person's answer.").await;
    let waiting = desk.wait_for_any_call().await;
    desk.session = waiting.session;
    let view = desk.only_call().await;
    assert_eq!(
        (view.tool.as_str(), view.state),
        ("given__echo", CallState::Waiting)
    );
    desk.allow_call(&view).await;
    let result = call.await.unwrap().unwrap();
    assert_eq!(result.content[0].as_text().unwrap().text, "hello");
    client.hears("The person answered.").await;
}

/// A question of the server during a call is the person's.
#[tokio::test]
async fn the_person_answers_what_the_server_asks() {
    answer_form(&["asking"], CallToolRequestParams::new("form")).await;
}

/// One of a task that the server made of the call is theirs as well.
#[tokio::test]
async fn the_person_answers_what_a_task_asks() {
    let arguments = serde_json::from_value(json!({ "end": "asks" })).unwrap();
    let call = CallToolRequestParams::new("task_required").with_arguments(arguments);
    answer_form(&["legacy-tasks"], call).await;
}

/// Has the person at the app answer the form that a call asks for.
async fn answer_form(traits: &[&str], request: CallToolRequestParams) {
    let mut desk = open_app().await;
    desk.write_rules(ALLOW);
    let client = Client::of_app(&desk, given(&desk, traits)).await;
    let peer = client.service.peer().clone();
    let call = tokio::spawn(async move { peer.call_tool(request).await });
    let asked = desk
        .wait_for_event("a question", |body| {
            matches!(
                body,
                EventBody::Call {
                    change: CallChange::ServerRequestReceived { .. },
                    ..
                }
            )
        })
        .await;
    desk.session = asked.session;
    let view = desk.only_call().await;
    let values = expect_variant!(json!({ "name": "Ada" }), Value::Object(values) => values);
    desk.submit(Op::AnswerServer {
        session: desk.session.clone(),
        call: view.call.id.clone(),
        request_id: view.open_server_request().unwrap().id.clone(),
        answer: ServerAnswer::Filled { values },
    })
    .await;
    let result = call.await.unwrap().unwrap();
    let text = &result.content[0].as_text().unwrap().text;
    assert!(text.contains("Ada"), "{text}");
}

#[tokio::test]
async fn a_client_that_goes_away_takes_its_questions_with_it() {
    let mut desk = open_app().await;
    let client = Client::of_app(&desk, given(&desk, &["few"])).await;
    let peer = client.service.peer().clone();
    let call =
        tokio::spawn(async move { peer.call_tool(CallToolRequestParams::new("count")).await });
    desk.session = desk.wait_for_any_call().await.session;
    client.service.cancel().await.unwrap();
    assert!(call.await.unwrap().is_err());
    desk.wait_until_ended().await;
    assert_eq!(desk.call_states().await, [CallState::Interrupted]);
}

/// Two clients that give the same server in a folder share it; another server cannot take its name there.
#[tokio::test]
async fn a_name_belongs_to_one_server() {
    let desk = open_headless(ALLOW).await;
    let request = given(&desk, &["few"]);
    let one = Client::of_engine(&desk.engine, &request).await;
    let two = Client::of_engine(&desk.engine, &request).await;
    let counted = [
        one.called("count", json!({})).await.0,
        two.called("count", json!({})).await.0,
    ];
    let process = |text: &str| text.split(' ').next().unwrap().to_owned();
    assert_eq!(process(&counted[0]), process(&counted[1]));

    let elsewhere = McpRequest {
        workspace: desk.data_dir().to_owned(),
        ..given(&desk, &["whole"])
    };
    assert!(ServedTools::open(&desk.engine, &elsewhere).await.is_ok());
    let other = ServedTools::open(&desk.engine, &given(&desk, &["whole"])).await;
    let refused = other.err().unwrap();
    assert!(
        refused
            .message
            .contains("Another server has the name `given`"),
        "{refused}"
    );

    desk.add_server(stdio_server(
        env!("CARGO_BIN_EXE_mcp_server"),
        &["few"],
        &[],
    ))
    .await;
    let configured = McpRequest {
        server: Some(ServerChoice::Configured(server_id("one"))),
        ..request
    };
    let client = Client::of_engine(&desk.engine, &configured).await;
    assert_eq!(client.tools().await.len(), 5);
    desk.change_server(ServerChange::Switch { enabled: false })
        .await
        .unwrap();
    assert_eq!(client.tools().await, Vec::<Value>::new(), "it is off");
    let off = ServedTools::open(&desk.engine, &configured)
        .await
        .err()
        .unwrap();
    assert!(off.message.contains("The server `one` is off"), "{off}");
}
