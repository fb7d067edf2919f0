//! The definition of one tool as a schema (004): parsed strictly, with its meta-fields separate from its parameters.

use serde_json::{Map, Value};

pub use protocol::model::REASONING_MEMBER;

use super::schema_references;
use super::state_path::StatePath;
use crate::schema;

/// The tool's name, a constant (`S004-04`).
pub const TOOL: &str = "_tool";
/// Schema of the result (`S004-07`).
pub const OUTPUT: &str = "_output";
/// The activity that carries out calls (`S004-10`).
pub const ACTIVITY: &str = "_activity";
/// The delegate that calls are passed to (`S004-11`).
pub const DELEGATE: &str = "_delegate";
/// Place in the session's state that the output is stored at (`S004-12`).
pub const OUTPUT_PATH: &str = "_outputPath";
/// The instance that a call is meant for (`S004-13`).
pub const INSTANCE: &str = "_instance";

/// A tool defined by a schema alone (`S004-01`). Its implementation is bound elsewhere, so that both can be replaced
/// independently (`S004-45`).
#[derive(Debug, Clone, PartialEq)]
pub struct CustomToolDefinition {
    /// Unique name (`S004-04`).
    pub name: String,
    /// Name shown to a person (`S004-05`).
    pub title: Option<String>,
    /// Description of the tool (`S004-06`); empty if none is given.
    pub description: String,
    /// Name of the activity; empty if the author wants none even where one exists, `None` if not specified.
    pub activity: Option<String>,
    /// Name of the delegate.
    pub delegate: Option<String>,
    /// Place in the state that every output is stored at; `None` if a call may name one itself.
    pub output_path: Option<StatePath>,
    /// The schema as it was written.
    schema: Map<String, Value>,
}

/// The party that computes the result of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExecutionKind {
    /// The model computes the result itself, in `_output` (`S004-25`, `S004-26`).
    Latent,
    /// An activity or a delegate computes the result; the model is not asked for `_output` (`S004-28`).
    Explicit,
}

/// A problem in a definition: the path of members that leads to it, and the reason without a full stop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DefinitionError {
    /// Member names from the schema's root.
    pub path: Vec<String>,
    /// The reason, without a full stop.
    pub reason: String,
}

fn definition_error<T>(path: &[&str], reason: impl Into<String>) -> Result<T, DefinitionError> {
    Err(DefinitionError {
        path: path.iter().map(|name| (*name).to_owned()).collect(),
        reason: reason.into(),
    })
}

impl CustomToolDefinition {
    /// Parses a schema. `name` is the name that the tool is registered under (`S004-14`); without one the schema's
    /// `_tool` gives the name.
    ///
    /// # Errors
    /// The first problem of the schema.
    pub fn parse(name: Option<&str>, schema: &Value) -> Result<Self, DefinitionError> {
        let Some(schema) = schema.as_object() else {
            return definition_error(&[], "a tool is a JSON Schema, which is an object");
        };
        if schema.get("type") != Some(&Value::from("object")) {
            return definition_error(&["type"], "`type` must be \"object\"");
        }
        if let Some(member) = schema.keys().find(|member| member.starts_with('_')) {
            return definition_error(&[member], format!("`{member}` belongs into `properties`"));
        }
        schema_references::check_references(&Value::Object(schema.clone()))
            .map_err(|(path, reason)| DefinitionError { path, reason })?;
        let empty = Map::new();
        let members = match schema.get("properties") {
            None => &empty,
            Some(Value::Object(members)) => members,
            Some(_) => return definition_error(&["properties"], "`properties` must be an object"),
        };
        check_members(members)?;
        check_required(schema, members)?;
        let definition = Self {
            name: parse_tool_name(name, members)?,
            title: text_member(schema, "title")?,
            description: text_member(schema, "description")?.unwrap_or_default(),
            activity: const_member(members, ACTIVITY)?,
            delegate: const_member(members, DELEGATE)?.filter(|name| !name.is_empty()),
            output_path: parse_output_path(members)?,
            schema: schema.clone(),
        };
        let activity = definition
            .activity
            .as_deref()
            .filter(|name| !name.is_empty());
        if activity.is_some() && definition.delegate.is_some() {
            return definition_error(
                &["properties", DELEGATE],
                "a tool goes to an activity or to a delegate, not to both",
            );
        }
        for (member, what) in [
            (ACTIVITY, activity),
            (DELEGATE, definition.delegate.as_deref()),
        ] {
            if let Some(name) = what.filter(|name| !is_plain_file_name(name)) {
                return definition_error(
                    &["properties", member],
                    format!("`{name}` is not a name; use letters, digits, `_`, `-` and `.`"),
                );
            }
        }
        for execution in [ExecutionKind::Latent, ExecutionKind::Explicit] {
            if let Err(fault) =
                schema::Schema::from_parameters(&definition.name, &definition.parameters(execution))
            {
                return definition_error(&[], fault.message.trim_end_matches('.'));
            }
        }
        Ok(definition)
    }

