//! Language servers that the person has, as those who know a language: definitions, references, problems, renamings.
//!
//! **It knows no rule, no verdict and no session, and changes no file.** What a server wants changed is an answer like any
//! other, which a tool shows and the pipeline judges; what a server asks of us is answered with nothing. **It opens no process
//! and no file itself**: `runtime` does, for servers that a person switched on. A server runs as the person and outside of any
//! room, and may run what it finds in a folder: that is why each is off until then.
//!
//! Start reading at [`LanguageServers`], which has one server for each folder and language; then `wire.rs`, what goes over the
//! pipe, and `question.rs`, from a question to its answer.

mod connection;
mod file_uri;
mod framing;
pub mod limits;
mod notifications;
mod open_documents;
pub mod presets;
mod query;
mod response;
mod server_request;
mod servers;
pub mod settings;
mod transport;

pub use connection::LspTimeouts;
pub use servers::LanguageServers;
