//! Restores: which entries are carried which way, what they would do, and carrying it out.

pub(crate) mod apply;
pub(crate) mod conflict;
pub(crate) mod execute;
pub(crate) mod merge;
pub(crate) mod parents;
pub(crate) mod selection;
pub(crate) mod survey;
pub(crate) mod walk;
