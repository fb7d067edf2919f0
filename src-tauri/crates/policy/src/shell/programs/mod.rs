//! Programs that run other programs or code, by their options, operands, or input.

pub(crate) mod awk;
pub(crate) mod foreign_shell;
pub(crate) mod git;
pub(crate) mod git_remotes;
pub(crate) mod inner_commands;
pub(crate) mod languages;
pub(crate) mod launchers;
pub(crate) mod options;
pub(crate) mod runners;
pub(crate) mod sed;
pub(crate) mod stdin_runners;
