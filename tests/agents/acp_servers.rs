//! MCP servers of the person's, given to an agent that answers in a session: a call of their tools is one of the session, judged
//! and recorded once.

use agent::ServerChoice;
use gateway::agent_hooks::client::open_agent_folder;
use gateway::endpoint::{EndpointError, McpRequest, open_mcp};
use protocol::event::Enclosure;
use protocol::{CallState, SessionState};
use serde_json::{Value, json};
use support::servers::{server_id, stdio_server};
use support::{expect_variant, rule_text};

use super::acp_agents::AgentDesk;
use super::acp_hooks::Hook;
use crate::servers::gateway_client::Client;

/// A turn in which a tool of a server is called, which the agent asks about as well.
const WIRE: &str = r#"-> {"id": 1, "method": "initialize"}
<- {"id": 1, "result": {"protocolVersion": 1}}
-> {"id": 2, "method": "session/new"}
<- {"id": 2, "result": {"sessionId": "s"}}
-> {"id": 3, "method": "session/prompt"}
#await called
<- {"id": 0, "method": "session/request_permission", "params": {"sessionId": "s", "toolCall": {"toolCallId": "t1", "name": "mcp__SERVER__echo", "kind": "other", "rawInput": {"message": "hello"}}, "options": [{"optionId": "yes", "name": "Yes", "kind": "allow_once"}, {"optionId": "no", "name": "No", "kind": "reject_once"}]}}
-> {"id": 0}
<- {"method": "session/update", "params": {"sessionId": "s", "update": {"sessionUpdate": "tool_call_update", "toolCallId": "t1", "status": "completed"}}}
<- {"id": 3, "result": {"stopReason": "end_turn"}}
"#;

/// A desk with the server `one`, and an agent that waits within its turn.
async fn open_desk(agent: &str, rules: &str) -> AgentDesk {
    open_desk_with(agent, rules, WIRE).await
}

/// The same, with another conversation.
async fn open_desk_with(agent: &str, rules: &str, wire: &str) -> AgentDesk {
    let mut place = AgentDesk::new(agent, wire).await;
    place.desk.write_rules(rules);
    add_server(&place).await;
    place.start("Go.").await;
    place.wait_until_awaited("called").await;
    place
}

async fn add_server(place: &AgentDesk) {
    let server = stdio_server(env!("CARGO_BIN_EXE_mcp_server"), &["few"], &[]);
    place.desk.add_server(server).await;
}

/// The servers that the agent was told of, as it was told.
fn told_servers(place: &AgentDesk) -> Value {
    let answers = place.answers();
    let messages = answers
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let mut opened = messages.filter(|message| message["method"] == "session/new");
    opened.next().unwrap()["params"]["mcpServers"].clone()
}

fn request(place: &AgentDesk, server: &str) -> McpRequest {
    McpRequest {
        workspace: place.desk.workspace_root(),
        server: Some(ServerChoice::Configured(server_id(server))),
    }
}

/// The agent's gateway, as the agent starts it.
async fn start_gateway(place: &AgentDesk) -> Client {
    let folder = open_agent_folder(place.desk.data_dir(), &place.desk.session).unwrap();
    Client::of_endpoint(folder.path(), request(place, "one")).await
}

/// Calls the server's tool, which is allowed on its card; the agent's own question about it is answered with yes, and nothing
/// else is on record.
async fn allow_only_call(place: &mut AgentDesk, client: &Client) {
    let calling = client.called("echo", json!({ "message": "hello" }));
    let (result, card) = tokio::join!(calling, place.desk.allow_next());
    assert_eq!(result, ("hello".to_owned(), false));
    assert_eq!(card.call.name, "one__echo");
    place.signal("called");
    assert_eq!(place.desk.wait_until_ended().await, SessionState::Done);
    let answers = place.answers();
    assert!(answers.contains("\"optionId\":\"yes\""), "{answers}");
    let call = place.desk.only_call().await;
    assert_eq!(
        (call.call.name.as_str(), call.state),
        ("one__echo", CallState::Done)
    );
}

