//! The command: gives away what it has, one thing after the other, and then runs. Where the room has names of its own it is
//! there before the room is known, and has given away by then what no command has.

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

use super::ground::Ground;
use super::questions::{self, Questions};
use super::refused::Sockets;
use super::{At as _, NotEntered, ground, handover, namespaces, privileges, refused, way_out};
use crate::Room;

/// A process of the room that waits to hear which command it is, as its keeper sees it.
pub(super) struct Waiting {
    pub(super) process: Pid,
    /// Where it is told the room, and then that the room stands.
    told: File,
    /// Where it says what stands in its way.
    says: OwnedFd,
}

impl Waiting {
    /// Starts it. What goes wrong with it is heard when it is to run.
    pub(super) fn start() -> Result<Self, NotEntered> {
        let (says, saying) = handover::pair().at("pair")?;
        let (hears, told) = pipe_with(PipeFlags::CLOEXEC).at("pair")?;
        match namespaces::fork().at("fork")? {
            None => {
                drop((says, told));
                let failed = match wait_for_the_room(hears.into(), &saying) {
                    Ok(ready) => become_it(&ready.room, ready.way_out, ready.input),
                    Err(failed) => failed,
                };
                fail(&failed, &saying)
            }
            Some(process) => Ok(Self {
                process,
                told: told.into(),
                says,
            }),
        }
    }

    /// Tells it which room it is in, so that it gets ready while the walls are built.
    pub(super) fn hear(&mut self, room: &Room) -> io::Result<()> {
        self.tell(room)
    }

    /// Gives it what it reads.
    pub(super) fn give_input(&self, input: &OwnedFd) -> io::Result<()> {
        handover::send(&self.says, handover::INPUT, Some(input))
    }

    /// Has it run, now that the room stands; gives where questions about it arrive.
    pub(super) fn run(
        mut self,
        heard: io::Result<()>,
        way_out: Option<SocketAddr>,
    ) -> Result<Option<Questions>, NotEntered> {
        let heard = heard.and_then(|()| self.tell(&way_out));
        // One that hears nothing any more has mostly said why.
        let questions = wait_until_it_runs(&self.says)?;
        heard.at("command").map(|()| questions)
    }

    fn tell(&mut self, what: &impl Serialize) -> io::Result<()> {
        let mut line = serde_json::to_vec(what)?;
        line.push(b'\n');
        self.told.write_all(&line)
    }
}

/// Hears one thing; an error when nothing more will be said.
fn hear<T: DeserializeOwned>(hears: &mut impl io::BufRead) -> Result<T, NotEntered> {
    let mut line = Vec::new();
    hears.read_until(b'\n', &mut line).at("command")?;
    serde_json::from_slice(&line).at("command")
}

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

/// Runs the command of a [bare](Room::bare) room in place of this process. Never returns.
pub(super) fn run_bare(room: &Room, tmp: &Path, says: &OwnedFd) -> ! {
    let input = no_input().at("input");
    let failed = match input.and_then(|input| give_away_bare(room, tmp).map(|()| input)) {
        Ok(input) => become_it(room, None, input),
        Err(failed) => failed,
    };
    fail(&failed, says)
}

/// Says what stood in its way. The keeper reads it; if it is gone, so is the room.
fn fail(failed: &NotEntered, says: &OwnedFd) -> ! {
    let words = format!("{}\0{}", failed.step, failed.error);
    let _ = handover::send(says, words.as_bytes(), None);
    std::process::exit(1)
}

/// Gives away what no command has, waits for the room, and gives away the rest.
fn wait_for_the_room(hears: File, says: &OwnedFd) -> Result<Ready, NotEntered> {
    let mut hears = BufReader::new(hears);
    // Before its calls are looked at: nobody answers until it runs.
    let nothing = no_input().at("input")?;
    let ground = give_away_ahead(says)?;
    let room: Room = hear(&mut hears)?;
    let input = match room.input {
        true => handed_in(says).at("input")?,
        false => nothing,
    };
    privileges::limit(&room.limits).at("limits")?;
    let way_out = hear(&mut hears)?;
    give_away_the_rest(&room, ground)?;
    Ok(Ready {
        room,
        way_out,
        input,
    })
}

/// A command that may run now.
struct Ready {
    room: Room,
    way_out: Option<SocketAddr>,
    input: File,
}

/// What a command reads where nobody says anything.
fn no_input() -> io::Result<File> {
    File::open("/dev/null")
}

/// What a command reads that somebody talks to.
fn handed_in(says: &OwnedFd) -> io::Result<File> {
    match handover::receive(says)? {
        (_, Some(input)) => Ok(input.into()),
        (_, None) => Err(io::Error::other("nobody handed it in")),
    }
}

/// Takes the place of this process. Returns what stood in its way.
fn become_it(room: &Room, way_out: Option<SocketAddr>, input: File) -> NotEntered {
    let Some((program, arguments)) = room.command.split_first() else {
        return NotEntered {
            step: "command",
            error: io::Error::other("there is no command"),
        };
    };
    let error = Command::new(program)
        .args(arguments)
        .env_clear()
        .envs(room.environment.iter().map(|(name, value)| (name, value)))
        .envs(
            way_out
                .into_iter()
                .flat_map(|address| way_out::environment(address, &room.environment)),
        )
        .stdin(input)
        .exec();
    NotEntered {
        step: "command",
        error,
    }
}

/// What can be given away before the room is known. Of the calls nothing that is still to be done is refused or asked about.
fn give_away_ahead(says: &OwnedFd) -> Result<Ground, NotEntered> {
    // No terminal to push keys into, and no group of the door's to signal.
    rustix::process::setsid().at("session")?;
    privileges::close_ways_back().at("privileges")?;
    let ground = Ground::prepare().at("landlock")?;
    let listener = questions::be_looked_at();
    if let Some(listener) = &listener {
        handover::send(says, b"questions", Some(listener)).at("questions")?;
    }
    let sockets = listener.map_or(Sockets::OfFamilies, |_| Sockets::AskedAbout);
    refused::refuse(sockets).at("seccomp")?;
    Ok(ground)
}

/// In this order: what needs a right before the right is gone.
fn give_away_the_rest(room: &Room, ground: Ground) -> Result<(), NotEntered> {
    std::env::set_current_dir(&room.folder).at("folder")?;
    privileges::drop_ours().at("privileges")?;
    privileges::close_files().at("files")?;
    ground.stand_on(room).at("landlock")
}

/// All of it, in this order: what needs a right before the right is gone, the calls last.
fn give_away_bare(room: &Room, tmp: &Path) -> Result<(), NotEntered> {
    rustix::process::setsid().at("session")?;
    std::env::set_current_dir(&room.folder).at("folder")?;
    privileges::limit(&room.limits).at("limits")?;
    privileges::drop_ours().at("privileges")?;
    privileges::close_files().at("files")?;
    ground::stand_alone(room, tmp).at("landlock")?;
    refused::refuse(Sockets::None).at("seccomp")
}

/// The name of a wall that was read from the pipe.
fn step_named(step: &str) -> &'static str {
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

/// A path as the kernel takes it.
pub(super) fn c_path(path: &Path) -> io::Result<CString> {
    use std::os::unix::ffi::OsStrExt as _;
    CString::new(path.as_os_str().as_bytes()).map_err(io::Error::other)
}
