//! The records of the tools of the house: what each publishes, and that it is so.

use protocol::ToolKind;
use protocol::interface::{ToolOrigin, fill_template};
use serde_json::{Map, Value, json};
use tools::Registry;

fn records() -> Vec<protocol::ToolInterface> {
    Registry::builtin()
        .views()
        .into_iter()
        .map(|view| view.record)
        .collect()
}

/// `S003-01`: every record, whole.
#[test]
fn the_records() {
    let all: Map<String, Value> = records()
        .iter()
        .map(|record| (record.id().to_owned(), record.to_record()))
        .collect();
    insta::assert_json_snapshot!(all);
}

#[test]
fn every_tool_speaks_for_itself_s003_01_to_s003_52_s003_61() {
    for record in records() {
        let id = record.id();
        assert_eq!(record.origin, ToolOrigin::BuiltIn);
        // S003-61: what is left to be inferred is derived from what was said, and nothing of it is about safety.
        for fact in &record.inferred {
            assert!(
                [
                    "identity.tool_id",
                    "identity.aliases",
                    "discovery.capability_refs",
                    "schemas.runtime_input_schema",
                    "schemas.output_schema",
                    "validation.value_validation",
                    "validation.io_preflight_validation",
                    "permission.permission_profile_ref",
                    "execution.timeout_ms",
                    "execution.progress_schema",
                    "result.max_inline_chars",
                ]
                .contains(&fact.as_str()),
                "{id}: {fact}"
            );
        }
        let words = record.discovery.search_hint.split_whitespace().count();
        assert!((3..=10).contains(&words), "{id}: S003-08");
        assert!(
            record.requires.is_empty() || !record.safety.classifier_input.is_empty(),
            "{id}: S003-60"
        );
        // Hints name members that exist.
        let properties = record.parameters()["properties"].as_object().unwrap();
        let named: Map<String, Value> = properties
            .keys()
            .map(|name| (name.clone(), json!("<given>")))
            .collect();
        for hint in [
            &record.rendering.ui_summary,
            &record.rendering.activity_description,
            &record.rendering.transcript_search_text,
            &record.safety.classifier_input,
        ] {
            assert!(
                !fill_template(hint, &named).contains(['{', '}']),
                "{id}: {hint}"
            );
        }
    }
}

/// `S003-67`: what a record says of how a call is shown are texts without markup and words of one list.
#[test]
fn hints_are_data_and_no_components() {
    let words = [
        "line",
        "nothing",
        "terminal",
        "difference",
        "loss",
        "command",
        "form",
    ];
    for record in records() {
        let id = record.id().to_owned();
        let rendering = record.to_record()["rendering"].clone();
        let hints = rendering.as_object().unwrap();
        let names: Vec<&str> = hints.keys().map(String::as_str).collect();
        assert_eq!(
            names,
            [
                "ui_summary",
                "activity_description",
                "progress_render_hint",
                "rejected_render_hint",
                "error_render_hint",
                "transcript_search_text",
            ]
        );
        for (name, hint) in hints {
            let text = hint
                .as_str()
                .unwrap_or_else(|| panic!("{id}: {name} is not text"));
            match name.ends_with("_hint") {
                true => assert!(words.contains(&text), "{id}: {name}: {text}"),
                false => assert!(!text.contains(['<', '>', '\n']), "{id}: {name}: {text}"),
            }
        }
    }
}

/// `S002-99`: every locked tool that there is has its one kind.
#[test]
fn each_tool_has_one_kind() {
    let kinds: Vec<(String, ToolKind)> = Registry::builtin()
        .views()
        .iter()
        .map(|view| (view.record.id().to_owned(), view.kind))
        .collect();
    let expected = [
        ("read", ToolKind::Read),
        ("write", ToolKind::Edit),
        ("edit", ToolKind::Edit),
        ("glob", ToolKind::Search),
        ("grep", ToolKind::Search),
        ("bash", ToolKind::Execute),
        ("question", ToolKind::Other),
        ("todo", ToolKind::Other),
        ("task", ToolKind::Other),
        ("web_search", ToolKind::Fetch),
        ("web_fetch", ToolKind::Fetch),
        ("skill", ToolKind::Think),
        ("tool_search", ToolKind::Search),
        ("delete_path", ToolKind::Delete),
        ("apply_patch", ToolKind::Edit),
        ("plan", ToolKind::Other),
        ("plan_exit", ToolKind::Other),
        ("repo_overview", ToolKind::Search),
        ("lsp", ToolKind::Search),
        ("lsp_rename", ToolKind::Edit),
        ("notebook_edit", ToolKind::Edit),
    ];
    assert_eq!(kinds, expected.map(|(id, kind)| (id.to_owned(), kind)));
}
