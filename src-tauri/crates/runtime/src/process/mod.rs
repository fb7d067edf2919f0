//! Runs one command line in its own process group and leaves nothing running.

use std::sync::Arc;
use std::time::{Duration, Instant};

use protocol::CallId;
pub use protocol::call::command_run::{CommandExit, CommandRun, CommandStreams};
use tokio::process::Child;
use tokio_util::sync::CancellationToken;

use crate::limits::LEFTOVER_GRACE;
use crate::{FileError, SessionFolder, Workspace};

mod companion;
mod detached;
mod error_pipe;
#[cfg(not(unix))]
mod fallback;
pub(crate) mod lifetime;
mod output;
#[cfg(any(windows, test))]
mod path_extensions;
mod program;
mod program_lookup;
#[cfg(any(target_os = "linux", target_os = "macos"))]
pub(crate) mod sandbox_process;
pub(crate) mod shell;
#[cfg(unix)]
mod unix;

pub use crate::inherited_env::{InheritedEnv, TerminalEnv, is_secret_name};
pub use companion::{Companion, CompanionCommand, start_companion};
pub use detached::start_detached;
pub use error_pipe::{ErrorPipe, ErrorText};
#[cfg(not(unix))]
use fallback::{OutputPipe, ProcessGroup, exit_from_status};
pub use lifetime::{EndedProgram, ProcessLifetime, SandboxOutcome};
use output::OutputCollector;
pub use program::{ProgramCommand, ProgramResult, run_program};
pub use program_lookup::find_program;
#[cfg(unix)]
use unix::{OutputPipe, ProcessGroup, exit_from_status};

/// One command line to run.
#[derive(Debug, Clone)]
pub struct ShellCommand {
    /// For `bash -c`, or `sh -c` where there is no bash; `cmd /C` on Windows.
    pub line: String,
    /// The workspace it runs in.
    pub workspace: Workspace,
    /// The folder it starts in, relative to the workspace root; empty is the root.
    pub folder: String,
    /// Variables beside those that the workspace lets the command inherit ([`Workspace::with_inherited_env`]).
    pub env: Vec<(String, String)>,
    /// How long the command may run, in milliseconds.
    pub timeout_ms: u64,
    /// How much output is kept in memory, in bytes.
    pub output_bytes_max: u64,
    /// File for further output; counted and dropped if left out.
    pub spill: Option<OutputSpill>,
    /// Pipe for standard error alone; merged with the output if left out.
    pub errors: Option<Arc<std::io::PipeWriter>>,
    /// Mask secrets before anything is kept or shown, so that none is cut in two.
    pub mask_secrets: bool,
}

/// The file for a command's long output.
#[derive(Debug, Clone)]
pub struct OutputSpill {
    /// The session's folder.
    pub folder: Arc<SessionFolder>,
    /// The call that names the file.
    pub call: CallId,
}

/// Runs a command to its end. `on_output` gets the output as text in pieces cut between characters; bytes that are not
/// UTF-8 are replaced there, never in [`CommandRun::head`].
///
/// The command is the leader of its own process group. When it ends, is cancelled, runs out of time, or the future is
/// dropped, the whole group ends with it: first asked (TERM), then killed (KILL). Its input is empty.
///
/// # Errors
/// When the folder is outside or missing, or no shell could be started. A failing command is no error.
pub async fn run(
    command: &ShellCommand,
    on_output: impl FnMut(&str) + Send,
    cancel: &CancellationToken,
) -> Result<CommandRun, FileError> {
    run_to_end(
        command,
        async { shell::start_shell(command) },
        on_output,
        cancel,
    )
    .await
}

/// A command that was started, and the reading end of its output.
pub(crate) struct StartedCommand {
    pub child: Child,
    pub pipe: OutputPipe,
    /// Handle that ends the command when dropped, where it has such a handle.
    pub stop_on_drop: Option<Box<dyn Send>>,
}

/// Starts a command and supervises it to its end, as [`run`] does. A command with a handle to drop is ended by dropping
/// that first.
pub(crate) async fn run_to_end(
    command: &ShellCommand,
    start: impl Future<Output = Result<StartedCommand, FileError>>,
    on_output: impl FnMut(&str) + Send,
    cancel: &CancellationToken,
) -> Result<CommandRun, FileError> {
    let began = Instant::now();
    let mut output = OutputCollector::new(
        command.output_bytes_max,
        command.spill.as_ref(),
        command.mask_secrets,
        on_output,
    );
    if cancel.is_cancelled() {
        return Ok(output.into_result(CommandExit::Cancelled, began.elapsed()));
    }
    let StartedCommand {
        mut child,
        mut pipe,
        stop_on_drop: wanted,
    } = start.await?;
    let mut group = ProcessGroup::from_child(&child);
    let failed = |error: std::io::Error| FileError::from_io(command.line.as_str(), &error);

    let time_is_up = tokio::time::sleep(Duration::from_millis(command.timeout_ms));
    tokio::pin!(time_is_up);
    let mut open = true;
    let mut status = None;
    let exit = loop {
        tokio::select! {
            biased;
            () = cancel.cancelled() => break CommandExit::Cancelled,
            () = &mut time_is_up => break CommandExit::TimedOut,
            ended = child.wait(), if status.is_none() => {
                let ended = ended.map_err(failed)?;
                status = Some(ended);
                if !open {
                    break exit_from_status(ended);
                }
                // Processes that still hold the output may write their last words, no more.
                drain_output(&mut pipe, &mut output, LEFTOVER_GRACE).await;
                break exit_from_status(ended);
            }
            piece = pipe.next_piece(), if open => match piece {
                Some(bytes) => output.push(&bytes),
                None => {
                    open = false;
                    if let Some(ended) = status {
                        break exit_from_status(ended);
                    }
                }
            },
        }
    };
    // Said while it is asked to end still counts as its output; and a group is gone only when its head was waited for.
    let end = async {
        if wanted.is_some() {
            drop(wanted);
            group.wait_for_exit().await;
        }
        group.terminate().await;
    };
    tokio::pin!(end);
    loop {
        tokio::select! {
            biased;
            piece = pipe.next_piece(), if open => match piece {
                Some(bytes) => output.push(&bytes),
                None => open = false,
            },
            ended = child.wait(), if status.is_none() => status = Some(ended.map_err(failed)?),
            () = &mut end => break,
        }
    }
    if open {
        drain_output(&mut pipe, &mut output, LEFTOVER_GRACE).await;
    }
    Ok(output.into_result(exit, began.elapsed()))
}

/// Reads the rest of the pipe, until it ends or `grace` is over.
async fn drain_output<F: FnMut(&str) + Send>(
    pipe: &mut OutputPipe,
    output: &mut OutputCollector<'_, F>,
    grace: Duration,
) {
    let all = async {
        while let Some(bytes) = pipe.next_piece().await {
            output.push(&bytes);
        }
    };
    let _ = tokio::time::timeout(grace, all).await;
}

/// Waits until the end of a child's group has come, and reaps the child meanwhile: an unreaped child keeps the group
/// alive.
async fn reap_child_until(child: &mut Child, end: impl Future<Output = ()>) {
    tokio::pin!(end);
    let mut waits = true;
    loop {
        tokio::select! {
            _ = child.wait(), if waits => waits = false,
            () = &mut end => break,
        }
    }
}

#[cfg(test)]
mod tests;
