//! Process groups, pipes and signals on Unix.

use std::io::PipeReader;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe;
use tokio::process::Child;

use super::CommandExit;
use crate::limits::{KILL_GRACE, OUTPUT_PIECE_BYTES_MAX, TERM_GRACE};

/// The reading end of a command's output.
pub(crate) struct OutputPipe {
    receiver: pipe::Receiver,
    buffer: Vec<u8>,
}

impl OutputPipe {
    pub(crate) fn new(reader: PipeReader) -> std::io::Result<Self> {
        Ok(Self {
            receiver: pipe::Receiver::from_owned_fd(reader.into())?,
            buffer: vec![0; OUTPUT_PIECE_BYTES_MAX],
        })
    }

    /// Returns the next piece of output; `None` when no process can write any more.
    pub(super) async fn next_piece(&mut self) -> Option<Vec<u8>> {
        match self.receiver.read(&mut self.buffer).await {
            Ok(0) | Err(_) => None,
            Ok(length) => Some(self.buffer[..length].to_vec()),
        }
    }
}

/// A command's process group. Dropping it before its end kills it.
pub(super) struct ProcessGroup {
    id: Option<Pid>,
}

impl ProcessGroup {
    pub(super) fn from_child(child: &Child) -> Self {
        let id = child.id().and_then(|id| i32::try_from(id).ok());
        Self {
            id: id.and_then(Pid::from_raw),
        }
    }

    /// Waits a moment for the group to end by itself.
    pub(super) async fn wait_for_exit(&self) {
        if let Some(id) = self.id {
            has_exited_within(id, KILL_GRACE).await;
        }
    }

    /// Asks the processes left in the group to end, then kills them.
    pub(super) async fn terminate(&mut self) {
        let Some(id) = self.id else { return };
        for (signal, grace) in [(Signal::TERM, TERM_GRACE), (Signal::KILL, KILL_GRACE)] {
            if kill_process_group(id, signal).is_err() {
                break;
            }
            if has_exited_within(id, grace).await {
                break;
            }
        }
        self.id = None;
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        if let Some(id) = self.id {
            // It may be gone already; then there is nothing to kill.
            let _ = kill_process_group(id, Signal::KILL);
        }
    }
}

/// Whether a group ends within `grace`. Its existence is polled, since nothing else can be waited for.
async fn has_exited_within(id: Pid, grace: Duration) -> bool {
    let until = Instant::now() + grace;
    let mut pause = Duration::from_millis(1);
    loop {
        if test_kill_process_group(id).is_err() {
            return true;
        }
        if Instant::now() >= until {
            return false;
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

pub(super) fn exit_from_status(status: ExitStatus) -> CommandExit {
    match (status.code(), status.signal()) {
        (Some(code), _) => CommandExit::Code(code),
        (None, Some(signal)) => CommandExit::Signal(signal),
        (None, None) => CommandExit::Code(-1),
    }
}
