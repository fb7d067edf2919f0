//! Tools that are nothing but schemas (004): read, offered to a model, composed with an output schema, and bound to what
//! carries them out.
//!
//! Start reading at [`Definition`], then [`compose`] and [`Composed`].

mod answer;
mod compose;
pub mod definition;
mod file;
mod refs;
mod request;
mod state_path;
pub mod strict_json;

pub use answer::{Answer, AnsweredCall, Composed};
pub use compose::compose;
pub use definition::{Definition, Execution, Problem, with_reasoning};
pub use file::{Definitions, definitions};
pub use request::{ContextItem, Request, RequestConfig};
pub use state_path::StatePath;
