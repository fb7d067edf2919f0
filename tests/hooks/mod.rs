//! Hooks of the host and hook programs of the person.

// What a host hears of a call and may keep from happening.
pub(crate) mod host_hooks;
// What a host and a tool put into a call, and what a classifier is given of it.
pub(crate) mod injected_arguments;
#[cfg(unix)]
pub(crate) mod programs;
