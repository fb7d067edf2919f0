//! The gateway for external clients: serves the tools of a workspace to programs that make the calls themselves.
//!
//! **The gateway decides nothing, and reaches the machine through `runtime` alone**: a request becomes a call of an
//! [`agent::ExternalClient`], which goes through the same pipeline, and the outcome of the call becomes an answer.
//! Where nobody can be asked, a call that asks is denied, unless rules or whoever started the gateway allow it. **A
//! tool is described only as the tool itself publishes, and a client's description of itself is recorded as the client's
//! own claim.**
//!
//! Programs call in two ways: as a client of our tools or of those of one MCP server ([`mcp`], at an address [`mcp_http`]), or as an agent with tools
//! of its own, whose hooks ask about each call ([`agent_hooks`]) at the local [`endpoint`], which [`endpoint_server`]
//! serves, or which is started here and answers in a session ([`acp_client`]), with tools of MCP servers that it is given
//! there. Calls of an agent's own tools are translated by [`agent_calls`]. [`connections`] puts the hooks into the configurations of agents, and [`transcripts`] reads what they
//! keep. Editors have our own agent by [`acp_agent`], and the app's own window is a client as well: [`window`].
//!
//! Start reading at [`mcp::serve`] and [`endpoint_server::serve`].
//!
//! ```
//! use agent::{Engine, EngineConfig, Host};
//! use gateway::endpoint::McpRequest;
//! use gateway::mcp::ServedTools;
//! use tokio::io::AsyncReadExt;
//!
//! # #[tokio::main]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let (data, workspace) = (tempfile::tempdir()?, tempfile::tempdir()?);
//! let config = EngineConfig::new(data.path().to_owned(), Host::Headless { approve_all: false });
//! let engine = Engine::open(config).await?;
//! // For a client that started this program: its standard input and output.
//! let hello = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{
//!     "protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"example","version":"1"}}}"#;
//! let hello = hello.replace('\n', "") + "\n";
//! let (to, mut answers) = tokio::io::duplex(1 << 16);
//! let from = std::io::Cursor::new(hello.into_bytes());
//! let request = McpRequest { workspace: workspace.path().to_owned(), server: None };
//! let served = ServedTools::open(&engine, &request).await?;
//! gateway::mcp::serve(served, from, to, std::future::pending()).await?;
//! let mut answer = String::new();
//! answers.read_to_string(&mut answer).await?;
//! assert!(answer.contains("serverInfo"));
//! # Ok(())
//! # }
//! ```

pub mod acp_agent;
pub mod acp_client;
pub mod agent_calls;
pub mod agent_hooks;
mod agent_servers;
pub mod connections;
pub mod endpoint;
pub mod endpoint_server;
pub mod limits;
pub mod mcp;
pub mod mcp_http;
pub mod transcripts;
pub mod window;
