//! The local endpoint of a data folder: where hooks of agents, and the commands that take the place of an agent's, reach
//! the engine that is open.
//!
//! Messages are JSON with their length before them, one request and one answer on each connection. After the request to
//! serve our agent or MCP, the connection carries the lines of that; after the request to serve MCP at an address, its end ends
//! that. Only processes of the same user can connect.

mod client;
mod frame;
mod message;
mod relay;

pub(crate) use client::app_closed_error;
pub use client::{EndpointError, ListeningApp, listen_mcp, open_mcp, relay_agent, send_request};
pub(crate) use frame::{read_message, write_message};
pub(crate) use message::ENDPOINT_VERSION;
pub use message::{
    AgentRequest, EndpointAnswer, EndpointRequest, HookOutput, HookRequest, ListenRequest,
    McpRequest, RequestBody, StreamsText,
};
pub use relay::relay;
pub use runtime::LocalStream;
