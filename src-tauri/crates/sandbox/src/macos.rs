//! Entering a sandbox on macOS: the command runs under the profile of `seatbelt.rs`, and ends with its caller.
//!
//! **Checked by the compiler, never run by those who wrote it**: the tests beside it run where a Mac builds this.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::process::{Pid, Resource, Rlimit, Signal, getrlimit, kill_process_group, setrlimit};

use crate::report::ReportLine;
use crate::{CommandEnd, SandboxLimits, SandboxSpec, seatbelt};

/// Enters a sandbox, runs its command there, and reports its outcome in the sandbox's report file. Refused accesses are
/// not seen. Processes that leave the group of the command, as daemons do, outlive it, under the same profile.
///
/// # Errors
/// The sandbox could not be entered, or its outcome could not be reported.
pub fn enter_sandbox(spec: &SandboxSpec) -> io::Result<()> {
    // Opened here, where the path means what whoever asked for the sandbox meant.
    let report = File::create(&spec.told)?;
    match start_command(spec) {
        Ok(child) => wait_for_command(child, &report),
        Err((step, error)) => {
            let line = ReportLine::NotEntered {
                step: step.to_owned(),
                error: error.to_string(),
            };
            line.write_to(&report)?;
            Err(error)
        }
    }
}

fn start_command(spec: &SandboxSpec) -> Result<Child, (&'static str, io::Error)> {
    let temporary = resolve_tmp(spec).map_err(|error| ("temporary files", error))?;
    let arguments = seatbelt::build_arguments(spec, &temporary);
    let arguments = arguments.map_err(|why| ("sandbox", io::Error::other(why)))?;
    set_limits(&spec.limits).map_err(|error| ("limits", error))?;
    Command::new(seatbelt::SANDBOX_EXEC)
        .args(arguments)
        .current_dir(&spec.folder)
        .env_clear()
        .envs(spec.environment.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::null())
        .process_group(0)
        .spawn()
        .map_err(|error| ("command", error))
}

/// Returns the real path of the folder for temporary files that the command is given.
fn resolve_tmp(spec: &SandboxSpec) -> io::Result<PathBuf> {
    let named = spec.environment.iter().find(|(name, _)| name == "TMPDIR");
    let (_, folder) = named.ok_or_else(|| io::Error::other("`TMPDIR` names no folder"))?;
    std::fs::canonicalize(folder)
}

/// Sets the limits of this process, which processes that it starts inherit.
fn set_limits(limits: &SandboxLimits) -> io::Result<()> {
    for (resource, max) in [
        (Resource::Fsize, limits.file_bytes),
        (Resource::Nofile, limits.open_files),
        (Resource::Core, 0),
    ] {
        let max = getrlimit(resource)
            .maximum
            .map_or(max, |there| there.min(max));
        let limit = Rlimit {
            current: Some(max),
            maximum: Some(max),
        };
        setrlimit(resource, limit)?;
    }
    Ok(())
}

/// Supervises the command until it has ended, or its caller no longer wants it.
fn wait_for_command(mut child: Child, report: &File) -> io::Result<()> {
    ReportLine::Began { watched: false }.write_to(report)?;
    let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let group = group.ok_or_else(|| io::Error::other("the command has no number"))?;
    let unwanted = Arc::new(AtomicBool::new(false));
    let said = Arc::clone(&unwanted);
    std::thread::Builder::new().spawn(move || {
        // Nothing more is said: what comes is the end.
        let _ = io::stdin().read_to_end(&mut Vec::new());
        said.store(true, Ordering::SeqCst);
        let _ = kill_process_group(group, Signal::KILL);
    })?;
    let status = child.wait()?;
    // The processes that the command left behind.
    let _ = kill_process_group(group, Signal::KILL);
    match unwanted.load(Ordering::SeqCst) {
        true => Ok(()),
        false => ReportLine::Ended(command_end(status)).write_to(report),
    }
}

fn command_end(status: ExitStatus) -> CommandEnd {
    match (status.code(), status.signal()) {
        (Some(code), _) => CommandEnd::Exit(code),
        (None, signal) => CommandEnd::Signal(signal.unwrap_or_default()),
    }
}
