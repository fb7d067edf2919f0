//! Arguments that only the host puts into a call: marked in the runtime schema, refused when a model gives one, and
//! supplied only by the source that they name (`S003-62` to `S003-66`).

use jsonschema::Validator;
use protocol::text::depth::exceeds_depth;
use protocol::{ToolError, ToolInterface, UserError};
use serde_json::{Map, Value};

use crate::limits::SCHEMA_DEPTH_MAX;
use crate::validator::compile_validator;

/// The `mutation_source` of members that a host's hooks supply.
pub const HOOK_SOURCE: &str = "hook";

/// The `mutation_source` of members that the tool itself supplies as an adapter.
pub const ADAPTER_SOURCE: &str = "adapter";

/// Members that one source supplies for a call: the source and the members.
pub type SuppliedArguments = (&'static str, Map<String, Value>);

/// The members of a tool's arguments that are reserved for the host.
#[derive(Debug, Default)]
pub struct HostArguments {
    /// The reserved members, each with its source: `hook`, `permission_prompt`, `migration`, `adapter`, `runtime`.
    members: Vec<(String, String)>,
    /// Validator of the runtime schema, where it differs from the model's.
    validator: Option<Validator>,
}

impl HostArguments {
    /// Compares the runtime schema with the model's.
    ///
    /// # Errors
    /// If the runtime schema has a member that the model may not give and that is not marked `"visibility": "internal"`
    /// with its `"mutation_source"`, or the model's own schema has one so marked.
    pub fn from_interface(interface: &ToolInterface) -> Result<Self, UserError> {
        let id = interface.id();
        let model = schema_members(interface.parameters());
        if let Some((name, _)) = model
            .iter()
            .flat_map(|m| m.iter())
            .find(|(_, schema)| is_internal(schema))
        {
            return Err(UserError::new(
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
        if exceeds_depth(runtime, SCHEMA_DEPTH_MAX) {
            return Err(UserError::new(
                format!(
                    "The runtime schema of the tool `{id}` is nested deeper than {SCHEMA_DEPTH_MAX} levels."
                ),
                "Give a flatter schema.",
            ));
        }
        let mut own = Vec::new();
        for (name, schema) in schema_members(runtime).iter().flat_map(|m| m.iter()) {
            let source = schema.get("mutation_source").and_then(Value::as_str);
            match (is_internal(schema), source) {
                (true, Some(source)) if !source.trim().is_empty() => {
                    own.push((name.clone(), source.to_owned()));
                }
                (true, _) => {
                    return Err(UserError::new(
                        format!(
                            "The internal member `{name}` of the tool `{id}` does not say who puts it in."
                        ),
                        "Give it a `mutation_source`, such as `hook` or `adapter`.",
                    ));
                }
                (false, _) if model.is_some_and(|model| model.contains_key(name)) => {}
                (false, _) => {
                    return Err(UserError::new(
                        format!(
                            "The member `{name}` of the tool `{id}` stands in the runtime schema alone, but is not marked as internal."
                        ),
                        "Mark it `\"visibility\": \"internal\"`, or offer it to the model as well.",
                    ));
                }
            }
        }
        let validator = compile_validator(runtime).map_err(|why| {
            UserError::new(
                format!("The runtime schema of the tool `{id}` is not a valid JSON Schema: {why}."),
                "Correct the schema and register the tool again.",
            )
        })?;
        Ok(Self {
            members: own,
            validator: Some(validator),
        })
    }

    /// Returns the problem if a model gave one of the reserved members (`S003-66`).
    pub fn explain_model_given(&self, arguments: &Map<String, Value>) -> Option<String> {
        let (name, source) = self
            .members
            .iter()
            .find(|(name, _)| arguments.contains_key(name))?;
        Some(format!(
            "`{name}` is put in by the host ({source}) and cannot be given; leave it out"
        ))
    }

    /// Whether a source has members to supply.
    pub fn has_source(&self, source: &str) -> bool {
        self.members.iter().any(|(_, from)| from == source)
    }

    /// Adds the host's members to the arguments, and validates them against the runtime schema (`S003-63`, `S003-65`).
    ///
    /// # Errors
    /// If a member is not its source's to supply, or a value is not allowed by the runtime schema.
    pub fn complete_arguments(
        &self,
        mut arguments: Map<String, Value>,
        put_in: Vec<SuppliedArguments>,
    ) -> Result<Map<String, Value>, ToolError> {
        let Some(validator) = &self.validator else {
            return match put_in.iter().find_map(|(_, own)| own.keys().next()) {
                None => Ok(arguments),
                Some(name) => Err(not_suppliable_error(name)),
            };
        };
        for (source, own) in put_in {
            let is_known = |name: &String| {
                let mut members = self.members.iter();
                members.any(|(member, from)| member == name && from == source)
            };
            if let Some(name) = own.keys().find(|name| !is_known(name)) {
                return Err(not_suppliable_error(name));
            }
            arguments.extend(own);
        }
        let whole = Value::Object(arguments);
        let problem = validator.validate(&whole).err().map(|e| e.to_string());
        match (problem, whole) {
            (None, Value::Object(arguments)) => Ok(arguments),
            (problem, _) => Err(ToolError::Failed(format!(
                "What the host puts into the call does not fit the tool: {}. It was not run, and other arguments will not \
                 help; go on without it.",
                problem.unwrap_or_default()
            ))),
        }
    }
}

fn not_suppliable_error(name: &str) -> ToolError {
    ToolError::Failed(format!(
        "The host put in `{name}`, which is not its to put in. The call was not run; go on without it."
    ))
}

fn schema_members(schema: &Value) -> Option<&Map<String, Value>> {
    schema.get("properties").and_then(Value::as_object)
}

fn is_internal(schema: &Value) -> bool {
    schema.get("visibility").and_then(Value::as_str) == Some("internal")
}
