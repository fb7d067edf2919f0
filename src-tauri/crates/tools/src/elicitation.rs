//! How a tool asks the person something while it runs, and what it gets.

use async_trait::async_trait;
use protocol::server::elicitation::FormField;
use protocol::server::mcp_servers::ServerId;
use serde_json::{Map, Value};

/// Puts what somebody else asks before the person, as a part of the call that runs.
#[async_trait]
pub trait ElicitationChannel: Send + Sync {
    /// Asks, and waits for the answer; records both. Whoever drops this takes the question from the desk.
    async fn ask(&self, asking: ElicitationRequest) -> ElicitationReply;
}

/// What somebody else asks.
#[derive(Debug, Clone, PartialEq)]
pub struct ElicitationRequest {
    /// Who.
    pub server: ServerId,
    /// What they say that they want, as they wrote it.
    pub message: String,
    /// What they want.
    pub kind: ElicitationKind,
}

/// What somebody else wants.
#[derive(Debug, Clone, PartialEq)]
pub enum ElicitationKind {
    /// A form that the person fills in.
    Form(Vec<FormField>),
    /// That the person opens an address.
    Url {
        /// The whole address, in ASCII.
        url: String,
        /// Its host.
        host: String,
        /// What is suspicious about it, one sentence each.
        warnings: Vec<String>,
    },
    /// The answer of a model.
    Sampling(SamplingRequest),
}

/// What a model is to be sent for somebody else.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SamplingRequest {
    /// What it is told first; empty for nothing.
    pub system: String,
    /// Who says what, oldest first: whether it is the model, and the text.
    pub messages: Vec<(bool, String)>,
    /// How much it may answer, in tokens.
    pub tokens_max: u32,
    /// How freely it chooses its words.
    pub temperature: Option<f64>,
}

/// What whoever asked gets.
#[derive(Debug, Clone, PartialEq)]
pub enum ElicitationReply {
    /// The form as the person filled it in; it fits.
    Filled(Map<String, Value>),
    /// The person goes on at the address.
    Opened,
    /// What the model said.
    Sampled {
        /// Which model.
        model: String,
        /// Its words.
        text: String,
        /// Whether it was cut off at the limit of tokens.
        is_cut: bool,
    },
    /// No.
    Declined,
    /// Nobody answered.
    Dismissed,
    /// It was allowed, and came to nothing; why, as a sentence.
    Failed(String),
}
