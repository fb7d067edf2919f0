//! A request as a developer writes it: configuration, output schema, context, in that order (`S004-47`).

use protocol::UserError;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::definition::{CustomToolDefinition, DefinitionError};
use super::strict_json::{self, JsonError};
use crate::request_config::RequestConfig;

/// A request to a model: tools and output schema are given separately, and composed by the system (`S004-42`).
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StructuredRequest {
    /// The model that answers, and its parameters.
    #[serde(default)]
    pub config: RequestConfig,
    /// JSON Schema of the final output; `None` if only calls are wanted.
    #[serde(default)]
    pub output_schema: Option<Value>,
    /// Texts and tools for the model, in order.
    #[serde(default)]
    pub context: Vec<ContextItem>,
}

/// An item of the context (`S004-43`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum ContextItem {
    /// Tools, each under its name.
    Tool {
        /// Name and schema.
        tool: Map<String, Value>,
    },
    /// A part of the prompt.
    Text {
        /// The text.
        text: String,
    },
}

impl StructuredRequest {
    /// Parses a request file.
    ///
    /// # Errors
    /// The first problem in the file, with its line.
    pub fn parse(file: &str, text: &str) -> Result<Self, UserError> {
        Self::parse_text(text).map_err(|JsonError { line, reason }| {
            let reason = reason.trim_end_matches('.');
            UserError::new(format!("{file}, line {line}: {reason}."), "Correct it.")
        })
    }

    pub(super) fn parse_text(text: &str) -> Result<Self, JsonError> {
        let value = strict_json::parse_strict(text)?;
        let wrong = |member: &str, reason: String| JsonError {
            line: strict_json::find_line(text, &[member]),
            reason,
        };
        let request: Self = serde_json::from_value(value).map_err(|error| JsonError {
            line: 1,
            reason: error.to_string(),
        })?;
        let tools = request.definitions();
        tools.map_err(|fault| wrong("context", fault.message))?;
        match request.config.find_problem() {
            Some(reason) => Err(wrong("config", reason)),
            None => Ok(request),
        }
    }

    /// Returns the tools of the context with their schemas (`S004-43`).
    pub fn own_tools(&self) -> Map<String, Value> {
        let tools = self.context.iter().filter_map(|item| match item {
            ContextItem::Tool { tool } => Some(tool.clone()),
            ContextItem::Text { .. } => None,
        });
        tools.flatten().collect()
    }

    /// Describes the instances to the model; empty if there are none (`S004-13`).
    pub fn instances_summary(&self) -> String {
        let instances = &self.config.instances;
        if instances.is_empty() {
            return String::new();
        }
        let states = Value::Object(instances.clone());
        format!(
            "This request is about several instances. By their names, each with its own state:\n{states}\nA call that is for \
             one of them names it in `_instance`. Such a call finds what stands in that state by {{\"_state\": \"name\"}} in \
             the place of an argument, and what it keeps by `_outputPath` is kept for that instance."
        )
    }

    /// Returns the definitions of the tools of the context, in order (`S004-21`, `S004-43`).
    ///
    /// # Errors
    /// The first tool whose definition is invalid, that the model cannot carry out by itself, or whose name is already
    /// taken.
    pub fn definitions(&self) -> Result<Vec<CustomToolDefinition>, UserError> {
        let mut all: Vec<CustomToolDefinition> = Vec::new();
        for item in &self.context {
            let ContextItem::Tool { tool } = item else {
                continue;
            };
            for (name, schema) in tool {
                let definition = parse_definition(name, schema)?;
                if all.iter().any(|other| other.name == definition.name) {
                    return Err(unusable_tool_error(name, "there is another of this name"));
                }
                all.push(definition);
            }
        }
        Ok(all)
    }

    /// Returns the prompt: all texts of the context, separated by empty lines.
    pub fn prompt(&self) -> String {
        let texts = self.context.iter().filter_map(|item| match item {
            ContextItem::Text { text } => Some(text.as_str()),
            ContextItem::Tool { .. } => None,
        });
        texts.collect::<Vec<_>>().join("\n\n")
    }
}

