//! The command: drops its privileges, one after the other, and then runs. In a sandbox with namespaces the process is
//! started before the specification is known, and has dropped by then the privileges that no command has.

use std::ffi::CString;
use std::fs::File;
use std::io::{self, BufReader, Write as _};
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::Pid;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{EnterError, StepContext as _, egress, fd_passing, namespaces, privileges};
use crate::SandboxSpec;
use crate::linux::filesystem::landlock;
use crate::linux::filesystem::landlock::LandlockRules;
use crate::linux::seccomp::deny_filter;
use crate::linux::seccomp::deny_filter::SocketPolicy;
use crate::linux::seccomp::seccomp_notify;
use crate::linux::seccomp::seccomp_notify::NotifyListener;

/// A process of the sandbox that waits for its command, as seen by the supervisor.
pub(super) struct PendingCommand {
    pub(super) process: Pid,
    /// Pipe for the specification, and then for the message that the sandbox is ready.
    spec_pipe: File,
    /// Pipe on which the process reports what went wrong.
    error_pipe: OwnedFd,
}

impl PendingCommand {
    /// Starts the process. Its errors are reported when it is to run.
    pub(super) fn start() -> Result<Self, EnterError> {
        let (says, saying) = fd_passing::new_socket_pair().with_step("pair")?;
        let (hears, told) = pipe_with(PipeFlags::CLOEXEC).with_step("pair")?;
        match namespaces::fork_process().with_step("fork")? {
            None => {
                drop((says, told));
                let failed = match prepare_command(hears.into(), &saying) {
                    Ok(ready) => exec_command(&ready.spec, ready.way_out, ready.input),
                    Err(failed) => failed,
                };
                report_failure(&failed, &saying)
            }
            Some(process) => Ok(Self {
                process,
                spec_pipe: told.into(),
                error_pipe: says,
            }),
        }
    }

    /// Sends the specification, so that the process gets ready while the walls are built.
    pub(super) fn send_spec(&mut self, spec: &SandboxSpec) -> io::Result<()> {
        self.send_message(spec)
    }

    /// Sends the standard input of the command.
    pub(super) fn send_input(&self, input: &OwnedFd) -> io::Result<()> {
        fd_passing::send_with_fd(&self.error_pipe, fd_passing::INPUT_MESSAGE, Some(input))
    }

    /// Runs the command in the finished sandbox; returns the listener on which its notifications arrive.
    pub(super) fn run(
        mut self,
        heard: io::Result<()>,
        way_out: Option<SocketAddr>,
    ) -> Result<Option<NotifyListener>, EnterError> {
        let heard = heard.and_then(|()| self.send_message(&way_out));
        // One that hears nothing any more has mostly said why.
        let questions = wait_until_running(&self.error_pipe)?;
        heard.with_step("command").map(|()| questions)
    }

    fn send_message(&mut self, what: &impl Serialize) -> io::Result<()> {
        let mut line = serde_json::to_vec(what)?;
        line.push(b'\n');
        self.spec_pipe.write_all(&line)
    }
}

/// Reads one message; an error when no more will come.
fn read_message<T: DeserializeOwned>(hears: &mut impl io::BufRead) -> Result<T, EnterError> {
    let mut line = Vec::new();
    hears.read_until(b'\n', &mut line).with_step("command")?;
    serde_json::from_slice(&line).with_step("command")
}

/// Waits until the command begins to run, and returns the listener on which its notifications arrive. An error if
/// something went wrong: the process reports the name of a step and the system's error, separated by a zero byte. It
/// reports nothing more once it runs.
pub(super) fn wait_until_running(socket: &OwnedFd) -> Result<Option<NotifyListener>, EnterError> {
    let mut questions = None;
    loop {
        let (words, file) = fd_passing::receive_with_fd(socket).with_step("command")?;
        match (file, words.as_slice()) {
            (Some(listener), _) => questions = Some(NotifyListener::new(listener)),
            (None, []) => return Ok(questions),
            (None, words) => {
                let words = String::from_utf8_lossy(words);
                let (step, error) = words.split_once('\0').unwrap_or(("", &words));
                return Err(io::Error::other(error.to_owned())).with_step(parse_step(step));
            }
        }
    }
}

/// Runs the command of an [unprivileged](SandboxSpec::bare) sandbox in place of this process. Never returns.
pub(super) fn exec_unprivileged(spec: &SandboxSpec, tmp: &Path, says: &OwnedFd) -> ! {
    let input = open_null_input().with_step("input");
    let failed = match input.and_then(|input| drop_unprivileged(spec, tmp).map(|()| input)) {
        Ok(input) => exec_command(spec, None, input),
        Err(failed) => failed,
    };
    report_failure(&failed, says)
}

/// Reports what went wrong. The supervisor reads it; if that is gone, so is the sandbox.
fn report_failure(failed: &EnterError, says: &OwnedFd) -> ! {
    let words = format!("{}\0{}", failed.step, failed.error);
    let _ = fd_passing::send_with_fd(says, words.as_bytes(), None);
    std::process::exit(1)
}

