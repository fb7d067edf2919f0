//! Delegates: work in a session of its own.

use std::sync::Arc;

use agent::Host;
use protocol::event::{CallChange, ParentCall};
use protocol::query::{Answer, Query};
use protocol::{CallState, Decision, EventBody, LoopId, Message, Op, SessionId, SessionState};
use serde_json::{Value, json};
use support::{Fixture, call_tool, expect_variant, say_text};

use support::scripted_agents::ScriptedAgents;

use super::{answer_turn, scripted_agents};

const REVIEW: &str = r#"{"review": {
    "type": "object",
    "properties": {
        "_delegate": {"const": "reviewer"},
        "path": {"type": "string"},
        "_output": {"type": "object", "properties": {"verdict": {"type": "string"}}, "required": ["verdict"]}
    },
    "required": ["path"]
}}"#;

const REVIEWER: &str = r#"{
    "config": {"tools": ["read", "bash"], "temperature": 0.1},
    "context": [{"type": "text", "text": "You review one file."}]
}"#;

async fn sessions(desk: &Fixture) -> Vec<(SessionId, Option<ParentCall>, SessionState)> {
    let snapshot = desk.snapshot().await;
    let view = snapshot.sessions.into_iter();
    view.map(|view| (view.id, view.parent, view.state))
        .collect()
}

async fn delegating(reviewer: Value) -> (Fixture, Arc<ScriptedAgents>) {
    let others = [
        call_tool("review", json!({ "path": "a.rs" })),
        say_text("Reviewed."),
    ];
    let roles = scripted_agents(others, reviewer);
    let mut desk = Fixture::with_provider(roles.clone(), Host::Person).await;
    desk.write_file(".countersign/tools/review.json", REVIEW)
        .write_file(".countersign/delegates/reviewer.json", REVIEWER);
    (desk, roles)
}

/// A delegate works in a session of its own, with its own context and tools; its calls stand on the desk like any other,
/// and its output, checked, is the result (`S004-11`, `S004-28`, `S004-48`). The result names that session, and those of the
/// delegate's own calls name none (`S001-19`).
#[tokio::test]
async fn a_delegate_works_by_itself() {
    let ask = json!({ "calls": [{ "_tool": "bash", "command": "true" }], "output": null });
    let done = json!({ "calls": [], "output": { "verdict": "good" } });
    let (mut desk, roles) = delegating(json!([answer_turn(&ask), answer_turn(&done)])).await;
    desk.start("Go.").await;
    let event = desk.wait_for_any_call().await;
    let EventBody::Call {
        call,
        change: CallChange::Waiting { digest, .. },
    } = event.body
    else {
        unreachable!()
    };
    let parent = ParentCall {
        session: desk.session.clone(),
        call: desk.calls().await[0].call.id.clone(),
    };
    let child = sessions(&desk)
        .await
        .into_iter()
        .find(|(_, parent, _)| parent.is_some())
        .unwrap();
    assert_eq!((&child.0, child.1), (&event.session, Some(parent)));
    desk.submit(Op::Decide {
        session: event.session.clone(),
        call,
        digest,
        decision: Decision::allow(),
    })
    .await;
    desk.wait_until_session_ended().await;
    let view = desk.calls().await.remove(0);
    let outcome = view.outcome.unwrap();
    let message = outcome.to_tool_message(&view.call.id, "review");
    assert_eq!(
        message.child_loop_id.as_ref().map(LoopId::session),
        Some(event.session.clone())
    );
    let below = desk
        .events()
        .await
        .into_iter()
        .find_map(|told| match told.body {
            EventBody::Call {
                change: CallChange::Ended { outcome, .. },
                ..
            } if told.session == event.session => Some(outcome),
            _ => None,
        });
    assert_eq!(below.unwrap().child, None);
    assert_eq!(
        (view.state, outcome.data),
        (CallState::Done, Some(json!({ "verdict": "good" })))
    );
    let reviewer: Vec<_> = roles
        .requests()
        .into_iter()
        .filter(|asked| asked.system.starts_with("You review"))
        .collect();
    assert_eq!(
        reviewer[0].messages.as_slice(),
        [Message::user(r#"{"path":"a.rs"}"#)]
    );
    assert_eq!(reviewer[0].temperature, Some(0.1));
    let tools: Vec<&Value> =
        reviewer[0].response_schema.as_ref().unwrap()["properties"]["calls"]["items"]["anyOf"]
            .as_array()
            .unwrap()
            .iter()
            .map(|item| &item["properties"]["_tool"]["const"])
            .collect();
    assert_eq!(tools, ["read", "bash"], "no more than its request names");
    let query = Query::Transcript {
        session: event.session,
        before: None,
        limit: 10,
    };
    let entries =
        expect_variant!(desk.query(query).await, Answer::Transcript { entries, .. } => entries);
    assert_eq!(entries.len(), 4, "the input, two answers, one call");
}

/// A delegate ends with the call that it works for, also when the app ends.
#[tokio::test]
async fn a_delegate_ends_with_its_caller() {
    let ask = json!({ "calls": [{ "_tool": "bash", "command": "true" }], "output": null });
    for restart in [false, true] {
        let (mut desk, _) = delegating(json!([answer_turn(&ask)])).await;
        desk.start("Go.").await;
        desk.wait_for_any_call().await;
        match restart {
            false => {
                desk.interrupt_run().await;
                desk.wait_until_session_ended().await;
            }
            true => desk = desk.restart().await,
        }
        let states: Vec<_> = sessions(&desk)
            .await
            .into_iter()
            .map(|(_, _, state)| state)
            .collect();
        assert_eq!(states, [SessionState::Interrupted; 2], "restart: {restart}");
        assert_eq!(desk.snapshot().await.desk, []);
        assert_eq!(desk.calls().await[0].state, CallState::Interrupted);
    }
}

/// Delegates that send out delegates end at a depth, and one that comes to nothing is an error of its call.
#[tokio::test]
async fn delegates_that_do_not_end_are_errors() {
    let (mut desk, roles) = delegating(json!(vec![say_text("no JSON"); 4])).await;
    desk.start("Go.").await;
    desk.wait_until_session_ended().await;
    let (state, told) = desk.call_outcomes().await.remove(0);
    assert_eq!(state, CallState::Failed);
    assert!(told.contains("The delegate's run failed"), "{told}");
    assert_eq!(roles.requests().len(), 2 + 3);

    let again = json!({ "calls": [{ "_tool": "review", "path": "a.rs" }], "output": null });
    let done = json!({ "calls": [], "output": { "verdict": "so" } });
    let (mut desk, roles) = delegating(json!([answer_turn(&again), answer_turn(&done)])).await;
    desk.write_file(
        ".countersign/delegates/reviewer.json",
        REVIEWER.replace("\"read\"", "\"review\""),
    );
    desk.start("Go.").await;
    desk.wait_until_session_ended().await;
    assert_eq!(sessions(&desk).await.len(), 1 + 5, "S004-11, M10");
    let deepest = roles.requests().iter().any(|asked| {
        matches!(asked.messages.last(), Some(Message::User { text, .. }) if text.contains("5 deep"))
    });
    assert!(deepest, "{:#?}", roles.requests().last());
}
