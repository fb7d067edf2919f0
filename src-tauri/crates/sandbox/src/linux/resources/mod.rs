//! Resource limits of a sandbox: the control group, memory, and which limits were reached.

pub(crate) mod cgroup;
pub(crate) mod limits;
pub(crate) mod memory;
