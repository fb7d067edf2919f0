//! A program that talks to a caller in a sandbox with a layer over its workspace: nothing that it does there is real, and
//! what it changed is read once it has ended.

use std::sync::{Arc, OnceLock};

use protocol::CommandRun;
use protocol::view::effects::Assurance;
use sandbox::{SandboxLimits, SandboxSpec};
use tokio_util::task::AbortOnDropHandle;

use super::change_limits::wait_until_outgrown;
use super::companion::{LaunchedCompanion, companion_spec};
use super::mount_plan::MountPlan;
use crate::dry_run::effects::summary::{FinishedRun, summarize_run};
use crate::dry_run::in_place::run::run_blocking;
use crate::dry_run::overlay::diff::diff_limit_error;
use crate::dry_run::platform::linux::SystemSandbox;
use crate::dry_run::prepared_layer::PreparedLayer;
use crate::dry_run::refusals::Refusals;
use crate::dry_run::secrets::masks::read_only_below_layer;
use crate::dry_run::{DryRunOutput, KeptState, LayeredCompanion};
use crate::{CompanionCommand, EndedProgram, FileError, NetworkClient, Workspace};

/// What a program in a sandbox changed in the layer over its workspace. Dropping it removes the changes.
#[derive(Debug)]
pub struct LayeredChanges {
    layer: PreparedLayer,
    /// Why the program was ended, if it changed too much.
    outgrew: Arc<OnceLock<String>>,
    _watch: AbortOnDropHandle<()>,
}

impl SystemSandbox {
    /// Starts a program in a sandbox with a layer over the workspace.
    pub(super) async fn start_layered_companion(
        &self,
        command: &CompanionCommand,
        workspace: &Workspace,
        net: &NetworkClient,
        state: &KeptState,
    ) -> Result<LayeredCompanion, FileError> {
        let layer = self.prepare_layer(workspace, Some(state)).await?;
        let MountPlan {
            workspace: changes,
            private,
            read_only,
            watched_reads,
            variables,
            watched_folder,
            watched_bytes_max,
            file_bytes,
            ..
        } = layer.mount_plan();
        let mut spec = companion_spec(command, workspace, net, layer.folder.report_path())?;
        for (name, value) in variables {
            if !spec.environment.iter().any(|(set, _)| *set == name) {
                spec.environment.push((name, value));
            }
        }
        let spec = SandboxSpec {
            layers: changes.layers(),
            private,
            read_only: [read_only_below_layer(workspace), read_only].concat(),
            masked: layer.masked.clone(),
            watched_reads,
            limits: SandboxLimits {
                file_bytes,
                ..spec.limits
            },
            ..spec
        };
        let LaunchedCompanion { companion, stopper } =
            self.launch(&spec, net, layer.folder.clone()).await?;
        let outgrew = Arc::new(OnceLock::new());
        let watch = tokio::spawn({
            let outgrew = outgrew.clone();
            let kept = layer.kept.clone();
            async move {
                let state = async {
                    match kept {
                        Some(kept) => wait_until_outgrown(kept, watched_bytes_max).await,
                        None => std::future::pending().await,
                    }
                };
                let why = tokio::select! {
                    why = wait_until_outgrown(watched_folder, watched_bytes_max) => why,
                    why = state => why,
                };
                outgrew.get_or_init(|| why);
                stopper.stop();
            }
        });
        let changes = LayeredChanges {
            layer,
            outgrew,
            _watch: AbortOnDropHandle::new(watch),
        };
        Ok(LayeredCompanion { companion, changes })
    }
}

impl LayeredChanges {
    /// Reads what the program changed, once it has ended. The effects can be carried out as long as the result is kept. Can be
    /// done again, after the workspace changed.
    ///
    /// # Errors
    /// [`FileError::SandboxUnavailable`] where the sandbox could not be entered, or the program did more than can be reviewed;
    /// [`FileError::Changed`] when what it changed was changed in the workspace meanwhile; otherwise any error reported by the
    /// system.
    pub async fn read(&self, ended: &EndedProgram) -> Result<DryRunOutput, FileError> {
        if let Some(why) = self.outgrew.get() {
            return Err(diff_limit_error(why));
        }
        let outcome = ended.sandbox.clone().unwrap_or_default();
        if let Some(why) = outcome.entry_error {
            return Err(FileError::sandbox_unavailable(format!(
                "The sandbox could not be set up, so the program did not run: {why}."
            )));
        }
        let mut refused = Refusals {
            list: outcome.refused,
            reached: outcome.reached,
            outside_reads: outcome.outside_reads,
            ..Refusals::default()
        };
        let mut notes = self.layer.mask_notes.clone();
        notes.extend(self.layer.home.take_refusals(&mut refused));
        let (home, began_ns) = (self.layer.home.clone(), self.layer.began_ns);
        let changed = run_blocking(move || Ok(home.take_changes(&[], began_ns))).await?;
        notes.extend(changed.notes);
        let ran = CommandRun::without_output(ended.exit);
        let (effects, plan) = summarize_run(FinishedRun {
            assurance: Assurance::Speculative,
            ran: ran.clone(),
            refused,
            read: self.layer.read_changes().await?,
            notes,
            after_folder: self.layer.folder.upper_path(),
        });
        Ok(DryRunOutput {
            command: ran,
            effects,
            plan,
            kept_caches: Vec::new(),
            _layer: self.layer.folder.clone(),
        })
    }
}
