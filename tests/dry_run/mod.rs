//! Commands in the sandbox: dry runs, egress, variables and protection layers.

// Dry runs of commands: shown, evaluated, committed as they were shown, undone.
#[cfg(target_os = "linux")]
pub(crate) mod commits;
// Commands with a way to the network.
#[cfg(target_os = "linux")]
pub(crate) mod egress;
// Environment variables of the app that reach the programs that it starts.
#[cfg(target_os = "linux")]
pub(crate) mod environment_variables;
// Postures: what asks, and what passes by its effects.
#[cfg(target_os = "linux")]
pub(crate) mod postures;
#[cfg(target_os = "linux")]
pub(crate) mod protection_layers;
