//! A room where nobody may make namespaces: Landlock and the calls that are refused are all its walls. One process keeps it,
//! starts the command, and takes in all that it leaves behind. Where the kernel does not keep signals in, a command can end
//! its keeper, and what it started may then outlive the room.

use std::fs;
use std::fs::File;
use std::io;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::{
    DumpableBehavior, Pid, Signal, WaitOptions, getpid, kill_process, set_child_subreaper,
    set_dumpable_behavior, wait,
};

use super::children::{self, Children};
use super::keeper::end;
use super::ledger::Ledger;
use super::limits::{Limits, ended_by};
use super::{At as _, NotEntered, command, handover, namespaces};
use crate::told::Line;
use crate::{End, RefusedKind, Room};

/// Keeps the room until the command has ended, or nobody wants it any more.
pub(super) fn keep(room: &Room, told: &File) -> Result<(), NotEntered> {
    let Some(tmp) = &room.bare else {
        return Err(io::Error::other("it has no folder for temporary files")).at("tmp");
    };
    if room.layers.is_some() || room.proxy || room.input {
        let error =
            io::Error::other("there are neither layers nor ways out or in without namespaces");
        return Err(error).at("namespaces");
    }
    // Whatever loses its parent becomes ours, so that nothing outlives the room.
    set_child_subreaper(Some(getpid())).at("keeper")?;
    set_dumpable_behavior(DumpableBehavior::NotDumpable).at("keeper")?;
    let children = children::listen().at("children")?;
    let (ready, says) = handover::pair().at("pair")?;
    let Some(child) = namespaces::fork().at("fork")? else {
        drop(ready);
        command::run_bare(room, tmp, &says);
    };
    drop(says);
    command::wait_until_it_runs(&ready)?;
    // Who looks at calls goes by the mounts, and there are none to go by.
    Line::Began { watched: false }.write(told).at("told")?;
    let mut ledger = Ledger::new(told);
    let ended = until_the_end(child, &children, &mut ledger);
    end_the_rest().at("wait")?;
    for limit in Limits::of_disk(room).met() {
        ledger.note(RefusedKind::Limit, limit.as_bytes());
    }
    Line::Ended(ended.at("wait")?).write(told).at("told")
}

/// How the command ended.
fn until_the_end(child: Pid, children: &Children, ledger: &mut Ledger<'_>) -> io::Result<End> {
    let input = io::stdin();
    loop {
        let mut seen = [
            PollFd::new(children, PollFlags::IN),
            PollFd::new(&input, PollFlags::empty()),
        ];
        match poll(&mut seen, None) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let [_, unwanted] = seen.map(|one| !one.revents().is_empty());
        if unwanted {
            return Ok(End::Stopped);
        }
        for (ended, status) in children.take_in()? {
            if let Some(limit) = ended_by(status) {
                ledger.note(RefusedKind::Limit, limit.as_bytes());
            }
            if ended == child {
                return Ok(end(status));
            }
        }
    }
}

/// Ends what the command started, until nothing of it is left: what loses its parent comes to us.
fn end_the_rest() -> io::Result<()> {
    loop {
        for child in ours()? {
            match kill_process(child, Signal::KILL) {
                Ok(()) | Err(Errno::SRCH) => {}
                Err(error) => return Err(error.into()),
            }
        }
        match wait(WaitOptions::empty()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(Errno::CHILD) => return Ok(()),
            Err(error) => return Err(error.into()),
        }
    }
}

/// The processes whose parent we are.
fn ours() -> io::Result<Vec<Pid>> {
    let mut ours = Vec::new();
    for task in fs::read_dir("/proc/self/task")? {
        let text = fs::read_to_string(task?.path().join("children"))?;
        let ids = text.split_ascii_whitespace().flat_map(str::parse);
        ours.extend(ids.filter_map(Pid::from_raw));
    }
    Ok(ours)
}
