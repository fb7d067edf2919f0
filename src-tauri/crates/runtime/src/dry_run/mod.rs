//! Runs commands as a dry run, in the sandbox, with a layer over the workspace that takes their changes; or for real,
//! over a snapshot of the workspace, where a person wants that and where no layer can lie over a workspace, as on macOS
//! and Windows.
//!
//! [`DryRunEnvironment::probe`] reports the guarantees of this machine, found out by trying once.
//! [`DryRunEnvironment::dry_run`] runs a command so that nothing real changes, and returns its changes: as effects for
//! a person and as a plan for [`crate::History::apply_plan`].

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
#[cfg(target_os = "linux")]
pub(crate) mod home_state;
pub(crate) mod in_place;
#[cfg(target_os = "linux")]
mod layered_companion;
#[cfg(any(target_os = "linux", target_os = "macos"))]
mod mount_plan;
pub(crate) mod overlay;
pub(crate) mod platform;
#[cfg(target_os = "linux")]
mod prepared_layer;
mod private_copy;
mod refusals;
#[cfg(any(target_os = "linux", target_os = "macos"))]
mod sandboxed_command;
pub(crate) mod secrets;
#[cfg(target_os = "linux")]
mod watched_reads;
#[cfg(target_os = "linux")]
mod without_layer;

pub use crate::dry_run::effects::contents::{ContentPair, read_contents};
pub use crate::dry_run::effects::rights::describe_changed_rights;
#[cfg(target_os = "linux")]
pub use crate::dry_run::home_state::{is_home_state, list_home_caches};
pub use crate::dry_run::in_place::run::InPlaceResult;
use crate::dry_run::in_place::run::{record_changes, recover_runs};
pub use crate::dry_run::in_place::snapshot::Snapshot;
#[cfg(target_os = "linux")]
pub use crate::dry_run::layered_companion::LayeredChanges;
#[cfg(target_os = "linux")]
use crate::dry_run::overlay::layer::LayerFolder;
#[cfg(all(test, target_os = "linux"))]
pub(crate) use crate::dry_run::overlay::workspace_copy::CopyMethod;
#[cfg(not(target_os = "linux"))]
use crate::dry_run::platform::in_place_only::LayerFolder;
#[cfg(not(target_os = "linux"))]
pub use crate::dry_run::platform::in_place_only::LayeredChanges;
#[cfg(target_os = "linux")]
use crate::dry_run::platform::linux::SystemSandbox;
pub use crate::dry_run::private_copy::{PrivateCopy, SkippedPaths};
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

/// The environment in which commands run as a dry run. Cheap to clone; opened once.
#[derive(Debug, Clone)]
pub struct DryRunEnvironment {
    sandbox: Arc<SystemSandbox>,
    /// Caches of the home folder that the command's programs have.
    caches: Vec<CacheUse>,
    /// Whether the command is expected to change nothing.
    expects_no_change: bool,
}

/// The guarantees that this machine can give for a command in a workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SandboxProbe {
    /// The level of assurance.
    pub assurance: Assurance,
    /// Where the changes of a command are kept.
    pub layer: LayerKind,
    /// Whether a command can run for real in a sandbox, over a snapshot of the workspace. `false` for a workspace that
    /// is too large for a snapshot.
    pub in_place: bool,
    /// Whether no network can be reached.
    pub net_off: bool,
    /// Whether programs that listen on this machine cannot be reached.
    pub unix_sockets_off: bool,
    /// Whether no process that a command started outlives it.
    pub kill_tree: bool,
    /// Why the assurance is no higher than this after probing, in plain sentences.
    pub reasons: Vec<String>,
}

impl SandboxProbe {
    /// Returns a probe with no guarantee at all.
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

/// Where the changes of a command are kept until they are approved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LayerKind {
    /// On the disk of the data folder.
    Disk,
    /// In memory, which has less space.
    Memory,
    /// In a copy of the whole workspace on the disk of the data folder.
    Copy,
    /// Nowhere: there is no layer.
    None,
}

/// The isolation of a sandbox in which a command runs for real.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Isolation {
    /// Namespaces, and every other wall of the sandbox.
    Namespaces,
    /// Landlock and denied system calls alone, where unprivileged processes may not create namespaces.
    Landlock,
}

/// A command to run, with the network that it may use and the token that cancels it.
#[derive(Clone, Copy)]
pub struct SandboxRequest<'a> {
    /// The command to run.
    pub command: &'a ShellCommand,
    /// Network access of the command; offline if it may reach nothing.
    pub net: &'a NetworkClient,
    /// Cancels the command.
    pub cancel: &'a CancellationToken,
}

