//! The first process of a sandbox: builds the walls, starts the command, reaps orphaned processes, and reports how the
//! command ended.

use std::fs::File;
use std::mem;
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{
    DumpableBehavior, Pid, Signal, WaitStatus, set_dumpable_behavior,
    set_parent_process_death_signal,
};

use super::access_log::{AccessLog, SharedAccessLog};
use super::child_reaper::{self, ChildReaper};
use super::command::PendingCommand;
use super::dns::DnsResponder;
use super::{EnterError, HostRoot, StepContext as _, egress, fd_passing, privileges};
use crate::linux::filesystem::mounts;
use crate::linux::resources::cgroup::Cgroup;
use crate::linux::resources::limits;
use crate::linux::resources::limits::LimitMonitor;
use crate::linux::resources::memory;
use crate::linux::resources::memory::MemoryMonitor;
use crate::linux::seccomp::answering;
use crate::linux::seccomp::path_access::SandboxPlaces;
use crate::linux::seccomp::seccomp_notify;
use crate::report::ReportLine;
use crate::{CommandEnd, DenialKind, SandboxSpec};

/// Exit code of the supervisor: nobody looks at it, for the outcome of the sandbox is in its report file.
const EXIT_DONE: i32 = 0;

/// How often the limits are checked.
const LIMIT_CHECK_INTERVAL: Duration = Duration::from_millis(250);

/// Longest wait for an event, as the system takes it: until memory is checked.
const POLL_TIMEOUT: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: memory::CHECK_INTERVAL.subsec_nanos() as i64,
};

/// Exit code of the supervisor where the outcome of the sandbox cannot be reported.
const EXIT_UNREPORTED: i32 = 125;

/// Supervises the sandbox until the command has ended. Never returns: with it, every process in the sandbox ends.
pub(super) fn run_supervisor(
    read: impl FnOnce() -> SandboxSpec,
    outside: HostRoot,
    group: Option<Cgroup>,
    door: &OwnedFd,
) -> ! {
    let prepared = PreparedSandbox::prepare(group, door);
    let spec = read();
    let Ok(told) = outside.create_report(&spec.told) else {
        std::process::exit(EXIT_UNREPORTED);
    };
    // It is written to by every thread until the process ends.
    let told: &File = Box::leak(Box::new(told));
    // Nothing may lead out of the sandbox once there is a command in it.
    drop(outside);
    let last = match prepared.and_then(|prepared| run_sandbox(&spec, told, prepared)) {
        Ok(end) => ReportLine::Ended(end),
        Err(failed) => failed.to_report_line(),
    };
    // A file that cannot be written is read as a sandbox that ended without a word, which is what it is.
    let _ = last.write_to(told);
    std::process::exit(EXIT_DONE)
}

/// The parts that every sandbox has, prepared before its specification is known.
struct PreparedSandbox {
    names: DnsResponder,
    children: ChildReaper,
    command: PendingCommand,
    /// Control group of the command; `None` where no group could be created.
    group: Option<Cgroup>,
    /// All mounts of the sandbox, held by this alone once its processes are gone.
    mounted: Option<OwnedFd>,
    mounts: mounts::PreparedMounts,
}

impl PreparedSandbox {
    fn prepare(group: Option<Cgroup>, door: &OwnedFd) -> Result<Self, EnterError> {
        set_parent_process_death_signal(Some(Signal::KILL)).with_step("keeper")?;
        if is_pipe_closed(door).with_step("keeper")? {
            return Err(std::io::Error::other("the door closed")).with_step("keeper");
        }
        // Nothing in the sandbox may look into its supervisor, whoever it is.
        set_dumpable_behavior(DumpableBehavior::NotDumpable).with_step("keeper")?;
        crate::linux::filesystem::devices::raise_loopback().with_step("loopback")?;
        let names = DnsResponder::bind().with_step("names")?;
        let children = child_reaper::watch_children().with_step("children")?;
        let command = PendingCommand::start()?;
        let group = group.filter(|group| group.add_process(command.process).is_ok());
        let mounted = File::open("/proc/self/ns/mnt").ok().map(OwnedFd::from);
        Ok(Self {
            names,
            children,
            command,
            group,
            mounted,
            mounts: mounts::PreparedMounts::prepare()?,
        })
    }
}

