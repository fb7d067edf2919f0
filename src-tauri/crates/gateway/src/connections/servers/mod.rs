//! The servers of an agent's configuration, put behind the gateway.
//!
//! Each entry that names a server by a command or an address becomes one that starts `countersign gateway mcp` in front of the
//! same server, under the same name. Everything else of the entry and of the file stays to the byte. What an entry was is kept
//! in the data folder, by which it is put back. **Values of variables and headers stay where the agent keeps them**: the
//! gateway is told their names, and no output shows them.
//!
//! Start reading at [`plan_servers_behind_gateway`].

mod change;
mod config;
mod entries;
mod entry_text;
mod planned_entry;
mod records;
mod survey;

pub use change::{ServersChange, ServersPlan, plan_servers_behind_gateway, plan_servers_restored};
pub(in crate::connections) use entries::ServerDialect;
pub(in crate::connections) use survey::inspect_servers;
