//! MCP servers and OpenAPI services through the whole engine.

// What is sent where others read it.
pub(crate) mod audience;
// One of them behind a gateway, for a client outside.
pub(crate) mod behind_gateway;
// Changes of their tools in the workspace.
pub(crate) mod effects;
// Their questions to the person.
pub(crate) mod elicitation;
// Clients of gateways.
pub(crate) mod gateway_client;
// A gateway at an address.
pub(crate) mod gateway_http;
// What a server behind one tells unasked: changes of single resources, and its log.
pub(crate) mod gateway_notices;
// Questions of a server behind one, passed on to its client.
pub(crate) mod gateway_questions;
// What a server behind one has beside its tools.
pub(crate) mod gateway_reads;
// Other people's servers of tools.
pub(crate) mod lifecycle;
// Services by their documents.
pub(crate) mod openapi_services;
// Tools that read by their names.
pub(crate) mod reading_verbs;
// Rules for their tools, by what the arguments name.
pub(crate) mod rules;
// Servers in a sandbox.
#[cfg(target_os = "linux")]
pub(crate) mod sandboxed;
