//! The first process of a room: builds the walls, starts the command, takes in what is left behind, says how it ended.

use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{
    DumpableBehavior, Pid, Signal, WaitStatus, set_dumpable_behavior,
    set_parent_process_death_signal,
};

use super::children::{self, Children};
use super::command::Waiting;
use super::group::Group;
use super::ledger::Ledger;
use super::limits::{self, Limits};
use super::memory::{self, Memory};
use super::names::Names;
use super::questions::{self, Questions};
use super::secrets::Secrets;
use super::sight::{Answer, Looked};
use super::{At as _, NotEntered, World, handover, mounts, privileges, sight, way_out};
use crate::told::Line;
use crate::{End, RefusedKind, Room};

/// How the keeper itself ends: nobody looks at it, for what became of the room stands in its file.
const DONE: i32 = 0;

/// How often the limits are looked at.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// How long nothing is waited for, as the system takes it: until memory is looked at.
const LOOK_AGAIN: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: memory::LOOK_EVERY.subsec_nanos() as i64,
};

/// How the keeper ends where nobody can be told what became of the room.
const UNTOLD: i32 = 125;

/// Keeps the room until the command has ended. Never returns: with it, everything in the room ends.
pub(super) fn keep(
    read: impl FnOnce() -> Room,
    outside: World,
    group: Option<Group>,
    door: &OwnedFd,
) -> ! {
    let prepared = Prepared::for_any_room(group, door);
    let room = read();
    let Ok(told) = outside.file(&room.told) else {
        std::process::exit(UNTOLD);
    };
    // Nothing may lead out of the room once there is a command in it.
    drop(outside);
    let last = match prepared.and_then(|prepared| run(&room, &told, prepared)) {
        Ok(end) => Line::Ended(end),
        Err(failed) => failed.line(),
    };
    // A file that cannot be written is read as a room that ended without a word, which is what it is.
    let _ = last.write(&told);
    std::process::exit(DONE)
}

/// What every room has, made before it is known which one it is.
struct Prepared {
    names: Names,
    children: Children,
    command: Waiting,
    /// What the command was put into; none where there are no such groups.
    group: Option<Group>,
    /// All that is mounted in the room, held by this alone once its processes are gone.
    mounted: Option<OwnedFd>,
    mounts: mounts::Prepared,
}

impl Prepared {
    fn for_any_room(group: Option<Group>, door: &OwnedFd) -> Result<Self, NotEntered> {
        set_parent_process_death_signal(Some(Signal::KILL)).at("keeper")?;
        if is_closed(door).at("keeper")? {
            return Err(std::io::Error::other("the door closed")).at("keeper");
        }
        // Nothing in the room may look into its keeper, whoever it is.
        set_dumpable_behavior(DumpableBehavior::NotDumpable).at("keeper")?;
        super::devices::raise_loopback().at("loopback")?;
        let names = Names::answer_here().at("names")?;
        let children = children::listen().at("children")?;
        let command = Waiting::start()?;
        let group = group.filter(|group| group.take_in(command.process).is_ok());
        let mounted = File::open("/proc/self/ns/mnt").ok().map(OwnedFd::from);
        Ok(Self {
            names,
            children,
            command,
            group,
            mounted,
            mounts: mounts::Prepared::for_any_room()?,
        })
    }
}

fn run(room: &Room, told: &File, mut prepared: Prepared) -> Result<End, NotEntered> {
    let heard = prepared.command.hear(room);
    if room.input {
        take_input(&prepared.command).at("input")?;
    }
    let memory = Memory::of(room.limits.room_memory_bytes, prepared.group);
    let secrets = mounts::build(room, prepared.mounts)?;
    privileges::obey_modes().at("privileges")?;
    let way_out = match room.proxy {
        true => Some(way_out::open().at("proxy")?),
        false => None,
    };
    let child = prepared.command.process;
    let questions = prepared.command.run(heard, way_out)?;
    if let Some(mounted) = &prepared.mounted {
        // The last to let go of it takes it all down, and need not be waited for by whoever asked for the room.
        let _ = handover::send(std::io::stdin(), b"mounts", Some(mounted));
    }
    let watched = questions.is_some() && questions::is_legible(child);
    Line::Began { watched }.write(told).at("told")?;
    let mut watch = Watch {
        child,
        children: prepared.children,
        names: prepared.names,
        secrets,
        questions,
        limits: Limits::of(room),
        memory,
        looked: Instant::now(),
        ledger: Ledger::new(told),
    };
    watch.until_the_end().at("wait")
}

