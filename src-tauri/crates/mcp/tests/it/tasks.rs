//! Calls that a server of 2026 turns into tasks: they are waited for, and are one call all the same.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use tools::elicitation::ElicitationReply;

use crate::elicitation::Person;
use crate::support::*;

const TASKS: [&str; 2] = ["modern", "tasks"];

#[tokio::test]
async fn a_call_that_becomes_a_task_ends_with_its_result() {
    let server = fixture(&TASKS).await;
    let (heard, never) = (Arc::new(Mutex::new(Vec::new())), CancellationToken::new());
    let answer = call_hearing(&server, "task", json!({}), &never, &heard).await;
    assert_eq!(answer.unwrap().text, "printed");
    assert_eq!(*heard.lock().unwrap(), ["queued", "half of it", "done"]);
}

#[tokio::test]
async fn what_a_task_asks_is_asked_of_the_person_once() {
    let server = fixture(&TASKS).await;
    let values = json!({ "name": "Ada" });
    let reply = ElicitationReply::Filled(values.as_object().unwrap().clone());
    let person = Person::who_says([reply]);
    let answer = call_asking(&server, "task", json!({ "end": "asks" }), person.clone()).await;
    let said: Value = serde_json::from_str(&answer.unwrap().text).unwrap();
    assert_eq!(said, json!({ "action": "accept", "content": values }));
    assert_eq!(person.asked().len(), 1);
    let answer = said_of(&server, "asks").await.unwrap();
    assert_eq!(answer, r#"{"action":"decline"}"#, "nobody can be asked");
}

#[tokio::test]
async fn a_task_that_fails_says_why() {
    let server = fixture(&TASKS).await;
    for (end, why) in [
        ("fails", "the printer is on fire"),
        ("withdrawn", "it cancelled the task"),
        ("odd", "a task that cannot be read"),
    ] {
        let error = said_of(&server, end).await.unwrap_err();
        assert!(error.contains(why), "{end}: {error}");
    }
}

#[tokio::test]
async fn a_task_that_nobody_waits_for_is_cancelled_at_the_server() {
    let server = fixture(&TASKS).await;
    let cancel = CancellationToken::new();
    let call = call_until(&server, "task", json!({ "end": "never" }), &cancel);
    let (answer, ()) = tokio::join!(call, async {
        tokio::time::sleep(std::time::Duration::from_millis(150)).await;
        cancel.cancel();
    });
    answer.unwrap_err();
    logged(&server, "told to cancel \"t1\"").await;
    assert_eq!(echo(&server, "still there").await, "still there");
}

/// Bad input: a server of 2025 has no tasks of this kind.
#[tokio::test]
async fn a_task_of_a_server_of_2025_is_no_answer() {
    let server = fixture(&["tasks"]).await;
    let error = said_of(&server, "unasked").await.unwrap_err();
    assert!(error.contains("not asked for: task"), "{error}");
}

async fn said_of(server: &Arc<mcp::McpServer>, end: &str) -> Result<String, String> {
    let answer = call(server, "task", json!({ "end": end })).await;
    answer
        .map(|answer| answer.text)
        .map_err(|error| error.to_string())
}
