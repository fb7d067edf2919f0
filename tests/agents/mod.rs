//! Agents with a manifest, and the sub-agents that work for them.

// Rights of sub-agents, which have no more than their caller.
pub(crate) mod inherited_rights;
// Sessions of an agent with a manifest.
pub(crate) mod manifests;
// Work that an agent gives to another.
pub(crate) mod sub_agent_tasks;
// Calls of programs outside, which run them themselves.
pub(crate) mod delegated_calls;
