//! Members that only the host puts into a call: marked in the runtime schema, refused when a model gives one
//! (`S003-62` to `S003-66`).

use jsonschema::Validator;
use protocol::{Fault, ToolError, ToolInterface};
use serde_json::{Map, Value};

use crate::limits::SCHEMA_DEPTH_MAX;
use crate::schema::{deeper_than, invalid, validator};

/// The host's own members of a tool's arguments.
#[derive(Debug, Default)]
pub struct Internal {
    /// Each with who puts it in: `hook`, `permission_prompt`, `migration`, `adapter`, `runtime`.
    members: Vec<(String, String)>,
    /// The runtime schema, where it differs from the model's.
    validator: Option<Validator>,
}

impl Internal {
    /// Reads the runtime schema beside the model's.
    ///
    /// # Errors
    /// A member that the model may not give and that is not marked `"visibility": "internal"` with its
    /// `"mutation_source"`, or one so marked in the model's own schema.
    pub fn of(interface: &ToolInterface) -> Result<Self, Fault> {
        let id = interface.id();
        let model = members(interface.parameters());
        if let Some((name, _)) = model
            .iter()
            .flat_map(|m| m.iter())
            .find(|(_, schema)| is_internal(schema))
        {
            return Err(Fault::new(
                format!(
                    "The member `{name}` of the tool `{id}` is internal but stands in the schema for the model."
                ),
                "Move it to `runtime_input_schema`.",
            ));
        }
        let runtime = &interface.schemas.runtime_input_schema;
        if runtime == interface.parameters() {
            return Ok(Self::default());
        }
        if deeper_than(runtime, SCHEMA_DEPTH_MAX) {
            return Err(Fault::new(
                format!(
                    "The runtime schema of the tool `{id}` is nested deeper than {SCHEMA_DEPTH_MAX} levels."
                ),
                "Give a flatter schema.",
            ));
        }
        let mut own = Vec::new();
        for (name, schema) in members(runtime).iter().flat_map(|m| m.iter()) {
            let source = schema.get("mutation_source").and_then(Value::as_str);
            match (is_internal(schema), source) {
                (true, Some(source)) if !source.trim().is_empty() => {
                    own.push((name.clone(), source.to_owned()));
                }
                (true, _) => {
                    return Err(Fault::new(
                        format!(
                            "The internal member `{name}` of the tool `{id}` does not say who puts it in."
                        ),
                        "Give it a `mutation_source`, such as `hook` or `adapter`.",
                    ));
                }
                (false, _) if model.is_some_and(|model| model.contains_key(name)) => {}
                (false, _) => {
                    return Err(Fault::new(
                        format!(
                            "The member `{name}` of the tool `{id}` stands in the runtime schema alone, but is not marked as internal."
                        ),
                        "Mark it `\"visibility\": \"internal\"`, or offer it to the model as well.",
                    ));
                }
            }
        }
        let validator = validator(runtime).map_err(|why| {
            Fault::new(
                format!("The runtime schema of the tool `{id}` is not a valid JSON Schema: {why}."),
                "Correct the schema and register the tool again.",
            )
        })?;
        Ok(Self {
            members: own,
            validator: Some(validator),
        })
    }

    /// What is wrong if a model gave one of these (`S003-66`).
    pub fn given(&self, arguments: &Map<String, Value>) -> Option<String> {
        let (name, source) = self
            .members
            .iter()
            .find(|(name, _)| arguments.contains_key(name))?;
        Some(format!(
            "`{name}` is put in by the host ({source}) and cannot be given; leave it out"
        ))
    }

    /// The arguments with the host's members put in, checked against the runtime schema (`S003-63`).
    ///
    /// # Errors
    /// A member that is not the host's to put in, or a value that the runtime schema does not allow.
    pub fn complete(
        &self,
        mut arguments: Map<String, Value>,
        own: Map<String, Value>,
    ) -> Result<Map<String, Value>, ToolError> {
        if let Some(name) = own
            .keys()
            .find(|name| !self.members.iter().any(|(known, _)| known == *name))
        {
            return Err(invalid(&[format!(
                "`{name}` is no member that the host puts in"
            )]));
        }
        arguments.extend(own);
        let arguments = Value::Object(arguments);
        let problem = self.validator.as_ref().and_then(|validator| {
            validator
                .validate(&arguments)
                .err()
                .map(|error| error.to_string())
        });
        match (problem, arguments) {
            (None, Value::Object(arguments)) => Ok(arguments),
            (Some(problem), _) => Err(invalid(&[format!("put in by the host: {problem}")])),
            (None, _) => Err(ToolError::InvalidArgs(String::new())),
        }
    }
}

fn members(schema: &Value) -> Option<&Map<String, Value>> {
    schema.get("properties").and_then(Value::as_object)
}

fn is_internal(schema: &Value) -> bool {
    schema.get("visibility").and_then(Value::as_str) == Some("internal")
}
