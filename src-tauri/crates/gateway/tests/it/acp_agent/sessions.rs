//! Sessions: opened, listed, opened again, and left; and what is no session, no message, or no turn of the editor.

use protocol::SessionState;
use serde_json::{Value, json};

use super::Editor;

#[tokio::test]
async fn a_session_is_listed_and_loaded_with_its_history() {
    let mut editor = Editor::open(json!([
        { "text": "I look.", "calls": [{ "name": "read", "arguments": { "path": "a.txt" } }] },
        { "text": "Done." },
    ]))
    .await;
    editor.write_file("a.txt", "one\n");
    let prompt = editor.begin_prompt("Look.").await;
    editor.wait_for_stop(prompt).await;
    let listed = editor.ask("session/list", json!({})).await;
    let sessions = listed["result"]["sessions"].as_array().unwrap();
    assert_eq!(sessions.len(), 1, "{listed}");
    assert_eq!(sessions[0]["sessionId"], *editor.session);
    assert_eq!(sessions[0]["title"], "Look.");
    let elsewhere = editor
        .ask("session/list", json!({ "cwd": "/nowhere" }))
        .await;
    assert_eq!(elsewhere["result"]["sessions"], json!([]));
    let beyond = editor
        .ask("session/list", json!({ "cursor": "ses_x" }))
        .await;
    assert_eq!(beyond["error"]["code"], -32602, "{beyond}");

    editor.heard.clear();
    let mut params = editor.folder_params();
    params["sessionId"] = json!(editor.session);
    let loaded = editor.ask("session/load", params.clone()).await;
    assert_eq!(
        loaded["result"]["modes"]["currentModeId"], "ask_first",
        "{loaded}"
    );
    assert_eq!(
        editor.updates("user_message_chunk")[0]["content"]["text"],
        "Look."
    );
    assert_eq!(editor.updates("agent_message_chunk").len(), 2);
    assert_eq!(
        editor.calls(),
        [["Read a.txt", "read", "completed"].map(str::to_owned)]
    );

    editor.heard.clear();
    let resumed = editor.ask("session/resume", params).await;
    assert_eq!(
        resumed["result"]["modes"]["currentModeId"], "ask_first",
        "{resumed}"
    );
    assert_eq!(editor.heard.len(), 1);
}

#[tokio::test]
async fn what_cannot_be_is_answered_with_an_error() {
    let mut editor = Editor::start(json!([])).await;
    // Nothing is done for an editor that has not introduced itself.
    let early = editor.ask("session/new", editor.folder_params()).await;
    assert!(early["error"].is_object(), "{early}");
    editor.begin_session(json!({})).await;

    let prompt = json!([{ "type": "text", "text": "Go." }]);
    let unknown = json!({ "sessionId": "ses_x", "prompt": prompt });
    let cases: [(&str, Value, i64); 7] = [
        ("session/prompt", unknown.clone(), -32002),
        (
            "session/set_mode",
            json!({ "sessionId": "ses_x", "modeId": "plan" }),
            -32002,
        ),
        ("session/close", json!({ "sessionId": "ses_x" }), -32002),
        (
            "session/load",
            json!({ "sessionId": "ses_x", "cwd": "/", "mcpServers": [] }),
            -32002,
        ),
        (
            "session/new",
            json!({ "cwd": "/nowhere", "mcpServers": [] }),
            -32602,
        ),
        ("session/prompt", json!({ "sessionId": 7 }), -32602),
        ("session/fly", json!({}), -32601),
    ];
    for (method, params, code) in cases {
        let answer = editor.ask(method, params).await;
        assert_eq!(answer["error"]["code"], code, "{method}: {answer}");
    }
    let empty = editor.session_params(json!({ "prompt": [] }));
    let answer = editor.ask("session/prompt", empty).await;
    assert_eq!(
        answer["error"]["message"],
        "There is nothing to say. Write something first."
    );
    let sound = json!([{ "type": "audio", "data": "AAAA", "mimeType": "audio/wav" }]);
    let sound = editor.session_params(json!({ "prompt": sound }));
    let answer = editor.ask("session/prompt", sound).await;
    assert_eq!(answer["error"]["code"], -32602, "{answer}");

    for line in ["garbage", "[]", "7", "{\"jsonrpc\":\"2.0\"}"] {
        editor.write_line(line).await;
        let answer = editor
            .wait_for(|message| message["error"].is_object())
            .await;
        assert_eq!(answer["id"], Value::Null, "{line}: {answer}");
    }
    let long = "x".repeat(gateway::limits::MESSAGE_BYTES_MAX + 1);
    editor.write_line(&long).await;
    let answer = editor
        .wait_for(|message| message["error"].is_object())
        .await;
    assert!(answer.to_string().contains("16 MiB"), "{answer}");

    // Nothing to cancel, here or anywhere: nothing happens, and the connection goes on.
    editor
        .notify("session/cancel", editor.session_params(json!({})))
        .await;
    editor
        .notify("session/cancel", json!({ "sessionId": "ses_x" }))
        .await;
    let prompt = editor.begin_prompt("Go.").await;
    assert_eq!(editor.wait_for_stop(prompt).await, "end_turn");
}

