//! 001: the words of the agent events, by the specification's names.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::{CallId, Content, MessageId, Usage};

/// One agent event. The variant's name stands in `type`.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type")]
#[expect(missing_docs, reason = "the fields are 001's own names")]
pub enum AgentEvent {
    /// A run begins: with the person's word, or by going on.
    AgentStart {
        session_id: String,
        loop_id: String,
        timestamp: String,
    },
    /// The model is asked. Counted from 0 within the run.
    TurnStart {
        loop_id: String,
        turn_index: u32,
        timestamp: String,
    },
    /// A message begins; one of the person's or of a tool is complete at once.
    MessageStart {
        loop_id: String,
        message: AgentMessage,
    },
    /// A piece of the agent's message.
    MessageUpdate {
        loop_id: String,
        delta: MessageDelta,
    },
    /// A message is complete.
    MessageEnd {
        loop_id: String,
        message: AgentMessage,
    },
    /// A call begins to run. A call that never ran has neither start nor end, only its result (`S001-61`, `S001-62`).
    ToolExecutionStart {
        loop_id: String,
        tool_call_id: CallId,
        tool_name: String,
        args: Map<String, Value>,
    },
    /// A piece of live output or of the result; for people, never for the model (`S001-12`, `S001-15`).
    ToolExecutionUpdate {
        loop_id: String,
        tool_call_id: CallId,
        tool_name: String,
        partial_result: AgentPartialResult,
    },
    /// A word on how far a call is; for people, never for the model (`S001-13`).
    ProgressMessage {
        loop_id: String,
        tool_call_id: CallId,
        tool_name: String,
        text: String,
    },
    /// A call is over.
    ToolExecutionEnd {
        loop_id: String,
        tool_call_id: CallId,
        tool_name: String,
        result: Value,
        is_error: bool,
        child_loop_id: Option<String>,
    },
    /// A turn with its calls is over.
    TurnEnd {
        loop_id: String,
        turn_index: u32,
        message: AgentMessage,
        usage: Usage,
        tool_results: Vec<AgentMessage>,
        error: Option<String>,
        timestamp: String,
    },
    /// The run is over.
    AgentEnd {
        loop_id: String,
        usage: Usage,
        state: crate::SessionState,
        timestamp: String,
    },
}

/// A message of the conversation.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "role", rename_all = "camelCase")]
#[expect(missing_docs, reason = "the fields are 001's own names")]
pub enum AgentMessage {
    /// The person's.
    User {
        id: MessageId,
        content: Vec<AgentMessagePart>,
    },
    /// The agent's; empty when it begins.
    Assistant {
        id: MessageId,
        content: Vec<AgentMessagePart>,
    },
    /// A tool's, with what the runtime adds (`S001-20`).
    #[serde(rename_all = "snake_case")]
    ToolResult {
        tool_call_id: CallId,
        tool_name: String,
        content: Vec<AgentMessagePart>,
        is_error: bool,
        timestamp: String,
    },
}

/// A part of a message.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "camelCase")]
#[expect(missing_docs, reason = "the fields are 001's own names")]
pub enum AgentMessagePart {
    /// Text.
    Text { text: String },
    /// Reasoning.
    Thinking { thinking: String },
    /// An image.
    #[serde(rename_all = "camelCase")]
    Image { data: String, mime_type: String },
    /// Something that stands elsewhere.
    #[serde(rename_all = "camelCase")]
    ResourceLink {
        uri: String,
        name: String,
        mime_type: Option<String>,
    },
    /// A call that the message asks for.
    ToolCall {
        id: CallId,
        name: String,
        arguments: Map<String, Value>,
    },
}

impl From<&Content> for AgentMessagePart {
    fn from(item: &Content) -> Self {
        match item {
            Content::Text { text } => Self::Text { text: text.clone() },
            Content::Image { mime, base64 } => Self::Image {
                data: base64.clone(),
                mime_type: mime.clone(),
            },
            Content::Resource { uri, title, mime } => Self::ResourceLink {
                uri: uri.clone(),
                name: title.clone(),
                mime_type: mime.clone(),
            },
        }
    }
}

/// What a message got longer by.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "camelCase")]
#[expect(missing_docs, reason = "the fields are 001's own names")]
pub enum MessageDelta {
    /// Of its text.
    Text { id: MessageId, delta: String },
    /// Of its reasoning.
    Thinking { id: MessageId, delta: String },
}

/// A result while it comes to be.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[expect(missing_docs, reason = "the fields are 001's own names")]
pub struct AgentPartialResult {
    pub content: Vec<AgentMessagePart>,
    pub details: Value,
}
