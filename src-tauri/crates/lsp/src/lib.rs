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
//!
//! ```
//! use lsp::presets::find_preset;
//! use lsp::{LanguageServers, LspTimeouts};
//! use runtime::InheritedEnv;
//! use tools::language_service::LanguageService;
//!
//! let servers = LanguageServers::new(InheritedEnv::default(), LspTimeouts::default());
//! assert!(servers.missing_setup().is_some());
//!
//! let mut rust = find_preset("rust-analyzer").unwrap().to_settings();
//! rust.enabled = true;
//! servers.apply_settings(&[rust]);
//! // From here on `LanguageService::ask` starts the server for the first question about a Rust file.
//! assert!(servers.missing_setup().is_none());
//! ```

use std::sync::{Mutex, MutexGuard, PoisonError};

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

/// Locks a mutex. A panic while it was held leaves plain data behind; going on with it is safe.
fn lock_mutex<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
