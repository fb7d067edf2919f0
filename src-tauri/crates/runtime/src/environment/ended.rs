//! How a command in a room ended and what it was refused there, as the room says.

use std::io;

use protocol::effects::{Refused, RefusedKind};
use protocol::{Exit, Ran};
use sandbox::{End, Told};

use super::refusals::{KILLED, Refusals};
use crate::FileError;

/// That the list of what it was refused is not all.
pub(super) const MORE: &str = "It was refused more than is listed.";

/// How the command itself ended, as the room says, and what it was refused.
pub(super) fn settled(
    mut ran: Ran,
    told: io::Result<Option<Told>>,
) -> Result<(Ran, Refusals), FileError> {
    let (exit, refusals) = how_it_ended(ran.exit, told).map_err(|why| FileError::NoRoom {
        reason: format!("The sealed room could not be entered, so the command did not run: {why}."),
    })?;
    ran.exit = exit;
    Ok((ran, refusals))
}

/// The same of whatever ran in the room, where `exit` is how the program of the room ended.
///
/// # Errors
/// Why the room could not be entered, as a clause: then nothing ran.
pub(super) fn how_it_ended(
    exit: Exit,
    told: io::Result<Option<Told>>,
) -> Result<(Exit, Refusals), String> {
    let stopped = matches!(exit, Exit::Cancelled | Exit::TimedOut);
    match told {
        Ok(Some(Told::Ended {
            end,
            refused,
            more,
            watched,
        })) => {
            let exit = match end {
                _ if stopped => exit,
                End::Exit(code) => Exit::Code(code),
                End::Signal(signal) => Exit::Signal(signal),
                End::Stopped => Exit::Signal(KILLED),
            };
            Ok((exit, Refusals::of(refused, more, watched)))
        }
        Ok(None) if stopped => Ok((exit, Refusals::default())),
        Ok(None) => Err("it ended without a word".to_owned()),
        Ok(Some(Told::NotEntered { step, error })) => Err(format!("{step}: {error}")),
        Err(error) => Err(error.to_string()),
    }
}

impl Refusals {
    fn of(refused: Vec<sandbox::Refused>, more: bool, watched: bool) -> Self {
        let mut notes = Vec::new();
        if more {
            notes.push(MORE.to_owned());
        }
        if !watched {
            notes.push(
                "What it was refused is not known: this system does not let the room look."
                    .to_owned(),
            );
        }
        let list = refused.into_iter().map(|one| Refused {
            kind: match one.kind {
                sandbox::RefusedKind::Network => RefusedKind::Network,
                sandbox::RefusedKind::Socket => RefusedKind::Socket,
                sandbox::RefusedKind::Write => RefusedKind::Write,
                sandbox::RefusedKind::Secret => RefusedKind::Secret,
                sandbox::RefusedKind::Limit => RefusedKind::Limit,
            },
            target: one.target,
        });
        Self {
            list: list.collect(),
            notes,
            reached: Vec::new(),
        }
    }
}
