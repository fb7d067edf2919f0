//! Runs one command line in its own process group and leaves nothing running.

use std::path::PathBuf;
use std::sync::Arc;

use protocol::CallId;
use tokio_util::sync::CancellationToken;

use crate::{FileError, SessionFolder, Workspace};

/// One command line to run.
#[derive(Debug, Clone)]
pub struct Command {
    /// For `bash -c`, or `sh -c` where there is no bash; `cmd /C` on Windows.
    pub line: String,
    /// The workspace it runs in.
    pub workspace: Workspace,
    /// The folder it starts in, relative to the workspace root; empty is the root.
    pub folder: String,
    /// Variables beside the inherited ones.
    pub env: Vec<(String, String)>,
    /// How long it may run, in milliseconds.
    pub timeout_ms: u64,
    /// How much output is kept in memory, in bytes.
    pub output_bytes_max: u64,
    /// Where output beyond that goes; counted and dropped if left out.
    pub spill: Option<Spill>,
}

/// Where a command's long output goes.
#[derive(Debug, Clone)]
pub struct Spill {
    /// The session's folder.
    pub folder: Arc<SessionFolder>,
    /// The call that names the file.
    pub call: CallId,
}

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Exit {
    /// By itself, with this code; 127 when the shell found no such program.
    Code(i32),
    /// By this signal.
    Signal(i32),
    /// It was stopped after its time.
    TimedOut,
    /// It was stopped on request.
    Cancelled,
}

/// What a command left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ran {
    /// How it ended.
    pub exit: Exit,
    /// Standard output and error together in the order they came, at most `output_bytes_max` bytes.
    pub head: Vec<u8>,
    /// The file with the whole output from byte 0, when it was longer than the head.
    pub spilled: Option<PathBuf>,
    /// Why the spill file is missing or shorter than the output, if it is.
    pub spill_note: Option<String>,
    /// Length of the whole output, in bytes.
    pub bytes: u64,
    /// From start to end, in milliseconds.
    pub duration_ms: u64,
}

/// Runs a command to its end. `on_output` gets the output as text in pieces cut between characters.
///
/// # Errors
/// When the folder is outside or missing, or no shell could be started. A failing command is no error.
pub async fn run(
    command: &Command,
    on_output: impl FnMut(&str) + Send,
    cancel: &CancellationToken,
) -> Result<Ran, FileError> {
    let _ = (on_output, cancel);
    Err(FileError::other(command.line.as_str(), "not built yet"))
}