#[tokio::test]
async fn a_second_prompt_waits_for_no_one() {
    let bash = json!({ "name": "bash", "arguments": { "command": "touch made" } });
    let mut editor = Editor::open(json!([{ "calls": [bash] }, { "text": "Done." }])).await;
    let first = editor.begin_prompt("Go.").await;
    let card = editor.wait_for_request("session/request_permission").await;
    let second = editor.begin_prompt("Faster.").await;
    let refused = editor.wait_for_answer(second).await;
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
    editor.choose(&card, "reject").await;
    assert_eq!(editor.wait_for_stop(first).await, "end_turn");
}

/// An editor that goes away ends the run, and its question with it.
#[tokio::test]
async fn an_editor_that_goes_away_ends_the_run() {
    let bash = json!({ "name": "bash", "arguments": { "command": "touch made" } });
    let mut editor = Editor::open(json!([{ "calls": [bash] }, { "text": "Done." }])).await;
    editor.begin_prompt("Go.").await;
    editor.wait_for_request("session/request_permission").await;
    let made = editor.folder.path().join("workspace/made");
    let (folder, engine) = editor.close().await;
    let sessions = engine.snapshot().await.unwrap().sessions;
    assert_eq!(sessions[0].state, SessionState::Interrupted);
    assert_eq!(sessions[0].waiting, 0);
    assert!(!made.exists());
    drop(folder);
}

#[tokio::test]
async fn a_closed_session_is_left_and_its_prompt_answered() {
    let bash = json!({ "name": "bash", "arguments": { "command": "touch made" } });
    let mut editor = Editor::open(json!([{ "calls": [bash] }])).await;
    let prompt = editor.begin_prompt("Go.").await;
    editor.wait_for_request("session/request_permission").await;
    let close = editor
        .begin("session/close", editor.session_params(json!({})))
        .await;
    editor.wait_for_request("$/cancel_request").await;
    assert_eq!(editor.wait_for_stop(prompt).await, "cancelled");
    let closed = editor.wait_for_answer(close).await;
    assert_eq!(closed["result"], json!({}), "{closed}");
    let after = editor.begin_prompt("Go on.").await;
    assert_eq!(editor.wait_for_answer(after).await["error"]["code"], -32002);
    assert_eq!(editor.read_file("made"), None);
}

#[tokio::test]
async fn servers_of_the_editor_are_named_as_unused() {
    for (capabilities, kind) in [
        (json!({ "session": { "notices": {} } }), "notice"),
        (json!({}), "agent_message_chunk"),
    ] {
        let mut editor = Editor::start(json!([])).await;
        editor.begin_session(capabilities).await;
        let mut params = editor.folder_params();
        params["mcpServers"] =
            json!([{ "name": "files", "command": "/bin/true", "args": [], "env": [] }]);
        editor.ask("session/new", params).await;
        let told = editor.wait_for_request("session/update").await;
        assert_eq!(told["params"]["update"]["sessionUpdate"], kind, "{told}");
        assert!(
            told.to_string()
                .contains("1 server of the editor's settings"),
            "{told}"
        );
    }
}
