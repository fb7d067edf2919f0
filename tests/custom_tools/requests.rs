//! Whole requests: configuration, output schema and context, with tools and instances of their own.

use agent::{Host, StructuredRequest};
use protocol::event::{CallChange, MessageChange};
use protocol::{CallState, EventBody, Message, ModelChoice, SessionState};
use serde_json::{Value, json};
use support::scripted_agents::ScriptedAgents;
use support::{Fixture, call_tool};

use super::{answer_turn, scripted_agents};

/// The specification's request, with a temperature.
const GREETS: &str = r#"{
    "config": {"temperature": 0.2, "tools": ["read"]},
    "output_schema": {"type": "object", "properties": {"summary": {"type": "string"}}, "required": ["summary"]},
    "context": [
        {"type": "tool", "tool": {"greetUser": {
            "type": "object",
            "properties": {"userName": {"type": "string"}, "_output": {"type": "string"}},
            "required": ["userName"]
        }}},
        {"type": "text", "text": "Greet Ada."}
    ]
}"#;

/// Opens a session for a request, and says its prompt.
async fn begin(desk: &mut Fixture, request: &str) {
    let request = StructuredRequest::parse("request.json", request).unwrap();
    let model = ModelChoice {
        provider: "script".to_owned(),
        model: String::new(),
    };
    let root = desk.workspace_root();
    let opened = desk.engine.open_request(&root, &model, &request);
    desk.session = opened.await.unwrap();
    desk.send_message(&request.prompt()).await;
}

/// The tools that a schema offers, by their names.
fn offered(schema: &Value) -> Vec<&Value> {
    let items = &schema["properties"]["calls"]["items"];
    let all = items["anyOf"].as_array().unwrap().iter();
    all.map(|item| &item["properties"]["_tool"]["const"])
        .collect()
}

/// `S004-43`, `S004-47`: a session takes a whole request: it answers as the configuration says, comes to the output, is told
/// the texts of the context, and has the tools that the context brings beside those that the configuration names; also after
/// a restart.
#[tokio::test]
async fn a_session_takes_a_whole_request() {
    let greets = json!({ "calls": [{ "_tool": "greetUser", "userName": "Ada", "_output": "Hello, Ada!" }], "output": null });
    let done = json!({ "calls": [], "output": { "summary": "Greeted." } });
    let turns = [&greets, &done, &greets, &done].map(answer_turn);
    let roles = scripted_agents(turns, json!([]));
    let mut desk = Fixture::with_provider(roles.clone(), Host::Person).await;
    desk.write_file("AGENTS.md", "Be brief.");
    begin(&mut desk, GREETS).await;
    assert_eq!(desk.wait_until_ended().await, SessionState::Done);
    let asked = roles.requests().remove(0);
    assert_eq!(asked.temperature, Some(0.2));
    assert_eq!(
        offered(asked.response_schema.as_ref().unwrap()),
        ["read", "greetUser"]
    );
    assert!(!asked.system.contains("Be brief."), "{}", asked.system);
    assert_eq!(asked.messages.as_slice(), [Message::user("Greet Ada.")]);
    let events = desk.events().await;
    let output = events.iter().rev().find_map(|event| match &event.body {
        EventBody::Message {
            change: MessageChange::AnswerChecked { answer },
            ..
        } => answer.output.clone(),
        _ => None,
    });
    assert_eq!(output, Some(json!({ "summary": "Greeted." })));

    let mut desk = desk.restart().await;
    desk.send_message("Again.").await;
    desk.wait_until_ended().await;
    let greeted = (CallState::Done, "Hello, Ada!".to_owned());
    assert_eq!(desk.call_outcomes().await, [greeted.clone(), greeted]);
}

/// A request whose tool has a name that is taken, or that names a tool which is not there, opens nothing.
#[tokio::test]
async fn a_request_that_cannot_be_opens_nothing() {
    let desk = Fixture::new(json!([])).await;
    let model = ModelChoice {
        provider: "script".to_owned(),
        model: String::new(),
    };
    for (request, told) in [
        (
            r#"{"context":[{"type":"tool","tool":{"read":{"type":"object"}}}]}"#,
            "`read`",
        ),
        (
            r#"{"config":{"tools":["raed"]}}"#,
            "The request names a tool that is not there.",
        ),
        (r#"{"output_schema":{"type":"strnig"}}"#, "output schema"),
    ] {
        let request = StructuredRequest::parse("request.json", request).unwrap();
        let opened = desk
            .engine
            .open_request(&desk.workspace_root(), &model, &request)
            .await;
        let fault = opened.unwrap_err();
        assert!(fault.message.contains(told), "{fault}");
    }
    assert_eq!(desk.snapshot().await.sessions, []);
}

const REVIEW: &str = r#"{"review": {
    "type": "object",
    "properties": {"_delegate": {"const": "reviewer"}, "_output": {"type": "object"}}
}}"#;

