//! The files and hosts that a command accesses.

pub(crate) mod file_uses;
pub(crate) mod folders;
pub(crate) mod line_folders;
pub(crate) mod link_targets;
pub(crate) mod operands;
pub(crate) mod path_pieces;
pub(crate) mod recorder;
pub(crate) mod recursion;
