//! Elicitation: how a tool asks the person something while it runs, and the reply.

use async_trait::async_trait;
use protocol::ToolCall;
use protocol::model::{Message, ToolChoice, ToolDefinition};
use protocol::server::elicitation::FormField;
use protocol::server::mcp_servers::ServerId;
use serde_json::{Map, Value};

/// Presents a server's questions to the person, as a part of the running call.
#[async_trait]
pub trait ElicitationChannel: Send + Sync {
    /// Asks, and waits for the answer; records both. Dropping the future withdraws the question.
    async fn ask(&self, asking: ElicitationRequest) -> ElicitationReply;
}

/// A question that a server asks during a call.
#[derive(Debug, Clone, PartialEq)]
pub struct ElicitationRequest {
    /// Server that asks.
    pub server: ServerId,
    /// Message of the server, as the server wrote it.
    pub message: String,
    /// Kind of reply that the server wants.
    pub kind: ElicitationKind,
}

/// The kind of reply that a server wants.
#[derive(Debug, Clone, PartialEq)]
pub enum ElicitationKind {
    /// A form that the person fills in.
    Form(Vec<FormField>),
    /// A request that the person opens an address.
    Url {
        /// The whole address, in ASCII.
        url: String,
        /// Host of the address.
        host: String,
        /// Suspicious features of the address, one sentence each.
        warnings: Vec<String>,
    },
    /// An answer of a model.
    Sampling(SamplingRequest),
}

/// A sampling request: messages that a server asks to be sent to a model.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SamplingRequest {
    /// System prompt; empty for none.
    pub system: String,
    /// Messages, oldest first. Calls in them are of the server's own tools, which it ran.
    pub messages: Vec<Message>,
    /// Longest answer, in tokens.
    pub tokens_max: u32,
    /// Sampling temperature.
    pub temperature: Option<f64>,
    /// Tools of the server that the model may call, for the server to run.
    pub tools: Vec<ToolDefinition>,
    /// Whether the model has to call one of the tools.
    pub tool_choice: ToolChoice,
}

impl SamplingRequest {
    /// Whether tools are a part of the request, or calls of tools of what was said before.
    pub fn has_tools(&self) -> bool {
        let is_of_tool = |message: &Message| match message {
            Message::User { .. } => false,
            Message::Assistant { calls, .. } => !calls.is_empty(),
            Message::Tool { .. } => true,
        };
        !self.tools.is_empty() || self.messages.iter().any(is_of_tool)
    }
}

/// The reply to a server's question.
#[derive(Debug, Clone, PartialEq)]
pub enum ElicitationReply {
    /// The form as the person filled it in; the values fit the form's fields.
    Filled(Map<String, Value>),
    /// The person continues at the address.
    Opened,
    /// The answer of the model.
    Sampled {
        /// Name of the model.
        model: String,
        /// Text of the answer.
        text: String,
        /// Calls of the server's tools, for the server to run.
        calls: Vec<ToolCall>,
        /// Whether the answer was cut off at the limit of tokens.
        is_cut: bool,
    },
    /// The person declined.
    Declined,
    /// Nobody answered.
    Dismissed,
    /// The request was allowed but failed; the reason, as a sentence.
    Failed(String),
}
