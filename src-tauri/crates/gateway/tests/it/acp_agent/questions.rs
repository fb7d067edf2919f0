//! Questions of the agent, as forms of the editor.

use serde_json::{Value, json};

use super::{Editor, text};

fn turns() -> Value {
    let options = json!([{ "label": "Red" }, { "label": "Blue" }]);
    let questions = json!([{ "question": "Which colour?", "options": options }]);
    json!([
        { "calls": [{ "name": "question", "arguments": { "questions": questions } }] },
        { "text": "Done." },
    ])
}

/// What the last call was told to the agent, as the editor shows it.
fn last_result(editor: &Editor) -> String {
    editor.updates("tool_call_update").last().unwrap()["content"].to_string()
}

#[tokio::test]
async fn a_question_is_a_form_where_the_editor_has_forms() {
    for (action, expected) in [
        (
            json!({ "action": "accept", "content": { "question_01": "Blue" } }),
            "Blue",
        ),
        (
            json!({ "action": "accept", "content": {} }),
            "chose not to answer",
        ),
        (json!({ "action": "decline" }), "chose not to answer"),
        (json!({ "action": "cancel" }), "chose not to answer"),
    ] {
        let mut editor = Editor::start(turns()).await;
        editor
            .begin_session(json!({ "elicitation": { "form": {} } }))
            .await;
        let prompt = editor.begin_prompt("Go.").await;
        let request = editor.wait_for_request("elicitation/create").await;
        let params = &request["params"];
        assert_eq!(params["mode"], "form");
        assert_eq!(params["message"], "Which colour?");
        assert_eq!(params["sessionId"], *editor.session);
        let field = &params["requestedSchema"]["properties"]["question_01"];
        assert_eq!(field["oneOf"][1]["const"], "Blue", "{params}");
        editor.answer(&request, action.clone()).await;
        assert_eq!(editor.wait_for_stop(prompt).await, "end_turn");
        let told = last_result(&editor);
        assert!(told.contains(expected), "{action}: {told}");
    }
}

#[tokio::test]
async fn an_editor_without_forms_skips_questions() {
    let mut editor = Editor::open(turns()).await;
    let prompt = editor.begin_prompt("Go.").await;
    assert_eq!(editor.wait_for_stop(prompt).await, "end_turn");
    let told = last_result(&editor);
    assert!(told.contains("chose not to answer"), "{told}");
    let asked = editor
        .heard
        .iter()
        .any(|message| message["method"] == "elicitation/create");
    assert!(!asked);
    assert_eq!(text(&editor.updates("tool_call")[0]["name"]), "question");
}
