//! Watchdogs: their checks, their scope and the grants that answer them.

// Watchdogs before a call, built in and the person's own.
#[cfg(unix)]
pub(crate) mod checks;
// Grants that answer a watchdog.
#[cfg(unix)]
pub(crate) mod grants;
// Calls that they are asked about, and what they are told of the agent.
#[cfg(unix)]
pub(crate) mod outgoing_secrets;
mod scope;
