//! Processes where there are no process groups: a job holds the processes that a command starts, its output is read by
//! a thread.

use std::io::{PipeReader, Read};
use std::os::windows::io::RawHandle;
use std::process::ExitStatus;

use tokio::process::Child;
use tokio::sync::mpsc;
use win32job::{ExtendedLimitInfo, Job, JobError};

use super::CommandExit;
use crate::limits::OUTPUT_PIECE_BYTES_MAX;

/// The reading end of a command's output.
pub(crate) struct OutputPipe {
    pieces: mpsc::Receiver<Vec<u8>>,
}

impl OutputPipe {
    pub(super) fn new(mut reader: PipeReader) -> std::io::Result<Self> {
        let (sender, pieces) = mpsc::channel(16);
        std::thread::Builder::new().spawn(move || {
            let mut buffer = vec![0; OUTPUT_PIECE_BYTES_MAX];
            while let Ok(length @ 1..) = reader.read(&mut buffer) {
                if sender.blocking_send(buffer[..length].to_vec()).is_err() {
                    break;
                }
            }
        })?;
        Ok(Self { pieces })
    }

    /// Returns the next piece of output; `None` when no process can write any more.
    pub(super) async fn next_piece(&mut self) -> Option<Vec<u8>> {
        self.pieces.recv().await
    }
}

/// A command's process tree: a job that ends with this process at the latest, and the id of its first process where
/// there can be no job.
pub(super) struct ProcessGroup {
    job: Option<Job>,
    id: Option<u32>,
}

impl ProcessGroup {
    /// Puts the first process into a job as soon as it is started: its children from before that are in no job.
    pub(super) fn from_child(child: &Child) -> Self {
        let job = child.raw_handle().and_then(|head| create_job(head).ok());
        Self {
            job,
            id: child.id(),
        }
    }

    /// Returns at once: no process ends by closing anything on this system.
    pub(super) async fn wait_for_exit(&self) {}

    /// Ends the process tree.
    pub(super) async fn terminate(&mut self) {
        self.kill_tree();
    }

    fn kill_tree(&mut self) {
        // Closed, it ends whatever is in it, also what outlived the head.
        let has_job = self.job.take().is_some();
        if let Some(id) = self.id.take()
            && !has_job
        {
            let _ = taskkill_command(id).status();
        }
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        self.kill_tree();
    }
}

/// Creates a job with a process in it. Closing the job ends every process in it.
fn create_job(head: RawHandle) -> Result<Job, JobError> {
    let mut limits = ExtendedLimitInfo::new();
    limits.limit_kill_on_job_close();
    let job = Job::create_with_limit_info(&limits)?;
    job.assign_process(head as isize)?;
    Ok(job)
}

fn taskkill_command(id: u32) -> std::process::Command {
    let mut killer = std::process::Command::new("taskkill");
    killer
        .args(["/T", "/F", "/PID", &id.to_string()])
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null());
    killer
}

pub(super) fn exit_from_status(status: ExitStatus) -> CommandExit {
    CommandExit::Code(status.code().unwrap_or(-1))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// The command's child would hold its output open for minutes, unless it ends with the command.
    #[tokio::test]
    async fn what_a_command_started_ends_with_it() {
        let (reader, writer) = std::io::pipe().unwrap();
        let mut starter = tokio::process::Command::new("cmd");
        starter
            .args(["/C", "start /b ping -n 600 127.0.0.1"])
            .stdout(writer);
        let mut child = starter.spawn().unwrap();
        drop(starter);
        let mut group = ProcessGroup::from_child(&child);
        child.wait().await.unwrap();
        group.terminate().await;
        let mut pipe = OutputPipe::new(reader).unwrap();
        let ends = async { while pipe.next_piece().await.is_some() {} };
        let ended = tokio::time::timeout(Duration::from_secs(60), ends).await;
        assert!(ended.is_ok());
    }
}
