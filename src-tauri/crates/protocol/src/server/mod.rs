//! MCP servers, OpenAPI services, language servers, and search providers: how they are set up and shown.

pub mod apis;
pub mod audience;
pub mod elicitation;
pub mod language_servers;
pub mod mcp_servers;
pub mod resources;
pub mod search_providers;
pub mod server_tools;
