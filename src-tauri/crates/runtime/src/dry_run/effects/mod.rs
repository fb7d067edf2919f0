//! The changes that a command made, as effects for a person and as a plan.

pub(crate) mod attributes;
pub(crate) mod contents;
pub(crate) mod renames;
pub(crate) mod report;
pub(crate) mod rights;
pub(crate) mod summary;
