//! Connections to other people's agents: Countersign's hooks in their configurations.
//!
//! An agent that is connected calls `countersign hook AGENT` before and after it uses a tool. What is written for that
//! stands in `agents.toml`. **A change is planned, shown and then applied**: everything else in the file stays to the
//! byte, the file is replaced only while it is what was read, and what it was is kept in the data folder, so that
//! [`plan_disconnect`] can take the change back.
//!
//! [`servers`] puts the servers of an agent's configuration behind the gateway.
//!
//! Start reading at [`plan_connect`].

pub(crate) mod agents;
mod change;
pub(crate) mod check;
mod config_text;
mod dependents;
mod edit_error;
mod hook_command;
mod hook_entries;
mod json_layout;
mod json_text;
mod plugin;
mod records;
pub mod servers;
pub(crate) mod session_hooks;
mod shown_change;
mod survey;
mod toml_text;

#[cfg(test)]
mod tests;

pub use agents::{ConnectableAgent, find_agent, list_agents};
pub use change::{ConnectionChange, plan_connect, plan_disconnect};
pub use check::{CheckedAnswer, check_connection};
pub use dependents::find_dependent_agents;
pub use shown_change::{make_shown_change, plan_change};
pub use survey::{ConnectionPlace, inspect_agent, inspect_agents, recent_since};
