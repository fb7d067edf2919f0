//! A dry run of a command that is expected to change nothing: in a workspace that is read-only, without a layer over it (M35).
//!
//! A layer is mounted anew for every command, so that every name that the command looks up is looked up for the first
//! time, and it is read afterwards. A command that only reports needs none of that.

use std::sync::Arc;

use protocol::view::effects::Assurance;
use protocol::{CommandExit, Plan};

use crate::FileError;
use crate::dry_run::effects::report::ChangeReport;
use crate::dry_run::effects::summary::{FinishedRun, summarize_run};
use crate::dry_run::in_place::run::run_blocking;
use crate::dry_run::mount_plan::MountPlan;
use crate::dry_run::platform::linux::{SystemSandbox, create_layer};
use crate::dry_run::watched_reads::find_watched_reads;
use crate::dry_run::{DryRunOutput, SandboxRequest};
use crate::fs::at_path::AtPath as _;

impl SystemSandbox {
    /// Runs a command where it cannot change anything. `None` if it tried to, or nobody could see whether it did: nothing
    /// came of it, and it has to run over a layer. `on_output` gets all output at the end, and only of a run that counts.
    pub(in crate::dry_run) async fn dry_run_without_layer(
        &self,
        request: SandboxRequest<'_>,
        on_output: &mut (impl FnMut(&str) + Send),
    ) -> Result<Option<DryRunOutput>, FileError> {
        let command = request.command;
        // What it sends, and what it writes to a pipe, would come twice.
        let can_repeat = !request.net.has_network() && command.errors.is_none();
        let capabilities = self.capabilities(&command.workspace).await;
        let Some(place) = capabilities.place.filter(|_| can_repeat) else {
            return Ok(None);
        };
        let folder = create_layer(&place, &command.workspace).at("the folder for sandboxes")?;
        let workspace = command.workspace.clone();
        let (masks, watched_reads) = tokio::try_join!(
            self.find_masks(&command.workspace),
            run_blocking(move || find_watched_reads(&workspace)),
        )?;
        let site = MountPlan {
            readable_by_git: masks.readable_by_git,
            ..MountPlan::without_changes(capabilities.probe.layer, &folder, watched_reads)
        };
        let mut printed = String::new();
        let bytes_max = usize::try_from(command.output_bytes_max).unwrap_or(usize::MAX);
        let keep_output = |text: &str| {
            if printed.len() < bytes_max {
                printed.push_str(text);
            }
        };
        let (ran, refused) = self
            .run_within_limits(request, &site, masks.paths, keep_output)
            .await?;
        if ran.exit == CommandExit::Cancelled {
            return Err(FileError::Cancelled);
        }
        // One that ran out of time would do so again.
        if ran.exit != CommandExit::TimedOut && !refused.is_free_of_changes() {
            return Ok(None);
        }
        if !printed.is_empty() {
            on_output(&printed);
        }
        let (effects, _) = summarize_run(FinishedRun {
            assurance: Assurance::Speculative,
            ran: ran.clone(),
            refused,
            read: ChangeReport::default(),
            notes: masks.notes,
            after_folder: folder.upper_path(),
        });
        Ok(Some(DryRunOutput {
            command: ran,
            effects,
            plan: Plan::None,
            kept_caches: Vec::new(),
            _layer: Arc::new(folder),
        }))
    }
}
