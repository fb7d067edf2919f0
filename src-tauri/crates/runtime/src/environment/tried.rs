//! What every trial does, and what is said of a picture: the same on every system.

use protocol::{Exit, Ran};

use crate::limits::{COPY_BYTES_MAX, COPY_PATHS_MAX};
use crate::{Command, FileError, Workspace};

/// How long a trial may take.
const TRIAL_MS: u64 = 10_000;

/// A command that does nothing, in a shell of every system.
pub(super) fn nothing(workspace: &Workspace) -> Command {
    Command {
        line: if cfg!(windows) { "rem" } else { ":" }.to_owned(),
        workspace: workspace.whole(),
        folder: String::new(),
        env: Vec::new(),
        timeout_ms: TRIAL_MS,
        output_bytes_max: 4_096,
        spill: None,
        errors: None,
        masks: false,
    }
}

/// Whether it did nothing; why not, if it did not even that.
pub(super) fn did_nothing(ran: Result<Ran, FileError>) -> Result<(), String> {
    let ran = ran.map_err(|error| match error {
        FileError::NoRoom { reason } => reason,
        other => other.to_string(),
    })?;
    match ran.exit {
        Exit::Code(0) => Ok(()),
        Exit::Code(code) => Err(format!(
            "a command that does nothing ended with code {code}"
        )),
        Exit::Signal(signal) => Err(format!(
            "a command that does nothing was ended by signal {signal}"
        )),
        Exit::TimedOut | Exit::Cancelled => {
            Err("a command that does nothing did not end".to_owned())
        }
    }
}

/// What is said where a picture is all that there is.
pub(super) fn pictured() -> String {
    let copy_max = COPY_BYTES_MAX >> 20;
    format!(
        "What it changes in the workspace can be undone: a picture of it is taken before, of at most {copy_max} MiB and {COPY_PATHS_MAX} paths."
    )
}

/// What is said of a workspace that cannot be copied.
pub(super) fn not_copied(error: &FileError) -> String {
    match error {
        FileError::NoRoom { reason } => reason.clone(),
        other => format!("The workspace cannot be copied for a command: {other}"),
    }
}
