//! Where commands run for show: in the sealed room, with a layer over the workspace that takes what they change. Or for real, over
//! a picture of the workspace: where a person wants it so, and where no layer can lie over one, as on macOS and Windows.
//!
//! [`DryRunEnvironment::probe`] says what this machine can promise, found out by trying once. [`DryRunEnvironment::dry_run`] runs a
//! command so that nothing real changes, and gives what it did: as effects for a person and as a plan for
//! [`crate::HistoryArgs::carry_out`].

use std::path::{Path, PathBuf};
use std::sync::Arc;

use protocol::view::effects::{Assurance, Effects, NetworkContact, Refusal};
use protocol::{CommandRun, Plan, UndoEntry, UserError};
use tokio_util::sync::CancellationToken;

use crate::{
    Companion, CompanionCommand, FileError, History, NetworkClient, ShellCommand, UndoEntryMeta,
    Workspace,
};

mod change_limits;
#[cfg(target_os = "linux")]
mod companion;
pub(crate) mod effects;
pub(crate) mod egress;
#[cfg(any(target_os = "linux", target_os = "macos"))]
mod exit_report;
pub(crate) mod in_place;
#[cfg(any(target_os = "linux", target_os = "macos"))]
mod mount_plan;
pub(crate) mod overlay;
pub(crate) mod platform;
mod refusals;
#[cfg(any(target_os = "linux", target_os = "macos"))]
mod sandboxed_command;
pub(crate) mod secrets;

pub use crate::dry_run::effects::contents::{ContentPair, read_contents};
pub use crate::dry_run::in_place::run::InPlaceResult;
use crate::dry_run::in_place::run::{record_changes, recover_runs};
pub use crate::dry_run::in_place::snapshot::Snapshot;
#[cfg(target_os = "linux")]
use crate::dry_run::overlay::layer::LayerFolder;
#[cfg(all(test, target_os = "linux"))]
pub(crate) use crate::dry_run::overlay::workspace_copy::CopyMethod;
#[cfg(not(target_os = "linux"))]
use crate::dry_run::platform::in_place_only::LayerFolder;
#[cfg(target_os = "linux")]
use crate::dry_run::platform::linux::SystemSandbox;
pub use crate::sandbox_options::SandboxOptions;

#[cfg(target_os = "macos")]
type SystemSandbox = crate::dry_run::platform::in_place_only::InPlaceOnly<
    crate::dry_run::platform::seatbelt::SeatbeltRunner,
>;
#[cfg(windows)]
type SystemSandbox = crate::dry_run::platform::in_place_only::InPlaceOnly<
    crate::dry_run::platform::unconfined::UnconfinedRunner,
>;
#[cfg(not(any(target_os = "linux", target_os = "macos", windows)))]
type SystemSandbox = crate::dry_run::platform::in_place_only::InPlaceOnly<
    crate::dry_run::platform::unsupported::UnsupportedRunner,
>;

/// Where commands run for show. Cheap to clone; opened once.
#[derive(Debug, Clone)]
pub struct DryRunEnvironment(Arc<SystemSandbox>);

/// What this machine can promise of a command in a workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SandboxProbe {
    /// How much.
    pub assurance: Assurance,
    /// Where what a command changes is kept.
    pub layer: LayerKind,
    /// Whether a command can run for real in a room, over a picture of the workspace. One of a workspace that is too large
    /// cannot be taken.
    pub in_place: bool,
    /// No way to any network.
    pub net_off: bool,
    /// No way to programs that listen on this machine.
    pub unix_sockets_off: bool,
    /// Nothing that a command started outlives it.
    pub kill_tree: bool,
    /// What was tried and why it is no more, in plain sentences.
    pub reasons: Vec<String>,
}

impl SandboxProbe {
    /// Where nothing holds.
    fn gate_only(reasons: Vec<String>) -> Self {
        Self {
            assurance: Assurance::GateOnly,
            layer: LayerKind::None,
            in_place: false,
            net_off: false,
            unix_sockets_off: false,
            kill_tree: false,
            reasons,
        }
    }
}

/// Where what a command changes is kept until it is agreed to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LayerKind {
    /// On the disk of the data folder.
    Disk,
    /// In memory, which has less room.
    Memory,
    /// In a copy of the whole workspace on the disk of the data folder.
    Copy,
    /// Nowhere.
    None,
}

/// What closes a room in which a command runs for real.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Isolation {
    /// Namespaces, and everything else.
    Namespaces,
    /// Landlock and refused calls alone, where nobody may make namespaces.
    Landlock,
}

