//! Passes open files between processes: from the command to its supervisor, the listener for notifications; from the
//! supervisor to the outside, the port for network access; and from the outside to the command, its standard input.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};

use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketFlags, SocketType, recvmsg, sendmsg, socketpair,
};

/// Message by which the standard input of a command is requested, and with which it is handed on.
pub(crate) const INPUT_MESSAGE: &[u8] = b"input";

/// Returns the supervisor's end and the command's, which closes when the command begins. Each message arrives whole.
pub(super) fn new_socket_pair() -> io::Result<(OwnedFd, OwnedFd)> {
    Ok(socketpair(
        AddressFamily::UNIX,
        SocketType::SEQPACKET,
        SocketFlags::CLOEXEC,
        None,
    )?)
}

/// Sends bytes, and an open file with them.
pub(crate) fn send_with_fd(to: impl AsFd, words: &[u8], file: Option<&OwnedFd>) -> io::Result<()> {
    let files: Vec<_> = file.into_iter().map(|file| file.as_fd()).collect();
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut with = SendAncillaryBuffer::new(&mut space);
    if !files.is_empty() {
        with.push(SendAncillaryMessage::ScmRights(&files));
    }
    sendmsg(to, &[IoSlice::new(words)], &mut with, SendFlags::NOSIGNAL)?;
    Ok(())
}

/// Receives bytes, none when the other end is closed, and an open file, if one came.
pub(crate) fn receive_with_fd(from: impl AsFd) -> io::Result<(Vec<u8>, Option<OwnedFd>)> {
    let mut words = vec![0; 4096];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut with = RecvAncillaryBuffer::new(&mut space);
    let into = &mut [IoSliceMut::new(&mut words)];
    let got = recvmsg(from, into, &mut with, RecvFlags::CMSG_CLOEXEC)?;
    let file = with.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut files) => files.next(),
        _ => None,
    });
    words.truncate(got.bytes);
    Ok((words, file))
}
