//! Copies for undo of the paths that a change affects, taken before or after the change.

pub(crate) mod command;
pub(crate) mod observed;
pub(crate) mod plan;
