//! The caller's end of a sandbox: the connection through which the sandbox program gets its specification and returns
//! the port for network access, if the sandbox has it.

use std::io::{self, Write as _};
use std::net::TcpListener;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

use crate::SandboxSpec;
use crate::linux::fd_passing;

/// Takes the place of a pipe to the program's standard input; a sandbox with network access needs it, see
/// [`SandboxSpec::proxy`]. The sandbox lasts as long as this does, or until it is [stopped](SandboxConnection::stop).
/// Dropping this takes a while: it holds the mounts of the sandbox as well, so that the program need not wait until
/// they are released. No process runs in the sandbox any more once the program has ended, even if this is still held.
#[derive(Debug)]
pub struct SandboxConnection(UnixStream);

impl SandboxConnection {
    /// Returns this end, and the one that becomes the program's standard input.
    ///
    /// # Errors
    /// No file descriptor is left.
    pub fn new_pair() -> io::Result<(Self, OwnedFd)> {
        let (outside, inside) = UnixStream::pair()?;
        Ok((Self(outside), inside.into()))
    }

    /// Asks the running program for a sandbox.
    ///
    /// # Errors
    /// The program is gone, or a string of the specification is not valid text.
    pub fn send_spec(&self, spec: &SandboxSpec) -> io::Result<()> {
        let mut line = serde_json::to_vec(spec)?;
        line.push(b'\n');
        (&self.0).write_all(&line)
    }

    /// Hands over the standard input of the command, once the program asks for it, see [`SandboxSpec::input`].
    ///
    /// # Errors
    /// The sandbox ended before it asked: the obstacle is in its report file.
    pub fn send_input(&self, input: OwnedFd) -> io::Result<()> {
        let (words, _) = fd_passing::receive_with_fd(&self.0)?;
        match words.as_slice() == fd_passing::INPUT_MESSAGE {
            true => fd_passing::send_with_fd(&self.0, fd_passing::INPUT_MESSAGE, Some(&input)),
            false => Err(io::Error::new(
                io::ErrorKind::UnexpectedEof,
                "the sandbox ended before it took its input",
            )),
        }
    }

    /// Ends the sandbox, if it has not ended by itself.
    pub fn stop(&self) {
        // One that is not connected any more has ended.
        let _ = self.0.shutdown(std::net::Shutdown::Both);
    }

    /// Waits for the port in the sandbox's network at which programs find their proxy. Every connection to it comes
    /// from a program of the sandbox; the caller judges its requests.
    ///
    /// # Errors
    /// The sandbox ended before it had a port: the obstacle is in its report file.
    pub fn receive_listener(&self) -> io::Result<TcpListener> {
        match fd_passing::receive_with_fd(&self.0)? {
            (_, Some(listener)) => Ok(listener.into()),
            (_, None) => Err(io::Error::new(
                io::ErrorKind::UnexpectedEof,
                "the sandbox ended before its network access was set up",
            )),
        }
    }
}

impl AsFd for SandboxConnection {
    /// Readable once there is a listener to take, or none will come.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
