//! Checks arguments against a tool's schema before anything else sees them; errors are sentences that a model can act
//! on.

use jsonschema::Validator;
use jsonschema::error::ValidationErrorKind;
use protocol::model::REASONING_MEMBER;
use protocol::text::depth::exceeds_depth;
use protocol::{ToolError, ToolInterface, UserError};
use serde_json::{Map, Value, json};

use crate::host_arguments::HostArguments;
use crate::limits::{ARGUMENTS_DEPTH_MAX, PROBLEMS_MAX, SCHEMA_DEPTH_MAX};
use crate::progress_schema::ProgressSchema;
use crate::schema_problem::describe_problem;
use crate::validator::compile_validator;

/// A tool's schema, compiled once.
#[derive(Debug)]
pub struct Schema {
    validator: Validator,
    members: Vec<String>,
    internal: HostArguments,
    progress: ProgressSchema,
}

impl Schema {
    /// Compiles the schema of the arguments that a model may give, and of those that the host adds (`S003-62`,
    /// `S003-63`).
    ///
    /// # Errors
    /// If either is not a valid JSON Schema, or a member reserved for the host is not marked as such (`S003-64`,
    /// `S003-65`).
    pub fn from_interface(interface: &ToolInterface) -> Result<Self, UserError> {
        let mut schema = Self::from_parameters(interface.id(), interface.parameters())?;
        schema.internal = HostArguments::from_interface(interface)?;
        schema.progress = ProgressSchema::from_interface(interface)?;
        Ok(schema)
    }

    /// Returns the members that are reserved for the host.
    pub fn host_arguments(&self) -> &HostArguments {
        &self.internal
    }

    /// Returns the schema of the tool's progress messages.
    pub fn progress_schema(&self) -> &ProgressSchema {
        &self.progress
    }

    /// Compiles a tool's `parameters`.
    ///
    /// # Errors
    /// If it is not a valid JSON Schema, or not one of an object.
    pub fn from_parameters(tool: &str, parameters: &Value) -> Result<Self, UserError> {
        if exceeds_depth(parameters, SCHEMA_DEPTH_MAX) {
            return Err(UserError::new(
                format!(
                    "The parameters of the tool `{tool}` are nested deeper than {SCHEMA_DEPTH_MAX} levels."
                ),
                "Give a flatter schema.",
            ));
        }
        if parameters.get("type") != Some(&Value::from("object")) {
            return Err(UserError::new(
                format!("The parameters of the tool `{tool}` are not the schema of an object."),
                "Give a JSON Schema with \"type\": \"object\".",
            ));
        }
        let validator = compile_validator(parameters).map_err(|why| {
            UserError::new(
                format!("The parameters of the tool `{tool}` are not a valid JSON Schema: {why}."),
                "Correct the schema and register the tool again.",
            )
        })?;
        let members = parameters.get("properties").and_then(Value::as_object);
        let members = members.map_or_else(Vec::new, |object| object.keys().cloned().collect());
        Ok(Self {
            validator,
            members,
            internal: HostArguments::default(),
            progress: ProgressSchema::default(),
        })
    }

    /// Returns every problem of the arguments, one clause each; an empty list if there are none. `name` maps one of our
    /// members to the name that the caller used.
    pub fn find_problems<'a>(
        &'a self,
        arguments: Map<String, Value>,
        name: &dyn Fn(&'a str) -> &'a str,
    ) -> Result<Map<String, Value>, Vec<String>> {
        if let Some(problem) = self.internal.explain_model_given(&arguments) {
            return Err(vec![problem]);
        }
        let arguments = Value::Object(arguments);
        if exceeds_depth(&arguments, ARGUMENTS_DEPTH_MAX) {
            return Err(vec![format!(
                "they are nested deeper than {ARGUMENTS_DEPTH_MAX} levels; give flatter ones"
            )]);
        }
        // Nearly every call is right, and to say only that is many times cheaper than to look for what is wrong.
        if self.validator.is_valid(&arguments) {
            return match arguments {
                Value::Object(arguments) => Ok(arguments),
                _ => Err(Vec::new()),
            };
        }
        let arguments = strip_optional_nulls(&self.validator, arguments);
        let mut problems: Vec<String> = Vec::new();
        for error in self.validator.iter_errors(&arguments) {
            // A missing and an unknown member are often one misspelt member: the unknown one is said first.
            let clause = describe_problem(&error, &self.members, name);
            match error.kind() {
                ValidationErrorKind::AdditionalProperties { .. } => problems.insert(0, clause),
                _ => problems.push(clause),
            }
        }
        match arguments {
            Value::Object(arguments) if problems.is_empty() => Ok(arguments),
            _ => Err(problems),
        }
    }
}

