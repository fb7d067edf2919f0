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
