//! Schemas of documents in the dialect of tools: 3.0 and 3.1, references, circles, and what is too much.

use openapi::{ApiDocument, BaseUrlOptions, DocumentSource, OperationFilter};
use serde_json::{Value, json};
use tools::Schema;

/// The schema of the argument `body` of one operation, and the definitions beside it.
fn body(version: &str, schema: Value, schemas: Value) -> (Value, Option<Value>) {
    let document = json!({
        "openapi": version,
        "servers": [{ "url": "https://example.com" }],
        "paths": { "/do": { "post": { "requestBody": { "content": { "application/json": { "schema": schema } } } } } },
        "components": { "schemas": schemas },
    });
    let source = DocumentSource::from_value(document).unwrap();
    let document = ApiDocument::parse(
        &source,
        &BaseUrlOptions::default(),
        &OperationFilter::default(),
    )
    .unwrap();
    assert_eq!(document.left_out, Vec::<String>::new());
    let schema = &document.operations[0].input_schema;
    Schema::from_parameters("do", schema).unwrap();
    (
        schema["properties"]["body"].clone(),
        schema.get("$defs").cloned(),
    )
}

#[test]
fn what_3_0_says_is_said_as_tools_say_it() {
    for (written, expected) in [
        (
            json!({ "type": "string", "nullable": true }),
            json!({ "type": ["string", "null"] }),
        ),
        (
            json!({ "type": "string", "nullable": true, "enum": ["a"] }),
            json!({ "type": ["string", "null"], "enum": ["a", null] }),
        ),
        (
            json!({ "nullable": true, "allOf": [{ "type": "object" }] }),
            json!({ "anyOf": [{ "allOf": [{ "type": "object" }] }, { "type": "null" }] }),
        ),
        (
            json!({ "minimum": 1, "exclusiveMinimum": true, "maximum": 5, "exclusiveMaximum": false }),
            json!({ "exclusiveMinimum": 1, "maximum": 5 }),
        ),
        (
            json!({ "type": "array", "items": { "type": "any", "example": 1 } }),
            json!({ "type": "array", "items": {} }),
        ),
        (json!({ "type": "file" }), json!({ "type": "string" })),
        (
            json!({ "type": "object", "required": ["id", "name", "name"], "properties": { "id": { "type": "string", "readOnly": true }, "name": { "type": "string", "required": true } } }),
            json!({ "type": "object", "required": ["name"], "properties": { "name": { "type": "string" } } }),
        ),
        (
            json!({ "type": "string", "pattern": "^(?=x).*$", "minLength": "1", "maxLength": 5.0 }),
            json!({ "type": "string", "maxLength": 5 }),
        ),
        (
            json!({ "type": "string", "pattern": "^a+$", "xml": {}, "x-y": 1, "externalDocs": {} }),
            json!({ "type": "string", "pattern": "^a+$" }),
        ),
        (
            json!({ "enum": [], "multipleOf": 0, "uniqueItems": "yes", "items": 7, "allOf": [] }),
            json!({}),
        ),
        (
            json!({ "description": " a\u{202e} ", "title": "" }),
            json!({ "description": "aU+202E" }),
        ),
        (
            json!({ "$id": "http://x/", "$schema": "http://json-schema.org/draft-04/schema#", "$anchor": "a" }),
            json!({}),
        ),
        (json!("nothing"), json!({})),
    ] {
        let (mut found, defs) = body("3.0.3", written.clone(), json!({}));
        let order = |value: &Value| {
            serde_json::from_str::<std::collections::BTreeMap<String, Value>>(&value.to_string())
                .unwrap()
        };
        assert_eq!(order(&found.take()), order(&expected), "{written}");
        assert_eq!(defs, None);
    }
}

