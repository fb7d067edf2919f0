//! An editor whose agent works in the app, where the person answers.

use gateway::endpoint::{self, AgentRequest};
use gateway::endpoint_server::{self, ServeOptions};
use protocol::event::{CallChange, SessionEvent};
use protocol::{Decision, EventBody, Op, SessionState};
use runtime::LocalListener;
use serde_json::{Value, json};
use tokio::io::{empty, sink};

use super::{Editor, open_engine, script_model};

fn turns() -> Value {
    let bash = json!({ "name": "bash", "arguments": { "command": "touch made" } });
    json!([{ "calls": [bash] }, { "text": "Done." }])
}

fn request() -> AgentRequest {
    AgentRequest {
        model: Some(script_model()),
        posture: None,
    }
}

/// Starts an editor whose agent works in an app.
async fn start_in_app() -> Editor {
    let (folder, engine) = open_engine(turns(), |_| {}).await;
    let data_dir = engine.data_dir().to_owned();
    let listener = LocalListener::bind(&data_dir).await.unwrap();
    tokio::spawn({
        let engine = engine.clone();
        async move {
            let options = ServeOptions {
                can_ask: true,
                idle_max: None,
            };
            endpoint_server::serve(&engine, listener, options, engine.wait_until_closed()).await;
        }
    });
    let (ours, theirs) = tokio::io::duplex(1 << 20);
    let (from, to) = tokio::io::split(ours);
    let relayed =
        tokio::spawn(async move { endpoint::relay_agent(&data_dir, request(), from, to).await });
    Editor::new(folder, engine, theirs, relayed)
}

/// Waits until a call waits at the desk; returns the op that allows it.
async fn wait_for_card(editor: &Editor) -> Op {
    let mut events = editor.engine.subscribe(0);
    while let Some(batch) = events.next().await.unwrap() {
        for event in batch.iter() {
            if let EventBody::Call {
                call,
                change: CallChange::Waiting { digest, .. },
            } = &event.body
            {
                return Op::Decide {
                    session: event.session.clone(),
                    call: call.clone(),
                    digest: digest.clone(),
                    decision: Decision::allow(),
                };
            }
        }
    }
    panic!("the engine was closed");
}

#[tokio::test]
async fn a_call_is_answered_at_the_desk() {
    let mut editor = start_in_app().await;
    editor.begin_session(json!({})).await;
    let prompt = editor.begin_prompt("Go.").await;
    let allow = wait_for_card(&editor).await;
    editor.engine.submit(allow).await.unwrap();
    assert_eq!(editor.wait_for_stop(prompt).await, "end_turn");
    assert_eq!(editor.read_file("made").as_deref(), Some(""));
    let asked = "session/request_permission";
    assert!(
        editor
            .heard
            .iter()
            .all(|message| message["method"] != asked)
    );
    assert_eq!(editor.updates("tool_call_update")[0]["status"], "pending");
}

#[tokio::test]
async fn an_editor_that_goes_away_ends_its_run_in_the_app() {
    let mut editor = start_in_app().await;
    editor.begin_session(json!({})).await;
    editor.begin_prompt("Go.").await;
    wait_for_card(&editor).await;
    let mut events = editor.engine.subscribe(0);
    let (_folder, engine) = editor.close().await;
    let mut state = None;
    while state != Some(SessionState::Interrupted) {
        let batch = events.next().await.unwrap().unwrap();
        for event in batch.iter() {
            if let EventBody::Session(SessionEvent::Changed { state: now }) = &event.body {
                state = Some(*now);
            }
        }
    }
    assert!(engine.snapshot().await.unwrap().desk.is_empty());
}

#[tokio::test]
async fn without_an_app_nothing_is_served() {
    let (_folder, engine) = open_engine(turns(), |_| {}).await;
    let data_dir = engine.data_dir();
    let relay = || endpoint::relay_agent(data_dir, request(), empty(), sink());
    let absent = relay().await.unwrap_err();
    assert!(absent.message.contains("The app is not open"), "{absent}");

    // An engine without a window is no app.
    let listener = LocalListener::bind(data_dir).await.unwrap();
    let options = ServeOptions::default();
    let serving = endpoint_server::serve(&engine, listener, options, std::future::pending());
    let refused = tokio::select! {
        () = serving => panic!("it does not end"),
        refused = relay() => refused.unwrap_err(),
    };
    assert_eq!(refused, absent);
}
