//! Sessions that an agent of somebody else has had by itself: listed, gone on with here, and copied.

use gateway::acp_client::{AgentSession, list_agent_sessions};
use protocol::event::FormerAgentSession;
use protocol::{ModelChoice, Op, SessionState};
use serde_json::{Value, json};
use support::{Fixture, say_text};

use super::acp_agents::AgentDesk;

/// The beginning of an agent that lists, resumes, and copies sessions.
const HELLO: &str = r#"-> {"id": 1, "method": "initialize"}
<- {"id": 1, "result": {"protocolVersion": 1, "agentCapabilities": {"sessionCapabilities": {"list": {}, "resume": {}, "fork": {}}}}}
"#;

/// Of one that has none of these.
const PLAIN_HELLO: &str = r#"-> {"id": 1, "method": "initialize"}
<- {"id": 1, "result": {"protocolVersion": 1}}
"#;

/// A turn in which it says something in the session `s`.
const TURN: &str = r#"-> {"id": 3, "method": "session/prompt"}
<- {"method": "session/update", "params": {"sessionId": "s", "update": {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "As before."}}}}
<- {"id": 3, "result": {"stopReason": "end_turn"}}
"#;

/// A desk whose agent goes on with a session of its own, which it knows as `before`.
async fn desk(wire: &str, fork: bool) -> AgentDesk {
    let mut place = AgentDesk::new("unknown", wire).await;
    place.former = Some(FormerAgentSession {
        id: "before".to_owned(),
        fork,
    });
    place
}

/// The request of this method that the agent was sent.
fn request(place: &AgentDesk, method: &str) -> Value {
    let sent = place.answers();
    let mut sent = sent
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let request = sent.find(|message| message["method"] == method);
    request.unwrap_or_else(|| panic!("no {method} was sent"))
}

#[tokio::test]
async fn an_agent_goes_on_with_a_session_of_its_own() {
    let resumed =
        "-> {\"id\": 2, \"method\": \"session/resume\"}\n<- {\"id\": 2, \"result\": {}}\n";
    let turn = TURN.replace("\"s\"", "\"before\"");
    let mut place = desk(&format!("{HELLO}{resumed}{turn}"), false).await;
    place.start("Go on.").await;
    assert_eq!(place.desk.wait_until_ended().await, SessionState::Done);
    assert_eq!(
        request(&place, "session/resume")["params"]["sessionId"],
        "before"
    );
    assert_eq!(
        request(&place, "session/prompt")["params"]["sessionId"],
        "before"
    );
    let (said, notices) = place.texts().await;
    assert_eq!(said, ["As before."]);
    assert!(
        notices
            .iter()
            .any(|text| text.contains("goes on with its session before")),
        "{notices:?}"
    );
}

#[tokio::test]
async fn an_agent_goes_on_in_a_copy_of_a_session_of_its_own() {
    let copied = "-> {\"id\": 2, \"method\": \"session/fork\"}\n<- {\"id\": 2, \"result\": {\"sessionId\": \"s\"}}\n";
    let mut place = desk(&format!("{HELLO}{copied}{TURN}"), true).await;
    place.start("Go on.").await;
    assert_eq!(place.desk.wait_until_ended().await, SessionState::Done);
    assert_eq!(
        request(&place, "session/fork")["params"]["sessionId"],
        "before"
    );
    // The session itself stays as it is.
    assert_eq!(
        request(&place, "session/prompt")["params"]["sessionId"],
        "s"
    );
    // Started again, it goes on with the copy, which is its session now.
    let resumed =
        "-> {\"id\": 2, \"method\": \"session/resume\"}\n<- {\"id\": 2, \"result\": {}}\n";
    let mut place = place.restart(&format!("{HELLO}{resumed}{TURN}")).await;
    place.desk.send_message("And on.").await;
    assert_eq!(place.desk.wait_until_ended().await, SessionState::Done);
    assert_eq!(
        request(&place, "session/resume")["params"]["sessionId"],
        "s"
    );
}

/// Nothing begins anew in silence: what the agent cannot do, or a session that it does not have, ends the turn.
#[tokio::test]
async fn a_session_that_an_agent_cannot_go_on_with_is_an_error() {
    let lost = "-> {\"id\": 2, \"method\": \"session/resume\"}\n\
        <- {\"id\": 2, \"error\": {\"code\": -32002, \"message\": \"no such session\"}}\n";
    for (wire, fork, why) in [
        (format!("{HELLO}{lost}"), false, "no such session"),
        (
            PLAIN_HELLO.to_owned(),
            false,
            "does not go on with sessions",
        ),
        (PLAIN_HELLO.to_owned(), true, "does not copy sessions"),
    ] {
        let mut place = desk(&wire, fork).await;
        place.start("Go on.").await;
        assert_eq!(
            place.desk.wait_until_ended().await,
            SessionState::Failed,
            "{why}"
        );
        let errors = place.turn_errors().await;
        assert!(
            errors.iter().any(|text| text.contains(why)),
            "{why}: {errors:?}"
        );
    }
}

#[tokio::test]
async fn a_model_has_no_sessions_of_its_own() {
    let desk = Fixture::new([say_text("Hi.")]).await;
    let op = Op::OpenSession {
        workspace: desk.workspace_root().display().to_string(),
        model: ModelChoice {
            provider: "script".to_owned(),
            model: "script".to_owned(),
        },
        prompt: None,
        output_schema: None,
        temperature: None,
        agent: None,
        planning: false,
        enclosure: None,
        servers: None,
        former: Some(FormerAgentSession {
            id: "before".to_owned(),
            fork: false,
        }),
    };
    let refused = desk.engine.submit(op).await.unwrap_err();
    assert!(
        refused.message.contains("A model answers in this session"),
        "{refused}"
    );
}

#[tokio::test]
async fn the_sessions_of_an_agent_are_listed_page_by_page() {
    let pages = r#"-> {"id": 2, "method": "session/list"}
<- {"id": 2, "result": {"sessions": [{"sessionId": "one", "cwd": "/a", "title": "First", "updatedAt": "2026-11-26T10:00:00Z"}], "nextCursor": "more"}}
-> {"id": 3, "method": "session/list"}
<- {"id": 3, "result": {"sessions": [{"sessionId": "two", "cwd": "/b"}]}}
"#;
    let place = AgentDesk::new("unknown", &format!("{HELLO}{pages}")).await;
    let listed = list_agent_sessions(&place.command, None, &[])
        .await
        .unwrap();
    let session = |id: &str, folder: &str, title: &str, changed: &str| AgentSession {
        id: id.to_owned(),
        folder: folder.into(),
        title: title.to_owned(),
        changed: changed.to_owned(),
    };
    let wanted = [
        session("one", "/a", "First", "2026-11-26T10:00:00Z"),
        session("two", "/b", "", ""),
    ];
    assert_eq!(listed, wanted);
    let sent = place.answers();
    let last = sent.lines().last().unwrap();
    assert_eq!(
        serde_json::from_str::<Value>(last).unwrap()["params"],
        json!({ "cursor": "more" })
    );
}

#[tokio::test]
async fn an_agent_that_lists_no_sessions_is_an_error() {
    let place = AgentDesk::new("unknown", PLAIN_HELLO).await;
    let refused = list_agent_sessions(&place.command, None, &[])
        .await
        .unwrap_err();
    assert!(
        refused.message.contains("does not list its sessions"),
        "{refused}"
    );
}