#[tokio::test]
async fn a_call_of_a_server_is_judged_and_recorded_once() {
    let mut place = open_desk("claude-code", "").await;
    let told = told_servers(&place);
    let name = told[0]["name"].as_str().unwrap().to_owned();
    assert!(name.starts_with("one-"), "{told}");
    let (data_dir, session) = (
        place.desk.data_dir().display().to_string(),
        &place.desk.session,
    );
    let args = json!([
        "--data-dir",
        data_dir,
        "gateway",
        "mcp",
        "--server",
        "one",
        "--agent-session",
        session,
    ]);
    let expected = json!([{ "name": name, "command": "countersign", "args": args, "env": [] }]);
    assert_eq!(told, expected);

    // Its hook lets it pass: the gateway asks.
    let hook = Hook::of(&place);
    let tool = format!("mcp__{name}__echo");
    let passed = hook.ask_about("PreToolUse", &tool, json!({ "message": "hello" }), "t1");
    let decision = &passed.await["hookSpecificOutput"]["permissionDecision"];
    assert_eq!(decision, "allow");

    let client = start_gateway(&place).await;
    let names: Vec<Value> = client
        .tools()
        .await
        .iter()
        .map(|tool| tool["name"].clone())
        .collect();
    assert!(names.contains(&json!("echo")), "{names:?}");
    allow_only_call(&mut place, &client).await;
    let (_, notices) = place.texts().await;
    assert!(
        notices
            .iter()
            .any(|text| text.ends_with("is given the tools of the MCP server one.")),
        "{notices:?}"
    );
    assert!(
        !notices.iter().any(|text| text.contains("without asking")),
        "{notices:?}"
    );

    // Between turns nothing is called.
    let late = client.call("echo", json!({ "message": "hello" })).await;
    let why = late.unwrap_err().to_string();
    assert!(why.contains("No turn of the session is running"), "{why}");
}

/// A turn in which an agent tells in these messages of a call of a server, asks about it, and is told that it may.
fn wire_with(messages: &[Value]) -> String {
    let (start, rest) = WIRE.split_once("<- {\"id\": 0").unwrap();
    let (_, end) = rest.split_once('\n').unwrap();
    let messages: String = messages
        .iter()
        .map(|message| format!("<- {message}\n"))
        .collect();
    format!("{start}{messages}{end}")
}

fn asks_about(call: &Value) -> Value {
    json!({ "id": 0, "method": "session/request_permission", "params": { "sessionId": "s", "toolCall": call, "options": [
        { "optionId": "yes", "name": "Yes", "kind": "allow_once" }, { "optionId": "no", "name": "No", "kind": "reject_once" }] } })
}

/// Each agent asks about a call of a server in its own words; the gateway asks as well, and a person is asked once.
#[tokio::test]
async fn a_call_of_a_server_asks_once_whatever_words_its_agent_has_for_it() {
    let begun = json!({ "sessionUpdate": "tool_call", "toolCallId": "t1", "kind": "execute", "title": "mcp.SERVER.echo",
        "status": "in_progress", "rawInput": { "server": "SERVER", "tool": "echo", "arguments": { "message": "hello" } } });
    let begun =
        json!({ "method": "session/update", "params": { "sessionId": "s", "update": begun } });
    let by_id = asks_about(&json!({ "toolCallId": "t1", "kind": "execute", "status": "pending" }));
    let alone = asks_about(
        &json!({ "toolCallId": "t1", "kind": "execute", "status": "pending", "title": "MCP tool call approval",
        "rawInput": { "serverName": "SERVER", "description": "Allow it?", "schema": { "type": "object", "properties": {} } } }),
    );
    let titled = asks_about(
        &json!({ "toolCallId": "t1", "kind": "other", "status": "pending", "title": "echo (SERVER MCP Server)",
        "content": [{ "type": "content", "content": { "type": "text", "text": "{\"message\":\"hello\"}" } }], "locations": [] }),
    );
    let named = asks_about(
        &json!({ "toolCallId": "t1", "name": "SERVER_echo", "kind": "other", "rawInput": { "message": "hello" } }),
    );
    for (agent, messages) in [
        ("codex", vec![begun, by_id]),
        ("codex", vec![alone]),
        ("gemini-cli", vec![titled]),
        ("unknown", vec![named]),
    ] {
        let mut place = open_desk_with(agent, "", &wire_with(&messages)).await;
        let client = start_gateway(&place).await;
        allow_only_call(&mut place, &client).await;
        let (_, notices) = place.texts().await;
        assert!(
            !notices.iter().any(|text| text.contains("without asking")),
            "{agent}: {notices:?}"
        );
    }
}