/// How a command runs in a dry run.
#[derive(Clone, Copy, Default)]
struct DryRunOptions<'a> {
    /// Caches of the home folder that the command's programs have.
    caches: &'a [CacheUse],
    /// Whether the command is expected to change nothing.
    expects_no_change: bool,
}

/// The result of a command that ran for real.
#[derive(Debug, Clone, PartialEq)]
pub struct InPlaceRun {
    /// Exit and output of the command.
    pub command: CommandRun,
    /// Accesses that the command was refused.
    pub refused: Vec<Refusal>,
    /// Destinations that the command reached.
    pub reached: Vec<NetworkContact>,
}

/// The outcome of recovering commands that ran for real when a crash came.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct RecoveredRuns {
    /// Undo entries of these commands, now on disk.
    pub entries: Vec<UndoEntry>,
    /// Why other commands could not be recorded: their snapshots stay, and are tried again at the next start.
    pub failed: Vec<FileError>,
}

/// The result of a command that ran in a dry run. Its changes can be carried out as long as this is kept; dropping it
/// removes them.
#[derive(Debug)]
pub struct DryRunOutput {
    /// Exit and output of the command.
    pub command: CommandRun,
    /// Effects of the command, for a person.
    pub effects: Effects,
    /// Plan of the changes, for [`crate::History::apply_plan`]; [`Plan::None`] if nothing changed.
    pub plan: Plan,
    /// Changes in caches of the home folder that are kept.
    pub kept_caches: Vec<KeptCache>,
    /// Holds the captured bytes.
    _layer: Arc<LayerFolder>,
}

/// What a companion program keeps between one start and the next in folders of a home, so that the folders themselves stay
/// as they are: its login, its sessions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptState {
    /// Name of this state: letters, digits, `-` and `_`. Programs with the same name share it, one at a time.
    pub name: String,
    /// The folders, absolute. One that does not exist is created, empty.
    pub folders: Vec<PathBuf>,
}

/// A companion program in a sandbox with a layer over its workspace.
#[derive(Debug)]
pub struct LayeredCompanion {
    /// The program.
    pub companion: Companion,
    /// Its changes of the workspace.
    pub changes: LayeredChanges,
}

/// A cache in a home folder whose changes a rule can keep.
#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HomeCache {
    /// The folder, as a rule names it: `~/.npm/_cacache`.
    pub folder: String,
    /// Programs whose cache it is.
    pub programs: Vec<String>,
}

/// A cache in a home folder of the programs that a command runs.
#[derive(Debug, Clone)]
pub struct CacheUse {
    /// The folder, as a rule names it.
    pub folder: String,
    /// Whether a rule keeps what is written there.
    pub is_kept: bool,
}

/// Changes of a command in a cache of a home folder, which are kept.
#[derive(Debug, Clone)]
pub struct KeptCache {
    /// The cache, as a rule names it.
    pub cache: String,
    /// The folder that the plan is for.
    pub folder: PathBuf,
    /// How many files the plan changes.
    pub files: u64,
    /// Plan of the changes, for [`History::apply_plan`].
    pub plan: Plan,
}

/// Where changes may be kept, the best first. A copy is for systems on which no layer can lie over the workspace.
const LAYER_KINDS: [LayerKind; 3] = [LayerKind::Disk, LayerKind::Memory, LayerKind::Copy];
/// Isolations of a sandbox around the workspace itself, the best first.
const ISOLATION_LEVELS: [Isolation; 2] = [Isolation::Namespaces, Isolation::Landlock];

/// Whether a path that a command names lies in caches or state of the home folder that a sandbox has layers over: nowhere,
/// since there are none on this system.
#[cfg(not(target_os = "linux"))]
pub fn is_home_state(_path: &str) -> bool {
    false
}

/// Returns the caches of home folders whose changes a rule can keep: none, since there are no layers on this system.
#[cfg(not(target_os = "linux"))]
pub fn list_home_caches() -> &'static [HomeCache] {
    &[]
}

impl DryRunEnvironment {
    /// Opens the environment, and sweeps files that a crash left.
    ///
    /// `program` is `countersign-sandbox`, or on Windows any program at all; `None` where there is none. `folder` is for
    /// layers, for the owner alone. `masked` are files and folders that every sandbox closes besides the ones that are
    /// known to hold secrets; `folder` is one of them.
    ///
    /// # Errors
    /// When the folder cannot be created or used.
    pub fn open(
        program: Option<PathBuf>,
        folder: &Path,
        masked: Vec<PathBuf>,
    ) -> Result<Self, UserError> {
        Self::open_with(program, folder, masked, &LAYER_KINDS, &ISOLATION_LEVELS)
    }

