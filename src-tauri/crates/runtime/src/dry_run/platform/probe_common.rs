//! The parts of a probe that are the same on every system, and the reasons about snapshots.

use protocol::{CommandExit, CommandRun};

use crate::limits::{COPY_BYTES_MAX, COPY_PATHS_MAX};
use crate::{FileError, ShellCommand, Workspace};

/// How long a probe may take, in milliseconds.
const PROBE_TIMEOUT_MS: u64 = 10_000;

/// Returns a command that does nothing, in a shell of every system.
pub(in crate::dry_run) fn noop_command(workspace: &Workspace) -> ShellCommand {
    ShellCommand {
        line: if cfg!(windows) { "rem" } else { ":" }.to_owned(),
        workspace: workspace.unrestricted(),
        folder: String::new(),
        env: Vec::new(),
        timeout_ms: PROBE_TIMEOUT_MS,
        output_bytes_max: 4_096,
        spill: None,
        errors: None,
        mask_secrets: false,
    }
}

/// Checks that a no-op command ended well; the error says why it did not.
pub(in crate::dry_run) fn check_noop_result(
    ran: Result<CommandRun, FileError>,
) -> Result<(), String> {
    let ran = ran.map_err(|error| match error {
        FileError::SandboxUnavailable { reason } => reason,
        other => other.to_string(),
    })?;
    match ran.exit {
        CommandExit::Code(0) => Ok(()),
        CommandExit::Code(code) => Err(format!(
            "a command that does nothing ended with code {code}"
        )),
        CommandExit::Signal(signal) => Err(format!(
            "a command that does nothing was ended by signal {signal}"
        )),
        CommandExit::TimedOut | CommandExit::Cancelled => {
            Err("a command that does nothing did not end".to_owned())
        }
    }
}

/// Returns the reason given where a snapshot is the only protection.
pub(in crate::dry_run) fn snapshot_only_reason() -> String {
    let copy_max = COPY_BYTES_MAX >> 20;
    format!(
        "What it changes in the workspace can be undone: a snapshot of it is taken before, of at most {copy_max} MiB and {COPY_PATHS_MAX} paths."
    )
}

/// Returns the reason given for a workspace that cannot be copied.
pub(in crate::dry_run) fn not_copied_reason(error: &FileError) -> String {
    match error {
        FileError::SandboxUnavailable { reason } => reason.clone(),
        other => format!("The workspace cannot be copied for a command: {other}"),
    }
}
