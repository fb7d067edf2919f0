//! Starts a command in the sandbox: runs the sandbox program, with the specification of the sandbox on its standard
//! input.

use std::io::{self, PipeReader};
use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::sleep;
use std::time::Duration;

#[cfg(target_os = "linux")]
use sandbox::SandboxConnection;
use sandbox::{SandboxSpec, UNPRIVILEGED_ARG};
use tokio::process::{Child, Command as Starter};

use super::{OutputPipe, StartedCommand};
use crate::FileError;
use crate::fs::at_path::AtPath as _;

/// The sandbox program, and one process of it that was started ahead and waits for its specification: the parts that
/// every sandbox has are made by then, which takes about as long as the rest.
#[derive(Debug)]
pub(crate) struct SandboxLauncher {
    program: PathBuf,
    ready: Mutex<Option<WaitingSandbox>>,
}

/// A sandbox program that waits for its specification. Dropping it ends it.
#[derive(Debug)]
struct WaitingSandbox {
    child: Child,
    output: PipeReader,
    wanted: SandboxStopper,
    /// The mount table at the time when the program was started.
    mounts: Option<Vec<u8>>,
}

impl SandboxLauncher {
    pub(crate) fn new(program: PathBuf) -> Self {
        Self {
            program,
            ready: Mutex::default(),
        }
    }

    /// Enters a sandbox for a companion program: `input` is its standard input. The rest is as with
    /// [`SandboxLauncher::start_command`].
    #[cfg(target_os = "linux")]
    pub(crate) async fn start_companion(
        &self,
        spec: &SandboxSpec,
        input: PipeReader,
        errors: &std::io::PipeWriter,
    ) -> Result<(SandboxedCompanion, Option<TcpListener>), FileError> {
        let ready =
            WaitingSandbox::start_waiting(&self.program, false, Some(errors)).at(&self.program)?;
        let (wanted, listener) = send_request(ready.wanted, spec.clone(), Some(input.into()))
            .await
            .at(&self.program)?;
        let talking = SandboxedCompanion {
            child: ready.child,
            output: ready.output,
            stopper: wanted,
        };
        Ok((talking, listener))
    }

    /// Enters a sandbox. When the program's input closes, the sandbox ends. For a sandbox with network access returns
    /// the port in it on which a proxy is to listen; `None` if the sandbox could not be entered, which its report
    /// tells.
    pub(crate) async fn start_command(
        &self,
        spec: &SandboxSpec,
        errors: Option<&std::io::PipeWriter>,
    ) -> Result<(StartedCommand, Option<TcpListener>), FileError> {
        // Only what every sandbox has was made ahead.
        let is_plain = spec.bare.is_none() && errors.is_none();
        let held = match is_plain {
            true => self.lock_waiting().take(),
            false => None,
        };
        let ready = match held.and_then(WaitingSandbox::if_reusable) {
            Some(ready) => ready,
            None => WaitingSandbox::start_waiting(&self.program, spec.bare.is_some(), errors)
                .at(&self.program)?,
        };
        let pipe = OutputPipe::new(ready.output).at(&self.program)?;
        let (wanted, listener) = send_request(ready.wanted, spec.clone(), None)
            .await
            .at(&self.program)?;
        let started = StartedCommand {
            child: ready.child,
            pipe,
            stop_on_drop: Some(Box::new(wanted)),
        };
        Ok((started, listener))
    }

    /// Starts a program that waits for the next sandbox, if none waits. It is started in the background; where that
    /// fails, the next sandbox takes a little longer.
    pub(crate) fn prestart(self: &Arc<Self>) {
        self.prestart_after(Duration::ZERO);
    }

    /// Prestarts after a while, so that its start takes no processor from what goes on with the results of a command
    /// that has just ended.
    pub(crate) fn prestart_later(self: &Arc<Self>) {
        self.prestart_after(PRESTART_DELAY);
    }