/// `S004-43`: what a delegate's request brings the delegate has, and its caller has not.
#[tokio::test]
async fn a_delegate_has_the_tools_of_its_request() {
    let judges = json!({ "calls": [{ "_tool": "judge", "_output": "good" }], "output": null });
    let done = json!({ "calls": [], "output": {} });
    let roles = ScriptedAgents::new(
        [
            call_tool("judge", json!({ "_output": "good" })),
            call_tool("review", json!({})),
        ],
        [(
            "You review",
            json!([answer_turn(&judges), answer_turn(&done)]),
        )],
    );
    let mut desk = Fixture::with_provider(roles.clone(), Host::Person).await;
    let reviewer = r#"{"context": [
        {"type": "text", "text": "You review."},
        {"type": "tool", "tool": {"judge": {"type": "object", "properties": {"_output": {"type": "string"}}}}}
    ]}"#;
    desk.write_file(".countersign/tools/review.json", REVIEW)
        .write_file(".countersign/delegates/reviewer.json", reviewer);
    desk.start("Go.").await;
    desk.wait_until_session_ended().await;
    assert_eq!(
        desk.call_states().await,
        [CallState::Failed, CallState::Done]
    );
    let texts = desk.call_texts().await;
    assert!(texts[0].contains("Tool not found: judge"), "{texts:?}");
    let events = desk.events().await;
    let judged = events.iter().find_map(|event| match &event.body {
        EventBody::Call {
            change: CallChange::Ended { outcome, .. },
            ..
        } if event.session != desk.session => Some(outcome.text.clone()),
        _ => None,
    });
    assert_eq!(judged.as_deref(), Some("good"));
}

/// `S004-13`, `S004-46`: a request about several instances: the model is told of them, each begins with its own state, a call is
/// for the one that `_instance` names, and there is no other. No tool knows of it.
#[tokio::test]
async fn a_call_is_for_one_instance_of_a_request() {
    let request = r#"{
        "config": {
            "tools": ["write"],
            "instances": {"first": {"greeting": "hello\n"}, "second": {"greeting": "salve\n"}}
        },
        "context": [
            {"type": "tool", "tool": {"note": {"type": "object", "properties": {"_output": {"type": "string"}}}}},
            {"type": "text", "text": "Write each greeting."}
        ]
    }"#;
    let write = |path: &str, instance: &str| {
        let content = json!({ "_state": "greeting" });
        call_tool(
            "write",
            json!({ "path": path, "content": content, "_instance": instance }),
        )
    };
    let keeps = json!({ "_output": "kept\n", "_instance": "first", "_outputPath": "greeting" });
    let turns = [
        write("a", "first"),
        write("b", "second"),
        write("c", "third"),
        call_tool("note", keeps),
        write("d", "first"),
        write("e", "second"),
    ];
    let roles = scripted_agents(turns, json!([]));
    let mut desk = Fixture::with_provider(roles.clone(), Host::Person).await;
    begin(&mut desk, request).await;
    assert_eq!(desk.wait_until_ended().await, SessionState::Done);
    let system = &roles.requests()[0].system;
    assert!(
        system.contains(r#"{"first":{"greeting":"hello\n"},"second":{"greeting":"salve\n"}}"#),
        "{system}"
    );
    use CallState::{Done, Failed};
    assert_eq!(
        desk.call_states().await,
        [Done, Done, Failed, Done, Done, Done]
    );
    let told = desk.call_texts().await.remove(2);
    assert!(
        told.contains("this request has no instance `third`. It has `first`, `second`."),
        "{told}"
    );
    assert_eq!(desk.read_file("a").as_deref(), Some("hello\n"));
    assert_eq!(desk.read_file("b").as_deref(), Some("salve\n"));
    assert_eq!(desk.read_file("c"), None);
    assert_eq!(desk.read_file("d").as_deref(), Some("kept\n"));
    assert_eq!(
        desk.read_file("e").as_deref(),
        Some("salve\n"),
        "what the first keeps is its own"
    );
}
