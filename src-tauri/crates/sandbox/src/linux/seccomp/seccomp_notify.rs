//! The kernel's notifications to the supervisor about calls, and the supervisor's answers: it lets a call pass, denies
//! it, or returns a placeholder for the requested socket.
//!
//! The placeholder is for sockets to programs on this machine: it is connected, its other end is closed, and no call
//! connects it to anything else, so it is a socket that any program of the sandbox could have created by itself. So a
//! program goes on to name its peer, and is refused then.
#![allow(unsafe_code, reason = "none of this has a safe form")]

use std::fs::File;
use std::io::{self, ErrorKind};
use std::mem::zeroed;
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, FromRawFd as _, OwnedFd};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use rustix::process::Pid;

use crate::linux::seccomp::notify_filter;

/// A call that waits for its answer.
pub(in crate::linux) struct Notification {
    id: u64,
    /// Thread of the sandbox that makes the call.
    pub(in crate::linux) pid: u32,
    pub(in crate::linux) call: libc::c_long,
    pub(in crate::linux) arguments: [u64; 6],
}

/// `SECCOMP_IOCTL_NOTIF_SET_FLAGS` and `SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP` of Linux 6.6.
const SET_FLAGS: libc::Ioctl = 0x4008_2104;
const SYNC_WAKE_UP: u64 = 1;

/// The listener on which notifications arrive.
pub(in crate::linux) struct NotifyListener(OwnedFd);

impl AsFd for NotifyListener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Installs the filter for the calls of this process, and of all that it starts. `None` where this system does not
/// permit it: an older kernel, or one whose only listener is taken by the environment of the sandbox itself.
pub(in crate::linux) fn install_listener() -> Option<OwnedFd> {
    // Without the second a signal may interrupt a call that never was interrupted before.
    let flags = libc::SECCOMP_FILTER_FLAG_NEW_LISTENER;
    install_filter(flags | libc::SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV)
        .or_else(|_| install_filter(flags))
        .ok()
}

