//! What a client of a gateway reads of a server beside its tools: resources, prompts that are filled in, and completions of
//! arguments. A read is a call like any other: rules know its tool by name, the call is on record, and secrets in what it returns are masked. The person
//! stands in front of the client that reads, so a read passes where no rule speaks.

use std::sync::Arc;

use async_trait::async_trait;
use policy::Approved;
use protocol::interface::ToolOrigin;
use protocol::rule::evidence::Confinement;
use protocol::server::audience::Audience;
use protocol::{Access, ToolError, ToolInterface, ToolKind, ToolMode, ToolOutput};
use rmcp::model::{ArgumentInfo, CompleteRequestParams, CompletionContext, Reference};
use serde_json::{Map, Value, json};
use tools::mentions::collect_mentions;
use tools::sources::{build_tool_id, unique_name};
use tools::{ExecutionContext, Mentions, Tool, ToolContext};

use crate::connection::{CallListeners, ServerOffers};
use crate::content;
use crate::limits::{START_MARGIN_MS, URI_CHARS_MAX};
use crate::pins::ToolPins;
use crate::server::McpServer;
use crate::server::named_read::{check_visible, format_target};

/// What is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerRead {
    /// A resource, by its address.
    Resource,
    /// A prompt, filled in.
    Prompt,
    /// Values that complete an argument of a prompt or of a resource template.
    Completion,
}

impl ServerRead {
    /// Returns the argument that names what is read.
    fn key(self) -> &'static str {
        match self {
            Self::Resource => "uri",
            Self::Prompt | Self::Completion => "name",
        }
    }

    /// Returns the second half of the tool's name, unless one of the server's own tools has it.
    fn tool_name(self, pins: &ToolPins) -> String {
        let name = match self {
            Self::Resource => "read_resource",
            Self::Prompt => "get_prompt",
            Self::Completion => "complete_argument",
        };
        unique_name(name, |name| {
            pins.tools.iter().any(|pinned| pinned.called == name)
        })
    }

    fn parameters(self) -> Value {
        let named = json!({ "type": "string", "minLength": 1, "maxLength": URI_CHARS_MAX });
        let filled = json!({ "type": "object", "additionalProperties": { "type": "string" } });
        match self {
            Self::Resource => {
                json!({ "type": "object", "required": ["uri"], "additionalProperties": false,
                "properties": { "uri": named, "subscribe": { "type": "boolean" } } })
            }
            Self::Prompt => {
                json!({ "type": "object", "required": ["name"], "additionalProperties": false,
                "properties": { "name": named,
                    "arguments": filled } })
            }
            Self::Completion => {
                json!({ "type": "object", "required": ["of", "name", "argument", "value"], "additionalProperties": false,
                "properties": { "of": { "enum": ["prompt", "resource_template"] }, "name": named,
                    "argument": { "type": "string" }, "value": { "type": "string" }, "arguments": filled } })
            }
        }
    }

    fn description(self) -> &'static str {
        match self {
            Self::Resource => {
                "Reads a resource of this server by its address, or has the client told of its changes with `subscribe`."
            }
            Self::Prompt => "Gets a prompt of this server, filled in with arguments.",
            Self::Completion => {
                "Completes an argument of a prompt of this server, or of a resource template by its address."
            }
        }
    }
}

impl ServerOffers {
    /// Returns what can be read.
    pub fn reads(self) -> impl Iterator<Item = ServerRead> {
        let reads = [
            (self.resources, ServerRead::Resource),
            (self.prompts, ServerRead::Prompt),
            (self.completions, ServerRead::Completion),
        ];
        reads
            .into_iter()
            .filter_map(|(is_offered, read)| is_offered.then_some(read))
    }
}

/// Returns the name by which rules and calls know a read of a server.
pub(crate) fn read_tool_id(server: &McpServer, read: ServerRead) -> String {
    let called = read.tool_name(&server.pins());
    build_tool_id(server.settings().id.as_str(), &called, &called)
}

/// The reads of one kind of one server, for a gateway.
pub(crate) struct ServerReadTool {
    server: Arc<McpServer>,
    read: ServerRead,
    interface: ToolInterface,
}

