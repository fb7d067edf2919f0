//! Starts a command in the sealed room: the program of the room, with the room on its standard input.

use std::io::{self, PipeReader};
use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

#[cfg(target_os = "linux")]
use sandbox::SandboxConnection;
use sandbox::{SandboxSpec, UNPRIVILEGED_ARG};
use tokio::process::{Child, Command as Starter};

use super::{OutputPipe, StartedCommand};
use crate::FileError;

/// The program of the room, and one of it that has started already and waits to hear which room it is: all that every room has
/// is made by then, which takes about as long as all that comes after.
#[derive(Debug)]
pub(crate) struct SandboxLauncher {
    program: PathBuf,
    ready: Mutex<Option<WaitingSandbox>>,
}

/// A program that waits to hear which room it is. Let go of, it ends.
#[derive(Debug)]
struct WaitingSandbox {
    child: Child,
    output: PipeReader,
    wanted: SandboxStopper,
    /// What was mounted where when it started.
    mounts: Option<Vec<u8>>,
}

impl SandboxLauncher {
    pub(crate) fn new(program: PathBuf) -> Self {
        Self {
            program,
            ready: Mutex::default(),
        }
    }

    /// Enters a room for a program that is talked to: `input` is what it reads. The rest is as with [`SandboxLauncher::start_command`].
    #[cfg(target_os = "linux")]
    pub(crate) async fn start_companion(
        &self,
        room: &SandboxSpec,
        input: PipeReader,
        errors: &std::io::PipeWriter,
    ) -> Result<(SandboxedCompanion, Option<TcpListener>), FileError> {
        let failed =
            |error: io::Error| FileError::from_io(self.program.display().to_string(), &error);
        let ready =
            WaitingSandbox::start_waiting(&self.program, false, Some(errors)).map_err(failed)?;
        let asked = send_request(ready.wanted, room.clone(), Some(input.into())).await;
        let (wanted, listener) = asked.map_err(failed)?;
        let talking = SandboxedCompanion {
            child: ready.child,
            output: ready.output,
            stopper: wanted,
        };
        Ok((talking, listener))
    }

    /// Enters a room. When the program's input closes, the room ends. Of a room with a way out it gives the port in it at which
    /// somebody is to listen; none if it could not be entered, which it tells in its own way.
    pub(crate) async fn start_command(
        &self,
        room: &SandboxSpec,
        errors: Option<&std::io::PipeWriter>,
    ) -> Result<(StartedCommand, Option<TcpListener>), FileError> {
        let failed =
            |error: io::Error| FileError::from_io(self.program.display().to_string(), &error);
        // Nothing but what every room has was made ahead.
        let is_plain = room.bare.is_none() && errors.is_none();
        let held = match is_plain {
            true => self.lock_waiting().take(),
            false => None,
        };
        let ready = match held.and_then(WaitingSandbox::if_reusable) {
            Some(ready) => ready,
            None => WaitingSandbox::start_waiting(&self.program, room.bare.is_some(), errors)
                .map_err(failed)?,
        };
        let pipe = OutputPipe::new(ready.output).map_err(failed)?;
        let asked = send_request(ready.wanted, room.clone(), None).await;
        let (wanted, listener) = asked.map_err(failed)?;
        let started = StartedCommand {
            child: ready.child,
            pipe,
            stop_on_drop: Some(Box::new(wanted)),
        };
        Ok((started, listener))
    }

    /// Has one wait for the next room, if none does. It is made beside whatever goes on; where it cannot be, the next room
    /// takes a little longer.
    pub(crate) fn prestart(self: &Arc<Self>) {
        if !CAN_PRESTART || self.lock_waiting().is_some() {
            return;
        }
        let own = Arc::clone(self);
        tokio::task::spawn_blocking(move || {
            if let Ok(ready) = WaitingSandbox::start_waiting(&own.program, false, None) {
                own.lock_waiting().get_or_insert(ready);
            }
        });
    }

    fn lock_waiting(&self) -> MutexGuard<'_, Option<WaitingSandbox>> {
        // A panic while the lock was held leaves plain data behind; going on with it is safe.
        self.ready.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Only there is anything made before the program knows the room.
const CAN_PRESTART: bool = cfg!(target_os = "linux");

impl WaitingSandbox {
    fn start_waiting(
        program: &Path,
        is_bare: bool,
        errors: Option<&std::io::PipeWriter>,
    ) -> io::Result<Self> {
        let mounts = read_mounts();
        let (output, writer) = std::io::pipe()?;
        let (outside, inside) = SandboxConnection::new_pair()?;
        let mut starter = Starter::new(program);
        starter
            .args(is_bare.then_some(UNPRIVILEGED_ARG))
            .env_clear()
            .current_dir("/")
            .stdin(inside)
            .stdout(writer.try_clone()?)
            .stderr(match errors {
                Some(errors) => errors.try_clone()?,
                None => writer,
            })
            .process_group(0);
        let child = starter.spawn()?;
        // It holds the other ends.
        drop(starter);
        Ok(Self {
            child,
            output,
            wanted: SandboxStopper(Some(outside)),
            mounts,
        })
    }

