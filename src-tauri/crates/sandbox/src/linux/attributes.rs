//! What may be done with a mount.
#![allow(unsafe_code, reason = "the call has no safe form yet")]

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsFd, AsRawFd as _};

use rustix::mount::MountAttrFlags;

/// Whether what is mounted below counts too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Below {
    /// All of it.
    Too,
    /// Only what is named.
    Not,
}

/// As `struct mount_attr` of the kernel.
#[repr(C)]
struct MountAttr {
    set: u64,
    clear: u64,
    propagation: u64,
    user_namespace: u64,
}

/// Sets attributes of a mount, and takes none away. An empty path means what `from` holds.
pub(super) fn set(
    from: impl AsFd,
    path: &CStr,
    below: Below,
    attributes: MountAttrFlags,
) -> io::Result<()> {
    let attributes = MountAttr {
        set: u64::from(attributes.bits()),
        clear: 0,
        propagation: 0,
        user_namespace: 0,
    };
    let mut flags = 0;
    if below == Below::Too {
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
            size_of::<MountAttr>(),
        )
    };
    match done {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
