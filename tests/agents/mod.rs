//! Agents with a manifest, and the sub-agents that work for them.

// Rights of sub-agents, which have no more than their caller.
pub(crate) mod inherited_rights;
// Sessions of an agent with a manifest.
pub(crate) mod manifests;
// Work that an agent gives to another.
pub(crate) mod sub_agent_tasks;
// Calls of programs outside, which run them themselves.
pub(crate) mod delegated_calls;
// Agents of other people that answer in a session.
pub(crate) mod acp_agents;
// What such an agent asks the person beside its calls.
pub(crate) mod acp_elicitation;
// What such an agent lets a person choose.
pub(crate) mod acp_options;
// What such an agent tells of its use.
pub(crate) mod acp_usage;
// The same, where the agent has our hooks as well.
pub(crate) mod acp_hooks;
// MCP servers that such an agent is given.
#[cfg(unix)]
pub(crate) mod acp_servers;
// Sessions that they have had by themselves.
pub(crate) mod acp_sessions;
// The same, where the agent is on another machine.
#[cfg(unix)]
pub(crate) mod acp_elsewhere;
// The same, where the agent does not keep to the protocol.
pub(crate) mod acp_faults;
// The same, where the agent runs in a sandbox.
#[cfg(target_os = "linux")]
pub(crate) mod acp_enclosed;
