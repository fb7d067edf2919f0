//! The tools of the engine and of each session: built in, of MCP servers, and of OpenAPI services.

pub(crate) mod api_context;
#[cfg(feature = "openapi")]
pub(crate) mod apis;
#[cfg(not(feature = "openapi"))]
#[path = "apis_disabled.rs"]
pub(crate) mod apis;
pub(crate) mod config_store;
pub(crate) mod engine_tools;
pub(crate) mod servers;
pub(crate) mod web_search;
