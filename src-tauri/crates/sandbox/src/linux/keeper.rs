//! The first process of a room: builds the walls, starts the command, takes in what is left behind, says how it ended.

use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::{
    DumpableBehavior, Pid, Signal, WaitOptions, WaitStatus, set_dumpable_behavior,
    set_parent_process_death_signal, wait,
};

use super::{At as _, NotEntered, command, mounts, namespaces};
use crate::told::Line;
use crate::{End, Room};

/// How the keeper itself ends: nobody looks at it, for what became of the room stands in its file.
const DONE: i32 = 0;

/// Keeps the room until the command has ended. Never returns: with it, everything in the room ends.
pub(super) fn keep(room: &Room, told: &File, door: &OwnedFd) -> ! {
    let last = match run(room, told, door) {
        Ok(end) => Line::Ended(end),
        Err(failed) => failed.line(),
    };
    // A file that cannot be written is read as a room that ended without a word, which is what it is.
    let _ = last.write(told);
    std::process::exit(DONE)
}

fn run(room: &Room, told: &File, door: &OwnedFd) -> Result<End, NotEntered> {
    set_parent_process_death_signal(Some(Signal::KILL)).at("keeper")?;
    if is_closed(door).at("keeper")? {
        return Err(std::io::Error::other("the door closed")).at("keeper");
    }
    // Nothing in the room may look into its keeper, whoever it is.
    set_dumpable_behavior(DumpableBehavior::NotDumpable).at("keeper")?;
    mounts::build(room)?;
    super::devices::raise_loopback().at("loopback")?;
    let (ready, says) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).at("pipe")?;
    let Some(child) = namespaces::fork().at("fork")? else {
        drop(ready);
        command::run(room, says);
    };
    drop(says);
    command::wait_until_it_runs(ready)?;
    Line::Began { watched: false }.write(told).at("told")?;
    wait_for(child).at("wait")
}

/// Whether the other end of a pipe is closed.
fn is_closed(pipe: impl AsFd) -> rustix::io::Result<bool> {
    let mut seen = [PollFd::new(&pipe, PollFlags::empty())];
    poll(&mut seen, Some(&rustix::event::Timespec::default()))?;
    Ok(!seen[0].revents().is_empty())
}

/// Takes in every process that lost its parent, until the command has ended.
fn wait_for(child: Pid) -> rustix::io::Result<End> {
    loop {
        match wait(WaitOptions::empty()) {
            Ok(Some((ended, status))) if ended == child => return Ok(end(status)),
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error),
        }
    }
}

fn end(status: WaitStatus) -> End {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => End::Exit(code),
        (None, Some(signal)) => End::Signal(signal),
        (None, None) => End::Signal(libc::SIGKILL),
    }
}
