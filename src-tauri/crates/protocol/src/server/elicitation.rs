//! What a server asks of the person while one of its tools runs, and what it gets (MCP: elicitation and sampling).
//!
//! A question belongs to the call that runs: it stands on the desk with it, is recorded with it, and goes with it.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use ts_rs::TS;

use crate::ids::AskId;
use crate::server::mcp_servers::ServerId;
use crate::text::display_text::DisplaySpan;
use crate::{At, ModelChoice, Usage};

/// One question of a server. It never changes, so its id says which one is answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct ServerRequest {
    /// Who asks.
    pub server: ServerId,
    /// What it says that it wants, in its words, hidden characters named; empty if it says nothing.
    pub message: Vec<DisplaySpan>,
    /// What it wants.
    pub wants: ServerRequestKind,
}

/// What a server wants.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ServerRequestKind {
    /// A form that the person fills in.
    Form {
        /// Its fields, in the server's order.
        fields: Vec<FormField>,
    },
    /// That the person opens an address. Nothing opens it but an act of theirs.
    Address {
        /// The whole address, in ASCII: `http://` or `https://`. What is shown is what is opened.
        url: String,
        /// Its host, to be told apart from the rest.
        host: String,
        /// What is suspicious about it, one sentence each.
        warnings: Vec<String>,
    },
    /// The answer of a model.
    Model {
        /// Which one would answer: the session's own.
        model: ModelChoice,
        /// What it would be told first; secrets masked, hidden characters named; empty for nothing.
        system: Vec<DisplaySpan>,
        /// What it would be sent, all of it; secrets masked, hidden characters named.
        messages: Vec<SamplingMessage>,
        /// How much it may answer, in tokens.
        tokens_max: u32,
        /// How freely it chooses its words; as the provider has it if not given.
        temperature: Option<f64>,
    },
}

impl ServerRequestKind {
    /// What is wanted, as a name for lists and records.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Form { .. } => "form",
            Self::Address { .. } => "address",
            Self::Model { .. } => "model",
        }
    }
}

/// One message that a model would be sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct SamplingMessage {
    /// Whether it stands there as the model's own words.
    pub by_model: bool,
    /// The text.
    pub text: Vec<DisplaySpan>,
}

/// One field of a server's form.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct FormField {
    /// What the answer calls it.
    pub name: String,
    /// Its title, hidden characters named; its name if it has none.
    pub title: Vec<DisplaySpan>,
    /// What it is for, hidden characters named; empty if nobody says.
    pub description: Vec<DisplaySpan>,
    /// Whether it must be filled in.
    pub required: bool,
    /// What goes into it.
    pub kind: FieldKind,
    /// Set where a secret seems to be asked for, which no server should do by a form: the sentence that warns of it. What is
    /// filled in there is sent, and never recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub warning: Option<String>,
}

/// What goes into a field. A default is what stands there at first; it is no answer before the person sends it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum FieldKind {
    /// A text.
    Text {
        /// What it has to look like.
        format: Option<TextFormat>,
        /// Fewest characters.
        chars_min: Option<u32>,
        /// Most characters.
        chars_max: Option<u32>,
        /// What stands there at first.
        default: Option<String>,
    },
    /// A number.
    Number {
        /// Whether it has no fraction.
        integer: bool,
        /// The least.
        min: Option<f64>,
        /// The most.
        max: Option<f64>,
        /// What stands there at first.
        default: Option<f64>,
    },
    /// Yes or no.
    Boolean {
        /// What stands there at first.
        default: Option<bool>,
    },
    /// One of several.
    Choice {
        /// What there is to choose from; at least one.
        options: Vec<FormOption>,
        /// The value of what is chosen at first.
        default: Option<String>,
    },
    /// Some of several.
    Choices {
        /// What there is to choose from; at least one.
        options: Vec<FormOption>,
        /// Fewest that are chosen.
        items_min: Option<u32>,
        /// Most that are chosen.
        items_max: Option<u32>,
        /// The values of what is chosen at first.
        default: Vec<String>,
    },
}

/// What a text has to look like.
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

/// One of several.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct FormOption {
    /// What the answer says.
    pub value: String,
    /// What is read, hidden characters named.
    pub title: Vec<DisplaySpan>,
}

/// What a server gets for an answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum ServerAnswer {
    /// The form, filled in.
    Filled {
        /// By the names of the fields: texts, numbers, booleans, and lists of texts. What was left out is not there.
        #[ts(type = "Record<string, unknown>")]
        values: Map<String, Value>,
    },
    /// The person goes on at the address.
    Opened,
    /// The model may answer, this once.
    Allowed,
    /// No.
    Declined,
    /// Neither yes nor no: it was put away.
    Dismissed,
}

/// What a model said for a server, or why it said nothing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct SamplingResult {
    /// Which model.
    pub model: String,
    /// Its words, all that the server gets; secrets masked.
    pub text: String,
    /// What it used. It counts as the session's.
    pub usage: Usage,
    /// Why the server gets nothing, if so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub error: Option<String>,
}

/// A question of a server with what came of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct ServerRequestView {
    /// Which one.
    pub id: AskId,
    /// What is asked.
    pub asked: ServerRequest,
    /// Since when.
    pub at: At,
    /// When it is put away by itself, if it is.
    pub expires_at: Option<At>,
    /// What came of it; none while it stands on the desk.
    pub answered: Option<ServerAnswerRecord>,
}

/// What came of a question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct ServerAnswerRecord {
    /// The answer. What looked like a secret is not in it.
    pub answer: ServerAnswer,
    /// When.
    pub at: At,
    /// Why nobody was asked, or nobody answered; none if the person did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub why: Option<String>,
    /// What the model said, once it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub said: Option<SamplingResult>,
}
