//! Watchdogs: their checks, their scope and the grants that answer them.

// Watchdogs before a call, built in and the person's own.
#[cfg(unix)]
pub(crate) mod checks;
// Grants that answer a watchdog.
#[cfg(unix)]
pub(crate) mod grants;
// Secrets that a call sends out, in everything that is shown and kept.
#[cfg(unix)]
pub(crate) mod hidden_secrets;
// Calls that they are asked about, and what they are told of the agent.
#[cfg(unix)]
pub(crate) mod outgoing_secrets;
// Secrets in the commits that a command pushes.
#[cfg(unix)]
pub(crate) mod pushed_commits;
mod scope;
