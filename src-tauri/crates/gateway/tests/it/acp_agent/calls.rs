//! Calls: how an editor sees them, and how it answers those that wait.

use std::sync::Arc;

use agent::config::RunLimitOverrides;
use async_trait::async_trait;
use protocol::query::{Answer, Query};
use protocol::{CallState, EntryBody, SessionId};
use provider::{ChunkStream, ModelRequest, Provider, ProviderError};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::{Editor, text};

/// A turn with a command.
fn bash(command: &str) -> Value {
    json!({ "calls": [{ "name": "bash", "arguments": { "command": command } }] })
}

/// States of the calls on record.
async fn call_states(editor: &Editor) -> Vec<CallState> {
    let query = Query::Transcript {
        session: SessionId::from(&*editor.session),
        before: None,
        limit: 100,
    };
    let Ok(Answer::Transcript { entries, .. }) = editor.engine.query(query).await else {
        panic!("no transcript");
    };
    let bodies = entries.into_iter().map(|entry| entry.body);
    bodies
        .filter_map(|body| match body {
            EntryBody::Call(view) => Some(view.state),
            _ => None,
        })
        .collect()
}

/// `S002-98`: each call that an editor is told of carries its kind, and goes from its difference to its result.
#[tokio::test]
async fn every_call_has_its_kind_its_state_and_its_content() {
    let mut editor = Editor::open(json!([
        { "reasoning": "Hm.", "text": "First I look.", "calls": [
            { "name": "read", "arguments": { "path": "a.txt" } },
            { "name": "grep", "arguments": { "pattern": "one" } },
            { "name": "todo", "arguments": { "items": [{ "content": "Edit", "status": "in_progress" }] } },
        ] },
        { "calls": [
            { "name": "edit", "arguments": { "path": "a.txt", "old_string": "one", "new_string": "two" } },
            { "name": "read", "arguments": { "path": "missing.txt" } },
        ] },
        { "text": "Done." },
    ]))
    .await;
    editor.write_file("a.txt", "zero\none\n");
    let prompt = editor.begin_prompt("Turn one into two.").await;
    assert_eq!(editor.wait_for_stop(prompt).await, "end_turn");
    assert_eq!(editor.read_file("a.txt").unwrap(), "zero\ntwo\n");

    let kinds: Vec<(String, String)> = editor
        .calls()
        .into_iter()
        .map(|[_, kind, status]| (kind, status))
        .collect();
    let expected = [
        ("read", "completed"),
        ("search", "completed"),
        ("other", "completed"),
        ("edit", "completed"),
        ("read", "failed"),
    ];
    let expected = expected.map(|(kind, status)| (kind.to_owned(), status.to_owned()));
    assert_eq!(kinds, expected);

    let edits = editor.updates("tool_call_update");
    let edit = edits
        .iter()
        .rfind(|update| update["kind"] == "edit")
        .unwrap();
    let diff = &edit["content"][0];
    assert_eq!(diff["type"], "diff", "{edit}");
    assert_eq!(
        (&diff["oldText"], &diff["newText"]),
        (&json!("zero\none\n"), &json!("zero\ntwo\n"))
    );
    assert!(text(&diff["path"]).ends_with("/workspace/a.txt"), "{diff}");
    assert_eq!(edit["locations"][0]["path"], diff["path"]);
    let read = &editor.updates("tool_call")[0];
    assert_eq!(read["locations"][0]["path"], diff["path"], "{read}");

    let entries = &editor.updates("plan")[0]["entries"];
    assert_eq!(entries[0]["content"], "Edit");
    assert_eq!(entries[0]["status"], "in_progress");
    assert_eq!(
        editor.updates("agent_thought_chunk")[0]["content"]["text"],
        "Hm."
    );
    let said: String = editor
        .updates("agent_message_chunk")
        .iter()
        .map(|chunk| text(&chunk["content"]["text"]))
        .collect();
    assert_eq!(said, "First I look.Done.");
    let title = &editor.updates("session_info_update")[0]["title"];
    assert_eq!(title, "Turn one into two.");
}

