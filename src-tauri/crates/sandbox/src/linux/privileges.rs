//! Privileges that a command drops before it runs: capabilities, new privileges, unlimited resources, open files.
#![allow(
    unsafe_code,
    reason = "the call that marks all open files has no safe form"
)]

use std::io;

use rustix::process::{Resource, Rlimit, setrlimit};
use rustix::thread::{
    CapabilitiesSecureBits, CapabilitySet, CapabilitySets, capabilities,
    clear_ambient_capability_set, remove_capability_from_bounding_set, set_capabilities,
    set_capabilities_secure_bits, set_no_new_privs,
};

use crate::SandboxLimits;

/// Sets the limits, for good.
pub(super) fn set_limits(limits: &SandboxLimits) -> io::Result<()> {
    for (resource, max) in [
        (Resource::Nproc, u64::from(limits.processes)),
        (Resource::Data, limits.memory_bytes),
        (Resource::Fsize, limits.file_bytes),
        (Resource::Nofile, limits.open_files),
        (Resource::Core, 0),
    ] {
        let now = rustix::process::getrlimit(resource);
        let max = now.maximum.map_or(max, |there| there.min(max));
        setrlimit(
            resource,
            Rlimit {
                current: Some(max),
                maximum: Some(max),
            },
        )?;
    }
    Ok(())
}

/// Closes every way back to a dropped capability: also for root, which would get all of them again with the next
/// program.
pub(super) fn lock_capabilities() -> io::Result<()> {
    set_capabilities_secure_bits(
        CapabilitiesSecureBits::NO_ROOT
            | CapabilitiesSecureBits::NO_ROOT_LOCKED
            | CapabilitiesSecureBits::NO_SETUID_FIXUP
            | CapabilitiesSecureBits::NO_SETUID_FIXUP_LOCKED
            | CapabilitiesSecureBits::KEEP_CAPS_LOCKED
            | CapabilitiesSecureBits::NO_CAP_AMBIENT_RAISE
            | CapabilitiesSecureBits::NO_CAP_AMBIENT_RAISE_LOCKED,
    )?;
    clear_ambient_capability_set()?;
    for capability in CapabilitySet::all() {
        match remove_capability_from_bounding_set(capability) {
            // This kernel does not know that one.
            Ok(()) | Err(rustix::io::Errno::INVAL) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(set_no_new_privs(true)?)
}

/// Drops every capability of this process, and the way to new ones by another program, which is all that an ordinary
/// user may do.
pub(super) fn drop_capabilities() -> io::Result<()> {
    set_no_new_privs(true)?;
    let none = CapabilitySets {
        effective: CapabilitySet::empty(),
        permitted: CapabilitySet::empty(),
        inheritable: CapabilitySet::empty(),
    };
    Ok(set_capabilities(None, none)?)
}

/// Subjects a supervisor to file modes like the processes in its sandbox, so that a path leads both to the same place,
/// or neither. Requests on behalf of another process still have all rights of that process.
pub(super) fn drop_file_overrides() -> io::Result<()> {
    let mut ours = capabilities(None)?;
    ours.effective
        .remove(CapabilitySet::DAC_OVERRIDE | CapabilitySet::DAC_READ_SEARCH);
    Ok(set_capabilities(None, ours)?)
}

/// Marks every open file but the three streams to be closed when the command begins: an open one would lead past every
/// wall.
pub(super) fn set_close_on_exec() -> io::Result<()> {
    // SAFETY: it marks files and closes none, so nothing in this process loses what it owns.
    let marked = unsafe {
        libc::syscall(
            libc::SYS_close_range,
            3_u32,
            u32::MAX,
            libc::CLOSE_RANGE_CLOEXEC,
        )
    };
    match marked {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
