//! A server's tool as a tool of ours: its calls ask like any other's, and its server is trusted in nothing (`S001-57`).

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use policy::Approved;
use protocol::interface::ToolOrigin;
use protocol::rule::evidence::Confinement;
use protocol::server::audience::Audience;
use protocol::server::mcp_servers::ServerId;
use protocol::{Access, ToolError, ToolInterface, ToolKind, ToolOutput};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;
use tools::mentions::{collect_mentions, is_deleting_name};
use tools::sources::{PinnedTool, build_tool_id};
use tools::text::{escape_invisible, truncate_chars};
use tools::tool::ProgressFn;
use tools::{ElicitationChannel, ExecutionContext, Mentions, Tool, ToolContext};

use crate::catalogue::ServerToolDefinition;
use crate::connection::CallListeners;
use crate::content;
use crate::limits::{DESCRIPTION_CHARS_MAX, NAME_CHARS_MAX, START_MARGIN_MS};
use crate::server::McpServer;

/// Description for the model of a tool whose server gives none.
const NO_DESCRIPTION: &str =
    "Its server gave no description; its name and parameters say what it does.";

/// A tool of a server.
pub struct McpTool {
    server: Arc<McpServer>,
    tool: Arc<ServerToolDefinition>,
    interface: ToolInterface,
    /// Whether calls of the tool may delete something, according to its hints or its name: a hint only tightens.
    deletes: bool,
    /// Whether the details of an output are the server's whole result.
    keeps_result: bool,
}

impl McpTool {
    /// Creates an approved tool under the name that it keeps: `server__tool` (`S001-59`, M11).
    ///
    /// The tool declares no mode, since nobody vouches for its server: without a rule it asks (M21). Hints of the
    /// server only ever tighten (M16), and its calls never run in parallel with others (M08).
    pub fn new(server: Arc<McpServer>, pinned: &PinnedTool<ServerToolDefinition>) -> Self {
        let tool = pinned.definition.clone();
        let settings = server.settings();
        let names = tool
            .input_schema
            .get("properties")
            .and_then(Value::as_object);
        let names: Vec<&String> = names.into_iter().flat_map(Map::keys).collect();
        let native = BTreeMap::from([
            ("mcp.server".to_owned(), settings.id.to_string()),
            ("mcp.tool".to_owned(), tool.name.clone()),
        ]);
        let parameters = names.iter().map(|name| format!(" {{{name}}}"));
        let classifier_input = std::iter::once(pinned.called.clone());
        let description = match tool.description.trim() {
            "" => NO_DESCRIPTION.to_owned(),
            description => truncate_chars(&escape_hidden_text(description), DESCRIPTION_CHARS_MAX),
        };
        let mut interface = ToolInterface::builder(pinned.called.as_str())
            .namespace(settings.id.as_str())
            .tool_id(server_tool_id(&settings.id, pinned))
            .native_ids(native)
            .user_facing_name(build_tool_title(&tool.name, &server))
            .description(description)
            .model_input_schema(tool.input_schema.clone())
            .output_schema(tool.output_schema.clone())
            .strict(false)
            .requires(server.requirements())
            .sandbox_profile(server.sandbox_profile())
            .kind(ToolKind::Other)
            .is_open_world(true)
            .classifier_input(classifier_input.chain(parameters).collect::<String>())
            .execution_profile_ref("server")
            .timeout_ms(2 * u64::from(settings.timeout_ms) + START_MARGIN_MS)
            .origin(ToolOrigin::Foreign {
                source: format!("mcp:{}", settings.id),
            });
        if tool.hints.destructive == Some(true) {
            interface = interface.is_destructive(true);
        }
        if tool.hints.read_only == Some(false) {
            interface = interface.is_read_only(false);
        }
        Self {
            deletes: tool.hints.destructive == Some(true) || is_deleting_name(&tool.name),
            interface: interface.build(),
            server,
            tool,
            keeps_result: false,
        }
    }