#[test]
fn what_3_1_says_stays() {
    let written = json!({
        "type": ["object", "null", "odd"],
        "properties": { "a": { "const": 1 }, "b": true, "c": { "exclusiveMinimum": 3 } },
        "patternProperties": { "^x": { "type": "integer" }, "(?=y)": {} },
        "prefixItems": [{ "type": "string" }],
        "if": { "required": ["a"] }, "then": { "required": ["c"] },
        "unevaluatedProperties": false,
        "dependentRequired": { "a": ["c"] },
    });
    let expected = json!({
        "type": ["object", "null"],
        "properties": { "a": { "const": 1 }, "b": true, "c": { "exclusiveMinimum": 3 } },
        "patternProperties": { "^x": { "type": "integer" } },
        "prefixItems": [{ "type": "string" }],
        "if": { "required": ["a"] }, "then": { "required": ["c"] },
        "unevaluatedProperties": false,
        "dependentRequired": { "a": ["c"] },
    });
    assert_eq!(body("3.1.0", written, json!({})).0, expected);
}

#[test]
fn what_is_referred_to_once_stands_there_and_what_is_shared_is_defined() {
    let schemas = json!({
        "Once": { "type": "object", "description": "Once.", "properties": { "shared": { "$ref": "#/components/schemas/Shared" } } },
        "Shared": { "type": "integer" },
        "Node": { "type": "object", "properties": { "next": { "$ref": "#/components/schemas/Node" } } },
        "A b": { "type": "array", "items": { "$ref": "#/components/schemas/A%20b" } },
    });
    let written = json!({ "type": "object", "properties": {
        "once": { "$ref": "#/components/schemas/Once", "description": "Nearer." },
        "other": { "$ref": "#/components/schemas/Shared" },
        "tree": { "$ref": "#/components/schemas/Node" },
        "odd": { "$ref": "#/components/schemas/A%20b" },
        "inner": { "$ref": "#/components/schemas/Once/properties/shared" },
    } });
    let (found, defs) = body("3.0.0", written, schemas);
    assert_eq!(
        found,
        json!({ "type": "object", "properties": {
        "once": { "description": "Nearer.", "type": "object", "properties": { "shared": { "$ref": "#/$defs/Shared" } } },
        "other": { "$ref": "#/$defs/Shared" },
        "tree": { "$ref": "#/$defs/Node" },
        "odd": { "$ref": "#/$defs/A_b" },
        "inner": { "$ref": "#/$defs/Shared" },
    } })
    );
    assert_eq!(
        defs.unwrap(),
        json!({
            "Node": { "type": "object", "properties": { "next": { "$ref": "#/$defs/Node" } } },
            "A_b": { "type": "array", "items": { "$ref": "#/$defs/A_b" } },
            "Shared": { "type": "integer" },
        })
    );
}

/// A schema that is missing, leads out, is too deep or too long becomes any value, with a note; the operation stays.
#[test]
fn what_cannot_be_had_is_any_value() {
    for reference in [
        "#/components/schemas/None",
        "https://example.com/x.json",
        "other.yaml#/X",
        "#anchor",
        "#/%ff",
    ] {
        let (found, _) = body("3.1.0", json!({ "$ref": reference }), json!({}));
        assert!(
            found["description"].as_str().unwrap().contains("not there"),
            "{found}"
        );
    }
    let mut deep = json!({ "type": "string" });
    for _ in 0..40 {
        deep = json!({ "type": "array", "items": deep });
    }
    let (found, _) = body("3.0.0", deep, json!({}));
    assert!(found.to_string().contains("Cut here"));
    let mut chain = json!({});
    for at in 0..60 {
        chain[format!("S{at}")] = json!({ "type": "object", "properties": { "p": { "$ref": format!("#/components/schemas/S{}", at + 1) } } });
    }
    chain["S60"] = json!({ "type": "string" });
    let (_, defs) = body("3.0.0", json!({ "$ref": "#/components/schemas/S0" }), chain);
    assert!(
        defs.is_some(),
        "what is too deep to stand in its place is defined"
    );
    let mut wide = json!({});
    for at in 0..400 {
        wide[format!("W{at}")] = json!({ "type": "string", "description": "x".repeat(500) });
    }
    let all: Vec<Value> = (0..400)
        .map(|at| json!({ "$ref": format!("#/components/schemas/W{at}") }))
        .collect();
    let (found, _) = body("3.0.0", json!({ "oneOf": all }), wide);
    let text = found.to_string();
    assert!(
        text.contains("Cut here") && text.len() < 120_000,
        "{}",
        text.len()
    );
}
