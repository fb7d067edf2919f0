//! Tools that a server of 2025 runs as tasks: they are called as such where it takes no other call, and are one call all the same.

use std::sync::{Arc, Mutex};

use mcp::McpServer;
use protocol::ToolError;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use tools::elicitation::ElicitationReply;

use crate::elicitation::Person;
use crate::support::*;

const TASKS: [&str; 2] = ["legacy-tasks", "whole"];

#[tokio::test]
async fn a_tool_that_takes_no_other_call_is_called_as_a_task() {
    let server = fixture(&TASKS).await;
    let (heard, never) = (Arc::new(Mutex::new(Vec::new())), CancellationToken::new());
    let answer = call_hearing(&server, "task_required", json!({}), &never, &heard).await;
    assert_eq!(answer.unwrap().text, "printed");
    let mut heard = heard.lock().unwrap().clone();
    heard.retain(|text| !text.starts_with("1 of 2"));
    assert_eq!(heard, ["queued", "half of it", "done"]);
    // The timeout of a call, and an hour for the person.
    logged(&server, "keeps a task for 3620000 ms").await;
}

#[tokio::test]
async fn a_tool_that_takes_both_is_called_plainly() {
    let server = fixture(&TASKS).await;
    for tool in ["task_optional", "task_forbidden"] {
        assert_eq!(said(&server, tool, json!({})).await, "at once");
    }
}

/// The task is nothing that the result tells of: it is what a plain call gets.
#[tokio::test]
async fn the_result_of_a_task_is_that_of_a_call() {
    let server = fixture(&TASKS).await;
    let mut results = Vec::new();
    for tool in ["whole", "task_required"] {
        let arguments = json!({ "end": "whole" }).as_object().unwrap().clone();
        let tool = tool_of(&server, tool).keeping_result();
        let never = CancellationToken::new();
        let answer = tool.call_approved(arguments, &never, None, None).await;
        results.push(answer.unwrap().details.unwrap().to_string());
    }
    assert!(
        results[0].contains("fixture.example/trace"),
        "{}",
        results[0]
    );
    assert_eq!(results[1], results[0]);
}

#[tokio::test]
async fn what_a_task_asks_is_asked_of_the_person() {
    let server = fixture(&TASKS).await;
    let values = json!({ "name": "Ada" });
    let reply = ElicitationReply::Filled(values.as_object().unwrap().clone());
    let person = Person::who_says([reply]);
    // Of several calls, the one whose task asks is known.
    let other = tokio::spawn({
        let server = server.clone();
        async move { call(&server, "hang", json!({})).await }
    });
    logged(&server, "holds hang").await;
    let arguments = json!({ "end": "asks" });
    let answer = call_asking(&server, "task_required", arguments, person.clone()).await;
    other.abort();
    let said: Value = serde_json::from_str(&answer.unwrap().text).unwrap();
    let of_task = json!({ "io.modelcontextprotocol/related-task": { "taskId": "t1" } });
    assert_eq!(
        said,
        json!({ "action": "accept", "content": values, "_meta": of_task })
    );
    assert_eq!(person.asked().len(), 1);
    let answer = end_of(&server, "asks").await.unwrap();
    assert!(answer.contains("decline"), "nobody can be asked: {answer}");
}

#[tokio::test]
async fn a_task_that_ends_otherwise_says_why() {
    let server = fixture(&TASKS).await;
    for (end, why) in [
        ("fails", "out of paper: the printer is on fire (-32603)"),
        ("is wrong", "the printer is wet"),
        ("withdrawn", "it cancelled the task"),
        ("odd", "a task that cannot be read"),
        ("nameless", "a task that cannot be read"),
    ] {
        let error = end_of(&server, end).await.unwrap_err();
        assert!(error.contains(why), "{end}: {error}");
    }
    // A server may answer at once all the same.
    assert_eq!(end_of(&server, "at once").await.unwrap(), "at once");
}

/// Progress is told by the token of the call, as long as its task runs.
#[tokio::test]
async fn a_task_that_nobody_waits_for_is_cancelled_at_the_server() {
    let server = fixture(&TASKS).await;
    let (heard, cancel) = (Arc::new(Mutex::new(Vec::new())), CancellationToken::new());
    let arguments = json!({ "end": "never" });
    let call = call_hearing(&server, "task_required", arguments, &cancel, &heard);
    let (answer, ()) = tokio::join!(call, async {
        until(|| {
            let heard = heard.lock().unwrap();
            heard.iter().any(|text| text == "1 of 2: half of it")
        })
        .await;
        cancel.cancel();
    });
    assert!(matches!(answer, Err(ToolError::Cancelled)), "{answer:?}");
    logged(&server, "told to cancel \"t1\"").await;
    assert_eq!(echo(&server, "still there").await, "still there");
}

#[tokio::test]
async fn a_task_that_takes_too_long_is_cancelled_at_the_server() {
    let mut settings = settings(&TASKS);
    settings.timeout_ms = 3_000;
    let server = approved(settings, ground()).await;
    let error = end_of(&server, "never").await.unwrap_err();
    assert!(error.contains("did not answer within 3 s"), "{error}");
    logged(&server, "told to cancel \"t1\"").await;
}

/// Bad input: a tool that takes calls as tasks alone, of a server that announces no tasks.
#[tokio::test]
async fn a_server_that_announces_no_tasks_is_asked_for_none() {
    let server = fixture(&["legacy-tasks", "unannounced"]).await;
    let error = end_of(&server, "").await.unwrap_err();
    assert!(error.contains("`task_required`"), "{error}");
    assert!(error.contains("was not called"), "{error}");
    assert_eq!(said(&server, "task_optional", json!({})).await, "at once");
}

async fn end_of(server: &Arc<McpServer>, end: &str) -> Result<String, String> {
    let answer = call(server, "task_required", json!({ "end": end })).await;
    answer
        .map(|answer| answer.text)
        .map_err(|error| error.to_string())
}
