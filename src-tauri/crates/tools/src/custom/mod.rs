//! Tools defined by schemas alone (004): parsed, offered to a model, composed with an output schema, and bound to their
//! implementation.
//!
//! Start reading at [`CustomToolDefinition`], then module `compose` and [`ComposedSchema`].

mod activity;
mod answer;
mod common;
mod compose;
pub mod definition;
mod definition_file;
mod delegate;
mod latent;
mod load;
mod request;
mod schema_references;
mod state_path;
pub mod strict_json;

pub use crate::request_config::{RequestConfig, Thinking};
pub use answer::{AnsweredCall, ComposedAnswer, ComposedSchema};
pub use compose::compose_schema;
pub use definition::{CustomToolDefinition, DefinitionError, ExecutionKind};
pub use definition_file::{DefinitionFile, parse_definitions};
pub use load::{add_request_tools, digest_sources, load_custom_tools};
pub use request::{ContextItem, StructuredRequest};
pub use state_path::StatePath;
