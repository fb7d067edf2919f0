//! Other people's servers as tools (MCP): one shared connection for each, and what it lists as tools of ours.
//!
//! **It knows no rule, no verdict and no session.** A tool of a server declares nothing that could be believed, so it asks;
//! what the server says of its safety can only tighten (M16). **It opens no process and no connection itself**: `runtime`
//! does, for servers that a person switched on. **What is not as it was approved is not called.**
//!
//! Start reading at [`Server`], one server from its start to its end; then [`ServerTool`], a call of one of its tools.

mod asked;
pub mod catalogue;
pub mod config;
pub mod content;
pub mod form;
mod handler;
pub mod import;
pub mod limits;
mod link;
mod log;
pub mod pin;
mod reasons;
mod resources;
mod seen;
mod server;
mod sign;
mod tool;
mod wanted;
mod wire;

pub use pin::Pins;
pub use server::{Ground, Rooms, Server, forget, signs_in};
pub use sign::Vault;
pub use tool::ServerTool;
pub use tools::refs::{self, Lookup};
