//! Other people's servers as tools (MCP): one shared connection for each, and what it lists as tools of ours.
//!
//! **It knows no rule, no verdict and no session.** A tool of a server declares nothing that could be believed, so it asks;
//! what the server says of its safety can only tighten (M16). **It opens no process and no connection itself**: `runtime`
//! does, for servers that a person switched on. **What is not as it was approved is not called.**
//!
//! Start reading at [`McpServer`], one server from its start to its end; then [`McpTool`], a call of one of its tools.

pub mod catalogue;
pub mod config;
mod connection;
pub mod content;
pub mod form;
pub mod import;
pub mod limits;
mod line_limit;
mod message_handler;
mod oauth;
mod pending_catalogue;
pub mod pins;
mod root_cause;
mod running_calls;
mod server;
mod server_log;
mod server_request;

pub use oauth::CredentialVault;
pub use pins::ToolPins;
pub use server::tool::McpTool;
pub use server::{
    McpServer, ServerDependencies, ServerSandboxLauncher, remove_server_data, supports_sign_in,
};
pub use tools::config_references::{self, ReferenceResolver};