/// A command to run, with the network that it may use and the token that cancels it.
#[derive(Clone, Copy)]
pub struct SandboxRequest<'a> {
    /// The command.
    pub command: &'a ShellCommand,
    /// What it may reach; nothing if it is offline.
    pub net: &'a NetworkClient,
    /// Ends the command.
    pub cancel: &'a CancellationToken,
}

/// A command that ran for real.
#[derive(Debug, Clone, PartialEq)]
pub struct InPlaceRun {
    /// How it ended and what it said.
    pub command: CommandRun,
    /// What it was refused.
    pub refused: Vec<Refusal>,
    /// Where it was let reach.
    pub reached: Vec<NetworkContact>,
}

/// What a crash left of commands that ran for real.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct RecoveredRuns {
    /// Their acts, on disk now.
    pub entries: Vec<UndoEntry>,
    /// Why others could not be recorded: their pictures stay, and are taken up again at the next start.
    pub failed: Vec<FileError>,
}

/// A command that ran for show. What it did can be carried out as long as this is kept; dropped, nothing is left of it.
#[derive(Debug)]
pub struct DryRunOutput {
    /// How it ended and what it said.
    pub command: CommandRun,
    /// What it did, for a person.
    pub effects: Effects,
    /// What it did, for [`crate::HistoryArgs::carry_out`]; [`PlanTool::None`] if it changed nothing.
    pub plan: Plan,
    /// Holds the captured bytes.
    _layer: LayerFolder,
}

/// Where changes may be kept, the best first: a copy is for where no layer can lie over the workspace.
const LAYER_KINDS: [LayerKind; 3] = [LayerKind::Disk, LayerKind::Memory, LayerKind::Copy];
/// What rooms around the workspace itself may be closed by, the best first.
const ISOLATION_LEVELS: [Isolation; 2] = [Isolation::Namespaces, Isolation::Landlock];

impl DryRunEnvironment {
    /// Opens it, and sweeps what a crash left.
    ///
    /// `program` is `countersign-room`, or on Windows any at all; none where there is none. `folder` is for layers, for the owner alone. `masked` are
    /// files and folders that are closed in every room beside the ones that are known to hold secrets; `folder` is one of
    /// them.
    ///
    /// # Errors
    /// When the folder cannot be made or used.
    pub fn open(
        program: Option<PathBuf>,
        folder: &Path,
        masked: Vec<PathBuf>,
    ) -> Result<Self, UserError> {
        Self::open_with(program, folder, masked, &LAYER_KINDS, &ISOLATION_LEVELS)
    }

    /// The same, with changes kept in one of these ways only and commands run for real in one of these rooms only, each
    /// tried in this order.
    ///
    /// # Errors
    /// As [`DryRunEnvironment::open`].
    pub fn open_with(
        program: Option<PathBuf>,
        folder: &Path,
        masked: Vec<PathBuf>,
        kinds: &[LayerKind],
        rooms: &[Isolation],
    ) -> Result<Self, UserError> {
        let inner = SystemSandbox::open(program, folder, masked, kinds, rooms)?;
        Ok(Self(Arc::new(inner)))
    }

    /// What holds in a workspace. It is tried once for each file system and then remembered.
    pub async fn probe(&self, workspace: &Workspace) -> SandboxProbe {
        self.0.probe(workspace).await
    }

    /// Runs a command to its end in a room with a layer over its workspace. Nothing real changes. `on_output` is as with
    /// [`crate::run`]; files that the workspace has closed cannot be opened.
    ///
    /// `net` is the way out of the room, for programs that ask a proxy: what its door admits is reached for real, and told
    /// of in [`Effects::reached`]. Where it is closed there is none.
    ///
    /// # Errors
    /// [`FileError::SandboxUnavailable`] where no room can be entered, or the command did more than can be looked at;
    /// [`FileError::Cancelled`]; [`FileError::Changed`] when the workspace changed under it; else what the system said. A
    /// failing command is no error.
    pub async fn dry_run(
        &self,
        command: &ShellCommand,
        net: &NetworkClient,
        on_output: impl FnMut(&str) + Send,
        cancel: &CancellationToken,
    ) -> Result<DryRunOutput, FileError> {
        self.0.dry_run(command, net, on_output, cancel).await
    }

    /// Takes a picture of a workspace for a command that is to run in it for real: all of it, outside of it, on disk when it
    /// returns. From then on nothing that the command does is lost: it is recorded by [`DryRunEnvironment::record_changes`], or, after a
    /// crash, by [`DryRunEnvironment::recover_runs`].
    ///
    /// # Errors
    /// [`FileError::SandboxUnavailable`] where no command can run for real in a room, or the workspace is too large for a picture;
    /// [`FileError::DiskFull`]; else what the system said. Nothing is left then.
    pub async fn take_snapshot(
        &self,
        workspace: &Workspace,
        history: &History,
        meta: UndoEntryMeta,
    ) -> Result<Snapshot, FileError> {
        self.0.take_snapshot(workspace, history, meta).await
    }

