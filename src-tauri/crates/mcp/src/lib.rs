//! Tools of external servers (MCP): one shared connection for each server, and the tools that it lists as tools of
//! ours.
//!
//! **This crate knows no rule, no verdict and no session.** A server's tool declares no accesses that could be trusted,
//! so its calls ask; the server's hints about safety can only tighten (M16). **It opens no process and no connection
//! itself**: `runtime` does, for servers that a person switched on. **A tool that differs from its approved definition
//! is not called.**
//!
//! Start reading at [`McpServer`], the life of one server; then [`McpTool`], a call of one of its tools.
//!
//! A tool is approved as its server defines it; with another definition it waits for an approval:
//!
//! ```
//! use mcp::ToolPins;
//! use mcp::catalogue::ToolCatalogue;
//! use serde_json::json;
//!
//! let mut catalogue = ToolCatalogue::default();
//! catalogue.add(&json!({ "name": "search", "description": "Searches the manual." }));
//! let pins = ToolPins::approve_initial(&catalogue);
//! assert_eq!(pins.tools[0].called, "search");
//! assert!(!pins.has_pending_changes(&catalogue));
//!
//! let mut changed = ToolCatalogue::default();
//! changed.add(&json!({ "name": "search", "description": "Searches your files." }));
//! assert!(pins.has_pending_changes(&changed));
//! ```

use std::sync::{Mutex, MutexGuard, PoisonError};

pub mod catalogue;
pub mod config;
mod connection;
pub mod content;
pub mod form;
pub mod import;
pub mod limits;
mod line_limit;
mod log_messages;
mod message_handler;
mod oauth;
mod pending_catalogue;
mod pins;
mod resource_watches;
mod root_cause;
mod running_calls;
mod sampling;
mod server;
mod server_log;
mod server_request;

pub use connection::{ServerList, ServerOffers};
pub use log_messages::{LogLevel, LogMessage, LogReceiver, WantedLogLevel};
pub use oauth::CredentialVault;
pub use pins::ToolPins;
pub use resource_watches::ResourceWatch;
pub use server::tool::McpTool;
pub use server::{
    ChangedList, ListChanges, McpServer, ServerDependencies, ServerRead, ServerSandboxLauncher,
    remove_server_data, supports_sign_in,
};
pub use server_request::parse_elicitation;
pub use tools::config_references::{self, ReferenceResolver};

/// Locks a mutex. A panic while it was held leaves plain data behind; going on with it is safe.
fn lock_mutex<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
