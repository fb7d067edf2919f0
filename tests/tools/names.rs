//! Names of tools and their meaning: the locked set, the default tools of models, and the mode that a name says.

use protocol::event::CallChange;
use protocol::view::preview::{DiffLine, DiffLineKind, FileDiff, Hunk};
use protocol::{CallState, EventBody, Preview, RequirementSet, ToolInterface, ToolMode};
use serde_json::{Value, json};
use support::{Fixture, HEADLESS_APPROVED, call_bash, call_tool};

use crate::tools::contract::{probe_desk, text_probe};

/// `S002-31`: each locked tool has the members of its one thing and no more, those of `question` and `web_search` being the
/// specification's own; what can do more comes under a name of its own.
#[tokio::test]
async fn what_is_richer_is_another_tool() {
    let (mut desk, agent) = probe_desk(text_probe("ok"), json!([])).await;
    desk.play().await;
    let offered = agent.offered.lock().unwrap()[0].clone();
    let members = |name: &str| -> Vec<String> {
        let tool = offered.iter().find(|tool| tool.name == name).unwrap();
        tool.parameters["properties"]
            .as_object()
            .unwrap()
            .keys()
            // Members about the call and not the tool's own (M13) stand beside these.
            .filter(|member| !member.starts_with('_'))
            .cloned()
            .collect()
    };
    let known: &[(&str, &[&str])] = &[
        (
            "read",
            &["path", "offset", "limit", "byte_offset", "byte_limit"],
        ),
        ("write", &["path", "content"]),
        ("edit", &["path", "old_string", "new_string", "replace_all"]),
        ("glob", &["pattern", "path", "include"]),
        ("grep", &["pattern", "path", "include", "case_insensitive"]),
        ("bash", &["command", "timeout_ms", "description"]),
        ("todo", &["items"]),
        (
            "task",
            &["subagent_type", "prompt", "description", "background"],
        ),
        ("question", &["questions"]),
        ("web_search", &["query", "max_results"]),
        ("web_fetch", &["url"]),
        ("skill", &["name"]),
        ("tool_search", &["query", "max_results"]),
    ];
    assert_eq!(known.len(), tools::LOCKED_TOOL_IDS.len());
    for (name, expected) in known {
        assert_eq!(members(name), *expected, "{name}");
    }
    let question = offered.iter().find(|tool| tool.name == "question").unwrap();
    let asked = &question.parameters["properties"]["questions"]["items"]["properties"];
    let keys = |value: &Value| {
        value
            .as_object()
            .unwrap()
            .keys()
            .cloned()
            .collect::<Vec<_>>()
    };
    assert_eq!(
        keys(asked),
        ["question", "header", "options", "multi_select"]
    );
    let option = &asked["options"]["items"]["properties"];
    assert_eq!(keys(option), ["label", "description"]);
    let richer =
        text_probe("ok").with_interface(|it| it.tool_id("multi_edit").mode(ToolMode::SafeWrite));
    let mut registry = tools::Registry::builtin();
    registry.register(richer.into_tools().remove(0)).unwrap();
    for locked in tools::LOCKED_TOOL_IDS {
        let taken = text_probe("ok").with_interface(|it| it.tool_id(locked));
        let fault = registry.register(taken.into_tools().remove(0)).unwrap_err();
        assert!(fault.message.contains(locked), "{fault}");
    }
}

/// `S001-46`: in a session where nothing was set up the six names of the default tools do what they say, by the argument
/// names that models know for them.
#[tokio::test]
async fn the_default_tools_are_there_under_their_names() {
    let turns = [
        call_tool(
            "write_file",
            json!({ "path": "src/a.txt", "content": "alpha\n" }),
        ),
        call_tool(
            "edit_file",
            json!({ "path": "src/a.txt", "old_text": "alpha", "new_text": "beta" }),
        ),
        call_tool("read_file", json!({ "path": "src/a.txt" })),
        call_tool("list_files", json!({ "path": "src" })),
        call_tool("search", json!({ "query": "bet." })),
        call_bash("cat src/a.txt"),
    ];
    let mut desk = Fixture::with_host(turns, HEADLESS_APPROVED).await;
    desk.play().await;
    assert_eq!(
        desk.call_states().await,
        [CallState::Done; 6],
        "{:?}",
        desk.call_texts().await
    );
    assert_eq!(desk.read_file("src/a.txt").unwrap(), "beta\n");
    let texts = desk.call_texts().await;
    for (text, held) in texts[2..]
        .iter()
        .zip(["\tbeta", "a.txt", "src/a.txt:1:beta", "beta"])
    {
        assert!(text.contains(held), "{held}: {text}");
    }
}

/// `S000-47`: somebody's `create_event` that says no mode is a safe write by its name: it runs without a question, and its
/// difference is shown.
#[tokio::test]
async fn what_a_name_says_is_safe_runs_and_shows_its_difference() {
    let line = DiffLine {
        kind: DiffLineKind::Added,
        old: None,
        new: Some(1),
        parts: Vec::new(),
        no_newline: false,
    };
    let shown = Preview::Diff {
        files: vec![FileDiff {
            path: "lunch.ics".to_owned(),
            exists: false,
            language: String::new(),
            added: 1,
            removed: 0,
            summary: Vec::new(),
            summary_more: 0,
            hunks: vec![Hunk {
                id: 0,
                old_start: 1,
                new_start: 1,
                section: String::new(),
                added: 1,
                removed: 0,
                lines: vec![line],
            }],
            from: None,
            gone: false,
            cut: None,
        }],
    };
    let record = ToolInterface::builder("create_event")
        .description("Creates an event.")
        .model_input_schema(json!({ "type": "object" }))
        .requires(RequirementSet::empty());
    let calendar = text_probe("Event created.")
        .with_record(record)
        .with_preview(shown.clone());
    let created = call_tool("create_event", json!({ "title": "Lunch" }));
    let (mut desk, _) = probe_desk(calendar, [created]).await;
    desk.play().await;
    let view = desk.calls().await.remove(0);
    assert_eq!(
        (view.mode, view.state),
        (Some(ToolMode::SafeWrite), CallState::Done)
    );
    assert_eq!(view.preview, shown);
    let asked = |event: &protocol::Event| {
        matches!(
            event.body,
            EventBody::Call {
                change: CallChange::Waiting { .. },
                ..
            }
        )
    };
    assert!(!desk.events().await.iter().any(asked), "nobody was asked");
}
