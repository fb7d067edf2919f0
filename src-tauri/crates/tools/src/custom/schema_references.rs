//! References inside a schema: limited to places within the schema, and rebased when the schema becomes a part of
//! another.

use serde_json::{Map, Value};

/// Keywords whose value is data and not a schema.
const DATA_KEYWORDS: [&str; 4] = ["const", "enum", "default", "examples"];

/// Keywords whose value maps names, which may be any word, to schemas.
const NAMED_SCHEMA_KEYWORDS: [&str; 5] = [
    "properties",
    "patternProperties",
    "$defs",
    "definitions",
    "dependentSchemas",
];

/// Keywords that give a place a name of its own, or change the meaning of a reference. A schema that has them would
/// mean something else as a part of another schema.
const REFUSED_KEYWORDS: [&str; 8] = [
    "$id",
    "id",
    "$anchor",
    "$dynamicRef",
    "$dynamicAnchor",
    "$recursiveRef",
    "$recursiveAnchor",
    "$vocabulary",
];

/// Calls `with` on every reference of a schema.
fn visit_references(schema: &mut Value, with: &mut dyn FnMut(&mut String)) {
    match schema {
        Value::Object(members) => {
            for (keyword, value) in members.iter_mut() {
                match value {
                    _ if DATA_KEYWORDS.contains(&keyword.as_str()) => {}
                    Value::String(target) if keyword == "$ref" => with(target),
                    Value::Object(named) if NAMED_SCHEMA_KEYWORDS.contains(&keyword.as_str()) => {
                        named
                            .values_mut()
                            .for_each(|schema| visit_references(schema, with));
                    }
                    _ => visit_references(value, with),
                }
            }
        }
        Value::Array(schemas) => schemas
            .iter_mut()
            .for_each(|schema| visit_references(schema, with)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Rebases references to the schema's own places (`#/…`) to where the schema is now: `to` is that place, such as
/// `/properties/output`.
pub fn rebase_references(schema: &mut Value, to: &str) {
    visit_references(schema, &mut |target| {
        if let Some(place) = target.strip_prefix('#') {
            *target = format!("#{to}{place}");
        }
    });
}

/// Checks that every part of the schema is self-contained. The error is the path to the first keyword that is not, and
/// the reason.
pub fn check_references(schema: &Value) -> Result<(), (Vec<String>, String)> {
    match schema {
        Value::Object(members) => check_object(members),
        Value::Array(schemas) => schemas.iter().try_for_each(check_references),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Ok(()),
    }
}

fn check_object(members: &Map<String, Value>) -> Result<(), (Vec<String>, String)> {
    let below = |name: &str, result: Result<(), (Vec<String>, String)>| {
        result.map_err(|(mut path, why)| {
            path.insert(0, name.to_owned());
            (path, why)
        })
    };
    for (keyword, value) in members {
        match value {
            _ if DATA_KEYWORDS.contains(&keyword.as_str()) => {}
            Value::String(target) if keyword == "$ref" && !target.starts_with('#') => {
                return Err((
                    vec![keyword.clone()],
                    format!(
                        "`$ref` leads to `{target}`, and nothing is fetched: it must begin with `#`"
                    ),
                ));
            }
            Value::String(target)
                if keyword == "$ref" && target != "#" && !target.starts_with("#/") =>
            {
                return Err((
                    vec![keyword.clone()],
                    format!("`$ref` is `{target}`, but must be `#` or a place such as `#/$defs/x`"),
                ));
            }
            Value::String(_) if REFUSED_KEYWORDS.contains(&keyword.as_str()) => {
                return Err((
                    vec![keyword.clone()],
                    format!(
                        "`{keyword}` cannot be used, since the schema becomes a part of another"
                    ),
                ));
            }
            Value::Object(named) if NAMED_SCHEMA_KEYWORDS.contains(&keyword.as_str()) => {
                for (name, schema) in named {
                    below(keyword, below(name, check_references(schema)))?;
                }
            }
            _ => below(keyword, check_references(value))?,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn references_move_with_their_schema_and_data_stays() {
        let mut schema = json!({
            "properties": { "$ref": { "$ref": "#/$defs/a" }, "const": { "$ref": "#" } },
            "const": { "$ref": "#/x" },
            "anyOf": [{ "$ref": "#/$defs/a" }, true],
            "$defs": { "a": { "type": "string" } },
        });
        rebase_references(&mut schema, "/properties/output");
        assert_eq!(
            schema,
            json!({
                "properties": {
                    "$ref": { "$ref": "#/properties/output/$defs/a" },
                    "const": { "$ref": "#/properties/output" },
                },
                "const": { "$ref": "#/x" },
                "anyOf": [{ "$ref": "#/properties/output/$defs/a" }, true],
                "$defs": { "a": { "type": "string" } },
            })
        );
    }

    #[test]
    fn a_schema_that_does_not_stand_for_itself_is_refused() {
        for (schema, path, why) in [
            (
                json!({ "properties": { "a": { "$ref": "https://example.com/x.json" } } }),
                vec!["properties", "a", "$ref"],
                "nothing is fetched",
            ),
            (json!({ "$ref": "#anchor" }), vec!["$ref"], "such as"),
            (
                json!({ "items": { "$id": "x" } }),
                vec!["items", "$id"],
                "`$id`",
            ),
            (
                json!({ "anyOf": [{ "$dynamicRef": "#x" }] }),
                vec!["anyOf", "$dynamicRef"],
                "`$dynamicRef`",
            ),
        ] {
            let (at, message) = check_references(&schema).unwrap_err();
            assert_eq!(at, path);
            assert!(message.contains(why), "{message}");
        }
        let fine = json!({
            "properties": { "$id": { "type": "string" }, "id": true, "$ref": { "$ref": "#" } },
            "enum": [{ "$id": "x" }],
        });
        assert_eq!(check_references(&fine), Ok(()));
    }
}
