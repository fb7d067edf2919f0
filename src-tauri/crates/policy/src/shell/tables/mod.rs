//! Tables of well-known programs: their options, accesses, and wrappers.

pub(crate) mod accesses;
pub(crate) mod options;
pub(crate) mod wrapper;
pub(crate) mod wrappers;
