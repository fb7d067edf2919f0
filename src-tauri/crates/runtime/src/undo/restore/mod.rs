//! Restores: selects entries and their directions, plans the changes, and carries them out.

pub(crate) mod apply;
pub(crate) mod conflict;
pub(crate) mod execute;
pub(crate) mod merge;
pub(crate) mod parents;
pub(crate) mod selection;
pub(crate) mod survey;
pub(crate) mod walk;
