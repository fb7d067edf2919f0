//! Model providers behind one trait: the agent's requests to a model, and the answers, piece by piece.
//!
//! Anthropic, OpenAI-compatible, Gemini and Ollama endpoints speak through the crate `genai`; a script speaks through
//! [`ScriptedProvider`]. Keys come from the environment or the system keychain and are never written, shown or logged.
//!
//! **This crate knows no tool, no rule, no session, no database and no file: it never decides anything about a call, it
//! only passes on the output of a model.** It is the one crate that speaks to the network.
//!
//! Start reading at [`Provider`] and [`Chunk`]; then [`Providers`], the list that a person chooses from; then
//! `wire/mod.rs`, one request from key to last chunk.

mod built_in;
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
pub use built_in::{AddressSource, LOCAL_IDS, ProviderEnv};
pub use error::ProviderError;
pub use keys::{ApiKey, KeySource, KeyStore, MemoryKeyStore, SystemKeyStore};
pub use limits::Timing;
pub use provider::{Chunk, ChunkStream, ModelRequest, Provider, Stop};
pub use providers::{ProviderAddress, Providers};
pub use script::{Script, ScriptCall, ScriptTurn};
pub use secret::Secret;
