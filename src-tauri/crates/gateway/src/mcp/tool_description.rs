//! A tool of ours in the words of MCP.

use std::sync::Arc;

use agent::OfferedTool;
use protocol::ToolMode;
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Value, json};

/// The tool as it is listed: description and schema as a model of ours would get them. No schema of its output is named,
/// because a client is given what a model reads, and the data beside it is the record's.
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

/// MCP reads a schema without `$schema` as draft 2020-12, as ours are written, and wants an object.
fn input_schema(parameters: Value) -> JsonObject {
    let mut schema = match parameters {
        Value::Object(schema) => schema,
        _ => JsonObject::new(),
    };
    schema.entry("type").or_insert_with(|| json!("object"));
    schema
}

/// Hints from the mode (M16). Where nothing says what a tool does, it is told as the worst.
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
