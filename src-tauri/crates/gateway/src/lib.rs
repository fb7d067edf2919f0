//! Other people's clients: what a workspace can do, served to programs that make the calls themselves.
//!
//! **It decides nothing, and it reaches neither disk nor network**: a request becomes a call of an [`agent::ExternalClient`], which
//! walks the one pipeline; what comes of it becomes an answer. Nobody is there to be asked, so what asks is denied, unless
//! rules or whoever started it allow it. **What it says of a tool is what the tool publishes, and what a client says of itself is
//! kept as its own word.**
//!
//! Start reading at [`mcp::serve`].

pub mod limits;
pub mod mcp;