    /// Opens the environment with these layer kinds only, and with commands run for real under these isolations only,
    /// each tried in this order.
    ///
    /// # Errors
    /// As [`DryRunEnvironment::open`].
    pub fn open_with(
        program: Option<PathBuf>,
        folder: &Path,
        masked: Vec<PathBuf>,
        kinds: &[LayerKind],
        isolations: &[Isolation],
    ) -> Result<Self, UserError> {
        let inner = SystemSandbox::open(program, folder, masked, kinds, isolations)?;
        Ok(Self {
            sandbox: Arc::new(inner),
            caches: Vec::new(),
            expects_no_change: false,
        })
    }

    /// Returns the environment for commands of programs that have these caches in the home folder. What is written in others
    /// is thrown away with the sandbox.
    #[must_use]
    pub fn with_caches(&self, caches: Vec<CacheUse>) -> Self {
        Self {
            caches,
            ..self.clone()
        }
    }

    /// Returns the environment for a command that is expected to change nothing, or may change something. The first runs
    /// sooner; where it tries to change something after all, it is run once more as the second, so an expectation that is
    /// wrong costs only time.
    #[must_use]
    pub fn expecting_no_change(&self, expects_no_change: bool) -> Self {
        Self {
            expects_no_change,
            ..self.clone()
        }
    }

    /// Returns the guarantees for a workspace. They are probed once for each file system and then remembered.
    pub async fn probe(&self, workspace: &Workspace) -> SandboxProbe {
        self.sandbox.probe(workspace).await
    }

    /// Runs a command to its end in a sandbox with a layer over its workspace. Nothing real changes. `on_output` is as
    /// with [`crate::run`]; files that the workspace has closed cannot be opened.
    ///
    /// `net` is the network access of the sandbox, for programs that use a proxy: destinations that its policy admits
    /// are reached for real, and listed in [`Effects::reached`]. If `net` is offline there is no network access.
    ///
    /// # Errors
    /// [`FileError::SandboxUnavailable`] where no sandbox can be entered, or the command did more than can be reviewed;
    /// [`FileError::Cancelled`]; [`FileError::Changed`] when the workspace changed while the command ran; otherwise any
    /// error reported by the system. A failing command is no error.
    pub async fn dry_run(
        &self,
        command: &ShellCommand,
        net: &NetworkClient,
        on_output: impl FnMut(&str) + Send,
        cancel: &CancellationToken,
    ) -> Result<DryRunOutput, FileError> {
        let request = SandboxRequest {
            command,
            net,
            cancel,
        };
        let options = DryRunOptions {
            caches: &self.caches,
            expects_no_change: self.expects_no_change,
        };
        self.sandbox.dry_run(request, options, on_output).await
    }

    /// Takes a snapshot of a workspace for a command that is to run in it for real: complete, outside the workspace,
    /// and on disk when this returns. From then on no change of the command is lost: it is recorded by
    /// [`DryRunEnvironment::record_changes`], or, after a crash, by [`DryRunEnvironment::recover_runs`].
    ///
    /// # Errors
    /// [`FileError::SandboxUnavailable`] where no command can run for real in a sandbox, or the workspace is too large
    /// for a snapshot; [`FileError::DiskFull`]; otherwise any error reported by the system. Nothing is left behind
    /// then.
    pub async fn take_snapshot(
        &self,
        workspace: &Workspace,
        history: &History,
        meta: UndoEntryMeta,
    ) -> Result<Snapshot, FileError> {
        self.sandbox.take_snapshot(workspace, history, meta).await
    }

    /// Whether a workspace is small enough for a snapshot.
    pub async fn can_snapshot(&self, workspace: &Workspace) -> bool {
        crate::dry_run::in_place::run::can_snapshot(workspace).await
    }

    /// Takes a snapshot of a workspace for a call that a companion program carries out there. The snapshot is recorded
    /// or recovered as with [`DryRunEnvironment::take_snapshot`].
    ///
    /// # Errors
    /// As [`DryRunEnvironment::take_snapshot`], but no sandbox is needed.
    pub async fn take_companion_snapshot(
        &self,
        workspace: &Workspace,
        history: &History,
        meta: UndoEntryMeta,
    ) -> Result<Snapshot, FileError> {
        crate::dry_run::in_place::run::take_companion_snapshot(workspace, history, meta).await
    }

