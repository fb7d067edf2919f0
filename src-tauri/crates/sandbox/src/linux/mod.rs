//! Entering a room, from top to bottom: three processes, each with one job.
//!
//! 1. The *door* ([`enter_sandbox`]) makes the namespaces and waits. It ends when the room does, and ends the room when nobody wants
//!    it any more.
//! 2. The *keeper* is the first process of the room. It prepares what every room has, and only then asks which room it is. It
//!    builds the walls, has the command run, takes in what is left behind, sees what the command is refused, and says that and
//!    how the command ended. When it ends, the kernel ends everything in the room.
//! 3. The *command* gives away what it has, one thing after the other: what no command has before the room is known, the rest
//!    once the walls stand. Then it runs.
//!
//! Where nobody may make namespaces, a room can be had in which these are one less (`bare.rs`).

mod child_reaper;
mod command;
mod denial_log;
mod dns;
mod egress;
pub(crate) mod fd_passing;
pub(crate) mod filesystem;
mod namespaces;
mod privileges;
pub(crate) mod resources;
pub(crate) mod seccomp;
mod supervisor;
mod unprivileged;

pub use crate::linux::filesystem::landlock::can_scope_signals;
pub use crate::linux::resources::cgroup::can_limit_memory;

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

use crate::SandboxSpec;
use crate::report::ReportLine;

/// Which wall of a room could not be built, and what the system said.
#[derive(Debug)]
pub struct EnterError {
    step: &'static str,
    error: io::Error,
}

impl EnterError {
    fn to_report_line(&self) -> ReportLine {
        ReportLine::NotEntered {
            step: self.step.to_owned(),
            error: self.error.to_string(),
        }
    }

    /// Says it. If that cannot be written either, the exit code still says it.
    fn write_to_report(&self, told: &File) {
        let _ = self.to_report_line().write_to(told);
    }
}

impl fmt::Display for EnterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.step, self.error)
    }
}

impl std::error::Error for EnterError {}

/// Names the wall that an error is about.
trait StepContext<T> {
    fn with_step(self, step: &'static str) -> Result<T, EnterError>;
}

impl<T, E: Into<io::Error>> StepContext<T> for Result<T, E> {
    fn with_step(self, step: &'static str) -> Result<T, EnterError> {
        self.map_err(|error| EnterError {
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
pub fn enter_sandbox(read: impl FnOnce() -> SandboxSpec) -> Result<(), EnterError> {
    let outside = HostRoot::open_root().with_step("told")?;
    let (made, group) = crate::linux::resources::cgroup::create_group().unzip();
    let entered = match fork_supervisor() {
        Ok(ForkSide::Supervisor(door)) => {
            drop(made);
            supervisor::run_supervisor(read, outside, group, &door)
        }
        Ok(ForkSide::Parent(keeper, _held)) => {
            drop(group);
            wait_for_supervisor(keeper)
        }
        Err(failed) => {
            failed.write_to_report(&outside.create_report(&read().told).with_step("told")?);
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

/// Enters a room that has no names of its own, see [`Room::bare`], and the rest as [`enter_sandbox`] does.
///
/// # Errors
/// As [`enter_sandbox`].
pub fn enter_unprivileged(room: &SandboxSpec) -> Result<(), EnterError> {
    let told = File::create(&room.told).with_step("told")?;
    unprivileged::run_unprivileged(room, &told).inspect_err(|failed| failed.write_to_report(&told))
}

/// The world as whoever asks for a room sees it, held from before the room has names of its own: in the room a path may mean
/// something else, and a file that is open there for writing keeps the disk that it lies on from becoming read-only.
struct HostRoot(OwnedFd);

impl HostRoot {
    fn open_root() -> rustix::io::Result<Self> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        rustix::fs::open("/", flags, Mode::empty()).map(Self)
    }

    /// Makes a file that is told in.
    fn create_report(&self, path: &Path) -> rustix::io::Result<File> {
        let path = path.strip_prefix("/").map_err(|_| Errno::INVAL)?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC | OFlags::CLOEXEC;
        openat(&self.0, path, flags, Mode::from_raw_mode(0o666)).map(File::from)
    }
}

/// Which of the two processes goes on.
enum ForkSide {
    /// Outside, with the keeper that it waits for, and what it holds open as long as it does.
    Parent(Pid, OwnedFd),
    /// In the room, with what closes when the door does.
    Supervisor(OwnedFd),
}

fn fork_supervisor() -> Result<ForkSide, EnterError> {
    namespaces::unshare_all().with_step("namespaces")?;
    // The keeper holds the other end: it notices a door that closed before it could ask to end with it.
    let (open, held) =
        rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).with_step("pipe")?;
    match namespaces::fork_process().with_step("fork")? {
        None => {
            drop(held);
            Ok(ForkSide::Supervisor(open))
        }
        Some(keeper) => Ok(ForkSide::Parent(keeper, held)),
    }
}

/// Waits until the room is over, or nobody wants it any more.
fn wait_for_supervisor(keeper: Pid) -> Result<(), EnterError> {
    let ends = pidfd_open(keeper, PidfdFlags::empty()).with_step("keeper")?;
    let input = io::stdin();
    loop {
        let mut seen = [
            PollFd::new(&ends, PollFlags::IN),
            PollFd::new(&input, PollFlags::empty()),
        ];
        match poll(&mut seen, None) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error).with_step("wait"),
        }
        let [ended, unwanted] = seen.map(|one| !one.revents().is_empty());
        if unwanted && !ended {
            // Everything in the room ends with the keeper, and is gone when the keeper is.
            pidfd_send_signal(&ends, Signal::KILL).with_step("wait")?;
        }
        if ended || unwanted {
            waitpid(Some(keeper), WaitOptions::empty()).with_step("wait")?;
            return Ok(());
        }
    }
}
