//! Hooks of the host and hook programs of the person.

// Hooks of a host: the order in which they hear of a call, and the calls that they keep back.
pub(crate) mod host_hooks;
// Arguments that a host and a tool put into a call, and the input of a classifier.
pub(crate) mod injected_arguments;
#[cfg(unix)]
pub(crate) mod programs;
