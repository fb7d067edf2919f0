//! The caller's end of a room: what its program is told through, and the port that it hands back, if the room has a way out.

use std::io::{self, Write as _};
use std::net::TcpListener;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

use crate::SandboxSpec;
use crate::linux::fd_passing;

/// Stands in for a pipe to the program's standard input; a room with a way out needs it, see [`Room::proxy`]. The room lasts as
/// long as this does, or until it is no longer [wanted](Outside::no_longer). Letting go of it takes a while: what is mounted in the
/// room is held here as well, so that the program need not wait for the end of it. Nothing runs in the room any more once the program has ended, whoever holds what.
#[derive(Debug)]
pub struct SandboxConnection(UnixStream);

impl SandboxConnection {
    /// This end, and the one that becomes the program's standard input.
    ///
    /// # Errors
    /// There is no file left to be opened.
    pub fn new_pair() -> io::Result<(Self, OwnedFd)> {
        let (outside, inside) = UnixStream::pair()?;
        Ok((Self(outside), inside.into()))
    }

    /// Asks the program, which runs already, for a room.
    ///
    /// # Errors
    /// The program is gone, or a word of the room is no text.
    pub fn ask(&self, room: &SandboxSpec) -> io::Result<()> {
        let mut line = serde_json::to_vec(room)?;
        line.push(b'\n');
        (&self.0).write_all(&line)
    }

    /// Hands in what becomes the standard input of the command, once the program asks for it, see [`Room::input`].
    ///
    /// # Errors
    /// The room ended before it asked: what stood in its way is told in its file.
    pub fn send_input(&self, input: OwnedFd) -> io::Result<()> {
        let (words, _) = fd_passing::receive_with_fd(&self.0)?;
        match words.as_slice() == fd_passing::INPUT_MESSAGE {
            true => fd_passing::send_with_fd(&self.0, fd_passing::INPUT_MESSAGE, Some(&input)),
            false => Err(io::Error::new(
                io::ErrorKind::UnexpectedEof,
                "the room ended before it took its input",
            )),
        }
    }

    /// Ends the room, if it has not ended by itself.
    pub fn stop(&self) {
        // One that is not connected any more has ended.
        let _ = self.0.shutdown(std::net::Shutdown::Both);
    }

    /// Waits for the port of the room's network that programs are led to. Whoever connects there is a program of the room;
    /// what it asks for is somebody's to judge.
    ///
    /// # Errors
    /// The room ended before it had one: what stood in its way is told in its file.
    pub fn receive_listener(&self) -> io::Result<TcpListener> {
        match fd_passing::receive_with_fd(&self.0)? {
            (_, Some(listener)) => Ok(listener.into()),
            (_, None) => Err(io::Error::new(
                io::ErrorKind::UnexpectedEof,
                "the room ended before it had a way out",
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
