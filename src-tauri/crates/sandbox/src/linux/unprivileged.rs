//! A sandbox where unprivileged processes may not create namespaces: Landlock and denied calls are all its walls. One
//! process supervises it, starts the command, and reaps all processes that it leaves behind. Where the kernel does not
//! confine signals, a command can kill its supervisor, and processes that it started may then outlive the sandbox.

use std::fs;
use std::fs::File;
use std::io;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::{
    DumpableBehavior, Pid, Signal, WaitOptions, getpid, kill_process, set_child_subreaper,
    set_dumpable_behavior, wait,
};

use super::access_log::AccessLog;
use super::child_reaper::{self, ChildReaper};
use super::supervisor::command_end;
use super::{EnterError, StepContext as _, command, fd_passing, namespaces};
use crate::linux::resources::limits::{LimitMonitor, limit_from_status};
use crate::report::ReportLine;
use crate::{CommandEnd, SandboxSpec};

/// Supervises the sandbox until the command has ended, or its caller no longer wants it.
pub(super) fn run_unprivileged(spec: &SandboxSpec, report: &File) -> Result<(), EnterError> {
    let Some(tmp) = &spec.bare else {
        return Err(io::Error::other("it has no folder for temporary files")).with_step("tmp");
    };
    if spec.layers.is_some() || spec.proxy || spec.input {
        let error =
            io::Error::other("there are neither layers nor ways out or in without namespaces");
        return Err(error).with_step("namespaces");
    }
    // Whatever loses its parent becomes ours, so that nothing outlives the sandbox.
    set_child_subreaper(Some(getpid())).with_step("keeper")?;
    set_dumpable_behavior(DumpableBehavior::NotDumpable).with_step("keeper")?;
    let children = child_reaper::watch_children().with_step("children")?;
    let (ready, says) = fd_passing::new_socket_pair().with_step("pair")?;
    let Some(child) = namespaces::fork_process().with_step("fork")? else {
        drop(ready);
        command::exec_unprivileged(spec, tmp, &says);
    };
    drop(says);
    command::wait_until_running(&ready)?;
    // The watch over calls goes by the mounts, and there are none to go by.
    ReportLine::Began { watched: false }
        .write_to(report)
        .with_step("told")?;
    let mut access_log = AccessLog::new(report);
    let ended = wait_for_command(child, &children, &mut access_log);
    kill_remaining().with_step("wait")?;
    for limit in LimitMonitor::disk_only(spec).reached_limits() {
        access_log.record_limit(limit);
    }
    ReportLine::Ended(ended.with_step("wait")?)
        .write_to(report)
        .with_step("told")
}

/// Waits for the command, and returns how it ended.
fn wait_for_command(
    child: Pid,
    children: &ChildReaper,
    access_log: &mut AccessLog<'_>,
) -> io::Result<CommandEnd> {
    let input = io::stdin();
    loop {
        let mut poll_fds = [
            PollFd::new(children, PollFlags::IN),
            PollFd::new(&input, PollFlags::empty()),
        ];
        match poll(&mut poll_fds, None) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let [_, unwanted] = poll_fds.map(|one| !one.revents().is_empty());
        if unwanted {
            return Ok(CommandEnd::Stopped);
        }
        for (ended, status) in children.reap_all()? {
            if let Some(limit) = limit_from_status(status) {
                access_log.record_limit(limit);
            }
            if ended == child {
                return Ok(command_end(status));
            }
        }
    }
}

/// Kills the processes that the command started, until none is left: orphaned ones become children of this process.
fn kill_remaining() -> io::Result<()> {
    loop {
        for child in list_children()? {
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

/// Lists the children of this process.
fn list_children() -> io::Result<Vec<Pid>> {
    let mut ours = Vec::new();
    for task in fs::read_dir("/proc/self/task")? {
        let text = fs::read_to_string(task?.path().join("children"))?;
        let ids = text.split_ascii_whitespace().flat_map(str::parse);
        ours.extend(ids.filter_map(Pid::from_raw));
    }
    Ok(ours)
}
