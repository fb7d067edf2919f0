//! Commands in the sandbox: dry runs, egress, variables and protection layers.

// Dry runs of commands: shown, evaluated, committed as they were shown, undone.
#[cfg(target_os = "linux")]
pub(crate) mod commits;
// Commands with a way to the network.
#[cfg(target_os = "linux")]
pub(crate) mod egress;
// Consequences of a call beyond the paths that it changes.
#[cfg(target_os = "linux")]
pub(crate) mod consequences;
// What protects a project and its people.
#[cfg(target_os = "linux")]
pub(crate) mod guards;
// What programs keep in the home folder.
#[cfg(target_os = "linux")]
pub(crate) mod home_state;
// Environment variables of the app that reach the programs that it starts.
#[cfg(target_os = "linux")]
pub(crate) mod environment_variables;
// Files of the person's own that a command reads outside of the workspace.
#[cfg(target_os = "linux")]
pub(crate) mod outside_reads;
// A home folder for one test.
#[cfg(target_os = "linux")]
mod own_home;
// Postures: what asks, and what passes by its effects.
#[cfg(target_os = "linux")]
pub(crate) mod postures;
#[cfg(target_os = "linux")]
pub(crate) mod protection_layers;
// Rules for the remotes of a repository.
#[cfg(target_os = "linux")]
pub(crate) mod remotes;
// Asks that a person skips for a while.
#[cfg(target_os = "linux")]
pub(crate) mod skipped_asks;
// Words of commands that only the run tells.
#[cfg(target_os = "linux")]
pub(crate) mod unknown_words;
