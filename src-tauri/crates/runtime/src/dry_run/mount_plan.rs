//! The place in which one command runs, over a layer or in the workspace itself, and how much it may change there.

use std::path::PathBuf;

use sandbox::{PrivateFolder, WatchedReads, WorkspaceLayers};

#[cfg(target_os = "linux")]
use super::LayerKind;
use super::change_limits::GrowthLimit;
#[cfg(target_os = "linux")]
use super::change_limits::layer_bytes_max;
#[cfg(target_os = "linux")]
use super::home_state::HomeState;
#[cfg(target_os = "linux")]
use super::sandboxed_command::SANDBOX_TMP;
use crate::ShellCommand;
use crate::dry_run::overlay::layer::LayerFolder;

/// What becomes of the changes that a command makes in its workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum WorkspaceChanges {
    /// Layers take them.
    #[cfg(target_os = "linux")]
    Layered(WorkspaceLayers),
    /// The command is refused them.
    #[cfg(target_os = "linux")]
    Refused,
    /// They are made in the workspace itself.
    InPlace,
}

impl WorkspaceChanges {
    /// Returns the layers that take the changes, if any do.
    pub fn layers(&self) -> Option<WorkspaceLayers> {
        match self {
            #[cfg(target_os = "linux")]
            Self::Layered(layers) => Some(layers.clone()),
            #[cfg(target_os = "linux")]
            Self::Refused => None,
            Self::InPlace => None,
        }
    }
}

/// The place in which a command runs, and its limits.
pub(super) struct MountPlan<'a> {
    /// The folder of this command alone.
    pub folder: &'a LayerFolder,
    /// What becomes of changes of the workspace.
    pub workspace: WorkspaceChanges,
    /// Folders outside the workspace that the command changes for itself alone.
    pub private: Vec<PrivateFolder>,
    /// Paths in those folders that are read-only.
    pub read_only: Vec<PathBuf>,
    /// Masked files that a comparing command of git may read.
    pub readable_by_git: Vec<PathBuf>,
    /// Places of which the sandbox reports what the command reads.
    pub watched_reads: WatchedReads,
    /// Variables for the command, where the app does not have them.
    pub variables: Vec<(String, String)>,
    /// The folder for temporary files, where the sandbox cannot have its own `/tmp`.
    pub private_tmp: Option<PathBuf>,
    /// Folder whose size is checked while the command runs.
    pub watched_folder: PathBuf,
    /// How many bytes `watched_folder` may take on disk.
    pub watched_bytes_max: u64,
    /// How long a file may become, in bytes.
    pub file_bytes: u64,
}

impl<'a> MountPlan<'a> {
    /// Returns a plan that runs the command over a layer, with what it has for itself of a home folder.
    #[cfg(target_os = "linux")]
    pub fn over_layer(kind: LayerKind, layer: &'a LayerFolder, home: &HomeState) -> Self {
        let copied = layer.copied.as_ref().map_or(0, |copied| copied.bytes);
        let bytes_max = layer_bytes_max(kind);
        Self {
            folder: layer,
            workspace: WorkspaceChanges::Layered(WorkspaceLayers {
                upper: layer.upper_path(),
                work: (kind != LayerKind::Copy).then(|| layer.work_path()),
            }),
            private: home.private_folders(),
            read_only: home.read_only.clone(),
            readable_by_git: Vec::new(),
            watched_reads: WatchedReads::default(),
            variables: home.variables_into(SANDBOX_TMP),
            private_tmp: None,
            watched_folder: layer.path().to_owned(),
            watched_bytes_max: bytes_max.saturating_add(copied),
            file_bytes: bytes_max,
        }
    }

    /// Returns a plan that runs the command where it cannot change anything but its own temporary files.
    #[cfg(target_os = "linux")]
    pub fn without_changes(
        kind: LayerKind,
        folder: &'a LayerFolder,
        watched_reads: WatchedReads,
    ) -> Self {
        let bytes_max = layer_bytes_max(kind);
        Self {
            folder,
            workspace: WorkspaceChanges::Refused,
            private: Vec::new(),
            read_only: Vec::new(),
            readable_by_git: Vec::new(),
            watched_reads,
            // A report of git's refreshes the index where it can.
            variables: vec![("GIT_OPTIONAL_LOCKS".to_owned(), "0".to_owned())],
            private_tmp: None,
            watched_folder: folder.path().to_owned(),
            watched_bytes_max: bytes_max,
            file_bytes: bytes_max,
        }
    }

    /// Returns a plan that runs the command in the workspace itself.
    pub fn in_place(
        folder: &'a LayerFolder,
        private_tmp: Option<PathBuf>,
        command: &ShellCommand,
        grows: GrowthLimit,
    ) -> Self {
        Self {
            folder,
            workspace: WorkspaceChanges::InPlace,
            private: Vec::new(),
            read_only: Vec::new(),
            readable_by_git: Vec::new(),
            // The person let it run for real, and sees nothing of it beforehand.
            watched_reads: WatchedReads::default(),
            variables: Vec::new(),
            private_tmp,
            watched_folder: command.workspace.root().to_owned(),
            watched_bytes_max: grows.total_bytes_max(),
            file_bytes: grows.growth_bytes_max,
        }
    }
}
