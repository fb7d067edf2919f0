//! Attributes of mounts.
#![allow(unsafe_code, reason = "the call has no safe form yet")]

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsFd, AsRawFd as _, OwnedFd};

use rustix::mount::MountAttrFlags;

/// Whether mounts below the named one are included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::linux) enum Recursion {
    /// All mounts below.
    Recursive,
    /// Only the named mount.
    TopOnly,
}

/// `struct mount_attr` of the kernel.
#[repr(C)]
struct MountAttributes {
    set: u64,
    clear: u64,
    propagation: u64,
    user_namespace: u64,
}

/// Sets attributes of a mount, and clears none. An empty path means the mount that `from` holds.
pub(in crate::linux) fn set_mount_attributes(
    from: impl AsFd,
    path: &CStr,
    below: Recursion,
    attributes: MountAttrFlags,
) -> io::Result<()> {
    let attributes = MountAttributes {
        set: u64::from(attributes.bits()),
        clear: 0,
        propagation: 0,
        user_namespace: 0,
    };
    let mut flags = 0;
    if below == Recursion::Recursive {
        flags |= libc::AT_RECURSIVE;
    }
    if path.is_empty() {
        flags |= libc::AT_EMPTY_PATH;
    }
    // SAFETY: the path ends in a zero byte, and the kernel reads exactly the size that it is given.
    let done = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            from.as_fd().as_raw_fd(),
            path.as_ptr(),
            flags,
            &raw const attributes,
            size_of::<MountAttributes>(),
        )
    };
    match done {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Makes a mount that is held read-only.
pub(in crate::linux) fn make_read_only(mount: &OwnedFd, below: Recursion) -> io::Result<()> {
    set_mount_attributes(mount, c"", below, MountAttrFlags::MOUNT_ATTR_RDONLY)
}