/// Parses a tool that a request defines, which the model must be able to carry out by itself. Tools that code or a
/// delegate carries out belong in a file of tools, placed there by a person.
pub(super) fn parse_definition(
    name: &str,
    schema: &Value,
) -> Result<CustomToolDefinition, UserError> {
    let definition = CustomToolDefinition::parse(Some(name), schema)
        .map_err(|DefinitionError { reason, .. }| unusable_tool_error(name, &reason))?;
    let activity = definition.activity.as_deref().unwrap_or_default();
    if !activity.is_empty() || definition.delegate.is_some() {
        let reason = "in a request only the model itself can carry a tool out; define it in a file of tools, and name it in `config.tools`";
        return Err(unusable_tool_error(name, reason));
    }
    Ok(definition)
}

fn unusable_tool_error(name: &str, reason: &str) -> UserError {
    UserError::new(
        format!("The tool `{name}` cannot be used: {reason}."),
        "Correct its schema.",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::custom::{compose_schema, definition::ExecutionKind};
    use protocol::model::ToolDefinition;

    /// Configuration, output schema and context, in that order (`S004-47`); the tools and texts of the context end up
    /// in their places (`S004-21`, `S004-42`, `S004-43`).
    #[test]
    fn the_specifications_request_is_read_s004_43_s004_47() {
        let text = r#"{"config":{"model":"m","temperature":0.2},"output_schema":{"type":"object","properties":{"summary":{"type":"string"}},"required":["summary"]},"context":[{"type":"tool","tool":{"greetUser":{"type":"object","properties":{"userName":{"type":"string"}},"required":["userName"]}}},{"type":"text","text":"some prompt here"}]}"#;
        let request: StructuredRequest = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&request).unwrap(), text);
        assert_eq!(request.prompt(), "some prompt here");
        let tools: Vec<ToolDefinition> = request
            .definitions()
            .unwrap()
            .iter()
            .map(|tool| ToolDefinition {
                name: tool.name.clone(),
                description: tool.description.clone(),
                parameters: tool.parameters(ExecutionKind::Latent),
                strict: true,
            })
            .collect();
        let composed = compose_schema(&tools, request.output_schema.as_ref()).unwrap();
        assert_eq!(
            composed["properties"]["calls"]["items"]["required"],
            serde_json::json!(["_tool", "userName"])
        );
    }

    /// Errors in a request file name the line (`S004-13`, `S004-43`).
    #[test]
    fn what_is_wrong_in_a_file_is_told_with_its_line() {
        for (text, problem) in [
            ("{\n\"more\": 1}", "r.json, line 1: unknown field `more`"),
            (
                "{\n\"config\": {\"temperature\": 3}}",
                "r.json, line 2: `temperature` must be from 0 to 2.",
            ),
            (
                "{\n\"config\": {\"instances\": {\"\": {}}}}",
                "r.json, line 2: the name of an instance must have 1 to 64 characters.",
            ),
            (
                "{\n\"config\": {\"instances\": {\"a\": 1}}}",
                "r.json, line 2: the state of the instance `a` must be an object.",
            ),
            (
                "{\n\"context\": [{\"type\": \"tool\", \"tool\": {\"a\": {\"type\": \"object\", \"properties\": {\"_activity\": {\"const\": \"x\"}}}}}]}",
                "r.json, line 2: The tool `a` cannot be used: in a request only the model itself can carry a tool out",
            ),
        ] {
            let fault = StructuredRequest::parse("r.json", text).unwrap_err();
            assert!(fault.message.starts_with(problem), "{fault}");
        }
        let two = r#"{"config":{"instances":{"1":{"title":"A"},"2":{}}}}"#;
        let request = StructuredRequest::parse("r.json", two).unwrap();
        let summary = request.instances_summary();
        assert!(
            summary.contains(r#"{"1":{"title":"A"},"2":{}}"#),
            "{summary}"
        );
        assert_eq!(StructuredRequest::default().instances_summary(), "");
    }

    #[test]
    fn what_is_no_request_is_named() {
        for (text, named) in [
            (r#"{"config":{"temprature":1}}"#, "temprature"),
            (r#"{"context":[{"type":"image"}]}"#, "image"),
            (r#"{"more":1}"#, "more"),
        ] {
            let error = serde_json::from_str::<StructuredRequest>(text).unwrap_err();
            assert!(error.to_string().contains(named), "{error}");
        }
        let twice = r#"{"context":[{"type":"tool","tool":{"a":{"type":"object"}}},{"type":"tool","tool":{"a":{"type":"object"}}}]}"#;
        let twice: StructuredRequest = serde_json::from_str(twice).unwrap();
        assert!(
            twice
                .definitions()
                .unwrap_err()
                .message
                .contains("another of this name")
        );
    }
}
