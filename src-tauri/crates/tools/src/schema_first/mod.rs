//! Tools that are nothing but schemas (004): read, offered to a model, composed with an output schema, and bound to what
//! carries them out.
//!
//! Start reading at [`Definition`], then [`compose`] and [`Composed`].

mod activity;
mod answer;
mod bound;
mod compose;
pub mod definition;
mod delegated;
mod file;
mod latent;
mod load;
mod refs;
mod request;
mod state_path;
pub mod strict_json;

pub use answer::{Answer, AnsweredCall, Composed};
pub use compose::compose;
pub use definition::{Definition, Execution, Problem, with_reasoning};
pub use file::{Definitions, definitions};
pub use load::{add, digest, load};
pub use request::{ContextItem, Request, RequestConfig, Thinking};
pub use state_path::StatePath;