    /// It, if it still waits, and sees the same disks as whoever asks for a room: what is mounted after it has started may not
    /// reach it.
    fn if_reusable(mut self) -> Option<Self> {
        let waits = matches!(self.child.try_wait(), Ok(None));
        (waits && self.mounts.is_some() && self.mounts == read_mounts()).then_some(self)
    }
}

/// What is mounted where, as the system tells it.
pub(crate) fn read_mounts() -> Option<Vec<u8>> {
    std::fs::read("/proc/self/mountinfo").ok()
}

/// A program in a room that is talked to.
#[cfg(target_os = "linux")]
#[derive(Debug)]
pub(crate) struct SandboxedCompanion {
    pub child: Child,
    /// The reading end of its standard output.
    pub output: PipeReader,
    /// What ends it by being let go of.
    pub stopper: SandboxStopper,
}

/// A room is wanted as long as this is kept. Letting go of it waits for nothing.
#[derive(Debug)]
pub(crate) struct SandboxStopper(Option<SandboxConnection>);

impl Drop for SandboxStopper {
    fn drop(&mut self) {
        if let Some(outside) = self.0.take() {
            outside.stop();
            // Where no thread can be had, it is let go of here.
            let _ = std::thread::Builder::new().spawn(move || drop(outside));
        }
    }
}

/// Says what the room is, hands in what its command reads, and waits for the port in it, if it has one. A program that ended
/// before it had read it all says why in its own way.
async fn send_request(
    wanted: SandboxStopper,
    room: SandboxSpec,
    input: Option<OwnedFd>,
) -> io::Result<(SandboxStopper, Option<TcpListener>)> {
    let asking = tokio::task::spawn_blocking(move || {
        let Some(outside) = &wanted.0 else {
            return (wanted, None);
        };
        let asked = outside.ask(&room);
        let asked = asked.and_then(|()| input.map_or(Ok(()), |input| outside.send_input(input)));
        let listener = asked.and_then(|()| match room.proxy {
            true => outside.receive_listener().map(Some),
            false => Ok(None),
        });
        (wanted, listener.ok().flatten())
    });
    asking.await.map_err(io::Error::other)
}

/// A pipe to the program, where no room has a way out.
#[cfg(target_os = "macos")]
#[derive(Debug)]
struct SandboxConnection(io::PipeWriter);

#[cfg(target_os = "macos")]
impl SandboxConnection {
    /// This end, and the one that becomes the program's standard input.
    fn new_pair() -> io::Result<(Self, io::PipeReader)> {
        let (inside, outside) = io::pipe()?;
        Ok((Self(outside), inside))
    }

    /// Says what the room is.
    fn send_spec(&self, room: &SandboxSpec) -> io::Result<()> {
        let mut line = serde_json::to_vec(room)?;
        line.push(b'\n');
        io::Write::write_all(&mut &self.0, &line)
    }

    /// There is no such room.
    fn send_input(&self, _: OwnedFd) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// It ends when this is let go of.
    fn stop(&self) {}

    /// There never is one.
    fn receive_listener(&self) -> io::Result<TcpListener> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;

    /// Any program will do that waits for its input.
    fn waiting() -> WaitingSandbox {
        WaitingSandbox::start_waiting(Path::new("/bin/cat"), false, None).unwrap()
    }

    /// Nobody enters it: what it is told is read and forgotten.
    fn room(bare: Option<PathBuf>) -> SandboxSpec {
        SandboxSpec {
            workspace: "/nowhere".into(),
            folder: "/nowhere".into(),
            layers: None,
            bare,
            read_only: Vec::new(),
            masked: Vec::new(),
            limits: sandbox::SandboxLimits::default(),
            proxy: false,
            input: false,
            command: Vec::new(),
            environment: Vec::new(),
            told: "/nowhere".into(),
        }
    }

    #[tokio::test]
    async fn what_waits_is_left_to_a_command_that_can_take_it() {
        let ready = waiting();
        let waits = ready.child.id();
        let rooms = SandboxLauncher::new("/bin/cat".into());
        *rooms.lock_waiting() = Some(ready);
        let (_output, errors) = std::io::pipe().unwrap();
        for (bare, errors, takes_it) in [
            (Some("/tmp".into()), None, false),
            (None, Some(&errors), false),
            (Some("/tmp".into()), Some(&errors), false),
            (None, None, true),
        ] {
            let (mut started, _) = rooms
                .start_command(&room(bare.clone()), errors)
                .await
                .unwrap();
            let what = (bare, errors.is_some());
            assert_eq!(started.child.id() == waits, takes_it, "{what:?}");
            assert_eq!(rooms.lock_waiting().is_none(), takes_it, "{what:?}");
            started.child.kill().await.unwrap();
        }
    }

    #[tokio::test]
    async fn only_one_that_waits_and_sees_the_same_disks_fits() {
        assert!(waiting().if_reusable().is_some());
        for mounts in [None, Some(b"another disk".to_vec())] {
            let other = WaitingSandbox {
                mounts,
                ..waiting()
            };
            assert!(other.if_reusable().is_none());
        }
        let mut ended = waiting();
        ended.child.kill().await.unwrap();
        assert!(ended.if_reusable().is_none());
    }
}
