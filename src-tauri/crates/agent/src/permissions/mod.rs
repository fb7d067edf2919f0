//! The permissions of calls: rules, grants, trust, the bounds of an agent, and the network access of commands.

pub(crate) mod access_resolver;
pub(crate) mod agent_bounds;
pub(crate) mod egress;
pub(crate) mod grant_ledger;
pub(crate) mod manifest;
pub(crate) mod policy_input;
mod remote_uses;
pub(crate) mod rule_uses;
pub(crate) mod rules;
pub mod trust;