    /// Returns the names of the parameters: every property without a leading underscore (`S004-02`, `S004-03`).
    pub fn parameter_names(&self) -> impl Iterator<Item = &str> {
        self.members()
            .map(|(name, _)| name.as_str())
            .filter(|name| !name.starts_with('_'))
    }

    /// Returns the schema of the result; `None` if the author gave none (`S004-07`).
    pub fn output(&self) -> Option<&Value> {
        let properties = self.schema.get("properties")?;
        properties.get(OUTPUT)
    }

    fn members(&self) -> impl Iterator<Item = (&String, &Value)> {
        let properties = self.schema.get("properties").and_then(Value::as_object);
        properties.into_iter().flatten()
    }

    /// Returns the schema of the members that a model fills in: the parameters, the members by which a call says how it
    /// is carried out, and `_output` if the model computes the result. The binding of the tool to its implementation is
    /// not in it, so replacing the implementation changes nothing for the model (`S004-49`).
    pub fn parameters(&self, execution: ExecutionKind) -> Value {
        let latent = execution == ExecutionKind::Latent;
        let shown = |name: &str| match name {
            TOOL | ACTIVITY | DELEGATE => false,
            OUTPUT_PATH => self.output_path.is_none(),
            OUTPUT => latent,
            _ => true,
        };
        let members: Map<String, Value> = self
            .members()
            .filter(|(name, _)| shown(name))
            .map(|(name, schema)| (name.clone(), schema.clone()))
            .collect();
        let mut required: Vec<Value> = match self.schema.get("required").and_then(Value::as_array) {
            Some(names) => names
                .iter()
                .filter(|name| name.as_str().is_some_and(shown))
                .cloned()
                .collect(),
            None => Vec::new(),
        };
        let output = Value::from(OUTPUT);
        if members.contains_key(OUTPUT) && !required.contains(&output) {
            required.push(output);
        }
        let mut parameters = Map::new();
        for (keyword, value) in &self.schema {
            match keyword.as_str() {
                "title" | "description" | "$schema" => {}
                "properties" => {
                    parameters.insert(keyword.clone(), Value::Object(members.clone()));
                }
                "required" => {
                    parameters.insert(keyword.clone(), Value::Array(required.clone()));
                }
                _ => {
                    parameters.insert(keyword.clone(), value.clone());
                }
            }
        }
        if !required.is_empty() {
            parameters
                .entry("required")
                .or_insert_with(|| Value::Array(required));
        }
        Value::Object(parameters)
    }
}

/// Whether a name is a valid name of a file directly in a folder.
pub(super) fn is_plain_file_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    (1..=64).contains(&name.len()) && !name.starts_with('.') && name.chars().all(plain)
}

fn text_member(
    schema: &Map<String, Value>,
    member: &str,
) -> Result<Option<String>, DefinitionError> {
    match schema.get(member) {
        None => Ok(None),
        Some(Value::String(text)) => {
            Ok(Some(text.trim().to_owned()).filter(|text| !text.is_empty()))
        }
        Some(_) => definition_error(&[member], format!("`{member}` must be a text")),
    }
}