/// Drops the privileges that no command has, waits for the sandbox, and drops the rest.
fn prepare_command(hears: File, says: &OwnedFd) -> Result<ReadyCommand, EnterError> {
    let mut hears = BufReader::new(hears);
    // Before its calls are looked at: nobody answers until it runs.
    let nothing = open_null_input().with_step("input")?;
    let ground = drop_early_privileges(says)?;
    let spec: SandboxSpec = read_message(&mut hears)?;
    let input = match spec.input {
        true => receive_input(says).with_step("input")?,
        false => nothing,
    };
    privileges::set_limits(&spec.limits).with_step("limits")?;
    let way_out = read_message(&mut hears)?;
    drop_remaining_privileges(&spec, ground)?;
    Ok(ReadyCommand {
        spec,
        way_out,
        input,
    })
}

/// A command that may run now.
struct ReadyCommand {
    spec: SandboxSpec,
    way_out: Option<SocketAddr>,
    input: File,
}

/// Opens the standard input of a command that gets none.
fn open_null_input() -> io::Result<File> {
    File::open("/dev/null")
}

/// Receives the standard input of a command that was handed one.
fn receive_input(says: &OwnedFd) -> io::Result<File> {
    match fd_passing::receive_with_fd(says)? {
        (_, Some(input)) => Ok(input.into()),
        (_, None) => Err(io::Error::other("nobody handed it in")),
    }
}

/// Replaces this process by the command. Returns only if that failed.
fn exec_command(spec: &SandboxSpec, way_out: Option<SocketAddr>, input: File) -> EnterError {
    let Some((program, arguments)) = spec.command.split_first() else {
        return EnterError {
            step: "command",
            error: io::Error::other("there is no command"),
        };
    };
    let error = Command::new(program)
        .args(arguments)
        .env_clear()
        .envs(spec.environment.iter().map(|(name, value)| (name, value)))
        .envs(
            way_out
                .into_iter()
                .flat_map(|address| egress::proxy_environment(address, &spec.environment)),
        )
        .stdin(input)
        .exec();
    EnterError {
        step: "command",
        error,
    }
}

/// Drops the privileges that can be dropped before the sandbox is known. Of the system calls none that is still needed
/// is denied or reported yet.
fn drop_early_privileges(says: &OwnedFd) -> Result<LandlockRules, EnterError> {
    // No terminal to push keys into, and no group of the door's to signal.
    rustix::process::setsid().with_step("session")?;
    privileges::lock_capabilities().with_step("privileges")?;
    let ground = LandlockRules::build_rules().with_step("landlock")?;
    let listener = seccomp_notify::install_listener();
    if let Some(listener) = &listener {
        fd_passing::send_with_fd(says, b"questions", Some(listener)).with_step("questions")?;
    }
    let sockets = listener.map_or(SocketPolicy::AllowedFamilies, |_| SocketPolicy::Notify);
    deny_filter::install_deny_filter(sockets).with_step("seccomp")?;
    Ok(ground)
}

/// Drops the remaining privileges, in this order: each step comes before the loss of a right that it needs.
fn drop_remaining_privileges(spec: &SandboxSpec, ground: LandlockRules) -> Result<(), EnterError> {
    std::env::set_current_dir(&spec.folder).with_step("folder")?;
    privileges::drop_capabilities().with_step("privileges")?;
    privileges::set_close_on_exec().with_step("files")?;
    ground.enforce_for(spec).with_step("landlock")
}

/// Drops all privileges, in this order: each step comes before the loss of a right that it needs, system calls last.
fn drop_unprivileged(spec: &SandboxSpec, tmp: &Path) -> Result<(), EnterError> {
    rustix::process::setsid().with_step("session")?;
    std::env::set_current_dir(&spec.folder).with_step("folder")?;
    privileges::set_limits(&spec.limits).with_step("limits")?;
    privileges::drop_capabilities().with_step("privileges")?;
    privileges::set_close_on_exec().with_step("files")?;
    landlock::enforce_landlock_only(spec, tmp).with_step("landlock")?;
    deny_filter::install_deny_filter(SocketPolicy::None).with_step("seccomp")
}

/// Returns the name of a step that was read from the pipe.
fn parse_step(step: &str) -> &'static str {
    [
        "input",
        "session",
        "folder",
        "limits",
        "privileges",
        "files",
        "landlock",
        "questions",
        "seccomp",
    ]
    .into_iter()
    .find(|known| *known == step)
    .unwrap_or("command")
}

/// Converts a path to a C string for the kernel.
pub(super) fn to_c_path(path: &Path) -> io::Result<CString> {
    use std::os::unix::ffi::OsStrExt as _;
    CString::new(path.as_os_str().as_bytes()).map_err(io::Error::other)
}
