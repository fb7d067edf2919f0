//! Notifies the first process of a sandbox when other processes of it end.
#![allow(unsafe_code, reason = "signals that wait in a file have no safe form")]

use std::io;
use std::mem::zeroed;
use std::os::fd::{AsFd, BorrowedFd, FromRawFd as _, OwnedFd};
use std::ptr::null_mut;

use rustix::io::Errno;
use rustix::process::{Pid, WaitOptions, WaitStatus, wait};

/// Becomes readable when a process of the sandbox ended.
pub(super) struct ChildReaper(OwnedFd);

impl AsFd for ChildReaper {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Begins to listen. Called before the first child starts, which begins with no signal blocked, as every program does.
pub(super) fn watch_children() -> io::Result<ChildReaper> {
    // SAFETY: the set is made by the system's own words, and the descriptor is new and ours.
    unsafe {
        let mut signals: libc::sigset_t = zeroed();
        libc::sigemptyset(&raw mut signals);
        libc::sigaddset(&raw mut signals, libc::SIGCHLD);
        if libc::sigprocmask(libc::SIG_BLOCK, &raw const signals, null_mut()) != 0 {
            return Err(io::Error::last_os_error());
        }
        let flags = libc::SFD_CLOEXEC | libc::SFD_NONBLOCK;
        match libc::signalfd(-1, &raw const signals, flags) {
            -1 => Err(io::Error::last_os_error()),
            heard => Ok(ChildReaper(OwnedFd::from_raw_fd(heard))),
        }
    }
}

impl ChildReaper {
    /// Reaps every process that ended, also orphaned ones, and returns their exit statuses.
    pub(super) fn reap_all(&self) -> rustix::io::Result<Vec<(Pid, WaitStatus)>> {
        // Several ends make one signal.
        let mut signal = [0; size_of::<libc::signalfd_siginfo>()];
        while rustix::io::read(&self.0, &mut signal).is_ok() {}
        let mut ended = Vec::new();
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some(one)) => ended.push(one),
                Err(Errno::INTR) => {}
                Ok(None) | Err(Errno::CHILD) => return Ok(ended),
                Err(error) => return Err(error),
            }
        }
    }
}