fn install_filter(flags: libc::c_ulong) -> io::Result<OwnedFd> {
    let mut filter = notify_filter::build_filter();
    let program = libc::sock_fprog {
        len: filter.len() as u16,
        filter: filter.as_mut_ptr(),
    };
    // SAFETY: the program lives until the call returns, and what it returns is a new descriptor of ours, closed when the
    // command begins.
    unsafe {
        let listener = libc::syscall(
            libc::SYS_seccomp,
            libc::SECCOMP_SET_MODE_FILTER,
            flags,
            &raw const program,
        );
        match i32::try_from(listener) {
            Ok(listener) if listener >= 0 => Ok(OwnedFd::from_raw_fd(listener)),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

impl NotifyListener {
    pub(in crate::linux) fn new(listener: OwnedFd) -> Self {
        // Whoever asks waits, so that the answer may be found where it was asked. Older kernels do not know this.
        // SAFETY: the flags are a number and no address.
        let _ = unsafe { libc::ioctl(listener.as_raw_fd(), SET_FLAGS, SYNC_WAKE_UP) };
        Self(listener)
    }

    /// Waits for a notification, but not for ever: a program that opens no file asks nothing.
    fn wait_until_asked(&self) {
        const WAIT_MAX: Timespec = Timespec {
            tv_sec: 1,
            tv_nsec: 0,
        };
        let mut asked = [PollFd::new(self, PollFlags::IN)];
        // Where the wait is cut short, the refusal counts.
        let _ = poll(&mut asked, Some(&WAIT_MAX));
    }

    /// Receives the next notification; `None` if the caller is gone meanwhile.
    pub(in crate::linux) fn receive(&self) -> io::Result<Option<Notification>> {
        // SAFETY: the kernel wants it all zero, and fills no more than its size.
        let notification = unsafe {
            let mut notification: libc::seccomp_notif = zeroed();
            match self.ioctl(libc::SECCOMP_IOCTL_NOTIF_RECV, &raw mut notification) {
                Ok(()) => notification,
                Err(error) => {
                    return match error.raw_os_error() {
                        Some(libc::ENOENT | libc::EINTR) => Ok(None),
                        _ => Err(error),
                    };
                }
            }
        };
        Ok(Some(Notification {
            id: notification.id,
            pid: notification.pid,
            call: libc::c_long::from(notification.data.nr),
            arguments: notification.data.args,
        }))
    }

    /// Lets the call go on as if unobserved. A caller that is gone needs no answer.
    pub(in crate::linux) fn continue_call(&self, question: &Notification) {
        self.send_response(question, 0, libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE as u32);
    }

    /// Lets the call fail with `EPERM`.
    pub(in crate::linux) fn deny_call(&self, question: &Notification) {
        self.send_response(question, -libc::EPERM, 0);
    }

    fn send_response(&self, question: &Notification, error: i32, flags: u32) {
        let mut answer = libc::seccomp_notif_resp {
            id: question.id,
            val: 0,
            error,
            flags,
        };
        // SAFETY: the kernel reads no more than its size.
        let _ = unsafe { self.ioctl(libc::SECCOMP_IOCTL_NOTIF_SEND, &raw mut answer) };
    }

    /// Answers a call for a socket with one that is connected to nothing.
    ///
    /// # Errors
    /// The system has no such answer, or not for this caller: the call still waits.
    pub(in crate::linux) fn install_placeholder_socket(
        &self,
        question: &Notification,
    ) -> io::Result<()> {
        let wanted = question.arguments[1] as libc::c_int;
        let mut flags = SocketFlags::CLOEXEC;
        flags.set(SocketFlags::NONBLOCK, wanted & libc::SOCK_NONBLOCK != 0);
        let (stand_in, other) = socketpair(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
        drop(other);
        self.install_fd(question, stand_in.as_fd(), wanted & libc::SOCK_CLOEXEC)
    }

    /// Answers a call that opens a file with this one, which no program that the caller starts keeps.
    ///
    /// # Errors
    /// As [`NotifyListener::install_placeholder_socket`].
    pub(in crate::linux) fn install_file(
        &self,
        question: &Notification,
        file: &File,
    ) -> io::Result<()> {
        self.install_fd(question, file.as_fd(), libc::O_CLOEXEC)
    }

    fn install_fd(
        &self,
        question: &Notification,
        installed: BorrowedFd<'_>,
        flags: libc::c_int,
    ) -> io::Result<()> {
        let mut answer = libc::seccomp_notif_addfd {
            id: question.id,
            flags: libc::SECCOMP_ADDFD_FLAG_SEND as u32,
            srcfd: installed.as_raw_fd() as u32,
            newfd: 0,
            newfd_flags: flags as u32,
        };
        // SAFETY: the kernel reads no more than its size.
        unsafe { self.ioctl(libc::SECCOMP_IOCTL_NOTIF_ADDFD, &raw mut answer) }
    }

    /// Whether the same caller still waits: otherwise bytes that were read meanwhile may be another's.
    pub(in crate::linux) fn is_pending(&self, question: &Notification) -> bool {
        let mut id = question.id;
        // SAFETY: the kernel reads no more than its size.
        unsafe { self.ioctl(libc::SECCOMP_IOCTL_NOTIF_ID_VALID, &raw mut id) }.is_ok()
    }

    unsafe fn ioctl<T>(&self, request: libc::Ioctl, what: *mut T) -> io::Result<()> {
        // SAFETY: as the caller says.
        match unsafe { libc::ioctl(self.0.as_raw_fd(), request, what) } {
            0.. => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

impl Notification {
    /// Reads from the caller's memory; returns the bytes that could be read.
    pub(in crate::linux) fn read_bytes<'a>(&self, at: u64, into: &'a mut [u8]) -> &'a [u8] {
        let read = read_memory(self.pid.cast_signed(), at, into);
        &into[..read.unwrap_or_default()]
    }

    /// Reads a string that ends in a zero byte; `None` if it is longer than a path can be, or not readable.
    pub(in crate::linux) fn read_c_string(&self, at: u64) -> Option<Vec<u8>> {
        const PAGE: u64 = 4096;
        let mut text = Vec::new();
        let mut page = [0; PAGE as usize];
        while text.len() < PAGE as usize {
            let from = at.checked_add(text.len() as u64)?;
            // The memory beyond the end of a page may not be there.
            let read = self.read_bytes(from, &mut page[..(PAGE - from % PAGE) as usize]);
            match read.iter().position(|byte| *byte == 0) {
                Some(end) => {
                    text.extend_from_slice(&read[..end]);
                    return Some(text);
                }
                None if read.is_empty() => return None,
                None => text.extend_from_slice(read),
            }
        }
        None
    }
}

/// Whether this system permits reading the memory of a process that begins a program.
///
/// Until the program has begun, the kernel may refuse it for a moment although it permits it later. A program has begun
/// when it asks its first question, so a refusal counts only then.
pub(in crate::linux) fn can_read_program(process: Pid, listener: &NotifyListener) -> bool {
    can_read_memory(process) || {
        listener.wait_until_asked();
        can_read_memory(process)
    }
}

fn can_read_memory(process: Pid) -> bool {
    // Nothing is there: what counts is whether that, or the asking, is the error.
    let error =
        read_memory(process.as_raw_nonzero().get(), 0, &mut [0]).map_err(|error| error.kind());
    !matches!(
        error,
        Err(ErrorKind::PermissionDenied | ErrorKind::Unsupported)
    )
}

fn read_memory(pid: libc::pid_t, at: u64, into: &mut [u8]) -> io::Result<usize> {
    let length = into.len();
    let part = |base: *mut libc::c_void| libc::iovec {
        iov_base: base,
        iov_len: length,
    };
    let theirs = part(at as *mut libc::c_void);
    let mine = part(into.as_mut_ptr().cast());
    // SAFETY: the kernel checks the other's addresses, and writes no more than the length of ours.
    let read = unsafe { libc::process_vm_readv(pid, &raw const mine, 1, &raw const theirs, 1, 0) };
    usize::try_from(read).map_err(|_| io::Error::last_os_error())
}
