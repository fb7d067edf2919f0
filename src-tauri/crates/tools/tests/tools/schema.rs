//! Arguments that do not fit: named member by member (`S002-05`, `S002-06`).

use protocol::ToolError;
use serde_json::{Value, json};
use tools::schema::Schema;

use crate::support::{Bench, object};

#[test]
fn what_does_not_fit_is_named_s002_05_s002_06() {
    let registry = Bench::new().registry;
    for (tool, arguments, error) in [
        ("read", json!({}), "`path` is missing"),
        (
            "read",
            json!({"path": "a", "limit": "10"}),
            "`limit` must be an integer, but the string \"10\" was given",
        ),
        (
            "read",
            json!({"path": "a", "limit": 1.5}),
            "`limit` must be an integer, but the number 1.5 was given",
        ),
        (
            "read",
            json!({"path": "a", "offset": 0}),
            "`offset` must be at least 1, but the number 0 was given",
        ),
        ("read", json!({"path": ""}), "`path` must not be empty"),
        (
            "read",
            json!({"path": null}),
            "`path` must be a string, but null was given",
        ),
        (
            "read",
            json!({"file": "a", "path": "b"}),
            "`file` is not a member of the arguments (there are path, offset, limit, byte_offset, byte_limit).",
        ),
        (
            "edit",
            json!({"path": "a", "old_strng": "x", "new_string": "y"}),
            "`old_strng` is not a member of the arguments (there are path, old_string, new_string, replace_all). Did you \
             mean `old_string`?; `old_string` is missing",
        ),
        // Under an alias the members go by the alias's names.
        (
            "edit_file",
            json!({"path": "a", "old_text": "x"}),
            "`new_text` is missing",
        ),
        (
            "edit_file",
            json!({"path": "a", "old_text": 1, "new_text": "y"}),
            "`old_text` must be a string, but the number 1 was given",
        ),
        (
            "bash",
            json!({"command": "x", "timeout_ms": 900_000}),
            "`timeout_ms` must be at most 600000, but the number 900000 was given",
        ),
        (
            "bash",
            json!({"command": "  "}),
            "`command` is blank; give the command to run",
        ),
        (
            "bash",
            json!({"command": "a\0b"}),
            "`command` contains a zero byte, which no command can have; leave it out",
        ),
        (
            "bash",
            json!({"command": "x".repeat(40_000)}),
            "`command` must have at most 32768 characters, but 40000 were given",
        ),
    ] {
        let given = registry
            .find(tool)
            .unwrap()
            .validate_arguments(object(&arguments))
            .unwrap_err();
        assert_eq!(given, ToolError::InvalidArgs(error.to_owned()), "{tool}");
    }
}

/// Models that are trained on strict schemas write `null` for what they leave out. What the schema lets be `null` stays, what is
/// required is refused, and so is an item of a list.
#[test]
fn null_for_what_may_be_left_out_is_left_out() {
    let schema = json!({
        "type": "object",
        "properties": {
            "name": { "type": "string" },
            "verbose": { "type": "boolean" },
            "level": { "enum": ["low", "high"] },
            "note": { "type": ["string", "null"] },
            "a/b~c": { "type": "integer" },
            "tags": { "type": "array", "items": { "type": "string" } },
            "inner": {
                "type": "object",
                "properties": { "must": { "type": "string" }, "may": { "type": "string" } },
                "required": ["must"],
            },
        },
        "required": ["name"],
        "additionalProperties": false,
    });
    let schema = Schema::from_parameters("t", &schema).unwrap();
    let check = |given: Value| {
        let checked = schema.find_problems(object(&given).clone(), &|member| member);
        checked.map(Value::Object).map_err(|why| why.join("; "))
    };
    for (given, checked) in [
        (
            json!({ "name": "a", "verbose": null, "level": null, "a/b~c": null, "tags": [] }),
            Ok(json!({ "name": "a", "tags": [] })),
        ),
        (
            json!({ "name": "a", "note": null, "verbose": null }),
            Ok(json!({ "name": "a", "note": null })),
        ),
        (
            json!({ "name": "a", "inner": { "must": "x", "may": null } }),
            Ok(json!({ "name": "a", "inner": { "must": "x" } })),
        ),
        (
            json!({ "name": null, "verbose": null }),
            Err("`name` must be a string, but null was given"),
        ),
        (
            json!({ "name": "a", "inner": { "must": null, "may": null } }),
            Err("`inner.must` must be a string, but null was given"),
        ),
        (
            json!({ "name": "a", "tags": [null] }),
            Err("`tags[0]` must be a string, but null was given"),
        ),
        (
            json!({ "name": "a", "verbose": null, "level": "middle" }),
            Err("`level` must be one of \"low\", \"high\", but the string \"middle\" was given"),
        ),
    ] {
        assert_eq!(
            check(given.clone()),
            checked.map_err(str::to_owned),
            "{given}"
        );
    }
}

#[test]
fn every_problem_is_named_up_to_a_limit() {
    let registry = Bench::new().registry;
    let found = registry.find("todo").unwrap();
    let items: Vec<Value> = (0..9).map(|_| json!({"content": "a"})).collect();
    let error = found
        .validate_arguments(object(&json!({ "items": items })))
        .unwrap_err()
        .to_string();
    assert!(
        error.starts_with("Invalid arguments: `items[0].status` is missing; `items[1].status`"),
        "{error}"
    );
    assert!(
        error.ends_with("; `items[4].status` is missing; and 4 more"),
        "{error}"
    );
    assert_eq!(
        found
            .find_problems(object(&json!({ "items": items })))
            .len(),
        9
    );
    assert_eq!(
        found.find_problems(object(&json!({ "items": [] }))),
        Vec::<String>::new()
    );
}

#[test]
fn meta_members_are_lifted_and_kept_m13_s004_03_s004_09() {
    let registry = Bench::new().registry;
    let given = json!({"path": "a", "_reasoningForCall": "to see it", "_instance": 2});
    let checked = registry
        .find("read")
        .unwrap()
        .validate_arguments(object(&given))
        .unwrap();
    assert_eq!(checked.arguments, *object(&json!({"path": "a"})));
    assert_eq!(
        checked.meta,
        *object(&json!({"_reasoningForCall": "to see it", "_instance": 2}))
    );
    assert_eq!(checked.meta["_reasoningForCall"], "to see it");
}
