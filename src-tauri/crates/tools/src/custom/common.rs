//! Parts that all schema-first tools share, whatever carries them out.

use protocol::ToolInterface;
use protocol::ToolOutput;
use protocol::interface::{InterfaceBuilder, ToolOrigin};
use serde_json::{Map, Value, json};

use super::definition::{CustomToolDefinition, ExecutionKind};
use super::schema_references;
use crate::schema::Schema;
use crate::text::{escape_invisible, truncate_chars};

/// Description for the model of a tool whose author gave none.
const DEFAULT_DESCRIPTION: &str =
    "Its author gave no description; its name and parameters say what it does.";

/// Longest text that names the target of a call, in characters.
const TARGET_CHARS_MAX: usize = 200;

/// Builds the part of a tool's interface that follows from its definition alone.
pub(super) fn build_interface(
    definition: &CustomToolDefinition,
    execution: ExecutionKind,
    origin: ToolOrigin,
) -> InterfaceBuilder {
    let title = definition.title.as_deref().unwrap_or(&definition.name);
    ToolInterface::builder(definition.name.as_str())
        .user_facing_name(escape_invisible(title))
        .description(match definition.description.as_str() {
            "" => DEFAULT_DESCRIPTION,
            text => text,
        })
        .model_input_schema(definition.parameters(execution))
        .output_schema(definition.output().cloned())
        .origin(origin)
}

/// Returns the template of the input that a risk classifier gets: the name of the tool and every parameter.
pub(super) fn classifier_input(definition: &CustomToolDefinition) -> String {
    let parameters = definition
        .parameter_names()
        .map(|name| format!(" {{{name}}}"));
    std::iter::once(definition.name.clone())
        .chain(parameters)
        .collect()
}

/// Returns the target of a call in one line: the value of its first parameter.
pub(super) fn call_target(first: Option<&str>, arguments: &Map<String, Value>) -> String {
    let text = match first.and_then(|name| arguments.get(name)) {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    };
    let line = text.lines().next().unwrap_or_default();
    truncate_chars(&escape_invisible(line), TARGET_CHARS_MAX)
}

/// Converts a result into a tool output: `data` holds the result, and the model reads it as JSON, or as plain text if
/// it is a text (`S004-48`).
pub(super) fn output_from_value(output: Value, message: &str) -> ToolOutput {
    let text = match &output {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    ToolOutput {
        data: Some(output),
        ..ToolOutput::new(text, message)
    }
}

/// Validates outputs that code computed against `_output`.
#[derive(Debug)]
pub(super) struct OutputValidator(Option<Schema>);

impl OutputValidator {
    pub(super) fn new(definition: &CustomToolDefinition) -> Self {
        let all = definition.parameters(ExecutionKind::Latent);
        let has_output = definition.output().is_some();
        // As a member of an object, so that what is wrong is named as a member; its references still lead where they
        // led, since the whole schema is there.
        let schema = has_output.then(|| {
            let mut whole = all;
            schema_references::rebase_references(&mut whole, "/$defs/tool");
            let wrapped = json!({
                "type": "object",
                "properties": { "output": { "$ref": "#/$defs/tool/properties/_output" } },
                "$defs": { "tool": whole },
            });
            Schema::from_parameters(&definition.name, &wrapped).ok()
        });
        Self(schema.flatten())
    }

    /// Returns the output if it is valid; otherwise the problem, in one line.
    pub(super) fn validate(&self, output: Value) -> Result<Value, String> {
        let Some(schema) = &self.0 else {
            return Ok(output);
        };
        let wrapped = Map::from_iter([("output".to_owned(), output)]);
        match schema.find_problems(wrapped, &|member| member) {
            Ok(mut wrapped) => Ok(wrapped.remove("output").unwrap_or_default()),
            Err(problems) => Err(problems.join("; ")),
        }
    }
}
