//! Compiles JSON Schemas of any origin into validators.

use jsonschema::{PatternOptions, Validator};
use serde_json::Value;

/// Compiles a schema. Nothing is fetched, and a pattern is matched in time that grows only with the text.
///
/// # Errors
/// The reason why the schema is not valid.
pub fn compile_validator(schema: &Value) -> Result<Validator, String> {
    jsonschema::options()
        .with_pattern_options(PatternOptions::regex())
        .build(schema)
        .map_err(|error| error.to_string())
}

/// Whether a value has more than `levels` levels. Does not descend further itself, so no value can exhaust the stack.
pub fn is_deeper_than(value: &Value, levels: usize) -> bool {
    match value {
        Value::Array(_) | Value::Object(_) if levels == 0 => true,
        Value::Array(items) => items.iter().any(|item| is_deeper_than(item, levels - 1)),
        Value::Object(members) => members
            .values()
            .any(|item| is_deeper_than(item, levels - 1)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}
