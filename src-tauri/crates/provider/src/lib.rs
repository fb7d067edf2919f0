//! Model providers behind one trait: what the agent asks a model, and what comes back, piece by piece.
//!
//! Anthropic, OpenAI-compatible, Gemini and Ollama endpoints speak through the crate `genai`; a script speaks through
//! [`Scripted`]. Keys come from the environment or the system keychain and are never written, shown or logged.
//!
//! **It knows no tool, no rule, no session, no database and no file: it never decides anything about a call, it only
//! hands on what a model said.** It is the one crate that speaks to the network.
//!
//! Start reading at [`Provider`] and [`Chunk`]; then [`Providers`], the list that a person chooses from; then
//! `wire.rs`, one request from key to last chunk.

mod built_in;
mod conversation;
mod diagnose;
mod endpoint;
mod error;
mod explain;
mod http;
mod images;
mod keys;
mod limits;
mod listing;
mod ollama;
mod opaque;
mod prices;
mod provider;
mod providers;
mod reply;
mod request;
mod retry;
mod script;
mod scripted;
mod secret;
mod strict;
mod tap;
mod wire;

pub use built_in::{AddressSource, LOCAL_IDS, Surroundings};
pub use error::ProviderError;
pub use keys::{Key, KeySource, Keys, MemoryKeys, SystemKeys};
pub use limits::Timing;
pub use provider::{Chunk, ChunkStream, ModelRequest, Provider, Stop};
pub use providers::{Address, Providers};
pub use script::{Script, ScriptCall, ScriptTurn};
pub use scripted::Scripted;
pub use secret::Secret;
