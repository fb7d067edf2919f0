//! Running a command for real on macOS, behind Seatbelt: by the sandbox program, as on Linux.
//!
//! **This was never run by those who wrote it**: it is compiled and tested where a Mac builds it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use protocol::{CommandRun, UserError};
use tokio_util::sync::CancellationToken;

use crate::dry_run::SandboxRequest;
use crate::dry_run::change_limits::GrowthLimit;
use crate::dry_run::in_place::run::run_blocking;
use crate::dry_run::mount_plan::MountPlan;
use crate::dry_run::overlay::layer::LayerPlace;
use crate::dry_run::platform::in_place_only::{InPlaceRunner, RunnerGuarantees};
use crate::dry_run::refusals::Refusals;
use crate::dry_run::sandboxed_command::run_sandboxed;
use crate::dry_run::secrets::closed_files::ClosedFileFinder;
use crate::dry_run::secrets::masks::find_masks;
use crate::fs::at_path::AtPath as _;
use crate::process::sandbox_process::SandboxLauncher;
use crate::{FileError, NetworkClient, ShellCommand};

/// The guarantees of a sandbox and its gaps, in plain sentences.
const CLOSED_REASONS: [&str; 2] = [
    "A command runs for real, closed in by Seatbelt: it has no network and no socket of this machine, and changes nothing outside of the workspace but files for a while.",
    "What it was refused is not seen, and what it starts as a group of its own may outlive it, as closed in as it was.",
];

/// Runs a command by the sandbox program.
#[derive(Debug)]
pub(in crate::dry_run) struct SeatbeltRunner {
    program: Option<Arc<SandboxLauncher>>,
    disk: LayerPlace,
    masked: Vec<PathBuf>,
    secrets: Arc<ClosedFileFinder>,
}

impl InPlaceRunner for SeatbeltRunner {
    const GUARANTEES: RunnerGuarantees = RunnerGuarantees {
        is_cut_off: true,
        reasons: &CLOSED_REASONS,
    };

    fn open(
        program: Option<PathBuf>,
        folder: &Path,
        masked: Vec<PathBuf>,
    ) -> Result<Self, UserError> {
        let disk = LayerPlace::in_data_folder(folder)?;
        Ok(Self {
            program: program.map(SandboxLauncher::new).map(Arc::new),
            disk,
            masked,
            secrets: Arc::default(),
        })
    }

    async fn run(
        &self,
        command: &ShellCommand,
        grows: GrowthLimit,
        on_output: impl FnMut(&str) + Send,
        cancel: &CancellationToken,
    ) -> Result<(CommandRun, Refusals), FileError> {
        let Some(program) = &self.program else {
            return Err(FileError::sandbox_unavailable(
                "the sandbox program, `countersign-sandbox`, is not installed",
            ));
        };
        let root = command
            .workspace
            .dir()
            .stat_self()
            .at("the folder for sandboxes")?;
        let folder = self
            .disk
            .create_layer(root.mode)
            .at("the folder for sandboxes")?;
        let (workspace, own) = (command.workspace.clone(), self.masked.clone());
        let secrets = self.secrets.clone();
        let mut masks = run_blocking(move || find_masks(&workspace, &own, &secrets)).await?;
        // Our own folder is closed to the command.
        let temporary = tempfile::tempdir().at("the folder for sandboxes")?;
        let bare = Some(temporary.path().to_owned());
        let plan = MountPlan::in_place(&folder, bare, command, grows);
        let net = NetworkClient::offline();
        let request = SandboxRequest {
            command,
            net: &net,
            cancel,
        };
        let ran = run_sandboxed(program, request, &plan, masks.paths, on_output);
        let (ran, mut refused) = ran.await?;
        refused.notes.append(&mut masks.notes);
        Ok((ran, refused))
    }
}
