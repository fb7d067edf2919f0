//! Questions that a server asks while one of its tools runs, and the answers that it gets (MCP: elicitation and
//! sampling).
//!
//! A question belongs to the running call: it waits with the call, is recorded with it, and ends with it.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use ts_rs::TS;

use crate::ids::ServerRequestId;
use crate::model::ToolChoice;
use crate::server::mcp_servers::ServerId;
use crate::text::display_text::DisplaySpan;
use crate::{At, ModelChoice, Usage};

/// One question of a server. A question never changes, so its id determines which question is answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct ServerRequest {
    /// The server that asks.
    pub server: ServerId,
    /// The server's stated purpose, in its words, hidden characters named; empty if it gives none.
    pub message: Vec<DisplaySpan>,
    /// The request itself.
    pub wants: ServerRequestKind,
}

/// Request of a server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ServerRequestKind {
    /// A form that the person fills in.
    Form {
        /// The form's fields, in the server's order.
        fields: Vec<FormField>,
    },
    /// Asks the person to open an address. The address is opened only by an act of the person.
    Address {
        /// The whole address, in ASCII: `http://` or `https://`. The address that is opened is exactly the one that is
        /// shown.
        url: String,
        /// The host of the address, to be shown apart from the rest.
        host: String,
        /// Suspicious properties of the address, one sentence each.
        warnings: Vec<String>,
    },
    /// Asks for the answer of a model.
    Model {
        /// The model that would answer: the session's own.
        model: ModelChoice,
        /// The system prompt; secrets masked, hidden characters named; empty for none.
        system: Vec<DisplaySpan>,
        /// All messages that the model would be sent; secrets masked, hidden characters named.
        messages: Vec<SamplingMessage>,
        /// The most tokens that the model may answer with.
        tokens_max: u32,
        /// Sampling temperature; the provider's default if not given.
        temperature: Option<f64>,
        /// Tools that the model could call. The server runs them, and asks again with their results.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[ts(optional, as = "Option<Vec<SamplingTool>>")]
        tools: Vec<SamplingTool>,
        /// Whether the model has to call one of the tools.
        #[serde(default, skip_serializing_if = "ToolChoice::is_auto")]
        #[ts(optional, as = "Option<ToolChoice>")]
        tool_choice: ToolChoice,
    },
}

impl ServerRequestKind {
    /// Returns the kind of the request, as a name for lists and records.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Form { .. } => "form",
            Self::Address { .. } => "address",
            Self::Model { .. } => "model",
        }
    }
}

/// One message of a prompt for a model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct SamplingMessage {
    /// Whether the message is attributed to the model.
    pub by_model: bool,
    /// The text; that of a tool's result if `result_of` is given.
    pub text: Vec<DisplaySpan>,
    /// Calls of the server's tools that are attributed to the model.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(optional, as = "Option<Vec<SamplingCall>>")]
    pub calls: Vec<SamplingCall>,
    /// Name of the server's tool whose result the text is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub result_of: Option<Vec<DisplaySpan>>,
}

/// A tool of a server that a model could call for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct SamplingTool {
    /// The tool's name.
    pub name: String,
    /// Description of the tool; secrets masked, hidden characters named.
    pub description: Vec<DisplaySpan>,
    /// JSON Schema of the arguments, as text; secrets masked, hidden characters named.
    pub parameters: Vec<DisplaySpan>,
}

/// A call of a tool of a server, made by a model for it. The server runs it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct SamplingCall {
    /// The tool's name, hidden characters named.
    pub name: Vec<DisplaySpan>,
    /// The arguments, as JSON text; secrets masked, hidden characters named.
    pub arguments: Vec<DisplaySpan>,
}

/// One field of a server's form.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct FormField {
    /// The field's name in the answer.
    pub name: String,
    /// The field's title, hidden characters named; its name if it has none.
    pub title: Vec<DisplaySpan>,
    /// Description of the field, hidden characters named; empty if there is none.
    pub description: Vec<DisplaySpan>,
    /// Whether the field must be filled in.
    pub required: bool,
    /// The kind of value.
    pub kind: FieldKind,
    /// A warning, set where the field seems to ask for a secret, which no server should do by a form. The value of such
    /// a field is sent, and never recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub warning: Option<String>,
}

/// Kind of value of a field. A default is the initial value; it is no answer before the person sends it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum FieldKind {
    /// A text.
    Text {
        /// The required format.
        format: Option<TextFormat>,
        /// Smallest number of characters.
        chars_min: Option<u32>,
        /// Largest number of characters.
        chars_max: Option<u32>,
        /// The initial value.
        default: Option<String>,
    },
    /// A number.
    Number {
        /// Whether the number must be an integer.
        integer: bool,
        /// The smallest value.
        min: Option<f64>,
        /// The largest value.
        max: Option<f64>,
        /// The initial value.
        default: Option<f64>,
    },
    /// Yes or no.
    Boolean {
        /// The initial value.
        default: Option<bool>,
    },
    /// One of several options.
    Choice {
        /// The options; at least one.
        options: Vec<FormOption>,
        /// The value of the option that is chosen initially.
        default: Option<String>,
    },
    /// Any number of several options.
    Choices {
        /// The options; at least one.
        options: Vec<FormOption>,
        /// Smallest number of options to choose.
        items_min: Option<u32>,
        /// Largest number of options to choose.
        items_max: Option<u32>,
        /// The values of the options that are chosen initially.
        default: Vec<String>,
    },
}

/// Required format of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum TextFormat {
    /// `name@example.org`
    Email,
    /// `https://example.org/page`
    Uri,
    /// `2026-11-22`
    Date,
    /// `2026-11-22T14:45:00Z`
    DateTime,
}

/// One option of a choice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct FormOption {
    /// The option's value in the answer.
    pub value: String,
    /// The option's label, hidden characters named.
    pub title: Vec<DisplaySpan>,
}

/// Answer to a question of a server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum ServerAnswer {
    /// The form, filled in.
    Filled {
        /// The values, by the names of the fields: texts, numbers, booleans, and lists of texts. A field that was left
        /// out is absent.
        #[ts(type = "Record<string, unknown>")]
        values: Map<String, Value>,
    },
    /// The person continues at the address.
    Opened,
    /// The model may answer, this once.
    Allowed,
    /// The request was declined.
    Declined,
    /// The request was neither accepted nor declined, but dismissed.
    Dismissed,
}

/// Answer of a model to a server, or why there is none.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct SamplingResult {
    /// The model.
    pub model: String,
    /// The model's text. The server gets it and the calls, and nothing else; secrets masked.
    pub text: String,
    /// Calls of the server's tools, for the server to run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(optional, as = "Option<Vec<SamplingCall>>")]
    pub calls: Vec<SamplingCall>,
    /// The tokens that the model used. They count towards the session's usage.
    pub usage: Usage,
    /// Why the server gets nothing, if so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub error: Option<String>,
}

/// A question of a server, with its outcome.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct ServerRequestView {
    /// The id of the question.
    pub id: ServerRequestId,
    /// The question.
    pub request: ServerRequest,
    /// When the question was asked.
    pub at: At,
    /// When the question expires and is dismissed, if it does.
    pub expires_at: Option<At>,
    /// Outcome of the question; none while it waits for an answer.
    pub answered: Option<ServerAnswerRecord>,
}

/// Outcome of a question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct ServerAnswerRecord {
    /// The answer. Values that looked like secrets are left out.
    pub answer: ServerAnswer,
    /// When the question was answered.
    pub at: At,
    /// Why no person was asked or none answered; none if a person did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub why: Option<String>,
    /// The model's answer, once there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub sampled: Option<SamplingResult>,
}