fn run_sandbox(
    spec: &SandboxSpec,
    report: &'static File,
    mut prepared: PreparedSandbox,
) -> Result<CommandEnd, EnterError> {
    let spec_sent = prepared.command.send_spec(spec);
    if spec.input {
        receive_input(&prepared.command).with_step("input")?;
    }
    let memory = MemoryMonitor::new(spec.limits.total_memory_bytes, prepared.group);
    let secrets = mounts::build_mounts(spec, prepared.mounts)?;
    privileges::drop_file_overrides().with_step("privileges")?;
    let way_out = match spec.proxy {
        true => Some(egress::open_proxy_port().with_step("proxy")?),
        false => None,
    };
    let child = prepared.command.process;
    let questions = prepared.command.run(spec_sent, way_out)?;
    if let Some(mounted) = &prepared.mounted {
        // The last to let go of it takes it all down, and need not be waited for by whoever asked for the sandbox.
        let _ = fd_passing::send_with_fd(std::io::stdin(), b"mounts", Some(mounted));
    }
    let watched = questions
        .as_ref()
        .is_some_and(|listener| seccomp_notify::can_read_program(child, listener));
    ReportLine::Began { watched }
        .write_to(report)
        .with_step("told")?;
    let access_log = SharedAccessLog::new(AccessLog::new(report));
    if let Some(listener) = questions {
        let places = SandboxPlaces::new(spec, secrets);
        answering::start_answering(listener, places, access_log.clone()).with_step("questions")?;
    }
    let mut watch = SupervisorLoop {
        child,
        children: prepared.children,
        names: prepared.names,
        limits: LimitMonitor::new(spec),
        memory,
        last_check: Instant::now(),
        access_log: access_log.clone(),
    };
    let end = watch.run_until_end().with_step("wait");
    // What is left in the sandbox ends with this process, and adds nothing to the report any more.
    mem::forget(access_log.lock());
    end
}

/// Requests the standard input of the command, and hands it on. The caller sends nothing else once the specification is
/// known.
fn receive_input(command: &PendingCommand) -> std::io::Result<()> {
    fd_passing::send_with_fd(std::io::stdin(), fd_passing::INPUT_MESSAGE, None)?;
    match fd_passing::receive_with_fd(std::io::stdin())? {
        (_, Some(input)) => command.send_input(&input),
        (_, None) => Err(std::io::Error::other("nobody handed it in")),
    }
}

/// Whether the other end of a pipe is closed.
fn is_pipe_closed(pipe: impl AsFd) -> rustix::io::Result<bool> {
    let mut seen = [PollFd::new(&pipe, PollFlags::empty())];
    poll(&mut seen, Some(&Timespec::default()))?;
    Ok(!seen[0].revents().is_empty())
}

/// The event sources of the supervisor while the command runs.
struct SupervisorLoop<'a> {
    child: Pid,
    children: ChildReaper,
    names: DnsResponder,
    limits: LimitMonitor<'a>,
    memory: MemoryMonitor,
    last_check: Instant,
    access_log: SharedAccessLog,
}

impl SupervisorLoop<'_> {
    fn run_until_end(&mut self) -> rustix::io::Result<CommandEnd> {
        loop {
            let [ended, named] = self.wait_for_event()?;
            if !named.is_empty() {
                self.record_dns_queries();
            }
            if self.last_check.elapsed() > LIMIT_CHECK_INTERVAL {
                self.record_limits();
            }
            if self.memory.is_limit_exceeded() {
                return Ok(self.end_for_memory());
            }
            if !ended.is_empty()
                && let Some(status) = self.reap_children()?
            {
                self.record_dns_queries();
                self.record_limits();
                return Ok(match self.memory.was_limit_reached() {
                    true => self.end_for_memory(),
                    false => command_end(status),
                });
            }
        }
    }

    /// Records that the sandbox took more memory than it may, and returns its end for that.
    fn end_for_memory(&mut self) -> CommandEnd {
        self.access_log
            .lock()
            .record_limit(&self.memory.limit_text());
        CommandEnd::Signal(libc::SIGKILL)
    }

    /// Waits for an event.
    fn wait_for_event(&self) -> rustix::io::Result<[PollFlags; 2]> {
        let mut poll_fds = [
            PollFd::new(&self.children, PollFlags::IN),
            PollFd::new(&self.names, PollFlags::IN),
        ];
        loop {
            match poll(&mut poll_fds, Some(&POLL_TIMEOUT)) {
                Ok(_) => break,
                Err(Errno::INTR) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(poll_fds.map(|one| one.revents()))
    }

    /// Reaps children, and returns the status of the command, once it has ended.
    fn reap_children(&mut self) -> rustix::io::Result<Option<WaitStatus>> {
        let mut found = None;
        for (ended, status) in self.children.reap_all()? {
            if let Some(limit) = limits::limit_from_status(status) {
                self.access_log.lock().record_limit(limit);
            }
            if ended == self.child {
                found = Some(status);
            }
        }
        Ok(found)
    }

    fn record_limits(&mut self) {
        self.last_check = Instant::now();
        for limit in self.limits.reached_limits() {
            self.access_log.lock().record_limit(limit);
        }
    }

    fn record_dns_queries(&mut self) {
        for name in self.names.answer_pending() {
            self.access_log
                .lock()
                .record_denial(DenialKind::Network, &name);
        }
    }
}

/// Returns how a process ended.
pub(super) fn command_end(status: WaitStatus) -> CommandEnd {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => CommandEnd::Exit(code),
        (None, Some(signal)) => CommandEnd::Signal(signal),
        (None, None) => CommandEnd::Signal(libc::SIGKILL),
    }
}
