//! What the policy says of calls, commands and paths.

// What other programs for the same purpose stop, and what was once let through.
pub(crate) mod command_tables;
// What is explained of calls, held against what the pipeline says of them.
pub(crate) mod explanations;
// Commands that read whole folders, and programs that are named by a path.
pub(crate) mod folder_commands;
// Paths of three systems, each with its verdict and reason.
pub(crate) mod paths;
// What a shell really runs is among what was seen in the command.
#[cfg(unix)]
pub(crate) mod shell_facts;
// Which files commands name, beside the real programs.
#[cfg(unix)]
pub(crate) mod shell_file_uses;
// The table that engine and interface share.
pub(crate) mod tool_modes;
// Verdicts: rules and calls in `cases/*.toml`, with the verdict and the gate that they must come to.
pub(crate) mod verdicts;
