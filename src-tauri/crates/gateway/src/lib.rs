//! The gateway for external clients: serves the tools of a workspace to programs that make the calls themselves.
//!
//! **The gateway decides nothing, and accesses neither disk nor network**: a request becomes a call of an
//! [`agent::ExternalClient`], which goes through the same pipeline, and the outcome of the call becomes an answer.
//! There is nobody to ask, so a call that asks is denied, unless rules or the caller that started the gateway allow it.
//! **A tool is described only as the tool itself publishes, and a client's description of itself is recorded as the
//! client's own claim.**
//!
//! Start reading at [`mcp::serve`].

pub mod limits;
pub mod mcp;
