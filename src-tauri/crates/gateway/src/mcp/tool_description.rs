//! Conversion of a tool to its MCP description.

use std::sync::Arc;

use agent::{OfferedTool, ServerToolDefinition};
use protocol::ToolMode;
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Value, json};

/// Converts a tool for the list: with the description and schema that a model would receive. No output schema is given,
/// because a client receives the text for the model, and structured data stays in the record.
pub(super) fn to_mcp_tool(offer: OfferedTool) -> Tool {
    let annotations = tool_annotations(&offer);
    let schema = input_schema(offer.definition.parameters);
    let title = offer.interface.title().to_owned();
    Tool::new(
        offer.definition.name,
        offer.definition.description,
        Arc::new(schema),
    )
    .with_title(title)
    .with_annotations(annotations)
}

/// Returns a tool of a server as the server defined it when it was approved; none if it cannot be given as a tool.
pub(super) fn from_definition(definition: &ServerToolDefinition) -> Option<Tool> {
    let mut members = Value::from(definition.clone());
    members["inputSchema"] = definition.input_schema.clone();
    serde_json::from_value(members).ok()
}

/// Returns the input schema, which must be an object. MCP reads a schema without `$schema` as draft 2020-12, in which
/// ours are written.
fn input_schema(parameters: Value) -> JsonObject {
    let mut schema = match parameters {
        Value::Object(schema) => schema,
        _ => JsonObject::new(),
    };
    schema.entry("type").or_insert_with(|| json!("object"));
    schema
}

/// Returns hints from the tool's mode (M16). A tool whose mode is unknown is described as the most dangerous kind.
fn tool_annotations(offer: &OfferedTool) -> ToolAnnotations {
    let safety = &offer.interface.safety;
    let (reads, destroys) = match offer.mode {
        Some(ToolMode::Read) => (true, false),
        Some(ToolMode::SafeWrite) => (false, false),
        Some(ToolMode::External) => (safety.is_read_only, safety.is_destructive),
        Some(ToolMode::Destructive | ToolMode::Local) | None => (false, true),
    };
    let opens = safety.is_open_world || offer.mode == Some(ToolMode::External);
    ToolAnnotations::new()
        .read_only(reads)
        .destructive(destroys)
        .open_world(opens)
}
