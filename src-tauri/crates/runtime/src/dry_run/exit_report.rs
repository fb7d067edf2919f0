//! The exit of a command in a sandbox and the accesses that it was refused there, as reported by the sandbox.

use std::io;

use protocol::view::effects::{Refusal, RefusalKind};
use protocol::{CommandExit, CommandRun};
use sandbox::{CommandEnd, SandboxReport};

use super::refusals::{KILL_SIGNAL, Refusals};
use crate::FileError;

/// Note that the list of refused accesses is incomplete.
pub(super) const MORE_REFUSALS_NOTE: &str = "It was refused more than is listed.";

/// Stands for the files read outside of the workspace that are not listed. No rule names it, so it asks.
const UNLISTED_READS: &str = "(more than is listed)";

/// Reads from the sandbox's report how the command itself ended, and which accesses it was refused.
pub(super) fn read_command_exit(
    mut ran: CommandRun,
    report: io::Result<Option<SandboxReport>>,
) -> Result<(CommandRun, Refusals), FileError> {
    let (exit, refusals) = read_exit(ran.exit, report).map_err(|why| {
        FileError::sandbox_unavailable(format!(
            "The sandbox could not be set up, so the command did not run: {why}."
        ))
    })?;
    ran.exit = exit;
    Ok((ran, refusals))
}

/// Reads the same for any program in the sandbox, where `exit` is the exit of the sandbox program.
///
/// # Errors
/// The reason why the sandbox could not be entered, as a clause: nothing ran then.
pub(super) fn read_exit(
    exit: CommandExit,
    report: io::Result<Option<SandboxReport>>,
) -> Result<(CommandExit, Refusals), String> {
    let stopped = matches!(exit, CommandExit::Cancelled | CommandExit::TimedOut);
    match report {
        Ok(Some(SandboxReport::Ended {
            end,
            refused,
            more,
            reads,
            watched,
        })) => {
            let exit = match end {
                _ if stopped => exit,
                CommandEnd::Exit(code) => CommandExit::Code(code),
                CommandEnd::Signal(signal) => CommandExit::Signal(signal),
                CommandEnd::Stopped => CommandExit::Signal(KILL_SIGNAL),
            };
            let coverage = DenialCoverage { more, watched };
            let mut refusals = Refusals::from_denials(refused, coverage);
            refusals.add_reads(reads);
            Ok((exit, refusals))
        }
        Ok(None) if stopped => Ok((exit, Refusals::default())),
        Ok(None) => Err("it ended without a word".to_owned()),
        Ok(Some(SandboxReport::NotEntered { step, error })) => Err(format!("{step}: {error}")),
        Err(error) => Err(error.to_string()),
    }
}

/// How complete a sandbox's list of refusals is.
struct DenialCoverage {
    /// Whether there were more refusals than the list holds.
    more: bool,
    /// Whether the sandbox could observe refusals at all.
    watched: bool,
}

impl Refusals {
    fn from_denials(refused: Vec<sandbox::Denial>, coverage: DenialCoverage) -> Self {
        let mut notes = Vec::new();
        if coverage.more {
            notes.push(MORE_REFUSALS_NOTE.to_owned());
        }
        if !coverage.watched {
            notes.push(
                "What it was refused is not known: this system does not let the sandbox look."
                    .to_owned(),
            );
        }
        let is_complete = coverage.watched && !coverage.more;
        let list = refused.into_iter().map(|one| Refusal {
            kind: match one.kind {
                sandbox::DenialKind::Network => RefusalKind::Network,
                sandbox::DenialKind::Socket => RefusalKind::Socket,
                sandbox::DenialKind::Write => RefusalKind::Write,
                sandbox::DenialKind::Secret => RefusalKind::Secret,
                sandbox::DenialKind::Limit => RefusalKind::Limit,
            },
            target: one.target,
        });
        Self {
            list: list.collect(),
            notes,
            is_complete,
            ..Self::default()
        }
    }

    fn add_reads(&mut self, reads: sandbox::ReadPaths) {
        self.outside_reads = reads.paths;
        if reads.more {
            self.outside_reads.push(UNLISTED_READS.to_owned());
        }
    }
}
