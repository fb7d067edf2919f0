//! 001: types of the agent events, with the names of the specification.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::{CallId, Content, MessageId, Usage};

/// One agent event. The variant's name is the value of `type`.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type")]
#[expect(missing_docs, reason = "the fields are 001's own names")]
pub enum AgentEvent {
    /// A run begins: with a message of the person, or by continuing.
    AgentStart {
        session_id: String,
        loop_id: String,
        timestamp: String,
    },
    /// The model is asked. Turns are counted from 0 within the run.
    TurnStart {
        loop_id: String,
        turn_index: u32,
        timestamp: String,
    },
    /// A message begins; a message of the person or of a tool is complete at once.
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
    /// Progress of a call; for people, never for the model (`S001-13`).
    ProgressMessage {
        loop_id: String,
        tool_call_id: CallId,
        tool_name: String,
        text: String,
    },
    /// A call has ended.
    ToolExecutionEnd {
        loop_id: String,
        tool_call_id: CallId,
        tool_name: String,
        result: Value,
        is_error: bool,
        child_loop_id: Option<String>,
    },
    /// A turn with its calls has ended.
    TurnEnd {
        loop_id: String,
        turn_index: u32,
        message: AgentMessage,
        usage: Usage,
        tool_results: Vec<AgentMessage>,
        error: Option<String>,
        timestamp: String,
    },
    /// The run has ended.
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
    /// A message of the person.
    User {
        id: MessageId,
        content: Vec<AgentMessagePart>,
    },
    /// A message of the agent; empty when it begins.
    Assistant {
        id: MessageId,
        content: Vec<AgentMessagePart>,
    },
    /// A message of a tool, with members that the runtime adds (`S001-20`).
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
    /// A link to a resource that is stored elsewhere.
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

/// Text appended to a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "camelCase")]
#[expect(missing_docs, reason = "the fields are 001's own names")]
pub enum MessageDelta {
    /// Appended to the message's text.
    Text { id: MessageId, delta: String },
    /// Appended to the message's reasoning.
    Thinking { id: MessageId, delta: String },
}

/// A partial result of a running call.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[expect(missing_docs, reason = "the fields are 001's own names")]
pub struct AgentPartialResult {
    pub content: Vec<AgentMessagePart>,
    pub details: Value,
}
