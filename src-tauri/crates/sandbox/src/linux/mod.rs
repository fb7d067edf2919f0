//! Entering a sandbox, from top to bottom: three processes, each with one job.
//!
//! 1. The *parent* ([`enter_sandbox`]) creates the namespaces and waits. It ends when the sandbox does, and ends the
//!    sandbox when its caller no longer wants it.
//! 2. The *supervisor* is the first process of the sandbox. It prepares the parts that every sandbox has, and only then
//!    reads the specification. It builds the walls, starts the command, reaps orphaned processes, observes the accesses
//!    that the command is refused, and reports them and how the command ended. When it ends, the kernel ends every
//!    process in the sandbox.
//! 3. The *command* drops its privileges, one after the other: those that no command has before the specification is
//!    known, the rest once the walls stand. Then it runs.
//!
//! Where unprivileged processes may not create namespaces, a sandbox of one process less and without namespaces can be
//! had (`unprivileged.rs`).

mod access_log;
mod child_reaper;
mod command;
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

/// The wall of a sandbox that could not be built, and the system's error.
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

    /// Writes the error to the report. If that fails too, the exit code still tells of it.
    fn write_to_report(&self, report: &File) {
        let _ = self.to_report_line().write_to(report);
    }
}

impl fmt::Display for EnterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.step, self.error)
    }
}

impl std::error::Error for EnterError {}

/// Adds the name of a wall to an error.
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

/// Prepares the parts that every sandbox has, then gets the specification from `read`; enters that sandbox, runs its
/// command there, and reports its outcome in the sandbox's report file. If `read` answers long after the start, the
/// sandbox is nearly ready by then.
///
/// # Errors
/// The sandbox could not be entered, or its outcome could not be reported.
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

/// Enters a sandbox without namespaces, see [`SandboxSpec::bare`], otherwise as [`enter_sandbox`] does.
///
/// # Errors
/// As [`enter_sandbox`].
pub fn enter_unprivileged(spec: &SandboxSpec) -> Result<(), EnterError> {
    let told = File::create(&spec.told).with_step("told")?;
    unprivileged::run_unprivileged(spec, &told).inspect_err(|failed| failed.write_to_report(&told))
}

/// The file system as the caller sees it, held from before the sandbox has namespaces of its own: in the sandbox a path
/// may mean something else, and a file that is open there for writing keeps its disk from becoming read-only.
struct HostRoot(OwnedFd);

impl HostRoot {
    fn open_root() -> rustix::io::Result<Self> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        rustix::fs::open("/", flags, Mode::empty()).map(Self)
    }

    /// Creates a report file.
    fn create_report(&self, path: &Path) -> rustix::io::Result<File> {
        let path = path.strip_prefix("/").map_err(|_| Errno::INVAL)?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC | OFlags::CLOEXEC;
        openat(&self.0, path, flags, Mode::from_raw_mode(0o666)).map(File::from)
    }
}

/// The process that continues after the fork.
enum ForkSide {
    /// Outside: the supervisor that it waits for, and the pipe that it holds open meanwhile.
    Parent(Pid, OwnedFd),
    /// In the sandbox: the pipe that closes when the parent ends.
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

/// Waits until the sandbox has ended, or its caller no longer wants it.
fn wait_for_supervisor(keeper: Pid) -> Result<(), EnterError> {
    let ends = pidfd_open(keeper, PidfdFlags::empty()).with_step("keeper")?;
    let input = io::stdin();
    loop {
        let mut poll_fds = [
            PollFd::new(&ends, PollFlags::IN),
            PollFd::new(&input, PollFlags::empty()),
        ];
        match poll(&mut poll_fds, None) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error).with_step("wait"),
        }
        let [ended, unwanted] = poll_fds.map(|one| !one.revents().is_empty());
        if unwanted && !ended {
            // Everything in the sandbox ends with the supervisor, and is gone when the supervisor is.
            pidfd_send_signal(&ends, Signal::KILL).with_step("wait")?;
        }
        if ended || unwanted {
            waitpid(Some(keeper), WaitOptions::empty()).with_step("wait")?;
            return Ok(());
        }
    }
}
