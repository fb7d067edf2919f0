//! Schemas of Swagger 2.0: those of OpenAPI 3.0 but for `null`, which documents allow by an extension.

use serde_json::{Map, Value};

/// The keywords that a parameter has of a schema.
const PARAMETER_SCHEMA_KEYWORDS: [&str; 18] = [
    "type",
    "format",
    "items",
    "default",
    "maximum",
    "exclusiveMaximum",
    "minimum",
    "exclusiveMinimum",
    "maxLength",
    "minLength",
    "pattern",
    "maxItems",
    "minItems",
    "uniqueItems",
    "enum",
    "multipleOf",
    "x-nullable",
    "example",
];

/// A schema, or something that holds schemas.
pub(super) fn convert_schema(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let members = members.iter();
            let members = members.map(|(name, value)| (name.clone(), convert_schema(value)));
            Value::Object(convert_nullable(members.collect()))
        }
        Value::Array(items) => Value::Array(items.iter().map(convert_schema).collect()),
        plain => plain.clone(),
    }
}

/// The members of an object, with `x-nullable` as 3.0 writes it.
pub(super) fn convert_nullable(mut members: Map<String, Value>) -> Map<String, Value> {
    if members.get("x-nullable") == Some(&Value::Bool(true)) {
        members.insert("nullable".to_owned(), Value::Bool(true));
    }
    members
}

/// What a parameter says of its value, as a schema. A file is a text of any bytes.
pub(super) fn schema_from_parameter(parameter: &Value) -> Value {
    let mut schema = Map::new();
    for keyword in PARAMETER_SCHEMA_KEYWORDS {
        if let Some(value) = parameter.get(keyword) {
            schema.insert(keyword.to_owned(), convert_schema(value));
        }
    }
    if schema.get("type").and_then(Value::as_str) == Some("file") {
        schema.insert("type".to_owned(), "string".into());
        schema.insert("format".to_owned(), "binary".into());
    }
    Value::Object(convert_nullable(schema))
}
