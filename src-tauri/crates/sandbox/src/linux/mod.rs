//! Entering a room, from top to bottom: three processes, each with one job.
//!
//! 1. The *door* ([`enter`]) makes the namespaces and waits. It ends when the room does, and ends the room when nobody wants
//!    it any more.
//! 2. The *keeper* is the first process of the room. It builds the walls, starts the command, takes in what is left behind,
//!    sees what the command is refused, and says that and how the command ended. When it ends, the kernel ends everything in
//!    the room.
//! 3. The *command* gives away what it has, one thing after the other, and then runs.
//!
//! Where nobody may make namespaces, a room can be had in which these are one less (`bare.rs`).

mod attributes;
mod bare;
mod children;
mod command;
mod devices;
mod ground;
pub(crate) mod handover;
mod keeper;
mod ledger;
mod limits;
mod mounts;
mod names;
mod namespaces;
mod privileges;
mod questions;
mod refused;
mod secrets;
mod sight;
mod stand_ins;
mod watched;
mod way_out;

pub use ground::keeps_signals_in;

use std::fmt;
use std::fs::File;
use std::io;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::net::{Shutdown, shutdown};
use rustix::process::{PidfdFlags, Signal, WaitOptions, pidfd_open, pidfd_send_signal, waitpid};

use crate::Room;
use crate::told::Line;

/// Which wall of a room could not be built, and what the system said.
#[derive(Debug)]
pub struct NotEntered {
    step: &'static str,
    error: io::Error,
}

impl NotEntered {
    fn line(&self) -> Line {
        Line::NotEntered {
            step: self.step.to_owned(),
            error: self.error.to_string(),
        }
    }
}

impl fmt::Display for NotEntered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.step, self.error)
    }
}

impl std::error::Error for NotEntered {}

/// Names the wall that an error is about.
trait At<T> {
    fn at(self, step: &'static str) -> Result<T, NotEntered>;
}

impl<T, E: Into<io::Error>> At<T> for Result<T, E> {
    fn at(self, step: &'static str) -> Result<T, NotEntered> {
        self.map_err(|error| NotEntered {
            step,
            error: error.into(),
        })
    }
}

/// Enters a room, runs its command there, and says in the room's file what became of it.
///
/// # Errors
/// The room could not be entered, or what became of it could not be written down.
pub fn enter(room: &Room) -> Result<(), NotEntered> {
    // Opened here, where the path means what whoever asked for the room meant.
    let told = File::create(&room.told).at("told")?;
    let entered = match room.bare {
        None => through_the_door(room, &told),
        Some(_) => bare::keep(room, &told),
    };
    let entered = entered.inspect_err(|failed| {
        // If that cannot be written either, the exit code still says it.
        let _ = failed.line().write(&told);
    });
    if room.proxy {
        // Whoever waits for the way out hears that there is none, also where this end is still open elsewhere.
        let _ = shutdown(io::stdin(), Shutdown::Both);
    }
    entered
}

fn through_the_door(room: &Room, told: &File) -> Result<(), NotEntered> {
    namespaces::leave_the_rest().at("namespaces")?;
    // The keeper holds the other end: it notices a door that closed before it could ask to end with it.
    let (open, held) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).at("pipe")?;
    let keeper = match namespaces::fork().at("fork")? {
        None => {
            drop(held);
            keeper::keep(room, told, &open)
        }
        Some(keeper) => keeper,
    };
    drop(open);
    let ends = pidfd_open(keeper, PidfdFlags::empty()).at("keeper")?;
    let input = io::stdin();
    loop {
        let mut seen = [
            PollFd::new(&ends, PollFlags::IN),
            PollFd::new(&input, PollFlags::empty()),
        ];
        match poll(&mut seen, None) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error).at("wait"),
        }
        let [ended, unwanted] = seen.map(|one| !one.revents().is_empty());
        if ended {
            waitpid(Some(keeper), WaitOptions::empty()).at("wait")?;
            return Ok(());
        }
        if unwanted {
            // Everything in the room ends with the keeper, and is gone when the keeper is.
            pidfd_send_signal(&ends, Signal::KILL).at("wait")?;
            waitpid(Some(keeper), WaitOptions::empty()).at("wait")?;
            return Ok(());
        }
    }
}
