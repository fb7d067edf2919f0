//! The interface record: every partition, fail-closed defaults, what is inferred, and what a record may leave out.

use protocol::interface::{FACTS, InterfaceBuilder, InterruptBehavior, ToolOrigin};
use protocol::{RequirementSet, ToolInterface, ToolKind, ToolMode};
use serde_json::{Value, json};

/// Every field of the specification's table: the requirement and the field as `partition.field`.
const SPECIFIED: [(&str, &str); 51] = [
    ("S003-02", "identity.tool_id"),
    ("S003-03", "identity.name"),
    ("S003-04", "identity.aliases"),
    ("S003-05", "identity.namespace"),
    ("S003-06", "identity.native_ids"),
    ("S003-07", "identity.user_facing_name"),
    ("S003-08", "discovery.search_hint"),
    ("S003-09", "discovery.description"),
    ("S003-10", "discovery.capability_refs"),
    ("S003-11", "discovery.schema_visibility"),
    ("S003-12", "discovery.should_defer"),
    ("S003-13", "discovery.always_load"),
    ("S003-14", "schemas.model_input_schema"),
    ("S003-15", "schemas.runtime_input_schema"),
    ("S003-16", "schemas.output_schema"),
    ("S003-17", "schemas.strict"),
    ("S003-18", "availability.is_enabled"),
    ("S003-19", "availability.requires_setup"),
    ("S003-20", "availability.required_credentials"),
    ("S003-21", "availability.model_requirements"),
    ("S003-22", "availability.feature_gate_refs"),
    ("S003-23", "validation.schema_validation"),
    ("S003-24", "validation.value_validation"),
    ("S003-25", "validation.io_preflight_validation"),
    ("S003-26", "validation.deny_before_io"),
    ("S003-27", "safety.is_read_only"),
    ("S003-28", "safety.is_destructive"),
    ("S003-29", "safety.is_open_world"),
    ("S003-30", "safety.requires_user_interaction"),
    ("S003-31", "safety.sandbox_profile"),
    ("S003-32", "safety.classifier_input"),
    ("S003-33", "permission.permission_profile_ref"),
    ("S003-34", "permission.permission_matcher"),
    ("S003-35", "permission.permission_channel"),
    ("S003-36", "permission.decision_ref"),
    ("S003-37", "execution.execution_profile_ref"),
    ("S003-38", "execution.timeout_ms"),
    ("S003-39", "execution.abort_semantics"),
    ("S003-40", "execution.progress_schema"),
    ("S003-41", "execution.context_modifier_policy"),
    ("S003-42", "result.result_mapper"),
    ("S003-43", "result.max_inline_chars"),
    ("S003-44", "result.persistence_policy_ref"),
    ("S003-45", "result.empty_result_policy"),
    ("S003-46", "result.redaction_policy_refs"),
    ("S003-47", "rendering.ui_summary"),
    ("S003-48", "rendering.activity_description"),
    ("S003-49", "rendering.progress_render_hint"),
    ("S003-50", "rendering.rejected_render_hint"),
    ("S003-51", "rendering.error_render_hint"),
    ("S003-52", "rendering.transcript_search_text"),
];

fn bare() -> InterfaceBuilder {
    ToolInterface::builder("thing")
}

/// `partition.field` of everything in a record, but for `inferred`.
fn facts_of(record: &Value) -> Vec<String> {
    let mut facts = Vec::new();
    for (partition, fields) in record.as_object().into_iter().flatten() {
        match (partition.as_str(), fields.as_object()) {
            ("inferred", _) => {}
            ("requires" | "origin", _) | (_, None) => facts.push(partition.clone()),
            (_, Some(fields)) => {
                facts.extend(fields.keys().map(|field| format!("{partition}.{field}")));
            }
        }
    }
    facts
}

#[test]
fn a_record_has_every_field_of_the_ten_partitions_s003_01_to_s003_52() {
    let facts = facts_of(&bare().build().to_record());
    assert_eq!(facts, FACTS, "one method and one member for each fact");
    for (requirement, field) in SPECIFIED {
        assert!(
            facts.iter().any(|fact| fact == field),
            "{requirement}: {field}"
        );
    }
}

#[test]
fn what_holds_where_nothing_was_said() {
    let bare = bare().build();
    assert!(!bare.safety.is_concurrency_safe, "S003-53");
    assert!(!bare.safety.is_read_only, "S003-54");
    assert!(!bare.safety.is_destructive, "S003-55");
    assert!(!bare.safety.requires_user_interaction, "S003-57");
    assert!(bare.schemas.strict, "S003-58");
    assert_eq!(
        bare.execution.interrupt_behavior,
        InterruptBehavior::Block,
        "S003-59"
    );
    assert_eq!(bare.safety.classifier_input, "", "S003-60");
    assert!(bare.validation.schema_validation && bare.validation.deny_before_io);
    assert_eq!(bare.requires, RequirementSet::empty());
    assert_eq!(
        bare.parameters(),
        &json!({"type": "object", "properties": {}, "additionalProperties": false}),
        "a tool that says nothing takes nothing"
    );
    // Reading as a mode says nothing about side effects.
    assert!(
        !self::bare()
            .mode(ToolMode::Read)
            .build()
            .safety
            .is_read_only,
        "S003-54"
    );
    for (what, tool, destructive) in [
        ("a mode", self::bare().mode(ToolMode::Destructive), true),
        ("a kind", self::bare().kind(ToolKind::Delete), true),
        (
            "said not",
            self::bare().kind(ToolKind::Delete).is_destructive(false),
            false,
        ),
    ] {
        assert_eq!(
            tool.build().safety.is_destructive,
            destructive,
            "S003-55: {what}"
        );
    }
}

