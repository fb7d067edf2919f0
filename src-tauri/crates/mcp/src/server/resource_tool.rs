//! A tool that lists and reads the resources of a server. Like every tool of the server it asks, and its server is
//! trusted in nothing.

use std::sync::Arc;

use async_trait::async_trait;
use policy::Approved;
use protocol::interface::ToolOrigin;
use protocol::rule::evidence::Confinement;
use protocol::text::display_text::{is_hidden, to_single_line};
use protocol::{Access, ToolError, ToolInterface, ToolKind, ToolOutput};
use serde_json::{Map, Value, json};
use tools::mentions::collect_mentions;
use tools::sources::unique_name;
use tools::text::format_count;
use tools::{ExecutionContext, Mentions, Tool, ToolContext};

use crate::connection::CallListeners;
use crate::content;
use crate::limits::{
    NAME_CHARS_MAX, RESOURCE_CHARS_MAX, RESOURCES_LISTED_MAX, START_MARGIN_MS, URI_CHARS_MAX,
};
use crate::pins::ToolPins;
use crate::server::McpServer;
use crate::server::named_read::{check_visible, format_target};

/// The second half of the tool's name, unless one of the server's own tools has it.
const TOOL_NAME: &str = "read_resource";

/// Description of the tool for the model.
const DESCRIPTION: &str = "Reads a resource of this server by its address. Without an address it lists what there is; of a \
    long list the rest comes with the cursor that it ends with.";

/// Lists and reads the resources of one server.
pub(crate) struct ReadResourceTool {
    server: Arc<McpServer>,
    interface: ToolInterface,
}

impl ReadResourceTool {
    /// Creates the tool of a server, under a name that none of the server's own tools has.
    pub(crate) fn new(server: Arc<McpServer>, pins: &ToolPins) -> Self {
        let settings = server.settings();
        let is_taken = |name: &str| pins.tools.iter().any(|pinned| pinned.called == name);
        let called = unique_name(TOOL_NAME, is_taken);
        let parameters = json!({
            "type": "object",
            "properties": {
                "uri": { "type": "string", "minLength": 1, "maxLength": URI_CHARS_MAX,
                    "description": "The resource's address; left out to list what there is." },
                "cursor": { "type": "string", "maxLength": URI_CHARS_MAX, "description": "Where a list goes on." },
            },
            "additionalProperties": false,
        });
        let interface = ToolInterface::builder(called.as_str())
            .namespace(settings.id.as_str())
            .tool_id(format!("{}__{called}", settings.id))
            .user_facing_name(format!("Read resource ({})", settings.id))
            .description(DESCRIPTION)
            .model_input_schema(parameters)
            .strict(false)
            .requires(server.requirements())
            .sandbox_profile(server.sandbox_profile())
            .kind(ToolKind::Other)
            .search_hint("read a resource of a server")
            .is_open_world(true)
            .classifier_input(format!("{called} {{uri}}"))
            .execution_profile_ref("server")
            .timeout_ms(2 * u64::from(settings.timeout_ms) + START_MARGIN_MS)
            .origin(ToolOrigin::Foreign {
                source: format!("mcp:{}", settings.id),
            });
        Self {
            interface: interface.build(),
            server,
        }
    }
}

#[async_trait]
impl Tool for ReadResourceTool {
    fn interface(&self) -> &ToolInterface {
        &self.interface
    }

    fn target(&self, arguments: &Map<String, Value>) -> String {
        format_target(arguments, "uri")
    }

    /// Declares no accesses, since only the server knows what it touches to answer: nothing but a rule for the tool
    /// allows a call.
    fn accesses(&self, _arguments: &Map<String, Value>) -> Vec<Access> {
        Vec::new()
    }

    fn mentions(&self, arguments: &Map<String, Value>) -> Mentions {
        collect_mentions(self.interface.parameters(), arguments, false)
    }

    fn confinement(&self) -> Confinement {
        self.server.confinement()
    }

    fn validate(&self, arguments: &Map<String, Value>) -> Result<(), ToolError> {
        check_visible(arguments, "uri")
    }

