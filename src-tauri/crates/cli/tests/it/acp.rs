//! `acp`: the program as the agent of an editor, which speaks by the official library.

use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{
    InitializeRequest, NewSessionRequest, PromptRequest, RequestPermissionOutcome,
    RequestPermissionRequest, RequestPermissionResponse, SelectedPermissionOutcome,
    SessionNotification, SessionUpdate, StopReason, ToolCallContent, ToolCallStatus, ToolKind,
};
use agent_client_protocol::{Agent, Client, Lines, on_receive_notification, on_receive_request};
use futures::{sink, stream};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, Command};

use crate::support::CliFixture;

/// How long the program may take before the test fails.
const PATIENCE: Duration = Duration::from_secs(60);

const SCRIPT: &str = r#"{"turns":[
  {"text":"I begin.","calls":[{"name":"write","arguments":{"path":"a.txt","content":"one\n"}}]},
  {"calls":[{"name":"bash","arguments":{"command":"cp a.txt b.txt"}}]},
  {"text":"Done."}]}"#;

/// Starts the program.
fn start(place: &CliFixture, args: &[&str]) -> Child {
    let script = place.write_outside_file("script.json", SCRIPT);
    let args = [&["acp", "--script", &script], args].concat();
    Command::from(place.command(&args))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap()
}

/// Lets the agent work on one prompt, chooses the option with this id where it asks, and closes the agent's input.
/// Returns why the agent stopped, and what it told.
async fn work(place: &CliFixture, args: &[&str], option: &str) -> (StopReason, Vec<SessionUpdate>) {
    let mut child = start(place, args);
    let (to, from) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let outgoing = sink::unfold(to, async |mut to, line: String| {
        to.write_all(format!("{line}\n").as_bytes()).await?;
        Ok(to)
    });
    let incoming = stream::try_unfold(BufReader::new(from).lines(), async |mut from| {
        Ok(from.next_line().await?.map(|line| (line, from)))
    });
    let told = Arc::new(Mutex::new(Vec::new()));
    let (keeps, folder) = (told.clone(), place.workspace());
    let option = option.to_owned();
    let reason = Client
        .v1()
        .on_receive_notification(
            async |notification: SessionNotification, _| {
                keeps.lock().unwrap().push(notification.update);
                Ok(())
            },
            on_receive_notification!(),
        )
        .on_receive_request(
            async |_: RequestPermissionRequest, responder, _| {
                let chosen = SelectedPermissionOutcome::new(option.clone());
                responder.respond(RequestPermissionResponse::new(
                    RequestPermissionOutcome::Selected(chosen),
                ))
            },
            on_receive_request!(),
        )
        .connect_with(
            Lines::new(outgoing, incoming),
            async |agent: ConnectionTo<Agent>| {
                let hello = InitializeRequest::new(ProtocolVersion::V1);
                let hello = agent.send_request(hello).block_task().await?;
                assert_eq!(hello.agent_info.unwrap().name, "countersign");
                let session = NewSessionRequest::new(folder);
                let session = agent.send_request(session).block_task().await?;
                let prompt = PromptRequest::new(session.session_id, vec!["Go.".into()]);
                let answer = agent.send_request(prompt).block_task().await?;
                Ok(answer.stop_reason)
            },
        )
        .await
        .unwrap();
    let ended = tokio::time::timeout(PATIENCE, child.wait()).await;
    assert_eq!(ended.unwrap().unwrap().code(), Some(0));
    let told = told.lock().unwrap().clone();
    (reason, told)
}

/// The last words about each call: its kind and its status.
fn calls(told: &[SessionUpdate]) -> Vec<(ToolKind, ToolCallStatus)> {
    let mut calls: Vec<(String, ToolKind, ToolCallStatus)> = Vec::new();
    for update in told {
        match update {
            SessionUpdate::ToolCall(call) => {
                calls.push((call.tool_call_id.to_string(), call.kind, call.status));
            }
            SessionUpdate::ToolCallUpdate(update) => {
                let id = update.tool_call_id.to_string();
                let (_, kind, status) = calls.iter_mut().find(|call| call.0 == id).unwrap();
                *kind = update.fields.kind.unwrap_or(*kind);
                *status = update.fields.status.unwrap_or(*status);
            }
            _ => {}
        }
    }
    calls
        .into_iter()
        .map(|(_, kind, status)| (kind, status))
        .collect()
}

#[tokio::test]
async fn an_editor_allows_what_the_agent_does() {
    let place = CliFixture::new();
    let (reason, told) = work(&place, &[], "allow").await;
    assert_eq!(reason, StopReason::EndTurn);
    assert_eq!(
        calls(&told),
        [
            (ToolKind::Edit, ToolCallStatus::Completed),
            (ToolKind::Execute, ToolCallStatus::Completed),
        ]
    );
    let has_diff = told.iter().any(|update| match update {
        SessionUpdate::ToolCall(call) => matches!(call.content.first(), Some(ToolCallContent::Diff(diff)) if diff.new_text == "one\n"),
        _ => false,
    });
    assert!(has_diff, "{told:?}");
    assert_eq!(place.read_file("b.txt").as_deref(), Some("one\n"));
    // It is on record as any other session, and its change can be undone.
    let sessions = place.run_json(&["sessions"]);
    assert_eq!(sessions["sessions"][0]["title"], "Go.", "{sessions}");
    let history = place.run_ok(&["history"]);
    assert!(history.contains("a.txt"), "{history}");
}

#[tokio::test]
async fn an_editor_that_rejects_is_obeyed() {
    let place = CliFixture::new();
    let (reason, told) = work(&place, &[], "reject").await;
    assert_eq!(reason, StopReason::EndTurn);
    assert_eq!(calls(&told)[1], (ToolKind::Execute, ToolCallStatus::Failed));
    assert_eq!(place.read_file("b.txt"), None);
}

/// The posture that the program is started with holds before the editor sets a mode: nobody is asked.
#[tokio::test]
async fn the_posture_of_the_command_line_holds() {
    let place = CliFixture::new();
    let rules = place.write_outside_file(
        "rules.toml",
        "[[rule]]\npermission = \"bash\"\npattern = \"*\"\naction = \"ask\"\n",
    );
    let args = ["--posture", "unattended", "--rules", &rules];
    let (reason, told) = work(&place, &args, "allow").await;
    assert_eq!(reason, StopReason::EndTurn);
    assert_eq!(calls(&told)[1], (ToolKind::Execute, ToolCallStatus::Failed));
    assert_eq!(place.read_file("b.txt"), None);
}

#[test]
fn what_cannot_be_served_is_named() {
    let place = CliFixture::new();
    let ran = place.run(&["acp", "--script", "missing.json"]);
    assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{}", ran.err);
    assert!(ran.err.contains("missing.json"), "{}", ran.err);
    // Nobody is at an app that is closed.
    let ran = place.run(&["acp", "--answers", "desk"]);
    assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{}", ran.err);
    assert!(ran.err.contains("The app is not open"), "{}", ran.err);
    for args in [["--rules", "r.toml"], ["--model", "m"]] {
        let ran = place.run(&[&["acp", "--answers", "desk"], &args[..]].concat());
        assert_eq!(ran.code, 2, "{args:?}: {}", ran.err);
    }
    // An editor that says nothing and goes.
    assert_eq!(place.run_ok(&["acp"]), "");
}
