//! What every schema-first tool has in common, whatever carries it out.

use protocol::ToolInterface;
use protocol::ToolOutput;
use protocol::interface::{InterfaceBuilder, Origin};
use serde_json::{Map, Value, json};

use super::definition::{Definition, Execution};
use super::refs;
use crate::schema::Schema;
use crate::text::{shortened, visible};

/// What a model reads of a tool whose author said nothing.
const UNDESCRIBED: &str =
    "Its author gave no description; its name and parameters say what it does.";

/// Characters of the line that says what a call acts on.
const TARGET_CHARS_MAX: usize = 200;

/// What a definition alone says of a tool.
pub(super) fn interface(
    definition: &Definition,
    execution: Execution,
    origin: Origin,
) -> InterfaceBuilder {
    let title = definition.title.as_deref().unwrap_or(&definition.name);
    ToolInterface::tool(definition.name.as_str())
        .user_facing_name(visible(title))
        .description(match definition.description.as_str() {
            "" => UNDESCRIBED,
            said => said,
        })
        .model_input_schema(definition.parameters(execution))
        .output_schema(definition.output().cloned())
        .origin(origin)
}

/// What a classifier of risk is given of a call: the name and every parameter.
pub(super) fn classifier_input(definition: &Definition) -> String {
    let parameters = definition
        .parameter_names()
        .map(|name| format!(" {{{name}}}"));
    std::iter::once(definition.name.clone())
        .chain(parameters)
        .collect()
}

/// What a call acts on, in one line: the value of its first parameter.
pub(super) fn target(first: Option<&str>, arguments: &Map<String, Value>) -> String {
    let text = match first.and_then(|name| arguments.get(name)) {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    };
    let line = text.lines().next().unwrap_or_default();
    shortened(&visible(line), TARGET_CHARS_MAX)
}

/// A result in its one place: `data` holds the output, the model reads it as JSON, or as it is if it is a text
/// (`S004-48`).
pub(super) fn from_output(output: Value, message: &str) -> ToolOutput {
    let text = match &output {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    ToolOutput {
        data: Some(output),
        ..ToolOutput::new(text, message)
    }
}

/// Checks outputs that code computed against `_output`.
#[derive(Debug)]
pub(super) struct OutputCheck(Option<Schema>);

impl OutputCheck {
    pub(super) fn new(definition: &Definition) -> Self {
        let all = definition.parameters(Execution::Latent);
        let given = definition.output().is_some();
        // As a member of an object, so that what is wrong is named as a member; its references still lead where they
        // led, since the whole schema is there.
        let schema = given.then(|| {
            let mut whole = all;
            refs::move_to(&mut whole, "/$defs/tool");
            let wrapped = json!({
                "type": "object",
                "properties": { "output": { "$ref": "#/$defs/tool/properties/_output" } },
                "$defs": { "tool": whole },
            });
            Schema::compile(&definition.name, &wrapped).ok()
        });
        Self(schema.flatten())
    }

    /// What is wrong with an output, in one line.
    pub(super) fn check(&self, output: Value) -> Result<Value, String> {
        let Some(schema) = &self.0 else {
            return Ok(output);
        };
        let wrapped = Map::from_iter([("output".to_owned(), output)]);
        match schema.problems(wrapped, &|member| member) {
            Ok(mut wrapped) => Ok(wrapped.remove("output").unwrap_or_default()),
            Err(problems) => Err(problems.join("; ")),
        }
    }
}
