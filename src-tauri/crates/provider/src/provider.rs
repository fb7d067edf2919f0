//! The trait that every model implements, and its data.

use std::pin::Pin;
use std::sync::Arc;

use async_trait::async_trait;
use futures::Stream;
use protocol::Usage;
use protocol::model::{Effort, Message, ToolChoice, ToolDefinition};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::ProviderError;

/// The answer of a model, piece by piece. The stream ends after [`Chunk::End`] or after the first error, whichever
/// comes first; chunks before an error stand and are the caller's to keep.
pub type ChunkStream = Pin<Box<dyn Stream<Item = Result<Chunk, ProviderError>> + Send>>;

/// A source of model turns.
#[async_trait]
pub trait Provider: Send + Sync {
    /// The id that [`protocol::ModelChoice::provider`] names.
    fn id(&self) -> &str;

    /// Asks for one turn. Resolves when the first chunk is there, so that everything that can be tried again was.
    ///
    /// # Errors
    /// Whatever went wrong before the first chunk, after the retries; later trouble is an item of the stream.
    /// [`ProviderError::Cancelled`] as soon as `cancel` is cancelled.
    async fn stream(
        &self,
        request: ModelRequest,
        cancel: CancellationToken,
    ) -> Result<ChunkStream, ProviderError>;

    /// The models that the provider names, as it spells them, sorted.
    ///
    /// # Errors
    /// When the provider has a list and it cannot be had.
    async fn models(&self) -> Result<Vec<String>, ProviderError>;
}

/// Everything that a model gets for one turn.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelRequest {
    /// The provider's name of the model. A Claude or Gemini name may carry an effort behind it (`-low`, `-medium`,
    /// `-high`): the model then thinks before it answers.
    pub model: String,
    /// The system prompt; empty for none.
    pub system: String,
    /// The conversation, oldest first; shared, so that a turn does not copy it.
    pub messages: Arc<Vec<Message>>,
    /// The tools that the model may call.
    pub tools: Arc<Vec<ToolDefinition>>,
    /// Whether the model has to call one of the tools. A hint as well: Ollama's models cannot be made to.
    pub tool_choice: ToolChoice,
    /// JSON Schema of the whole answer; none if any words will do. A hint: a provider that can hold its model to it
    /// does, of the others the answer may be anything, so the caller says it in words as well and checks what comes.
    pub response_schema: Option<Arc<Value>>,
    /// Sampling temperature, from 0 to 2; the provider's default if not given.
    pub temperature: Option<f64>,
    /// Amount of thinking before the answer; takes precedence over the effort in the model's name.
    pub effort: Option<Effort>,
    /// Most tokens of the answer; the provider's default if not given.
    pub tokens_max: Option<u32>,
}

/// A piece of a model's turn.
#[derive(Debug, Clone, PartialEq)]
pub enum Chunk {
    /// Text, to be appended.
    Text(String),
    /// Thoughts, to be appended.
    Reasoning(String),
    /// A whole call. Calls come right before [`Chunk::End`], in the model's order, so a cut turn has none.
    Call {
        /// The provider's id; none where the wire has none. Providers may repeat ids from turn to turn.
        id: Option<String>,
        /// The tool's name as the model wrote it.
        name: String,
        /// The arguments as the model wrote them: JSON text, maybe malformed.
        arguments: String,
    },
    /// The turn is over.
    End {
        /// Usage of the turn.
        usage: Usage,
        /// Value that [`Message::Assistant::opaque`] must hold when this turn is sent back; null for nothing.
        opaque: Value,
        /// Reason for the end.
        stop: Stop,
    },
}

/// Why a turn is over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stop {
    /// The model is done, or waits for the results of its calls.
    Finished,
    /// The model ran into the limit on output; the last call may be incomplete.
    Length,
    /// The model or a filter refused; the provider's word for it.
    Refused(String),
    /// Anything else; the provider's word for it.
    Other(String),
}
