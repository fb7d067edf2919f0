//! A layer over a workspace for one program: prepared before the program starts, and read once it has ended.

use std::path::PathBuf;
use std::sync::Arc;

use rustix::time::ClockId;
use sandbox::WatchedReads;

use crate::dry_run::effects::attributes;
use crate::dry_run::effects::report::{ChangeReport, ChangeStage, build_report};
use crate::dry_run::home_state::HomeState;
use crate::dry_run::home_state::kept_state::open_kept_state;
use crate::dry_run::in_place::run::run_blocking;
use crate::dry_run::mount_plan::MountPlan;
use crate::dry_run::overlay::content_digest::hash_without_copy;
use crate::dry_run::overlay::diff::{UpperSource, UpperTree, diff_upper};
use crate::dry_run::overlay::layer::LayerFolder;
use crate::dry_run::overlay::workspace_copy::{CopyMethod, MarkedSide, copy_workspace};
use crate::dry_run::platform::linux::{SystemSandbox, clock_ns, create_layer, wait_for_file_clock};
use crate::dry_run::watched_reads::find_watched_reads;
use crate::dry_run::{KeptState, LayerKind};
use crate::fs::at_path::AtPath as _;
use crate::fs::dir::Dir;
use crate::{FileError, Workspace};

/// Why no state can be kept where the workspace is copied.
const NO_STATE_REASON: &str = "On this system the workspace is copied for a sandbox, and a program in it cannot keep what it needs the next time.";

/// A layer, with what its program has for itself of a home folder.
#[derive(Debug)]
pub(in crate::dry_run) struct PreparedLayer {
    kind: LayerKind,
    pub folder: Arc<LayerFolder>,
    pub home: Arc<HomeState>,
    /// Paths that are closed to the program.
    pub masked: Vec<PathBuf>,
    /// Those that a comparing command of git may read.
    readable_by_git: Vec<PathBuf>,
    /// Places of which the sandbox reports what the program reads.
    watched_reads: WatchedReads,
    /// Notes for a person about the closed paths.
    pub mask_notes: Vec<String>,
    /// Folder of the layers over the program's own state; `None` if it keeps none.
    pub kept: Option<PathBuf>,
    /// When the layer was begun, in nanoseconds since 1970: before anything that the program changes.
    pub began_ns: i64,
    workspace: Workspace,
}

impl SystemSandbox {
    /// Prepares a layer over a workspace, for a program that keeps this state.
    ///
    /// # Errors
    /// [`FileError::SandboxUnavailable`] where there is no layer or no place for the state; otherwise any error reported by the
    /// system.
    pub(in crate::dry_run) async fn prepare_layer(
        &self,
        workspace: &Workspace,
        state: Option<&KeptState>,
    ) -> Result<PreparedLayer, FileError> {
        // Here, so that what is prepared next goes off the wait for the clock of files.
        let began_ns = clock_ns(ClockId::Realtime);
        let capabilities = self.capabilities(workspace).await;
        let Some(place) = capabilities.place else {
            return Err(FileError::sandbox_unavailable(
                capabilities.probe.reasons.join(" "),
            ));
        };
        if let Some(program) = &self.program {
            program.prestart();
        }
        let kind = capabilities.probe.layer;
        let mut folder = create_layer(&place, workspace).at("the folder for sandboxes")?;
        let (mut masks, watched_reads) = tokio::try_join!(
            self.find_masks(workspace),
            run_blocking({
                let workspace = workspace.clone();
                move || find_watched_reads(&workspace)
            }),
        )?;
        let (kept_folder, kept) = match (state, kind) {
            (None, _) => (None, Vec::new()),
            (Some(state), LayerKind::Disk | LayerKind::Memory) => {
                let layers = place.kept_folder(&state.name)?;
                let kept = open_kept_state(&layers, &state.folders, workspace)?;
                (Some(layers), kept)
            }
            (Some(_), LayerKind::Copy | LayerKind::None) => {
                return Err(FileError::sandbox_unavailable(NO_STATE_REASON));
            }
        };
        // What is closed to others because it is this program's own is open to it.
        masks
            .paths
            .retain(|mask| !kept.iter().any(|folder| folder.path == *mask));
        let home = match kind {
            LayerKind::Disk | LayerKind::Memory => {
                let (layers, masked) = (folder.home_path(), masks.paths.clone());
                let workspace = workspace.clone();
                run_blocking(move || HomeState::create(&layers, &workspace, &masked, kept)).await?
            }
            LayerKind::Copy | LayerKind::None => HomeState::default(),
        };
        wait_for_file_clock(began_ns).await?;
        if kind == LayerKind::Copy {
            let (workspace, upper) = (workspace.clone(), folder.upper_path());
            let copied = run_blocking(move || {
                copy_workspace(
                    workspace.dir(),
                    &upper,
                    MarkedSide::Copy,
                    CopyMethod::System,
                )
            });
            folder.copied = Some(copied.await?);
        }
        Ok(PreparedLayer {
            kind,
            folder: Arc::new(folder),
            home: Arc::new(home),
            masked: masks.paths,
            readable_by_git: masks.readable_by_git,
            watched_reads,
            mask_notes: masks.notes,
            kept: kept_folder,
            began_ns,
            workspace: workspace.clone(),
        })
    }
}

impl PreparedLayer {
    /// Returns the place in which the program runs.
    pub fn mount_plan(&self) -> MountPlan<'_> {
        MountPlan {
            readable_by_git: self.readable_by_git.clone(),
            watched_reads: self.watched_reads.clone(),
            ..MountPlan::over_layer(self.kind, &self.folder, &self.home)
        }
    }

    /// Compares the layer with the workspace as it is now. Changes nothing.
    ///
    /// # Errors
    /// [`FileError::Changed`] when what the program changed was changed in the workspace meanwhile; otherwise any error
    /// reported by the system.
    pub async fn read_changes(&self) -> Result<ChangeReport, FileError> {
        let (folder, workspace) = (self.folder.clone(), self.workspace.clone());
        let began_ns = self.began_ns;
        let read = run_blocking(move || {
            let source = folder
                .copied
                .as_ref()
                .map_or(UpperSource::Layer, UpperSource::Copy);
            let dir = Dir::open(&folder.upper_path()).at("the layer of the command")?;
            let upper = UpperTree { source, dir: &dir };
            diff_upper(
                upper,
                workspace.dir(),
                began_ns,
                &mut hash_without_copy,
                None,
            )
        });
        let looked = read.await?;
        let attributes = attributes::attributes_note(&looked.attributes, ChangeStage::DryRun);
        let mut report = build_report(looked.changes, ChangeStage::DryRun);
        report.notes.extend(attributes);
        Ok(report)
    }
}