    /// Runs a command to its end for real, in a sandbox in which the workspace is writable. The command is ended when
    /// it writes more than could be undone. `on_output` is as with [`crate::run`], the network as with
    /// [`DryRunEnvironment::dry_run`].
    ///
    /// # Errors
    /// [`FileError::SandboxUnavailable`] where no sandbox can be entered: the command did not run then. Otherwise any
    /// error reported by the system. A failing command is no error, and neither is one that is cancelled.
    pub async fn run_in_place(
        &self,
        request: SandboxRequest<'_>,
        picture: &Snapshot,
        on_output: impl FnMut(&str) + Send,
    ) -> Result<InPlaceRun, FileError> {
        self.sandbox.run_in_place(request, picture, on_output).await
    }

    /// Starts a companion program, as [`crate::start_companion`] does, in a sandbox in which the workspace is writable,
    /// for as long as its lifetime is kept, and no longer. It starts in the workspace or in a folder of it. The caller
    /// alone is responsible for the changes that it makes there. Files that are closed now are masked; one that is
    /// closed or created later is not.
    ///
    /// `net` is as with [`DryRunEnvironment::dry_run`].
    ///
    /// # Errors
    /// [`FileError::SandboxUnavailable`] where no sandbox with all its walls can be had; [`FileError::Outside`] where
    /// the folder is not in the workspace; otherwise any error reported by the system. Nothing was started then. A
    /// sandbox that could not be entered in the end is reported by the lifetime of the program, see
    /// [`crate::ProcessLifetime::sandbox_outcome`].
    pub async fn start_companion(
        &self,
        command: &CompanionCommand,
        workspace: &Workspace,
        net: &NetworkClient,
    ) -> Result<Companion, FileError> {
        self.sandbox.start_companion(command, workspace, net).await
    }

    /// Starts a companion program, as [`DryRunEnvironment::start_companion`] does, with a layer over the workspace: nothing that
    /// it does there is real. What it changed is read once it has ended, by [`LayeredChanges::read`]. It finds its state as it
    /// left it. The program is ended when it changes more than can be reviewed.
    ///
    /// # Errors
    /// [`FileError::SandboxUnavailable`] where no sandbox with a layer can be had, or the state and the workspace lie in one
    /// another; the rest is as with [`DryRunEnvironment::start_companion`]. Nothing was started then.
    pub async fn start_layered_companion(
        &self,
        command: &CompanionCommand,
        workspace: &Workspace,
        net: &NetworkClient,
        state: &KeptState,
    ) -> Result<LayeredCompanion, FileError> {
        self.sandbox
            .start_layered_companion(command, workspace, net, state)
            .await
    }

    /// Compares the workspace with its snapshot, and records the changes of a command in the snapshot's history as an
    /// entry that can be undone. Changes that others made meanwhile cannot be told apart from those of the command.
    /// Reads many files.
    ///
    /// # Errors
    /// The error that prevented the recording. The snapshot stays then, and [`DryRunEnvironment::recover_runs`] tries
    /// again.
    pub fn record_changes(picture: impl Into<Arc<Snapshot>>) -> Result<InPlaceResult, FileError> {
        record_changes(picture.into())
    }

    /// Records the changes of commands that a crash ended, and removes snapshots over which nothing was begun. To be
    /// called after [`History::recover_interrupted`]. Reads many files.
    pub fn recover_runs(history: &History) -> RecoveredRuns {
        recover_runs(history)
    }
}

/// Finds the sandbox program that is installed with another program: beside it, or where packages keep programs that
/// are not commands of a person. `None` where there is none. On Windows there is no sandbox to enter, and `program`
/// itself does the work.
pub fn find_sandbox_program(program: &Path) -> Option<PathBuf> {
    if cfg!(windows) {
        return Some(program.to_owned());
    }
    const NAME: &str = "countersign-sandbox";
    let kept = program.parent()?.with_file_name("lib").join("countersign");
    let mut places = [program.with_file_name(NAME), kept.join(NAME)].into_iter();
    places.find(|place| place.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sandbox_program_is_found_beside_another_and_where_packages_keep_it() {
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
            let installed = place.join("countersign-sandbox");
            std::fs::write(&installed, "").unwrap();
            assert_eq!(find_sandbox_program(&program), Some(installed));
        }
    }
}