/// Bad input: an argument that reads as the name of a server passes for none.
#[tokio::test]
async fn what_only_looks_like_a_call_of_a_server_asks() {
    let titled = asks_about(
        &json!({ "toolCallId": "t1", "kind": "other", "status": "pending", "title": "echo (SERVER MCP Server)",
        "content": [{ "type": "content", "content": { "type": "text", "text": "{\"command\":\"echo (SERVER MCP Server)\"}" } }] }),
    );
    let mut place = open_desk_with("gemini-cli", "", &wire_with(&[titled])).await;
    place.signal("called");
    let card = place.desk.allow_next().await;
    assert_ne!(card.call.name, "one__echo");
    assert_eq!(place.desk.wait_until_ended().await, SessionState::Done);
}

#[tokio::test]
async fn the_rules_of_the_session_hold_for_a_server_and_the_model_reads_why() {
    let place = open_desk("claude-code", &rule_text("one__echo", "*", "deny")).await;
    let client = start_gateway(&place).await;
    let (why, is_error) = client.called("echo", json!({ "message": "hello" })).await;
    assert!(is_error && why.contains("one__echo"), "{why}");
    assert_eq!(place.desk.call_states().await, [CallState::Denied]);
}

/// A gateway that its agent ends takes its question with it, and the turn goes on.
#[tokio::test]
async fn a_call_ends_with_its_gateway() {
    let mut place = open_desk("claude-code", "").await;
    let client = start_gateway(&place).await;
    let waiting = async {
        place.desk.wait_for_call().await;
    };
    tokio::select! {
        ended = client.called("echo", json!({ "message": "hello" })) => panic!("{ended:?}"),
        () = waiting => {}
    }
    drop(client);
    place.signal("called");
    assert_eq!(place.desk.wait_until_ended().await, SessionState::Done);
    let call = place.desk.only_call().await;
    assert_ne!(call.state, CallState::Done, "{call:?}");
    assert_eq!(place.desk.snapshot().await.desk.len(), 0);
}

/// An agent has our hooks or not: the endpoint is that of its session.
#[tokio::test]
async fn an_agent_has_the_servers_that_were_named_and_no_others() {
    let mut place = AgentDesk::new("codex", WIRE).await;
    add_server(&place).await;
    place.servers = Some(vec![server_id("other")]);
    let unknown = place.open_session(None, None).await.unwrap_err();
    assert!(unknown.message.contains("other"), "{unknown:?}");

    place.servers = Some(Vec::new());
    place.start("Go.").await;
    place.wait_until_awaited("called").await;
    assert_eq!(told_servers(&place), json!([]));

    let place = open_desk("codex", "").await;
    let folder = open_agent_folder(place.desk.data_dir(), &place.desk.session).unwrap();
    let refused = open_mcp(folder.path(), request(&place, "other")).await;
    let fault = expect_variant!(refused.unwrap_err(), EndpointError::Failed(fault) => fault);
    assert!(fault.message.contains("was not given"), "{fault:?}");
    let client = start_gateway(&place).await;
    assert!(!client.tools().await.is_empty());
}

#[tokio::test]
async fn where_nothing_can_be_held_back_no_server_is_given() {
    let mut place = AgentDesk::elsewhere("ssh", WIRE).await;
    add_server(&place).await;
    place.start("Go.").await;
    place.wait_until_awaited("called").await;
    assert_eq!(told_servers(&place), json!([]));
    let (_, notices) = place.texts().await;
    let is_told = |text: &String| text.ends_with("is not given the tools of the MCP server one.");
    assert!(notices.iter().any(is_told), "{notices:?}");

    place.servers = Some(vec![server_id("one")]);
    let refused = place.open_session(None, Some(Enclosure::default())).await;
    assert!(refused.is_err(), "{refused:?}");
}
