//! Commands that run in the real workspace, over a snapshot.

pub(crate) mod run;
pub(crate) mod snapshot;
