//! The command: gives away what it has, one thing after the other, and then runs.

use std::ffi::CString;
use std::io;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};

use super::questions::{self, Questions};
use super::refused::Sockets;
use super::{At as _, NotEntered, ground, handover, privileges, refused, way_out};
use crate::Room;

/// Waits until the command begins to run, and gives where questions about it arrive. An error if something stands in its way:
/// it says so with the name of a wall and what the system said, and a zero byte between. It says nothing more once it runs.
pub(super) fn wait_until_it_runs(ready: &OwnedFd) -> Result<Option<Questions>, NotEntered> {
    let mut questions = None;
    loop {
        let (words, file) = handover::receive(ready).at("command")?;
        match (file, words.as_slice()) {
            (Some(listener), _) => questions = Some(Questions::new(listener)),
            (None, []) => return Ok(questions),
            (None, words) => {
                let words = String::from_utf8_lossy(words);
                let (step, error) = words.split_once('\0').unwrap_or(("", &words));
                return Err(io::Error::other(error.to_owned())).at(step_named(step));
            }
        }
    }
}

/// Runs the command in place of this process. Never returns.
pub(super) fn run(room: &Room, way_out: Option<SocketAddr>, says: &OwnedFd) -> ! {
    let failed = become_it(room, way_out, says);
    // The keeper reads it; if it is gone, so is the room.
    let words = format!("{}\0{}", failed.step, failed.error);
    let _ = handover::send(says, words.as_bytes(), None);
    std::process::exit(1)
}

fn become_it(room: &Room, way_out: Option<SocketAddr>, says: &OwnedFd) -> NotEntered {
    let Some((program, arguments)) = room.command.split_first() else {
        return NotEntered {
            step: "command",
            error: io::Error::other("there is no command"),
        };
    };
    if let Err(failed) = give_away(room, says) {
        return failed;
    }
    let error = Command::new(program)
        .args(arguments)
        .env_clear()
        .envs(room.environment.iter().map(|(name, value)| (name, value)))
        .envs(
            way_out
                .into_iter()
                .flat_map(|address| way_out::environment(address, &room.environment)),
        )
        .stdin(Stdio::null())
        .exec();
    NotEntered {
        step: "command",
        error,
    }
}

/// In this order: what needs a right before the right is gone, the calls last.
fn give_away(room: &Room, says: &OwnedFd) -> Result<(), NotEntered> {
    // No terminal to push keys into, and no group of the door's to signal.
    rustix::process::setsid().at("session")?;
    std::env::set_current_dir(&room.folder).at("folder")?;
    privileges::limit(&room.limits).at("limits")?;
    let Some(tmp) = &room.bare else {
        privileges::drop_all().at("privileges")?;
        privileges::close_files().at("files")?;
        ground::stand_on(room).at("landlock")?;
        let listener = questions::be_looked_at();
        if let Some(listener) = &listener {
            handover::send(says, b"questions", Some(listener)).at("questions")?;
        }
        let sockets = listener.map_or(Sockets::OfFamilies, |_| Sockets::AskedAbout);
        return refused::refuse(sockets).at("seccomp");
    };
    privileges::drop_ours().at("privileges")?;
    privileges::close_files().at("files")?;
    ground::stand_alone(room, tmp).at("landlock")?;
    refused::refuse(Sockets::None).at("seccomp")
}

/// The name of a wall that was read from the pipe.
fn step_named(step: &str) -> &'static str {
    [
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

/// A path as the kernel takes it.
pub(super) fn c_path(path: &std::path::Path) -> io::Result<CString> {
    use std::os::unix::ffi::OsStrExt as _;
    CString::new(path.as_os_str().as_bytes()).map_err(io::Error::other)
}