/// Returns the parameters with an additional member for the model's reasoning (`S004-08`). It comes first, so that the
/// model thinks before it chooses.
pub fn with_reasoning(parameters: &Value) -> Value {
    let mut extended = parameters.clone();
    let Some(object) = extended.as_object_mut() else {
        return extended;
    };
    let reasoning = json!({
        "type": "string",
        "description": "Why you make this call, in one sentence for the person who decides on it.",
    });
    let members = object.get_mut("properties").and_then(Value::as_object_mut);
    let mut reordered = Map::from_iter([(REASONING_MEMBER.to_owned(), reasoning)]);
    match members {
        Some(members) => {
            reordered.append(members);
            *members = reordered;
        }
        None => {
            object.insert("properties".to_owned(), Value::Object(reordered));
        }
    }
    extended
}

/// Removes members that are `null` where the schema neither accepts `null` nor requires the member: models that are
/// trained on strict schemas write `null` for members that they leave out.
fn strip_optional_nulls(validator: &Validator, value: Value) -> Value {
    let refused: Vec<String> = validator
        .iter_errors(&value)
        .filter(|error| error.instance().is_null())
        .map(|error| error.instance_path().as_str().to_owned())
        .collect();
    let mut stripped = value.clone();
    for path in &refused {
        remove_member(&mut stripped, path);
    }
    // A required member was no slip: it is put back, so that the caller hears what is wrong with it.
    let required: Vec<String> = validator
        .iter_errors(&stripped)
        .filter_map(|error| match error.kind() {
            ValidationErrorKind::Required { property } => {
                let name = property.as_str()?.replace('~', "~0").replace('/', "~1");
                Some(format!("{}/{name}", error.instance_path().as_str()))
            }
            _ => None,
        })
        .collect();
    if required.is_empty() {
        return stripped;
    }
    let mut stripped = value;
    for path in refused.iter().filter(|path| !required.contains(path)) {
        remove_member(&mut stripped, path);
    }
    stripped
}

/// Removes the member of an object that a JSON pointer names. An item of a list stays, since its neighbours would move.
fn remove_member(value: &mut Value, pointer: &str) {
    let Some((parent, name)) = pointer.rsplit_once('/') else {
        return;
    };
    if let Some(Value::Object(members)) = value.pointer_mut(parent) {
        members.shift_remove(&name.replace("~1", "/").replace("~0", "~"));
    }
}

/// Checks arguments (`S002-05`).
///
/// # Errors
/// [`ToolError::InvalidArgs`] (`S002-06`) that names each member, the expected and the given value.
pub fn validate_arguments(
    schema: &Schema,
    arguments: Map<String, Value>,
) -> Result<Map<String, Value>, ToolError> {
    schema
        .find_problems(arguments, &|member| member)
        .map_err(|problems| invalid_arguments_error(&problems))
}

/// Builds the error for these problems.
pub fn invalid_arguments_error(problems: &[String]) -> ToolError {
    let mut text = problems
        .iter()
        .take(PROBLEMS_MAX)
        .cloned()
        .collect::<Vec<_>>()
        .join("; ");
    if problems.len() > PROBLEMS_MAX {
        text += &format!("; and {} more", problems.len() - PROBLEMS_MAX);
    }
    ToolError::InvalidArgs(text)
}

/// Removes the members that begin with `_` from the arguments (M13, `S004-03`, `S004-09`). Returns the arguments for
/// the tool, then the members that are kept beside the call.
pub fn split_meta(arguments: Map<String, Value>) -> (Map<String, Value>, Map<String, Value>) {
    if !arguments.keys().any(|name| name.starts_with('_')) {
        return (arguments, Map::new());
    }
    arguments
        .into_iter()
        .partition(|(name, _)| !name.starts_with('_'))
}