impl ServerReadTool {
    /// Creates the tool, under a name that none of the server's own tools has.
    pub(crate) fn new(server: Arc<McpServer>, read: ServerRead) -> Self {
        let settings = server.settings();
        let called = read.tool_name(&server.pins());
        let title = match read {
            ServerRead::Resource => "Read resource",
            ServerRead::Prompt => "Get prompt",
            ServerRead::Completion => "Complete argument",
        };
        let interface = ToolInterface::builder(called.as_str())
            .namespace(settings.id.as_str())
            .tool_id(read_tool_id(&server, read))
            .user_facing_name(format!("{title} ({})", settings.id))
            .description(read.description())
            .model_input_schema(read.parameters())
            .strict(false)
            .requires(server.requirements())
            .sandbox_profile(server.sandbox_profile())
            .mode(ToolMode::Read)
            .kind(ToolKind::Read)
            .is_open_world(true)
            .classifier_input(format!("{called} {{{}}}", read.key()))
            .execution_profile_ref("server")
            .timeout_ms(2 * u64::from(settings.timeout_ms) + START_MARGIN_MS)
            .origin(ToolOrigin::Foreign {
                source: format!("mcp:{}", settings.id),
            });
        Self {
            interface: interface.build(),
            server,
            read,
        }
    }

    /// Reads, and returns the server's whole answer and its output.
    async fn read(
        &self,
        arguments: &Map<String, Value>,
        context: &ToolContext,
        execution: &ExecutionContext,
    ) -> Result<ToolOutput, ToolError> {
        let key = arguments.get(self.read.key()).and_then(Value::as_str);
        let key = key.unwrap_or_default();
        if arguments.get("subscribe") == Some(&Value::Bool(true)) {
            self.server
                .subscribe_resource(key, &execution.cancel)
                .await?;
            let text = "The client is told when this resource changes.";
            return Ok(ToolOutput::new(text, "Subscribed"));
        }
        let (answer, output) = match self.read {
            ServerRead::Resource => {
                let listeners = CallListeners::for_execution(context, execution);
                let answer = self.server.read_resource(key, &execution.cancel, listeners);
                let answer = answer.await?;
                let output = content::parse_resource_result(&answer)?;
                (answer, output)
            }
            ServerRead::Prompt => {
                let filled = arguments.get("arguments").and_then(Value::as_object);
                let filled = filled.cloned().unwrap_or_default();
                let answer = self.server.get_prompt(key, filled, &execution.cancel);
                let answer = answer.await?;
                let output = content::parse_prompt_result(&answer)?;
                (answer, output)
            }
            ServerRead::Completion => {
                let params = completion_params(key, arguments);
                let answer = self.server.complete(params, &execution.cancel).await?;
                let output = content::parse_completion_result(&answer)?;
                (answer, output)
            }
        };
        Ok(ToolOutput {
            details: Some(answer),
            ..output
        })
    }
}

/// Returns the request for values that complete an argument of what this name stands for.
fn completion_params(name: &str, arguments: &Map<String, Value>) -> CompleteRequestParams {
    let text = |member: &str| arguments.get(member).and_then(Value::as_str);
    let reference = match text("of") {
        Some("prompt") => Reference::for_prompt(name),
        Some(_) | None => Reference::for_resource(name),
    };
    let argument = ArgumentInfo::new(
        text("argument").unwrap_or_default(),
        text("value").unwrap_or_default(),
    );
    let params = CompleteRequestParams::new(reference, argument);
    let Some(filled) = arguments.get("arguments").and_then(Value::as_object) else {
        return params;
    };
    let filled = filled.iter().filter_map(|(name, value)| {
        let value = value.as_str()?;
        Some((name.clone(), value.to_owned()))
    });
    params.with_context(CompletionContext::with_arguments(filled.collect()))
}

#[async_trait]
impl Tool for ServerReadTool {
    fn interface(&self) -> &ToolInterface {
        &self.interface
    }

    fn target(&self, arguments: &Map<String, Value>) -> String {
        format_target(arguments, self.read.key())
    }

    /// Declares no accesses, since only the server knows what it touches to answer.
    fn accesses(&self, _arguments: &Map<String, Value>) -> Vec<Access> {
        Vec::new()
    }

    fn mentions(&self, arguments: &Map<String, Value>) -> Mentions {
        collect_mentions(self.interface.parameters(), arguments, false)
    }

    fn confinement(&self) -> Confinement {
        self.server.confinement()
    }

    fn audience(&self) -> Option<Audience> {
        self.server.settings().audience
    }

    fn validate(&self, arguments: &Map<String, Value>) -> Result<(), ToolError> {
        check_visible(arguments, self.read.key())
    }

    async fn execute(
        &self,
        approved: &Approved,
        context: &ToolContext,
        execution: &ExecutionContext,
    ) -> Result<ToolOutput, ToolError> {
        self.read(approved.arguments(), context, execution).await
    }
}