#[tokio::test]
async fn a_call_runs_only_if_the_editor_chose_that_it_may() {
    let mut editor = Editor::open(json!([
        bash("touch allowed"),
        bash("touch rejected"),
        bash("touch unknown"),
        { "text": "Done." },
    ]))
    .await;
    let prompt = editor.begin_prompt("Go.").await;
    let card = editor.choose_next("allow").await;
    let options = card["params"]["options"].as_array().unwrap();
    let kinds: Vec<&str> = options
        .iter()
        .map(|one| one["kind"].as_str().unwrap())
        .collect();
    assert_eq!(
        (kinds[0], kinds[kinds.len() - 1]),
        ("allow_once", "reject_once")
    );
    let content = card["params"]["toolCall"]["content"].to_string();
    assert!(content.contains("touch allowed"), "{content}");
    assert!(content.contains("Needs approval: "), "{content}");
    editor.choose_next("reject").await;
    editor.choose_next("allow_everything").await;
    assert_eq!(editor.wait_for_stop(prompt).await, "end_turn");
    assert_eq!(
        call_states(&editor).await,
        [CallState::Done, CallState::Rejected, CallState::Rejected]
    );
    let made = ["allowed", "rejected", "unknown"].map(|name| editor.read_file(name).is_some());
    assert_eq!(made, [true, false, false]);
}

#[tokio::test]
async fn a_grant_of_the_card_holds_for_the_calls_that_follow() {
    let mut editor = Editor::open(json!([
        bash("git status"),
        bash("git status"),
        { "text": "Done." },
    ]))
    .await;
    let prompt = editor.begin_prompt("Go.").await;
    let card = editor.choose_next("always_session").await;
    let options = card["params"]["options"].to_string();
    assert!(
        options.contains("Always in this session: bash git status"),
        "{options}"
    );
    assert_eq!(editor.wait_for_stop(prompt).await, "end_turn");
    let asked = editor
        .heard
        .iter()
        .filter(|message| message["method"] == "session/request_permission");
    assert_eq!(asked.count(), 1);
}

/// An editor that fails to ask has not allowed anything.
#[tokio::test]
async fn a_question_that_fails_ends_the_run() {
    for answer in [
        json!({ "error": { "code": -32601, "message": "Method not found" } }),
        json!({ "result": { "outcome": { "outcome": "cancelled" } } }),
        json!({ "result": { "nonsense": true } }),
    ] {
        let mut editor = Editor::open(json!([bash("touch made"), { "text": "Done." }])).await;
        let prompt = editor.begin_prompt("Go.").await;
        let request = editor.wait_for_request("session/request_permission").await;
        let mut message = json!({ "jsonrpc": "2.0", "id": request["id"] });
        message
            .as_object_mut()
            .unwrap()
            .extend(answer.as_object().unwrap().clone());
        editor.write_line(&message.to_string()).await;
        assert_eq!(editor.wait_for_stop(prompt).await, "cancelled", "{answer}");
        assert_eq!(call_states(&editor).await, [CallState::Interrupted]);
        assert_eq!(editor.read_file("made"), None);
    }
}

#[tokio::test]
async fn a_cancelled_prompt_withdraws_its_question() {
    let mut editor = Editor::open(json!([bash("touch made"), { "text": "Done." }])).await;
    let prompt = editor.begin_prompt("Go.").await;
    let request = editor.wait_for_request("session/request_permission").await;
    editor
        .notify("session/cancel", editor.session_params(json!({})))
        .await;
    let withdrawn = editor.wait_for_request("$/cancel_request").await;
    assert_eq!(withdrawn["params"]["requestId"], request["id"]);
    assert_eq!(editor.wait_for_stop(prompt).await, "cancelled");
    // Too late: nobody waits for it.
    editor.choose(&request, "allow").await;
    let again = editor.begin_prompt("Say something.").await;
    assert_eq!(editor.wait_for_stop(again).await, "end_turn");
    assert_eq!(editor.read_file("made"), None);
}