#[test]
fn the_world_is_open_unless_scoped_s003_56() {
    let needs = RequirementSet::empty;
    for (tool, open) in [
        (bare(), false),
        (
            bare().requires(needs().with_read("**").with_write("**")),
            false,
        ),
        (bare().kind(ToolKind::Fetch), true),
        (bare().kind(ToolKind::Execute), true),
        (bare().requires(needs().with_host("*")), true),
        (bare().requires(needs().with_host("*.example.org")), true),
        (bare().requires(needs().with_command("*")), true),
        (bare().requires(needs().with_command("git")), true),
        (bare().requires(needs().with_host("docs.rs")), false),
        (
            bare()
                .kind(ToolKind::Fetch)
                .requires(needs().with_host("docs.rs")),
            false,
        ),
        (
            bare().requires(needs().with_host("docs.rs").with_command("*")),
            true,
        ),
        (
            bare()
                .requires(needs().with_command("*"))
                .is_open_world(false),
            false,
        ),
    ] {
        let tool = tool.build();
        assert_eq!(tool.safety.is_open_world, open, "{tool:?}");
    }
    let git_status = json!({"shell": [{"cmd": "git", "args": ["status"]}]});
    let tool = bare().requires(serde_json::from_value(git_status).unwrap());
    assert!(!tool.build().safety.is_open_world);
}

#[test]
fn what_was_inferred_is_said_s003_61() {
    let tool = bare()
        .description("Does a thing.")
        .requires(RequirementSet::empty())
        .is_open_world(false)
        .build();
    let record = tool.to_record();
    let inferred: Vec<&str> = record["inferred"]
        .as_array()
        .unwrap()
        .iter()
        .map(|fact| fact.as_str().unwrap())
        .collect();
    let said = [
        "identity.name",
        "discovery.description",
        "safety.is_open_world",
        "requires",
    ];
    let expected: Vec<&str> = FACTS
        .iter()
        .copied()
        .filter(|fact| !said.contains(fact))
        .collect();
    assert_eq!(inferred, expected);
    assert!(tool.is_stated("requires") && !tool.is_stated("safety.is_read_only"));
    // Going on from it forgets nothing, and what followed from a fact follows anew.
    let more = InterfaceBuilder::from(tool)
        .name("other")
        .kind(ToolKind::Execute)
        .build();
    assert!(
        more.is_stated("safety.kind")
            && more.is_stated("requires")
            && !more.is_stated("identity.tool_id")
    );
    assert_eq!(
        (more.id(), more.title(), more.safety.is_open_world),
        ("other", "other", false)
    );
}

#[test]
fn a_record_may_leave_facts_out_and_comes_back_as_it_was() {
    let tool = bare()
        .namespace("files")
        .add_alias("ding", &[("a", "b")])
        .mode(ToolMode::External)
        .requires(RequirementSet::empty().with_host("docs.rs"))
        .origin(ToolOrigin::File {
            path: "t.json".to_owned(),
        })
        .build();
    assert_eq!(tool.id(), "files__thing", "M11");
    let back: ToolInterface = serde_json::from_value(tool.to_record()).unwrap();
    assert_eq!(back, tool);
    let short: ToolInterface = serde_json::from_value(
        json!({"identity": {"name": "thing"}, "safety": {"is_read_only": true}}),
    )
    .unwrap();
    assert_eq!(short, bare().is_read_only(true).build());
    for (record, problem) in [
        (json!({}), "the record names no tool; give `identity.name`"),
        (json!([]), "the record of a tool is an object of partitions"),
        (json!({"identity": {"nam": "x"}}), "unknown field `nam`"),
        (
            json!({"identity": {"name": "x"}, "secrets": {}}),
            "unknown field `secrets`",
        ),
        (
            json!({"identity": {"name": "x"}, "safety": {"is_read_only": "yes"}}),
            "invalid type: string \"yes\"",
        ),
        (
            json!({"identity": {"name": "x"}, "requires": {"fs": {"reed": []}}}),
            "unknown field `reed`",
        ),
        // S003-67: what is drawn is the interface's own affair; a record has no place for a component.
        (
            json!({"identity": {"name": "x"}, "rendering": {"component": "Card"}}),
            "unknown field `component`",
        ),
        (
            json!({"identity": {"name": "x"}, "rendering": {"ui_summary": {"component": "Card"}}}),
            "invalid type: map, expected a string",
        ),
        (
            json!({"identity": {"name": "x"}, "rendering": {"error_render_hint": "<Card/>"}}),
            "unknown variant `<Card/>`",
        ),
    ] {
        let error = serde_json::from_value::<ToolInterface>(record)
            .unwrap_err()
            .to_string();
        assert!(error.starts_with(problem), "{error}");
    }
}