    /// Whether a workspace is small enough for a picture.
    pub async fn can_snapshot(&self, workspace: &Workspace) -> bool {
        crate::dry_run::in_place::run::can_snapshot(workspace).await
    }

    /// Takes a picture of a workspace for a call that is done there by a program that runs beside us. What becomes of it is as with
    /// [`DryRunEnvironment::take_snapshot`].
    ///
    /// # Errors
    /// As [`DryRunEnvironment::take_snapshot`], but that no room is needed.
    pub async fn take_companion_snapshot(
        &self,
        workspace: &Workspace,
        history: &History,
        meta: UndoEntryMeta,
    ) -> Result<Snapshot, FileError> {
        crate::dry_run::in_place::run::take_companion_snapshot(workspace, history, meta).await
    }

    /// Runs a command to its end for real, in a room in which the workspace can be written. It is ended when it writes more
    /// than could be undone. `on_output` is as with [`crate::run`], the network as with [`DryRunEnvironment::dry_run`].
    ///
    /// # Errors
    /// [`FileError::SandboxUnavailable`] where no room can be entered: then it did not run. Else what the system said. A failing command
    /// is no error, and neither is one that is cancelled.
    pub async fn run_in_place(
        &self,
        request: SandboxRequest<'_>,
        picture: &Snapshot,
        on_output: impl FnMut(&str) + Send,
    ) -> Result<InPlaceRun, FileError> {
        self.0.run_in_place(request, picture, on_output).await
    }

    /// Starts a program beside us, as [`crate::start_companion`] does, in a room in which the workspace can be written: for as long as its
    /// life is kept, and no longer. It starts in the workspace or in a folder of it. What it changes there is nobody's to look
    /// after but the caller's, and files that are closed are closed as they are found now: one that comes later is not.
    ///
    /// `net` is as with [`DryRunEnvironment::dry_run`].
    ///
    /// # Errors
    /// [`FileError::SandboxUnavailable`] where no room can be had that is closed by all its walls; [`FileError::SandboxConnection`] where its folder is not
    /// in the workspace; else what the system said. Nothing was started then. A room that could not be entered in the end is told of
    /// by the program's life, see [`crate::ProcessLifetime::in_room`].
    pub async fn start_companion(
        &self,
        command: &CompanionCommand,
        workspace: &Workspace,
        net: &NetworkClient,
    ) -> Result<Companion, FileError> {
        self.0.start_companion(command, workspace, net).await
    }

    /// Compares the workspace with its picture, and records in the picture's history what a command did there, as an act that
    /// can be taken back. What others did meanwhile cannot be told apart from it. Reads many files.
    ///
    /// # Errors
    /// What kept it from being recorded. The picture stays then, and [`DryRunEnvironment::recover_runs`] tries again.
    pub fn record_changes(picture: impl Into<Arc<Snapshot>>) -> Result<InPlaceResult, FileError> {
        record_changes(picture.into())
    }

    /// Records what commands did that a crash ended; sweeps pictures over which nothing was begun. To be called after
    /// [`HistoryArgs::recover`]. Reads many files.
    pub fn recover_runs(history: &History) -> RecoveredRuns {
        recover_runs(history)
    }
}

/// The program of the room, where it is installed with another one: beside it, or where packages keep what is no command
/// of a person. None where it is not. On Windows there is no room to enter, and the other program does by itself what is done
/// there.
pub fn find_sandbox_program(program: &Path) -> Option<PathBuf> {
    if cfg!(windows) {
        return Some(program.to_owned());
    }
    const NAME: &str = "countersign-room";
    let kept = program.parent()?.with_file_name("lib").join("countersign");
    let mut places = [program.with_file_name(NAME), kept.join(NAME)].into_iter();
    places.find(|place| place.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_of_the_room_is_found_beside_another_and_where_packages_keep_it() {
        let home = tempfile::tempdir().unwrap();
        let (bin, lib) = (home.path().join("bin"), home.path().join("lib/countersign"));
        std::fs::create_dir_all(&bin).unwrap();
        std::fs::create_dir_all(&lib).unwrap();
        let program = bin.join("countersign");
        if cfg!(windows) {
            assert_eq!(find_sandbox_program(&program), Some(program));
            return;
        }
        assert_eq!(find_sandbox_program(&program), None);
        for place in [lib, bin] {
            let room = place.join("countersign-room");
            std::fs::write(&room, "").unwrap();
            assert_eq!(find_sandbox_program(&program), Some(room));
        }
    }
}
