//! Composes tools and an output schema into the single schema that a model answers in (`S004-30`).

use protocol::UserError;
use protocol::model::ToolDefinition;
use serde_json::{Map, Value, json};

use super::definition::TOOL;
use super::schema_references;

/// Keywords at the root of an output schema beside which `null` cannot simply be added to `type`.
const NOT_NULLABLE: [&str; 10] = [
    "$ref", "const", "enum", "allOf", "anyOf", "oneOf", "not", "if", "then", "else",
];

/// Composes the schema for these tools and this output (`S004-31`).
///
/// With several tools an item of `calls` is the `anyOf` of their schemas: `_tool` is a different constant in each, so
/// exactly one can match, as `oneOf` would say; but providers that constrain a model's answer support `anyOf` and
/// refuse `oneOf` (`S004-35`). Without tools `calls` must be empty, and without an output schema `output` must be null.
///
/// # Errors
/// If the output schema is not one of an object, or refers to something outside itself.
pub fn compose_schema(
    tools: &[ToolDefinition],
    output: Option<&Value>,
) -> Result<Value, UserError> {
    let calls = match tools {
        [] => json!({ "type": "array", "maxItems": 0 }),
        [only] => {
            json!({ "type": "array", "items": call_item_schema(only, "/properties/calls/items") })
        }
        several => {
            let items: Vec<Value> = several
                .iter()
                .enumerate()
                .map(|(n, tool)| {
                    call_item_schema(tool, &format!("/properties/calls/items/anyOf/{n}"))
                })
                .collect();
            json!({ "type": "array", "items": { "anyOf": items } })
        }
    };
    let output = match output {
        None => json!({ "type": "null" }),
        Some(schema) => to_nullable(schema)?,
    };
    Ok(json!({
        "type": "object",
        "properties": { "output": output, "calls": calls },
        "required": ["calls", "output"],
    }))
}

/// Returns the schema of a call of one tool, an item of `calls` (`S004-36`): `_tool` comes first, constant and
/// required. `place` is where the schema is inserted.
pub fn call_item_schema(tool: &ToolDefinition, place: &str) -> Value {
    let constant = (TOOL.to_owned(), json!({ "const": tool.name }));
    let mut parameters = tool.parameters.clone();
    schema_references::rebase_references(&mut parameters, place);
    let keywords = parameters.as_object().cloned().unwrap_or_default();
    let mut item = Map::new();
    let describe = !tool.description.is_empty() && !keywords.contains_key("description");
    for (keyword, value) in keywords {
        let value = match (keyword.as_str(), value) {
            ("properties", Value::Object(members)) => {
                let members = members.into_iter().filter(|(name, _)| name != TOOL);
                Value::Object(std::iter::once(constant.clone()).chain(members).collect())
            }
            ("required", Value::Array(names)) => {
                let names = names.into_iter().filter(|name| name != TOOL);
                Value::Array(std::iter::once(Value::from(TOOL)).chain(names).collect())
            }
            (_, value) => value,
        };
        let is_type = keyword == "type";
        item.insert(keyword, value);
        if is_type && describe {
            item.insert(
                "description".to_owned(),
                Value::from(tool.description.as_str()),
            );
        }
    }
    item.entry("properties")
        .or_insert_with(|| Value::Object(Map::from_iter([constant])));
    item.entry("required").or_insert_with(|| json!([TOOL]));
    Value::Object(item)
}

