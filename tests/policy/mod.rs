//! Verdicts of the policy on calls, commands and paths.

// Commands that other programs for the same purpose stop, and those that were once let through.
pub(crate) mod command_tables;
// Explanations of calls, held against the verdicts of the pipeline.
pub(crate) mod explanations;
// Lines that go into folders.
#[cfg(unix)]
pub(crate) mod folder_changes;
// Commands that read whole folders, and programs that are named by a path.
pub(crate) mod folder_commands;
// Paths of three systems, each with its verdict and reason.
pub(crate) mod paths;
// Paths that begin with a variable.
#[cfg(unix)]
pub(crate) mod set_variables;
// Programs that a shell really runs, which are among those seen in the command.
#[cfg(unix)]
pub(crate) mod shell_facts;
// Files that commands name, beside the real programs.
#[cfg(unix)]
pub(crate) mod shell_file_uses;
// The table that engine and interface share.
pub(crate) mod tool_modes;
// Verdicts: rules and calls in `cases/*.toml`, with the verdict and the gate that they must come to.
pub(crate) mod verdicts;
