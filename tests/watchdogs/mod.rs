//! Watchdogs: their checks, their scope and the grants that answer them.

// What the watchdogs say before a call, built in and the person's own.
#[cfg(unix)]
pub(crate) mod checks;
// What a person answers a watchdog for good.
#[cfg(unix)]
pub(crate) mod grants;
// Which calls they are asked about, and what they are told of the agent.
#[cfg(unix)]
pub(crate) mod scope;