/// Makes the output schema nullable (`S004-32`). It keeps its `required`, and forbids members that it does not name
/// unless it says otherwise itself (`S004-33`).
fn to_nullable(schema: &Value) -> Result<Value, UserError> {
    let wrong = |what: &str| {
        UserError::new(
            format!("The output schema {what}."),
            "Give a JSON Schema with \"type\": \"object\" that stands for itself.",
        )
    };
    let mut object = match schema.as_object() {
        Some(object) if object.get("type") == Some(&json!("object")) => object.clone(),
        _ => return Err(wrong("is not that of an object")),
    };
    schema_references::check_references(schema)
        .map_err(|(_, why)| wrong(&format!("cannot be used: {why}")))?;
    object.shift_remove("$schema");
    object.entry("additionalProperties").or_insert(json!(false));
    let wrapped = NOT_NULLABLE.iter().any(|word| object.contains_key(*word));
    if !wrapped {
        object.insert("type".to_owned(), json!(["object", "null"]));
    }
    let mut schema = Value::Object(object);
    let place = if wrapped {
        "/properties/output/anyOf/0"
    } else {
        "/properties/output"
    };
    schema_references::rebase_references(&mut schema, place);
    Ok(match wrapped {
        true => json!({ "anyOf": [schema, { "type": "null" }] }),
        false => schema,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::custom::definition::{CustomToolDefinition, ExecutionKind};

    fn tool(name: &str, parameters: Value) -> ToolDefinition {
        ToolDefinition {
            name: name.to_owned(),
            description: String::new(),
            parameters,
            strict: true,
        }
    }

    /// The specification's example, byte for byte and in its order (`S004-44`; `S004-31` to `S004-34`, `S004-36`).
    #[test]
    fn greet_user_is_composed_as_the_specification_shows_s004_32_s004_33_s004_44() {
        let schema: Value = serde_json::from_str(
            r#"{"type":"object","properties":{"userName":{"type":"string"}},"required":["userName"]}"#,
        )
        .unwrap();
        let greet = CustomToolDefinition::parse(Some("greetUser"), &schema).unwrap();
        let tools = [tool("greetUser", greet.parameters(ExecutionKind::Latent))];
        let output = serde_json::from_str(
            r#"{"type":"object","properties":{"summary":{"type":"string"}},"required":["summary"]}"#,
        )
        .unwrap();
        let shown = r#"{
  "type": "object",
  "properties": {
    "output": {
      "type": ["object", "null"],
      "properties": {
        "summary": { "type": "string" }
      },
      "required": ["summary"],
      "additionalProperties": false
    },
    "calls": {
      "type": "array",
      "items": {
        "type": "object",
        "properties": {
          "_tool": { "const": "greetUser" },
          "userName": { "type": "string" }
        },
        "required": ["_tool", "userName"]
      }
    }
  },
  "required": ["calls", "output"]
}"#;
        let shown: Value = serde_json::from_str(shown).unwrap();
        let composed = compose_schema(&tools, Some(&output)).unwrap();
        assert_eq!(composed.to_string(), shown.to_string());
    }

    #[test]
    fn several_tools_none_and_no_output() {
        let tools = [
            tool(
                "a",
                json!({ "type": "object", "properties": { "x": { "$ref": "#/$defs/x" } }, "$defs": { "x": {} } }),
            ),
            ToolDefinition {
                description: "Does b.".to_owned(),
                ..tool("b", json!({ "type": "object" }))
            },
        ];
        assert_eq!(
            compose_schema(&tools, None).unwrap(),
            json!({
                "type": "object",
                "properties": {
                    "output": { "type": "null" },
                    "calls": { "type": "array", "items": { "anyOf": [
                        {
                            "type": "object",
                            "properties": {
                                "_tool": { "const": "a" },
                                "x": { "$ref": "#/properties/calls/items/anyOf/0/$defs/x" },
                            },
                            "$defs": { "x": {} },
                            "required": ["_tool"],
                        },
                        {
                            "type": "object",
                            "description": "Does b.",
                            "properties": { "_tool": { "const": "b" } },
                            "required": ["_tool"],
                        },
                    ] } },
                },
                "required": ["calls", "output"],
            }),
            "S004-35"
        );
        let none = compose_schema(&[], None).unwrap();
        assert_eq!(
            none["properties"]["calls"],
            json!({ "type": "array", "maxItems": 0 })
        );
    }

    #[test]
    fn an_output_schema_that_is_more_than_an_object_is_wrapped() {
        let schema = json!({
            "type": "object",
            "oneOf": [{ "$ref": "#/$defs/a" }],
            "$defs": { "a": { "required": ["a"] } },
            "additionalProperties": { "type": "string" },
        });
        assert_eq!(
            compose_schema(&[], Some(&schema)).unwrap()["properties"]["output"],
            json!({ "anyOf": [
                {
                    "type": "object",
                    "oneOf": [{ "$ref": "#/properties/output/anyOf/0/$defs/a" }],
                    "$defs": { "a": { "required": ["a"] } },
                    "additionalProperties": { "type": "string" },
                },
                { "type": "null" },
            ] })
        );
        for (schema, problem) in [
            (json!({ "type": "array" }), "not that of an object"),
            (json!(true), "not that of an object"),
            (
                json!({ "type": "object", "$ref": "https://example.com" }),
                "nothing is fetched",
            ),
        ] {
            let fault = compose_schema(&[], Some(&schema)).unwrap_err();
            assert!(fault.message.contains(problem), "{fault}");
        }
    }
}
