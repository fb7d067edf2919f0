//! Checks arguments against a tool's schema before anything else sees them, in sentences that a model can act on.

use jsonschema::error::ValidationErrorKind;
use jsonschema::{PatternOptions, Validator};
use protocol::{Fault, ToolError, ToolInterface};
use serde_json::{Map, Value};

use crate::internal::Internal;
use crate::limits::{ARGUMENTS_DEPTH_MAX, PROBLEMS_MAX, SCHEMA_DEPTH_MAX};
use crate::progress::Progress;
use crate::sentence::sentence;

/// A tool's schema, compiled once.
#[derive(Debug)]
pub struct Schema {
    validator: Validator,
    members: Vec<String>,
    internal: Internal,
    progress: Progress,
}

impl Schema {
    /// Compiles what a model may give, and what the host puts in beside it (`S003-62`, `S003-63`).
    ///
    /// # Errors
    /// When either is no valid JSON Schema, or a member of the host's is not marked as such (`S003-64`, `S003-65`).
    pub fn of(interface: &ToolInterface) -> Result<Self, Fault> {
        let mut schema = Self::compile(interface.id(), interface.parameters())?;
        schema.internal = Internal::of(interface)?;
        schema.progress = Progress::of(interface)?;
        Ok(schema)
    }

    /// The host's own members.
    pub fn internal(&self) -> &Internal {
        &self.internal
    }

    /// What the tool may say while it runs.
    pub fn progress(&self) -> &Progress {
        &self.progress
    }

    /// Compiles a tool's `parameters`.
    ///
    /// # Errors
    /// When it is no valid JSON Schema, or not one of an object.
    pub fn compile(tool: &str, parameters: &Value) -> Result<Self, Fault> {
        if deeper_than(parameters, SCHEMA_DEPTH_MAX) {
            return Err(Fault::new(
                format!(
                    "The parameters of the tool `{tool}` are nested deeper than {SCHEMA_DEPTH_MAX} levels."
                ),
                "Give a flatter schema.",
            ));
        }
        if parameters.get("type") != Some(&Value::from("object")) {
            return Err(Fault::new(
                format!("The parameters of the tool `{tool}` are not the schema of an object."),
                "Give a JSON Schema with \"type\": \"object\".",
            ));
        }
        let validator = validator(parameters).map_err(|why| {
            Fault::new(
                format!("The parameters of the tool `{tool}` are not a valid JSON Schema: {why}."),
                "Correct the schema and register the tool again.",
            )
        })?;
        let members = parameters.get("properties").and_then(Value::as_object);
        let members = members.map_or_else(Vec::new, |object| object.keys().cloned().collect());
        Ok(Self {
            validator,
            members,
            internal: Internal::default(),
            progress: Progress::default(),
        })
    }

    /// Everything that is wrong with the arguments, one clause each; empty if nothing is. `name` gives what a member of
    /// ours was called by whoever called.
    pub fn problems<'a>(
        &'a self,
        arguments: Map<String, Value>,
        name: &dyn Fn(&'a str) -> &'a str,
    ) -> Result<Map<String, Value>, Vec<String>> {
        if let Some(problem) = self.internal.given(&arguments) {
            return Err(vec![problem]);
        }
        let arguments = Value::Object(arguments);
        if deeper_than(&arguments, ARGUMENTS_DEPTH_MAX) {
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
        let arguments = without_nulls(&self.validator, arguments);
        let mut problems: Vec<String> = Vec::new();
        for error in self.validator.iter_errors(&arguments) {
            // A missing and an unknown member are often one misspelt member: the unknown one is said first.
            let clause = sentence(&error, &self.members, name);
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

/// Compiles any schema. Nothing is fetched, and a pattern is matched in time that grows with the text alone.
///
/// # Errors
/// Why it is none.
pub fn validator(schema: &Value) -> Result<Validator, String> {
    jsonschema::options()
        .with_pattern_options(PatternOptions::regex())
        .build(schema)
        .map_err(|error| error.to_string())
}

/// Whether a value has more levels than this. Does not go deeper itself, so nothing can exhaust the stack.
pub fn deeper_than(value: &Value, levels: usize) -> bool {
    match value {
        Value::Array(_) | Value::Object(_) if levels == 0 => true,
        Value::Array(items) => items.iter().any(|item| deeper_than(item, levels - 1)),
        Value::Object(members) => members.values().any(|item| deeper_than(item, levels - 1)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// A value without the members that are `null` where the schema neither takes `null` nor requires the member: models that
/// are trained on strict schemas write `null` for what they leave out.
fn without_nulls(validator: &Validator, value: Value) -> Value {
    let refused: Vec<String> = validator
        .iter_errors(&value)
        .filter(|error| error.instance().is_null())
        .map(|error| error.instance_path().as_str().to_owned())
        .collect();
    let mut left = value.clone();
    for path in &refused {
        remove_member(&mut left, path);
    }
    // What is required was no slip: it is put back, so that the caller hears what is wrong with it.
    let required: Vec<String> = validator
        .iter_errors(&left)
        .filter_map(|error| match error.kind() {
            ValidationErrorKind::Required { property } => {
                let name = property.as_str()?.replace('~', "~0").replace('/', "~1");
                Some(format!("{}/{name}", error.instance_path().as_str()))
            }
            _ => None,
        })
        .collect();
    if required.is_empty() {
        return left;
    }
    let mut left = value;
    for path in refused.iter().filter(|path| !required.contains(path)) {
        remove_member(&mut left, path);
    }
    left
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
/// [`ToolError::InvalidArgs`] (`S002-06`) that names each member, what was expected and what was given.
pub fn validate(
    schema: &Schema,
    arguments: Map<String, Value>,
) -> Result<Map<String, Value>, ToolError> {
    schema
        .problems(arguments, &|member| member)
        .map_err(|problems| invalid(&problems))
}

/// The error for some problems.
pub fn invalid(problems: &[String]) -> ToolError {
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

/// Takes the members that begin with `_` off the arguments (M13, `S004-03`, `S004-09`): first what the tool gets, then
/// what is kept beside the call.
pub fn lift_meta(arguments: Map<String, Value>) -> (Map<String, Value>, Map<String, Value>) {
    if !arguments.keys().any(|name| name.starts_with('_')) {
        return (arguments, Map::new());
    }
    arguments
        .into_iter()
        .partition(|(name, _)| !name.starts_with('_'))
}
