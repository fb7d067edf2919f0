//! The file system of a sandbox: mounts, devices, masks over secrets, and Landlock as the second wall.

pub(crate) mod devices;
pub(crate) mod landlock;
pub(crate) mod mask_set;
pub(crate) mod mount_attributes;
pub(crate) mod mounts;
pub(crate) mod placeholders;
