//! What a tool may say while it runs, held against the schema that it publishes (`S003-40`).

use std::sync::Arc;

use jsonschema::Validator;
use protocol::{Fault, ToolInterface};
use serde_json::Value;

use crate::limits::SCHEMA_DEPTH_MAX;
use crate::schema::{deeper_than, validator};

/// The published `progress_schema`, compiled once; a tool without one may say anything.
#[derive(Debug, Clone, Default)]
pub struct Progress(Option<Arc<Validator>>);

impl Progress {
    /// Compiles a tool's `progress_schema`.
    ///
    /// # Errors
    /// When it is no valid JSON Schema.
    pub fn of(interface: &ToolInterface) -> Result<Self, Fault> {
        let Some(schema) = &interface.execution.progress_schema else {
            return Ok(Self::default());
        };
        let compiled = match deeper_than(schema, SCHEMA_DEPTH_MAX) {
            true => Err(format!(
                "it is nested deeper than {SCHEMA_DEPTH_MAX} levels"
            )),
            false => validator(schema),
        };
        let compiled = compiled.map_err(|why| {
            let id = interface.id();
            Fault::new(
                format!(
                    "The progress schema of the tool `{id}` is not a valid JSON Schema: {why}."
                ),
                "Correct the schema and register the tool again, or leave it out.",
            )
        })?;
        Ok(Self(Some(Arc::new(compiled))))
    }

    /// Whether a word on progress is one that the tool may say: as a text, or as the JSON that stands in it.
    pub fn fits(&self, message: &str) -> bool {
        self.0.as_ref().is_none_or(|schema| {
            let parsed = || serde_json::from_str::<Value>(message);
            schema.is_valid(&Value::from(message))
                || parsed().is_ok_and(|value| schema.is_valid(&value))
        })
    }
}
