//! The conversation with a model, free of any provider's wire format.

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

use crate::{At, CallId, Content, Outcome, ToolCall};

/// Range of the sampling temperature. A provider may accept less of it.
pub const TEMPERATURE_RANGE: RangeInclusive<f64> = 0.0..=2.0;

/// Reasoning effort of a model before it answers. A model that cannot reason may refuse the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Effort {
    /// No reasoning.
    None,
    /// Little reasoning.
    Low,
    /// Enough reasoning for most work.
    Medium,
    /// Much reasoning.
    High,
}

/// The model that answers.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
pub struct ModelChoice {
    /// Id of a configured provider: `anthropic`, `openai`, `gemini`, `ollama`, `demo`, `script`, or one of your
    /// own; `client` where no model answers, because an outside program makes the calls;
    /// `agent` where an agent of somebody else answers.
    pub provider: String,
    /// The provider's name of the model; empty where the provider has only one. The id of an agent, or its command line.
    pub model: String,
}

/// One message of the conversation as the model gets it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
pub enum Message {
    /// A message of the person.
    User {
        /// Text of the message.
        text: String,
        /// Images attached to the text.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        images: Vec<Content>,
    },
    /// A message of the model.
    Assistant {
        /// Text of the message.
        text: String,
        /// Calls that the model asked for, in order.
        calls: Vec<ToolCall>,
        /// Signed reasoning and similar data that the provider wants back untouched; null when there is none.
        #[serde(default)]
        opaque: Value,
    },
    /// The result of a call.
    Tool {
        /// The call.
        call: CallId,
        /// The tool's name as the model called it.
        name: String,
        /// Text for the model.
        text: String,
        /// Images that the model gets beside the text, if the model accepts images.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        images: Vec<Content>,
        /// Whether the call failed.
        is_error: bool,
        /// When the call ended.
        #[serde(default)]
        at: At,
    },
}

impl Message {
    /// Returns a message of the person with this text and no images.
    pub fn user(text: impl Into<String>) -> Self {
        Self::User {
            text: text.into(),
            images: Vec::new(),
        }
    }

    /// Returns the result of a call as it enters the conversation (`S001-20`): the model's projection of the outcome
    /// alone.
    pub fn from_outcome(call: &CallId, name: &str, outcome: &Outcome) -> Self {
        Self::Tool {
            call: call.clone(),
            name: name.to_owned(),
            text: outcome.model_text(),
            images: outcome.images(),
            is_error: !outcome.is_success(),
            at: outcome.ended_at,
        }
    }
}

/// The member of every tool's parameters in which the model says why it makes the call (`S004-08`).
pub const REASONING_MEMBER: &str = "_reasoningForCall";

/// A tool as the model sees it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolDefinition {
    /// Id of the tool.
    pub name: String,
    /// Description of the tool in prose.
    pub description: String,
    /// JSON Schema of the arguments.
    pub parameters: Value,
    /// Whether the model is held to the schema while it writes, if its provider supports this (`S003-58`).
    pub strict: bool,
}

/// Whether a model has to call one of the tools that it is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum ToolChoice {
    /// It may.
    #[default]
    Auto,
    /// It has to call at least one.
    Required,
    /// It must call none.
    None,
}

impl ToolChoice {
    /// Whether the model may call a tool or not, as it likes.
    pub fn is_auto(&self) -> bool {
        *self == Self::Auto
    }
}

/// Tokens and cost of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, TS)]
pub struct Usage {
    /// Tokens read, cached ones included.
    pub input_tokens: u64,
    /// Of these, tokens read from the provider's cache.
    pub cached_tokens: u64,
    /// Tokens written, reasoning included.
    pub output_tokens: u64,
    /// Cost in US dollars; none when the price is not known.
    pub cost_usd: Option<f64>,
}

impl Usage {
    /// Returns the sum of both. The cost of the sum is known only if the cost of every nonzero part is.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            input_tokens: self.input_tokens + other.input_tokens,
            cached_tokens: self.cached_tokens + other.cached_tokens,
            output_tokens: self.output_tokens + other.output_tokens,
            cost_usd: match (self.cost_usd, other.cost_usd) {
                (Some(a), Some(b)) => Some(a + b),
                (known, None) if other == Self::default() => known,
                (None, known) if self == Self::default() => known,
                _ => None,
            },
        }
    }
}

/// How much of a model's context is in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ContextUse {
    /// Tokens in use.
    pub used: u64,
    /// Tokens that there is room for; 0 if it is not known.
    pub size: u64,
}

/// A provider as the person sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ProviderView {
    /// Id of the provider.
    pub id: String,
    /// Name of the provider: "Anthropic".
    pub title: String,
    /// Base URL of the provider, without credentials; empty for the demo.
    pub base_url: String,
    /// Whether a session can start now.
    pub ready: bool,
    /// Why the provider is not ready, and what to do; or where its key comes from ("key from ANTHROPIC_API_KEY").
    pub note: String,
    /// Models known so far.
    pub models: Vec<String>,
    /// The key of the provider.
    pub key: ProviderKey,
}

/// What is known of the key of a provider; the key itself is never told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ProviderKey {
    /// Whether there is one.
    pub state: KeyState,
    /// Environment variable that is looked up first; none if there is none.
    pub variable: Option<String>,
    /// Whether the system keychain can keep one, as far as it was asked.
    pub can_be_kept: bool,
}

/// Whether there is a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum KeyState {
    /// There is none, and none is needed.
    NotNeeded,
    /// There is one.
    Found,
    /// There is none.
    Missing,
    /// The provider refused it.
    Refused,
}