/// Asks for what the command reads, and hands it on. Nothing else is said from outside once the room is known.
fn take_input(command: &Waiting) -> std::io::Result<()> {
    handover::send(std::io::stdin(), handover::INPUT, None)?;
    match handover::receive(std::io::stdin())? {
        (_, Some(input)) => command.give_input(&input),
        (_, None) => Err(std::io::Error::other("nobody handed it in")),
    }
}

/// Whether the other end of a pipe is closed.
fn is_closed(pipe: impl AsFd) -> rustix::io::Result<bool> {
    let mut seen = [PollFd::new(&pipe, PollFlags::empty())];
    poll(&mut seen, Some(&Timespec::default()))?;
    Ok(!seen[0].revents().is_empty())
}

/// Everything that the keeper hears of while the command runs.
struct Watch<'a> {
    child: Pid,
    children: Children,
    names: Names,
    secrets: Secrets,
    questions: Option<Questions>,
    limits: Limits<'a>,
    memory: Memory,
    looked: Instant,
    ledger: Ledger<'a>,
}

impl Watch<'_> {
    fn until_the_end(&mut self) -> rustix::io::Result<End> {
        loop {
            let [ended, named, asked] = self.wait()?;
            if asked.contains(PollFlags::IN) {
                self.answer();
            } else if !asked.is_empty() {
                // Nobody is left who could be asked about.
                self.questions = None;
            }
            if !named.is_empty() {
                self.note_names();
            }
            if self.looked.elapsed() > LOOK_EVERY {
                self.note_limits();
            }
            if self.memory.is_over() {
                return Ok(self.end_for_memory());
            }
            if !ended.is_empty()
                && let Some(status) = self.take_in()?
            {
                self.note_names();
                self.note_limits();
                return Ok(match self.memory.was_over() {
                    true => self.end_for_memory(),
                    false => end(status),
                });
            }
        }
    }

    /// Notes that the room took more memory than it may, and gives how it ends for that.
    fn end_for_memory(&mut self) -> End {
        let limit = self.memory.limit();
        self.ledger.note(RefusedKind::Limit, limit.as_bytes());
        End::Signal(libc::SIGKILL)
    }

    /// Waits for something to happen.
    fn wait(&self) -> rustix::io::Result<[PollFlags; 3]> {
        let mut seen = vec![
            PollFd::new(&self.children, PollFlags::IN),
            PollFd::new(&self.names, PollFlags::IN),
        ];
        seen.extend(
            self.questions
                .iter()
                .map(|questions| PollFd::new(questions, PollFlags::IN)),
        );
        loop {
            match poll(&mut seen, Some(&LOOK_AGAIN)) {
                Ok(_) => break,
                Err(Errno::INTR) => {}
                Err(error) => return Err(error),
            }
        }
        let mut flags = seen.iter().map(PollFd::revents);
        Ok([(); 3].map(|()| flags.next().unwrap_or(PollFlags::empty())))
    }

    /// Gives how the command ended, once it has.
    fn take_in(&mut self) -> rustix::io::Result<Option<WaitStatus>> {
        let mut found = None;
        for (ended, status) in self.children.take_in()? {
            if let Some(limit) = limits::ended_by(status) {
                self.ledger.note(RefusedKind::Limit, limit.as_bytes());
            }
            if ended == self.child {
                found = Some(status);
            }
        }
        Ok(found)
    }

    fn note_limits(&mut self) {
        self.looked = Instant::now();
        for limit in self.limits.met() {
            self.ledger.note(RefusedKind::Limit, limit.as_bytes());
        }
    }

    fn note_names(&mut self) {
        for name in self.names.take() {
            self.ledger.note(RefusedKind::Network, &name);
        }
    }

    /// Looks at a call and answers it.
    fn answer(&mut self) {
        let Some(questions) = &self.questions else {
            return;
        };
        match questions.next() {
            Ok(Some(question)) => {
                let Looked { seen, answer } = sight::look(&question, &self.secrets);
                if !seen.is_empty() && questions.still_waits(&question) {
                    for (kind, target) in seen {
                        self.ledger.note(kind, &target);
                    }
                }
                match answer {
                    Answer::LetPass => questions.let_pass(&question),
                    Answer::Refuse => questions.refuse(&question),
                    Answer::StandIn if questions.give_stand_in(&question).is_ok() => {}
                    Answer::StandIn => {
                        self.ledger
                            .note(RefusedKind::Socket, sight::ON_THIS_MACHINE);
                        questions.refuse(&question);
                    }
                }
            }
            Ok(None) => {}
            // Closed, it lets nobody wait for an answer that cannot be given: their calls fail.
            Err(_) => self.questions = None,
        }
    }
}

/// How a process ended.
pub(super) fn end(status: WaitStatus) -> End {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => End::Exit(code),
        (None, Some(signal)) => End::Signal(signal),
        (None, None) => End::Signal(libc::SIGKILL),
    }
}