    fn prestart_after(self: &Arc<Self>, delay: Duration) {
        if !CAN_PRESTART || self.lock_waiting().is_some() {
            return;
        }
        let own = Arc::clone(self);
        // A thread of its own: nobody may drive the runtime until the next command.
        tokio::task::spawn_blocking(move || {
            sleep(delay);
            if own.lock_waiting().is_some() {
                return;
            }
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

/// How long the results of a command are gone on with, at most as a rule.
const PRESTART_DELAY: Duration = Duration::from_millis(10);

/// Whether a program can be started ahead: only on Linux does it make anything before it knows its specification.
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

    /// Returns the program if it still waits, and sees the same mounts as the caller: a disk mounted after it was
    /// started may not be visible to it.
    fn if_reusable(mut self) -> Option<Self> {
        let waits = matches!(self.child.try_wait(), Ok(None));
        (waits && self.mounts.is_some() && self.mounts == read_mounts()).then_some(self)
    }
}

/// Reads the mount table, as the system reports it.
pub(crate) fn read_mounts() -> Option<Vec<u8>> {
    std::fs::read("/proc/self/mountinfo").ok()
}

/// A companion program in a sandbox.
#[cfg(target_os = "linux")]
#[derive(Debug)]
pub(crate) struct SandboxedCompanion {
    pub child: Child,
    /// The reading end of the program's standard output.
    pub output: PipeReader,
    /// Handle that ends the sandbox when dropped.
    pub stopper: SandboxStopper,
}

/// Keeps a sandbox running; dropping it ends the sandbox without blocking.
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

/// Sends the specification, hands over the standard input of the command, and waits for the port in the sandbox, if it
/// has one. A program that ended before it had read everything reports why in its own way.
async fn send_request(
    stopper: SandboxStopper,
    spec: SandboxSpec,
    input: Option<OwnedFd>,
) -> io::Result<(SandboxStopper, Option<TcpListener>)> {
    let asking = tokio::task::spawn_blocking(move || {
        let Some(outside) = &stopper.0 else {
            return (stopper, None);
        };
        let sent = outside.send_spec(&spec);
        let sent = sent.and_then(|()| input.map_or(Ok(()), |input| outside.send_input(input)));
        let listener = sent.and_then(|()| match spec.proxy {
            true => outside.receive_listener().map(Some),
            false => Ok(None),
        });
        (stopper, listener.ok().flatten())
    });
    asking.await.map_err(io::Error::other)
}

/// A pipe to the program, where no sandbox has network access.
#[cfg(target_os = "macos")]
#[derive(Debug)]
struct SandboxConnection(io::PipeWriter);

#[cfg(target_os = "macos")]
impl SandboxConnection {
    /// Returns this end, and the one that becomes the program's standard input.
    fn new_pair() -> io::Result<(Self, io::PipeReader)> {
        let (inside, outside) = io::pipe()?;
        Ok((Self(outside), inside))
    }

    /// Sends the specification of the sandbox.
    fn send_spec(&self, spec: &SandboxSpec) -> io::Result<()> {
        let mut line = serde_json::to_vec(spec)?;
        line.push(b'\n');
        io::Write::write_all(&mut &self.0, &line)
    }

    /// Fails: there is no sandbox with input on this system.
    fn send_input(&self, _: OwnedFd) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Does nothing: the sandbox ends when this is dropped.
    fn stop(&self) {}

    /// Fails: there is no listener on this system.
    fn receive_listener(&self) -> io::Result<TcpListener> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;

    /// Starts a waiting program; any program that waits for its input will do.
    fn waiting() -> WaitingSandbox {
        WaitingSandbox::start_waiting(Path::new("/bin/cat"), false, None).unwrap()
    }

    /// Returns a specification that no sandbox is made of: the program reads and ignores it.
    fn spec(bare: Option<PathBuf>) -> SandboxSpec {
        SandboxSpec {
            workspace: "/nowhere".into(),
            folder: "/nowhere".into(),
            layers: None,
            bare,
            private: Vec::new(),
            read_only: Vec::new(),
            masked: Vec::new(),
            readable_by_git: Vec::new(),
            watched_reads: sandbox::WatchedReads::default(),
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
        let launcher = SandboxLauncher::new("/bin/cat".into());
        *launcher.lock_waiting() = Some(ready);
        let (_output, errors) = std::io::pipe().unwrap();
        for (bare, errors, takes_it) in [
            (Some("/tmp".into()), None, false),
            (None, Some(&errors), false),
            (Some("/tmp".into()), Some(&errors), false),
            (None, None, true),
        ] {
            let (mut started, _) = launcher
                .start_command(&spec(bare.clone()), errors)
                .await
                .unwrap();
            let what = (bare, errors.is_some());
            assert_eq!(started.child.id() == waits, takes_it, "{what:?}");
            assert_eq!(launcher.lock_waiting().is_none(), takes_it, "{what:?}");
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
