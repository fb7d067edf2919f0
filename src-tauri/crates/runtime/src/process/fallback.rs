//! Processes where there are no process groups: the child itself is ended, its output read by a thread.

use std::io::{PipeReader, Read};
use std::process::ExitStatus;

use tokio::process::Child;
use tokio::sync::mpsc;

use super::Exit;
use crate::limits::PIECE_BYTES_MAX;

/// The reading end of a command's output.
pub(crate) struct Pipe {
    pieces: mpsc::Receiver<Vec<u8>>,
}

impl Pipe {
    pub(super) fn new(mut reader: PipeReader) -> std::io::Result<Self> {
        let (sender, pieces) = mpsc::channel(16);
        std::thread::Builder::new().spawn(move || {
            let mut buffer = vec![0; PIECE_BYTES_MAX];
            while let Ok(length @ 1..) = reader.read(&mut buffer) {
                if sender.blocking_send(buffer[..length].to_vec()).is_err() {
                    break;
                }
            }
        })?;
        Ok(Self { pieces })
    }

    /// The next piece; none when nobody can write any more.
    pub(super) async fn next(&mut self) -> Option<Vec<u8>> {
        self.pieces.recv().await
    }
}

/// A command's process tree, by the id of its head.
pub(super) struct Group {
    id: Option<u32>,
}

impl Group {
    pub(super) fn of(child: &Child) -> Self {
        Self { id: child.id() }
    }

    /// Nothing here ends by being closed.
    pub(super) async fn goes(&self) {}

    /// Ends the tree.
    pub(super) async fn end(&mut self) {
        if let Some(id) = self.id.take() {
            let _ = tree_killer(id).status();
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if let Some(id) = self.id {
            let _ = tree_killer(id).status();
        }
    }
}

fn tree_killer(id: u32) -> std::process::Command {
    let mut killer = std::process::Command::new("taskkill");
    killer
        .args(["/T", "/F", "/PID", &id.to_string()])
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null());
    killer
}

pub(super) fn exit_of(status: ExitStatus) -> Exit {
    Exit::Code(status.code().unwrap_or(-1))
}