    /// Returns the tool with the server's whole result among the details of its output, for a client that is given the
    /// result as the server made it.
    #[must_use]
    pub fn keeping_result(mut self) -> Self {
        self.keeps_result = true;
        self
    }

    /// Calls the tool with approved arguments, in no session.
    ///
    /// # Errors
    /// The server is unavailable, refuses, or did not answer in time; or the tool is not as it was approved.
    pub async fn call_approved(
        &self,
        arguments: Map<String, Value>,
        cancel: &CancellationToken,
        on_progress: Option<ProgressFn>,
        elicitation: Option<Arc<dyn ElicitationChannel>>,
    ) -> Result<ToolOutput, ToolError> {
        let listeners = CallListeners {
            on_progress,
            elicitation,
            session: None,
        };
        self.request(arguments, cancel, listeners).await
    }

    async fn request(
        &self,
        arguments: Map<String, Value>,
        cancel: &CancellationToken,
        listeners: CallListeners,
    ) -> Result<ToolOutput, ToolError> {
        let result = self
            .server
            .call_tool(&self.tool, arguments, cancel, listeners);
        let result = result.await?;
        let mut output = content::parse_tool_result(&result)?;
        output.details = self.keeps_result.then_some(result);
        Ok(output)
    }
}

/// Returns the name by which rules and calls know a tool of a server.
pub(crate) fn server_tool_id(
    server: &ServerId,
    pinned: &PinnedTool<ServerToolDefinition>,
) -> String {
    let identity = format!("{}\0{}", pinned.definition.name, pinned.called);
    build_tool_id(server.as_str(), &pinned.called, &identity)
}

/// Returns the tool's name with its server's name, since tools of several servers may have the same name.
fn build_tool_title(name: &str, server: &McpServer) -> String {
    let server = format!(" ({})", server.settings().id);
    let room = NAME_CHARS_MAX.saturating_sub(server.chars().count());
    truncate_chars(&escape_invisible(name), room) + &server
}

/// Returns a text of several lines with its hidden characters named.
fn escape_hidden_text(text: &str) -> String {
    protocol::text::display_text::join_spans(&protocol::text::display_text::to_spans(text))
}

#[async_trait]
impl Tool for McpTool {
    fn interface(&self) -> &ToolInterface {
        &self.interface
    }

    /// Returns the paths and hosts in the arguments; otherwise the first required argument that is a string.
    fn target(&self, arguments: &Map<String, Value>) -> String {
        let required = self.tool.input_schema.get("required");
        let required = required.and_then(Value::as_array).into_iter().flatten();
        let mut texts = required
            .filter_map(Value::as_str)
            .filter_map(|name| arguments.get(name)?.as_str());
        let first = texts.next().unwrap_or_default();
        self.mentions(arguments).to_target(first)
    }

    /// Declares no accesses, since only the server knows what it touches.
    fn accesses(&self, _arguments: &Map<String, Value>) -> Vec<Access> {
        Vec::new()
    }

    fn mentions(&self, arguments: &Map<String, Value>) -> Mentions {
        collect_mentions(&self.tool.input_schema, arguments, self.deletes)
    }

    fn confinement(&self) -> Confinement {
        self.server.confinement()
    }

    fn audience(&self) -> Option<Audience> {
        self.server.settings().audience
    }

    /// Whether the call can run in place: the changes that a program of this machine makes in the workspace are found
    /// with a snapshot taken before.
    async fn can_run_in_place(&self, context: &ToolContext) -> bool {
        self.server.can_change_folder(context.workspace.root())
            && context
                .dry_run_environment
                .can_snapshot(&context.workspace)
                .await
    }

    async fn execute(
        &self,
        approved: &Approved,
        context: &ToolContext,
        execution: &ExecutionContext,
    ) -> Result<ToolOutput, ToolError> {
        let arguments = approved.arguments().clone();
        let listeners = CallListeners::for_execution(context, execution);
        self.request(arguments, &execution.cancel, listeners).await
    }
}
