//! Language services backed by the language servers that the person installed: definitions, references, problems,
//! renamings.
//!
//! **This crate knows no rule, no verdict and no session, and changes no file.** Changes that a server wants are an
//! answer like any other, which a tool shows and the pipeline judges; requests of a server get a reply, but nothing is
//! done for them. **The crate opens no process and no file itself**: `runtime` does, for servers that a person switched
//! on. A server runs as the person and outside of any sandbox, and may run programs that it finds in a folder: that is
//! why each server is off until a person switches it on.
//!
//! Start reading at [`LanguageServers`], which has one server for each folder and language; then `transport.rs`, the
//! messages on the pipe, and `query.rs`, from a query to its answer.

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
