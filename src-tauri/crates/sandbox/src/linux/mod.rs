//! Entering a room, from top to bottom: three processes, each with one job.
//!
//! 1. The *door* ([`enter`]) makes the namespaces and waits. It ends when the room does, and ends the room when nobody wants
//!    it any more.
//! 2. The *keeper* is the first process of the room. It prepares what every room has, and only then asks which room it is. It
//!    builds the walls, has the command run, takes in what is left behind, sees what the command is refused, and says that and
//!    how the command ended. When it ends, the kernel ends everything in the room.
//! 3. The *command* gives away what it has, one thing after the other: what no command has before the room is known, the rest
//!    once the walls stand. Then it runs.
//!
//! Where nobody may make namespaces, a room can be had in which these are one less (`bare.rs`).

mod attributes;
mod bare;
mod children;
mod command;
mod devices;
mod ground;
mod group;
pub(crate) mod handover;
mod keeper;
mod ledger;
mod limits;
mod memory;
mod mounts;
mod named;
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
pub use group::keeps_memory;

use std::fmt;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{Mode, OFlags, openat};
use rustix::io::Errno;
use rustix::net::{Shutdown, shutdown};
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitOptions, pidfd_open, pidfd_send_signal, waitpid,
};

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

    /// Says it. If that cannot be written either, the exit code still says it.
    fn tell(&self, told: &File) {
        let _ = self.line().write(told);
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

/// Makes what every room has, then asks `read` which room it is; enters that, runs its command there, and says in the room's file
/// what became of it. Who is asked long after the start answers to a room that is nearly there.
///
/// # Errors
/// The room could not be entered, or what became of it could not be written down.
pub fn enter(read: impl FnOnce() -> Room) -> Result<(), NotEntered> {
    let outside = World::hold().at("told")?;
    let (made, group) = group::make().unzip();
    let entered = match through_the_door() {
        Ok(Side::Keeper(door)) => {
            drop(made);
            keeper::keep(read, outside, group, &door)
        }
        Ok(Side::Door(keeper, _held)) => {
            drop(group);
            wait_for(keeper)
        }
        Err(failed) => {
            failed.tell(&outside.file(&read().told).at("told")?);
            Err(failed)
        }
    };
    if let Some(made) = made {
        made.remove();
    }
    // Whoever waits for a way out hears that there is none, also where this end is still open elsewhere.
    let _ = shutdown(io::stdin(), Shutdown::Both);
    entered
}

/// Enters a room that has no names of its own, see [`Room::bare`], and the rest as [`enter`] does.
///
/// # Errors
/// As [`enter`].
pub fn enter_bare(room: &Room) -> Result<(), NotEntered> {
    let told = File::create(&room.told).at("told")?;
    bare::keep(room, &told).inspect_err(|failed| failed.tell(&told))
}

/// The world as whoever asks for a room sees it, held from before the room has names of its own: in the room a path may mean
/// something else, and a file that is open there for writing keeps the disk that it lies on from becoming read-only.
struct World(OwnedFd);

impl World {
    fn hold() -> rustix::io::Result<Self> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        rustix::fs::open("/", flags, Mode::empty()).map(Self)
    }

    /// Makes a file that is told in.
    fn file(&self, path: &Path) -> rustix::io::Result<File> {
        let path = path.strip_prefix("/").map_err(|_| Errno::INVAL)?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC | OFlags::CLOEXEC;
        openat(&self.0, path, flags, Mode::from_raw_mode(0o666)).map(File::from)
    }
}

/// Which of the two processes goes on.
enum Side {
    /// Outside, with the keeper that it waits for, and what it holds open as long as it does.
    Door(Pid, OwnedFd),
    /// In the room, with what closes when the door does.
    Keeper(OwnedFd),
}

fn through_the_door() -> Result<Side, NotEntered> {
    namespaces::leave_the_rest().at("namespaces")?;
    // The keeper holds the other end: it notices a door that closed before it could ask to end with it.
    let (open, held) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).at("pipe")?;
    match namespaces::fork().at("fork")? {
        None => {
            drop(held);
            Ok(Side::Keeper(open))
        }
        Some(keeper) => Ok(Side::Door(keeper, held)),
    }
}

/// Waits until the room is over, or nobody wants it any more.
fn wait_for(keeper: Pid) -> Result<(), NotEntered> {
    let ends = pidfd_open(keeper, PidfdFlags::empty()).at("keeper")?;
    let input = io::stdin();
    loop {
        let mut seen = [
            PollFd::new(&ends, PollFlags::IN),
            PollFd::new(&input, PollFlags::empty()),
        ];
        match poll(&mut seen, None) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error).at("wait"),
        }
        let [ended, unwanted] = seen.map(|one| !one.revents().is_empty());
        if unwanted && !ended {
            // Everything in the room ends with the keeper, and is gone when the keeper is.
            pidfd_send_signal(&ends, Signal::KILL).at("wait")?;
        }
        if ended || unwanted {
            waitpid(Some(keeper), WaitOptions::empty()).at("wait")?;
            return Ok(());
        }
    }
}
