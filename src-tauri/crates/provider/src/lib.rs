//! Model providers behind one trait: the agent's requests to a model, and the answers, piece by piece.
//!
//! Anthropic, OpenAI-compatible and Gemini endpoints speak through the crate `genai`, Ollama through `wire/ollama.rs`; a
//! script speaks through [`ScriptedProvider`]. Keys come from the environment or the system keychain, which is the only
//! place that they are ever written to; they are never shown or logged.
//!
//! **This crate knows no tool, no rule, no session, no database and no file: it never decides anything about a call, it
//! only passes on the output of a model.** It is the one crate that speaks to models; `runtime` does the rest of the
//! network.
//!
//! Start reading at [`Provider`] and [`Chunk`]; then [`Providers`], the list that a person chooses from; then
//! `wire/mod.rs`, one request from key to last chunk.
//!
//! ```
//! use futures::StreamExt;
//! use provider::{Chunk, ModelRequest, Provider, Script, ScriptedProvider};
//! use tokio_util::sync::CancellationToken;
//!
//! # #[tokio::main]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let script = Script::parse(r#"{ "turns": [{ "text": "Hello." }] }"#)?;
//! let provider = ScriptedProvider::new(script);
//! let request = ModelRequest {
//!     model: "any".to_owned(),
//! #     system: String::new(),
//! #     messages: Default::default(),
//! #     tools: Default::default(),
//! #     tool_choice: Default::default(),
//! #     response_schema: None,
//! #     temperature: None,
//! #     effort: None,
//! #     tokens_max: None,
//!     // … and the conversation.
//! };
//! let mut answer = String::new();
//! let mut chunks = provider.stream(request, CancellationToken::new()).await?;
//! while let Some(chunk) = chunks.next().await {
//!     if let Chunk::Text(text) = chunk? {
//!         answer += &text;
//!     }
//! }
//! assert_eq!(answer, "Hello.");
//! # Ok(())
//! # }
//! ```

mod built_in;
mod efforts;
mod endpoint;
mod error;
mod failure;
mod http;
mod keys;
mod limits;
mod prices;
mod provider;
mod providers;
mod script;
mod secret;
mod wire;

pub use crate::script::scripted_provider::ScriptedProvider;
pub use built_in::{AddressSource, LOCAL_IDS, ProviderEnv, built_in_ids};
pub use error::ProviderError;
pub use keys::{ApiKey, KeySource, KeyStore, LoadedKey, MemoryKeyStore, SystemKeyStore};
pub use limits::Timing;
pub use provider::{Chunk, ChunkStream, ModelRequest, Provider, Stop};
pub use providers::{ProviderAddress, Providers};
pub use script::{Script, ScriptCall, ScriptTurn};
pub use secret::Secret;
