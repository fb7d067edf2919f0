//! Checks the progress messages of a running tool against the schema that it publishes (`S003-40`).

use std::sync::Arc;

use jsonschema::Validator;
use protocol::text::depth::exceeds_depth;
use protocol::{ToolInterface, UserError};
use serde_json::Value;

use crate::limits::SCHEMA_DEPTH_MAX;
use crate::validator::compile_validator;

/// The published `progress_schema`, compiled once; a tool without one may send any message.
#[derive(Debug, Clone, Default)]
pub struct ProgressSchema(Option<Arc<Validator>>);

impl ProgressSchema {
    /// Compiles a tool's `progress_schema`.
    ///
    /// # Errors
    /// If it is not a valid JSON Schema.
    pub fn from_interface(interface: &ToolInterface) -> Result<Self, UserError> {
        let Some(schema) = &interface.execution.progress_schema else {
            return Ok(Self::default());
        };
        let compiled = match exceeds_depth(schema, SCHEMA_DEPTH_MAX) {
            true => Err(format!(
                "it is nested deeper than {SCHEMA_DEPTH_MAX} levels"
            )),
            false => compile_validator(schema),
        };
        let compiled = compiled.map_err(|why| {
            let id = interface.id();
            UserError::new(
                format!(
                    "The progress schema of the tool `{id}` is not a valid JSON Schema: {why}."
                ),
                "Correct the schema and register the tool again, or leave it out.",
            )
        })?;
        Ok(Self(Some(Arc::new(compiled))))
    }

    /// Whether the schema allows a progress message: as a text, or as the JSON that it contains.
    pub fn is_valid_message(&self, message: &str) -> bool {
        self.0.as_ref().is_none_or(|schema| {
            let parsed = || serde_json::from_str::<Value>(message);
            schema.is_valid(&Value::from(message))
                || parsed().is_ok_and(|value| schema.is_valid(&value))
        })
    }
}