#[tokio::test]
async fn the_mode_of_a_session_is_its_posture_alone() {
    let mut editor =
        Editor::open(json!([bash("touch made"), { "text": "Done." }, bash("touch made")])).await;
    let set = |mode: &str| json!({ "modeId": mode });
    let answer = editor
        .ask("session/set_mode", editor.session_params(set("unattended")))
        .await;
    assert_eq!(answer["result"], json!({}), "{answer}");
    let prompt = editor.begin_prompt("Go.").await;
    assert_eq!(editor.wait_for_stop(prompt).await, "end_turn");
    assert_eq!(call_states(&editor).await, [CallState::Denied]);
    assert_eq!(editor.engine.settings().posture, None);

    let answer = editor
        .ask("session/set_mode", editor.session_params(set("plan")))
        .await;
    assert_eq!(answer["result"], json!({}), "{answer}");
    let answer = editor
        .ask("session/set_mode", editor.session_params(set("yolo")))
        .await;
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    let prompt = editor.begin_prompt("Go.").await;
    assert_eq!(editor.wait_for_stop(prompt).await, "end_turn");
    assert_eq!(
        editor.updates("current_mode_update")[0]["currentModeId"],
        "plan"
    );
    assert_eq!(
        call_states(&editor).await,
        [CallState::Denied, CallState::Denied]
    );
}

#[tokio::test]
async fn a_run_that_comes_to_its_limit_or_fails_says_so() {
    let limits = RunLimitOverrides {
        turns: Some(1),
        ..RunLimitOverrides::default()
    };
    let turns = json!([{ "calls": [{ "name": "todo", "arguments": { "items": [] } }] }]);
    let mut editor = Editor::start_with(turns, |config| config.limits = limits).await;
    editor.begin_session(json!({})).await;
    let prompt = editor.begin_prompt("Go.").await;
    assert_eq!(editor.wait_for_stop(prompt).await, "max_turn_requests");

    let mut editor = Editor::start_with(json!([]), |config| {
        config.provider = Some(Arc::new(RefusingProvider));
    })
    .await;
    editor.begin_session(json!({})).await;
    let prompt = editor.begin_prompt("Go.").await;
    let answer = editor.wait_for_answer(prompt).await;
    assert_eq!(answer["error"]["code"], -32603, "{answer}");
    assert!(answer.to_string().contains("no more of this"), "{answer}");
}

/// A provider that accepts no request.
struct RefusingProvider;

#[async_trait]
impl Provider for RefusingProvider {
    fn id(&self) -> &str {
        "script"
    }

    async fn stream(
        &self,
        _request: ModelRequest,
        _cancel: CancellationToken,
    ) -> Result<ChunkStream, ProviderError> {
        Err(ProviderError::Refused {
            provider: "Script".to_owned(),
            status: 400,
            message: "no more of this".to_owned(),
        })
    }

    async fn models(&self) -> Result<Vec<String>, ProviderError> {
        Ok(Vec::new())
    }
}

/// A call of a sub-agent asks in the session that the editor knows.
#[tokio::test]
async fn a_sub_agent_s_call_asks_too() {
    let task = json!({ "subagent_type": "helper", "prompt": "Help." });
    let mut editor = Editor::start(json!([
        { "calls": [{ "name": "task", "arguments": task }] },
        bash("touch made"),
        { "text": "Done." },
    ]))
    .await;
    editor.write_file(
        ".countersign/agents/helper.md",
        "---\nname: helper\ndescription: Helps.\ntools: [bash]\n---\nHelp.\n",
    );
    editor.begin_session(json!({})).await;
    let prompt = editor.begin_prompt("Go.").await;
    let of_helper = editor.choose_next("allow").await;
    assert_eq!(of_helper["params"]["sessionId"], *editor.session);
    let id = text(&of_helper["params"]["toolCall"]["toolCallId"]);
    assert!(id.contains('/') && !id.contains(&editor.session), "{id}");
    assert_eq!(editor.read_file("made"), None);
    editor.choose_next("reject").await;
    assert_eq!(editor.wait_for_stop(prompt).await, "end_turn");
    assert_eq!(editor.read_file("made").as_deref(), Some(""));
    assert_eq!(
        call_states(&editor).await,
        [CallState::Done, CallState::Rejected]
    );
}
