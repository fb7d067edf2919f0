//! Systems on which no layer can lie over a workspace: a command runs for real, over a picture of it, in whatever the system has to
//! close it in.
//!
//! What that is, is the system's own file: `seatbelt.rs`, `plain.rs`, or `nowhere.rs`. The rest is here, and is tried on Linux too.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use protocol::effects::Assurance;
use protocol::{Fault, Ran};
use tokio_util::sync::CancellationToken;

use super::bounds::bytes_max;
use super::copy::{Copier, weigh};
use super::in_place::{self, blocking};
use super::picture::Picture;
use super::refusals::Refusals;
use super::tried::{did_nothing, not_copied, nothing, pictured};
use super::{LayerKind, Probe, RanInPlace, Rehearsed, Walls};
use crate::{Command, Companion, CompanionCommand, EntryMeta, FileError, History, Net, Workspace};

/// What is said where a command is to be run for show.
const NO_LAYER: &str = "On this system no layer can lie over the workspace: a command runs for real, and what it changes cannot be shown before.";
/// What is said where it is to reach chosen hosts alone.
const NO_DOOR: &str =
    "On this system there is no way to the network that keeps to chosen hosts. Run it without.";

/// What is said where a program is to run in a room that is talked to.
const NO_TALK: &str = "On this system no program can be talked to in a sealed room.";

/// What is said of a picture that is not put on the disk as a whole, since no call here does that.
const NOT_SYNCED: &str = "If the power fails while it runs, the picture may be lost with it; if only the app ends, it is not.";

/// What runs a command for real, in the workspace itself.
pub(super) trait Runner: fmt::Debug + Send + Sync + Sized + 'static {
    /// Makes ready. `folder` is for its own files, `masked` is closed to commands as far as it can close anything.
    fn open(program: Option<PathBuf>, folder: &Path, masked: Vec<PathBuf>) -> Result<Self, Fault>;

    /// What holds of a command that it runs.
    fn promises(&self) -> Promises;

    /// Runs a command to its end, and ends it when the workspace comes to take more bytes than `bytes_max`, or one file more
    /// than `file_bytes_max`.
    fn run(
        &self,
        command: &Command,
        grows: Grows,
        on_output: impl FnMut(&str) + Send,
        cancel: &CancellationToken,
    ) -> impl Future<Output = Result<(Ran, Refusals), FileError>> + Send;
}

/// How far a workspace may grow by one command.
#[derive(Debug, Clone, Copy)]
pub(super) struct Grows {
    /// What it takes on the disk before, in bytes.
    pub from_bytes: u64,
    /// How much it may take more.
    pub by_bytes: u64,
}

/// What holds of a command that runs for real, and what does not.
#[derive(Debug)]
pub(super) struct Promises {
    pub net_off: bool,
    pub unix_sockets_off: bool,
    pub kill_tree: bool,
    /// In plain sentences.
    pub reasons: Vec<String>,
}

/// Where commands run.
#[derive(Debug)]
pub(super) struct Elsewhere<R> {
    runner: R,
    /// Our own folder.
    folder: PathBuf,
    copier: Copier,
    /// Whether a command that does nothing was run here and did nothing.
    works: AtomicBool,
}

/// There never is one.
#[cfg(not(target_os = "linux"))]
#[derive(Debug)]
pub(super) enum Layer {}

impl<R: Runner> Elsewhere<R> {
    pub(super) fn open(
        program: Option<PathBuf>,
        folder: &Path,
        mut masked: Vec<PathBuf>,
        _kinds: &[LayerKind],
        _rooms: &[Walls],
    ) -> Result<Self, Fault> {
        masked.push(folder.to_owned());
        Ok(Self {
            runner: R::open(program, folder, masked)?,
            folder: folder.to_owned(),
            copier: Copier::System,
            works: AtomicBool::new(false),
        })
    }

    pub(super) async fn probe(&self, workspace: &Workspace) -> Probe {
        if let Err(why) = self.try_out(workspace).await {
            return Probe::gate_only(vec![why]);
        }
        let promises = self.runner.promises();
        let mut reasons = vec![NO_LAYER.to_owned()];
        reasons.extend(promises.reasons);
        reasons.extend([pictured(), NOT_SYNCED.to_owned()]);
        Probe {
            assurance: Assurance::Snapshot,
            layer: LayerKind::None,
            in_place: true,
            net_off: promises.net_off,
            unix_sockets_off: promises.unix_sockets_off,
            kill_tree: promises.kill_tree,
            reasons,
        }
    }

    /// Whether a picture can be taken, which is looked at anew each time, since a workspace grows; and whether a command that does
    /// nothing can be run, until it could once.
    async fn try_out(&self, workspace: &Workspace) -> Result<(), String> {
        let real = |path: &Path| std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        if real(&self.folder).starts_with(real(workspace.root())) {
            return Err(
                "No picture can be taken: the data folder lies in the workspace.".to_owned(),
            );
        }
        let whole = workspace.clone();
        let weighed = blocking(move || weigh(whole.dir())).await;
        weighed.map_err(|error| not_copied(&error))?;
        if self.works.load(Ordering::Relaxed) {
            return Ok(());
        }
        let (command, never) = (nothing(workspace), CancellationToken::new());
        let grows = Grows {
            from_bytes: u64::MAX,
            by_bytes: bytes_max(LayerKind::Disk),
        };
        let ran = self.runner.run(&command, grows, |_: &str| {}, &never);
        let ran = ran.await.map(|(ran, _)| ran);
        did_nothing(ran).map_err(|why| format!("Commands cannot be run in place: {why}."))?;
        self.works.store(true, Ordering::Relaxed);
        Ok(())
    }

    pub(super) async fn rehearse(
        &self,
        _command: &Command,
        _net: &Net,
        _on_output: impl FnMut(&str) + Send,
        _cancel: &CancellationToken,
    ) -> Result<Rehearsed, FileError> {
        Err(no_room(NO_LAYER))
    }

    pub(super) async fn accompany(
        &self,
        _command: &CompanionCommand,
        _workspace: &Workspace,
        _net: &Net,
    ) -> Result<Companion, FileError> {
        Err(no_room(NO_TALK))
    }

    pub(super) async fn picture(
        &self,
        workspace: &Workspace,
        history: &History,
        meta: EntryMeta,
    ) -> Result<Picture, FileError> {
        self.try_out(workspace).await.map_err(no_room)?;
        in_place::picture(workspace, history, meta, self.copier).await
    }

    pub(super) async fn run_in_place(
        &self,
        command: &Command,
        net: &Net,
        picture: &Picture,
        on_output: impl FnMut(&str) + Send,
        cancel: &CancellationToken,
    ) -> Result<RanInPlace, FileError> {
        command.workspace.admit_command(&command.line)?;
        if command.workspace.root() != picture.workspace.root() {
            return Err(no_room("The picture is of another workspace."));
        }
        if net.is_open() {
            return Err(no_room(NO_DOOR));
        }
        let grows = Grows {
            from_bytes: picture.disk_bytes(),
            by_bytes: bytes_max(LayerKind::Disk).min(picture.history.bytes_max()),
        };
        let ran = self.runner.run(command, grows, on_output, cancel).await;
        let (ran, refused) = ran?;
        Ok(picture.was_run_over(ran, refused))
    }
}

fn no_room(reason: impl Into<String>) -> FileError {
    FileError::NoRoom {
        reason: reason.into(),
    }
}

#[cfg(test)]
mod tests;
