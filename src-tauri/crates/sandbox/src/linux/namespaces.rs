//! Namespaces of the sandbox's own: users, mounts, network, processes, messages, host name.
#![allow(unsafe_code, reason = "forking, in a program with one thread")]

use std::fs;
use std::io;

use rustix::process::{Pid, getgid, getuid};
use rustix::thread::{UnshareFlags, unshare_unsafe};

/// Leaves all shared namespaces. The user keeps the same id inside, so that programs find their own files.
pub(super) fn unshare_all() -> io::Result<()> {
    let (user, group) = (getuid().as_raw(), getgid().as_raw());
    let all = UnshareFlags::NEWUSER
        | UnshareFlags::NEWNS
        | UnshareFlags::NEWNET
        | UnshareFlags::NEWPID
        | UnshareFlags::NEWIPC
        | UnshareFlags::NEWUTS
        | UnshareFlags::NEWCGROUP;
    // SAFETY: this program has one thread, and no open file is shared with another.
    unsafe { unshare_unsafe(all) }?;
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
    fs::write("/proc/self/gid_map", format!("{group} {group} 1"))
}

/// Forks. Returns `None` in the child.
pub(super) fn fork_process() -> io::Result<Option<Pid>> {
    // SAFETY: this program has one thread, so the child finds every lock open.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        child => Ok(Pid::from_raw(child)),
    }
}