    async fn execute(
        &self,
        approved: &Approved,
        context: &ToolContext,
        execution: &ExecutionContext,
    ) -> Result<ToolOutput, ToolError> {
        let argument = |name: &str| approved.arguments().get(name).and_then(Value::as_str);
        match argument("uri") {
            Some(uri) => {
                let listeners = CallListeners::for_execution(context, execution);
                content::parse_resource_result(
                    &self
                        .server
                        .read_resource(uri, &execution.cancel, listeners)
                        .await?,
                )
            }
            None => {
                let (resources, templates) = self
                    .server
                    .list_resources(argument("cursor"), &execution.cancel)
                    .await?;
                Ok(format_resource_list(&resources, &templates))
            }
        }
    }
}

/// Formats a list of resources for the model: the URI, name and description of each.
fn format_resource_list(page: &Value, template_page: &Value) -> ToolOutput {
    let mut lines = Vec::new();
    let all = list_member(page, "resources");
    let resources = all.iter().map(|item| format_resource_line(item, "uri"));
    lines.extend(resources.flatten().take(RESOURCES_LISTED_MAX));
    let message = format_count(lines.len() as u64, "resource", "resources");
    if lines.is_empty() {
        lines.push("There is none in this list.".to_owned());
    }
    let fill_in = list_member(template_page, "resourceTemplates");
    let mut fill_in = fill_in
        .iter()
        .filter_map(|item| format_resource_line(item, "uriTemplate"))
        .peekable();
    if fill_in.peek().is_some() {
        lines.push("Addresses with parts to fill in:".to_owned());
        lines.extend(fill_in.take(RESOURCES_LISTED_MAX));
    }
    if let Some(more @ 1..) = all.len().checked_sub(RESOURCES_LISTED_MAX) {
        lines.push(format!("[{more} more of this page are left out.]"));
    }
    let next = page.get("nextCursor").and_then(Value::as_str);
    if let Some(next) = next.filter(|next| next.chars().count() <= URI_CHARS_MAX) {
        lines.push(format!("[There are more: cursor {}]", json!(next)));
    }
    ToolOutput::new(lines.join("\n"), message)
}

fn list_member<'a>(page: &'a Value, member: &str) -> &'a [Value] {
    let items = page.get(member).and_then(Value::as_array);
    items.map_or(&[][..], Vec::as_slice)
}

/// Formats one resource; none if it has no URI by which it could be read.
fn format_resource_line(item: &Value, address: &str) -> Option<String> {
    let text = |member: &str| item.get(member).and_then(Value::as_str).unwrap_or_default();
    let uri = text(address);
    if uri.is_empty() || uri.chars().count() > URI_CHARS_MAX || uri.chars().any(is_hidden) {
        return None;
    }
    let named = match text("title") {
        "" => text("name"),
        title => title,
    };
    let mut line = format!("{uri}  {}", to_single_line(named, NAME_CHARS_MAX));
    for (before, value, after) in [
        (" (", text("mimeType"), ")"),
        (": ", text("description"), ""),
    ] {
        if !value.is_empty() {
            let value = to_single_line(value, RESOURCE_CHARS_MAX);
            line.push_str(&format!("{before}{value}{after}"));
        }
    }
    Some(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bad input: an item without a URI is skipped, hidden text is named, and an excess is cut and reported.
    #[test]
    fn a_list_is_told_line_by_line() {
        let resources = json!({ "nextCursor": "p 2", "resources": [
            { "uri": "demo://1", "name": "one", "mimeType": "text/plain", "description": "The\nfirst" },
            { "uri": "demo://2", "name": "two", "title": "T\u{202e}wo" },
            { "name": "nowhere" }, { "uri": "demo://\u{200b}3" }, 7,
        ]});
        let patterns =
            json!({ "resourceTemplates": [{ "uriTemplate": "demo://{n}", "name": "any" }] });
        let output = format_resource_list(&resources, &patterns);
        assert_eq!(
            output.text,
            "demo://1  one (text/plain): The first\ndemo://2  TU+202Ewo\nAddresses with parts to fill in:\n\
             demo://{n}  any\n[There are more: cursor \"p 2\"]"
        );
        assert_eq!(output.message, "2 resources");
        let none = format_resource_list(&json!({ "resources": "no list" }), &Value::Null);
        assert_eq!(none.text, "There is none in this list.");
        let many = vec![json!({ "uri": "a:b", "name": "x" }); RESOURCES_LISTED_MAX + 3];
        let many = format_resource_list(&json!({ "resources": many }), &Value::Null);
        assert!(many.text.ends_with("[3 more of this page are left out.]"));
    }
}
