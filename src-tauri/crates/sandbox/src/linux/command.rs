//! The command: gives away what it has, one thing after the other, and then runs.

use std::ffi::CString;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};

use super::{At as _, NotEntered, ground, privileges, refused};
use crate::Room;

/// What stands in the way of the command, if anything does: a wall and what the system said, with a zero byte between.
/// Nothing if the pipe closes silently, which it does when the command begins to run.
pub(super) fn wait_until_it_runs(ready: OwnedFd) -> Result<(), NotEntered> {
    let mut said = String::new();
    File::from(ready).read_to_string(&mut said).at("command")?;
    match said.split_once('\0') {
        None if said.is_empty() => Ok(()),
        None => Err(io::Error::other(said)).at("command"),
        Some((step, error)) => Err(io::Error::other(error.to_owned())).at(step_named(step)),
    }
}

/// Runs the command in place of this process. Never returns.
pub(super) fn run(room: &Room, says: OwnedFd) -> ! {
    let failed = become_it(room);
    // The keeper reads it; if it is gone, so is the room.
    let _ = File::from(says).write_all(format!("{}\0{}", failed.step, failed.error).as_bytes());
    std::process::exit(1)
}

fn become_it(room: &Room) -> NotEntered {
    let Some((program, arguments)) = room.command.split_first() else {
        return NotEntered {
            step: "command",
            error: io::Error::other("there is no command"),
        };
    };
    if let Err(failed) = give_away(room) {
        return failed;
    }
    let error = Command::new(program)
        .args(arguments)
        .env_clear()
        .envs(room.environment.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::null())
        .exec();
    NotEntered {
        step: "command",
        error,
    }
}

/// In this order: what needs a right before the right is gone, the calls last.
fn give_away(room: &Room) -> Result<(), NotEntered> {
    // No terminal to push keys into, and no group of the door's to signal.
    rustix::process::setsid().at("session")?;
    std::env::set_current_dir(&room.workspace).at("workspace")?;
    privileges::limit(&room.limits).at("limits")?;
    privileges::drop_all().at("privileges")?;
    privileges::close_files().at("files")?;
    ground::stand_on(room).at("landlock")?;
    refused::refuse().at("seccomp")
}

/// The name of a wall that was read from the pipe.
fn step_named(step: &str) -> &'static str {
    [
        "session",
        "workspace",
        "limits",
        "privileges",
        "files",
        "landlock",
        "seccomp",
    ]
    .into_iter()
    .find(|known| *known == step)
    .unwrap_or("command")
}

/// A path as the kernel takes it.
pub(super) fn c_path(path: &std::path::Path) -> io::Result<CString> {
    use std::os::unix::ffi::OsStrExt as _;
    CString::new(path.as_os_str().as_bytes()).map_err(io::Error::other)
}
