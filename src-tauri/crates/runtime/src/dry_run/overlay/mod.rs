//! The places in which the changes of a command are kept, and how they differ from the workspace.

pub(crate) mod change;
#[cfg(target_os = "linux")]
pub(crate) mod content_digest;
pub(crate) mod content_eq;
pub(crate) mod diff;
#[cfg(any(target_os = "linux", target_os = "macos"))]
pub(crate) mod layer;
pub(crate) mod marks;
pub(crate) mod owned_folder;
pub(crate) mod read_budget;
pub(crate) mod workspace_copy;
