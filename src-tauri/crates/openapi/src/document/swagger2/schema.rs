//! Converts schemas of Swagger 2.0: the same as in OpenAPI 3.0 except for `null`, which documents allow by an
//! extension.

use serde_json::{Map, Value};

/// Keywords of a schema that a parameter may have.
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

/// Converts a schema, or a value that contains schemas.
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

/// Converts the members of an object, with `x-nullable` in the notation of 3.0.
pub(super) fn convert_nullable(mut members: Map<String, Value>) -> Map<String, Value> {
    if members.get("x-nullable") == Some(&Value::Bool(true)) {
        members.insert("nullable".to_owned(), Value::Bool(true));
    }
    members
}

/// Builds the schema of a parameter's value. A file becomes a string of any bytes.
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
