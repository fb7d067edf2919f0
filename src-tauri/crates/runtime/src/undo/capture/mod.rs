//! Copies of what a change affects, taken before or after it.

pub(crate) mod command;
pub(crate) mod observed;
pub(crate) mod plan;