/// Returns the constant of a meta-field.
fn const_member(
    members: &Map<String, Value>,
    member: &str,
) -> Result<Option<String>, DefinitionError> {
    let Some(schema) = members.get(member) else {
        return Ok(None);
    };
    match schema.get("const") {
        Some(Value::String(text)) => Ok(Some(text.clone())),
        _ => definition_error(
            &["properties", member],
            format!("`{member}` needs a text as its `const`"),
        ),
    }
}

fn parse_tool_name(
    registered: Option<&str>,
    members: &Map<String, Value>,
) -> Result<String, DefinitionError> {
    match (registered, const_member(members, TOOL)?) {
        (Some(registered), Some(name)) if registered != name => definition_error(
            &["properties", TOOL],
            format!("`{TOOL}` is `{name}`, but the tool is registered as `{registered}`"),
        ),
        (_, Some(name)) => check_callable_name(name),
        (Some(registered), None) => check_callable_name(registered.to_owned()),
        (None, None) => definition_error(
            &[],
            format!("the tool has no name; give `{TOOL}` a `const`"),
        ),
    }
}

/// Checks that a model can call a tool of this name.
fn check_callable_name(name: String) -> Result<String, DefinitionError> {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    match (1..=64).contains(&name.len()) && name.chars().all(plain) {
        true => Ok(name),
        false => definition_error(
            &[],
            format!(
                "`{}` cannot be the name of a tool; use 1 to 64 letters, digits, `_` and `-`",
                name.chars().take(64).collect::<String>()
            ),
        ),
    }
}

fn parse_output_path(members: &Map<String, Value>) -> Result<Option<StatePath>, DefinitionError> {
    let Some(schema) = members.get(OUTPUT_PATH) else {
        return Ok(None);
    };
    let at = ["properties", OUTPUT_PATH];
    match schema.get("const") {
        None => Ok(None),
        Some(Value::String(path)) => match StatePath::parse(path) {
            Ok(path) => Ok(Some(path)),
            Err(reason) => definition_error(&at, reason),
        },
        Some(_) => definition_error(
            &at,
            format!("the `const` of `{OUTPUT_PATH}` must be a text"),
        ),
    }
}

fn check_members(members: &Map<String, Value>) -> Result<(), DefinitionError> {
    const KNOWN: [&str; 6] = [TOOL, OUTPUT, ACTIVITY, DELEGATE, OUTPUT_PATH, INSTANCE];
    for (name, schema) in members {
        let at = ["properties", name.as_str()];
        if name == REASONING_MEMBER {
            return definition_error(
                &at,
                format!("`{REASONING_MEMBER}` is added by the system; leave it out"),
            );
        }
        if name.starts_with('_') && !KNOWN.contains(&name.as_str()) {
            return definition_error(
                &at,
                format!(
                    "`{name}` is not a meta-field (there are {}); a parameter has no leading underscore",
                    KNOWN.join(", ")
                ),
            );
        }
        if !schema.is_object() && !schema.is_boolean() {
            return definition_error(&at, format!("`{name}` must be a JSON Schema"));
        }
        if name.starts_with('_') && !schema.is_object() {
            return definition_error(
                &at,
                format!("`{name}` must be a JSON Schema, which is an object"),
            );
        }
    }
    Ok(())
}

fn check_required(
    schema: &Map<String, Value>,
    members: &Map<String, Value>,
) -> Result<(), DefinitionError> {
    let names = match schema.get("required") {
        None => return Ok(()),
        Some(Value::Array(names)) => names,
        Some(_) => return definition_error(&["required"], "`required` must be a list of names"),
    };
    for name in names {
        match name.as_str() {
            Some(name) if members.contains_key(name) => {}
            Some(name) => {
                return definition_error(
                    &["required"],
                    format!("`required` names `{name}`, which is not in `properties`"),
                );
            }
            None => return definition_error(&["required"], "`required` must be a list of names"),
        }
    }
    Ok(())
}
