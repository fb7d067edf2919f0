//! A whole request as a developer writes it: configuration, output schema, context, in that order (`S004-47`).

use protocol::Fault;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::definition::{Definition, Problem};

/// What is asked of a model: tools and output schema are given apart, and composed by the system (`S004-42`).
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// Which model answers, and how.
    #[serde(default)]
    pub config: RequestConfig,
    /// JSON Schema of the final output; none if only calls are wanted.
    #[serde(default)]
    pub output_schema: Option<Value>,
    /// What the model gets to know and to use, in order.
    #[serde(default)]
    pub context: Vec<ContextItem>,
}

/// Which model answers. What is left out is as the session has it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RequestConfig {
    /// Id of a configured provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// The provider's name of the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// How freely the model chooses its words, from 0 to 2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// How long the model thinks before it answers; as it does by itself if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinking: Option<Thinking>,
    /// Names of the session's tools that may be called; none of them if left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
}

/// How long a model thinks before it answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Thinking {
    /// Shortly.
    Low,
    /// As long as most work needs.
    Medium,
    /// Long.
    High,
}

impl Thinking {
    /// As it stands behind a model's name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

/// One thing in the context (`S004-43`).
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

impl Request {
    /// A request (`S004-47`).
    pub fn new(
        config: RequestConfig,
        output_schema: Option<Value>,
        context: Vec<ContextItem>,
    ) -> Self {
        Self {
            config,
            output_schema,
            context,
        }
    }

    /// The tools of the context, in order (`S004-21`, `S004-43`).
    ///
    /// # Errors
    /// The first one that is none, or whose name is there already.
    pub fn definitions(&self) -> Result<Vec<Definition>, Fault> {
        let mut all: Vec<Definition> = Vec::new();
        for item in &self.context {
            let ContextItem::Tool { tool } = item else {
                continue;
            };
            for (name, schema) in tool {
                let wrong = |reason: &str| {
                    Fault::new(
                        format!("The tool `{name}` cannot be used: {reason}."),
                        "Correct its schema.",
                    )
                };
                let definition = Definition::parse(Some(name), schema)
                    .map_err(|Problem { reason, .. }| wrong(&reason))?;
                if all.iter().any(|other| other.name == definition.name) {
                    return Err(wrong("there is another of this name"));
                }
                all.push(definition);
            }
        }
        Ok(all)
    }

    /// The prompt: every text of the context, with an empty line between two.
    pub fn prompt(&self) -> String {
        let texts = self.context.iter().filter_map(|item| match item {
            ContextItem::Text { text } => Some(text.as_str()),
            ContextItem::Tool { .. } => None,
        });
        texts.collect::<Vec<_>>().join("\n\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema_first::{compose, definition::Execution};
    use protocol::model::ToolDefinition;

    /// Configuration, output schema and context, in that order (`S004-47`); tools and texts of the context find their
    /// places (`S004-21`, `S004-42`, `S004-43`).
    #[test]
    fn the_specifications_request_is_read_s004_43_s004_47() {
        let text = r#"{"config":{"model":"m","temperature":0.2},"output_schema":{"type":"object","properties":{"summary":{"type":"string"}},"required":["summary"]},"context":[{"type":"tool","tool":{"greetUser":{"type":"object","properties":{"userName":{"type":"string"}},"required":["userName"]}}},{"type":"text","text":"some prompt here"}]}"#;
        let request: Request = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&request).unwrap(), text);
        assert_eq!(request.prompt(), "some prompt here");
        let tools: Vec<ToolDefinition> = request
            .definitions()
            .unwrap()
            .iter()
            .map(|tool| ToolDefinition {
                name: tool.name.clone(),
                description: tool.description.clone(),
                parameters: tool.parameters(Execution::Latent),
                strict: true,
            })
            .collect();
        let composed = compose(&tools, request.output_schema.as_ref()).unwrap();
        assert_eq!(
            composed["properties"]["calls"]["items"]["required"],
            serde_json::json!(["_tool", "userName"])
        );
    }

    #[test]
    fn what_is_no_request_is_named() {
        for (text, named) in [
            (r#"{"config":{"temprature":1}}"#, "temprature"),
            (r#"{"context":[{"type":"image"}]}"#, "image"),
            (r#"{"more":1}"#, "more"),
        ] {
            let error = serde_json::from_str::<Request>(text).unwrap_err();
            assert!(error.to_string().contains(named), "{error}");
        }
        let twice = r#"{"context":[{"type":"tool","tool":{"a":{"type":"object"}}},{"type":"tool","tool":{"a":{"type":"object"}}}]}"#;
        let twice: Request = serde_json::from_str(twice).unwrap();
        assert!(
            twice
                .definitions()
                .unwrap_err()
                .message
                .contains("another of this name")
        );
    }
}
