//! Sandboxes on Linux: finds where a layer works, and runs one command over it.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use protocol::view::effects::Assurance;
use protocol::{CommandExit, CommandRun, UserError};
use rustix::time::{ClockId, clock_gettime};

use crate::dry_run::effects::summary::{FinishedRun, summarize_run};
use crate::dry_run::in_place::run;
use crate::dry_run::in_place::run::run_blocking;
use crate::dry_run::in_place::snapshot::Snapshot;
use crate::dry_run::mount_plan::MountPlan;
use crate::dry_run::overlay::layer::{LayerFolder, LayerPlace};
use crate::dry_run::overlay::workspace_copy::{CopyMethod, measure_workspace};
use crate::dry_run::platform::probe::without_copy_layer;
use crate::dry_run::refusals::Refusals;
use crate::dry_run::sandboxed_command;
use crate::dry_run::secrets::closed_files::ClosedFileFinder;
use crate::dry_run::secrets::masks::{SandboxMasks, find_masks};
use crate::dry_run::secrets::staged_files::StagedFiles;
use crate::dry_run::{
    CacheUse, DryRunOptions, DryRunOutput, InPlaceRun, Isolation, LayerKind, SandboxProbe,
    SandboxRequest,
};
use crate::fs::at_path::AtPath as _;
use crate::process::sandbox_process::SandboxLauncher;
use crate::{FileError, History, UndoEntryMeta, Workspace};

/// Why there is no sandbox at all.
pub(in crate::dry_run) const NOT_INSTALLED_REASON: &str =
    "The sandbox program, `countersign-sandbox`, is not installed.";

#[derive(Debug)]
pub(in crate::dry_run) struct SystemSandbox {
    /// `None` where the sandbox program is not installed.
    pub program: Option<Arc<SandboxLauncher>>,
    pub masked: Vec<PathBuf>,
    pub disk: Arc<LayerPlace>,
    pub kinds: Vec<LayerKind>,
    pub isolations: Vec<Isolation>,
    known: Mutex<HashMap<ProbeKey, ProbedCapabilities>>,
    secrets: Arc<ClosedFileFinder>,
    staged: Arc<StagedFiles>,
}

/// Scope of a probe: a file system, and whether the folder of layers lies in the workspace.
type ProbeKey = (u64, bool);

#[derive(Debug, Clone)]
pub(in crate::dry_run) struct ProbedCapabilities {
    pub probe: SandboxProbe,
    /// The place of layers; `None` where no layer works.
    pub place: Option<Arc<LayerPlace>>,
    /// The isolation of a sandbox in which a command can run for real; `None` where there is no such sandbox.
    pub isolation: Option<Isolation>,
    /// Why nothing better works.
    pub reasons: Vec<String>,
}

impl SystemSandbox {
    pub(in crate::dry_run) fn open(
        program: Option<PathBuf>,
        folder: &Path,
        mut masked: Vec<PathBuf>,
        kinds: &[LayerKind],
        isolations: &[Isolation],
    ) -> Result<Self, UserError> {
        let disk = LayerPlace::in_data_folder(folder)?;
        masked.push(folder.to_owned());
        Ok(Self {
            program: program.map(SandboxLauncher::new).map(Arc::new),
            masked,
            disk: Arc::new(disk),
            kinds: kinds.to_vec(),
            isolations: isolations.to_vec(),
            known: Mutex::default(),
            secrets: Arc::default(),
            staged: Arc::default(),
        })
    }

    pub(in crate::dry_run) async fn probe(&self, workspace: &Workspace) -> SandboxProbe {
        self.capabilities(workspace).await.probe
    }

    /// Returns the guarantees for a workspace. Whether it can be copied is checked each time anew, since a workspace
    /// grows.
    pub(in crate::dry_run) async fn capabilities(
        &self,
        workspace: &Workspace,
    ) -> ProbedCapabilities {
        let capabilities = self.probe_cached(workspace).await;
        let by_layer = matches!(
            capabilities.probe.layer,
            LayerKind::Disk | LayerKind::Memory
        );
        if by_layer || capabilities.probe.assurance == Assurance::GateOnly {
            return capabilities;
        }
        let whole = workspace.clone();
        match run_blocking(move || measure_workspace(whole.dir())).await {
            Ok(()) => capabilities,
            Err(error) => without_copy_layer(capabilities, &error),
        }
    }

    async fn probe_cached(&self, workspace: &Workspace) -> ProbedCapabilities {
        let device = fs::metadata(workspace.root()).map_or(0, |found| found.dev());
        let ground = (device, self.disk.is_in(workspace.root()));
        let known = |all: &Mutex<HashMap<ProbeKey, ProbedCapabilities>>| {
            let all = all.lock().unwrap_or_else(PoisonError::into_inner);
            all.get(&ground).cloned()
        };
        if let Some(known) = known(&self.known) {
            return known;
        }
        let found = self.probe_sandbox(workspace).await;
        let mut all = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        all.entry(ground).or_insert(found).clone()
    }

    pub(in crate::dry_run) async fn dry_run(
        &self,
        request: SandboxRequest<'_>,
        options: DryRunOptions<'_>,
        mut on_output: impl FnMut(&str) + Send,
    ) -> Result<DryRunOutput, FileError> {
        request
            .command
            .workspace
            .check_command(&request.command.line)?;
        if options.expects_no_change
            && let Some(output) = self.dry_run_without_layer(request, &mut on_output).await?
        {
            return Ok(output);
        }
        self.dry_run_over_layer(request, options.caches, on_output)
            .await
    }

    /// Runs a command with a layer over its workspace, which takes its changes.
    async fn dry_run_over_layer(
        &self,
        request: SandboxRequest<'_>,
        caches: &[CacheUse],
        on_output: impl FnMut(&str) + Send,
    ) -> Result<DryRunOutput, FileError> {
        let layer = self.prepare_layer(&request.command.workspace, None).await?;
        let (ran, mut refused) = self
            .run_within_limits(
                request,
                &layer.mount_plan(),
                layer.masked.clone(),
                on_output,
            )
            .await?;
        let mut notes = layer.mask_notes.clone();
        notes.extend(layer.home.take_refusals(&mut refused));
        if ran.exit == CommandExit::Cancelled {
            return Err(FileError::Cancelled);
        }
        let (caches, home, began_ns) = (caches.to_vec(), layer.home.clone(), layer.began_ns);
        let changed = run_blocking(move || Ok(home.take_changes(&caches, began_ns))).await?;
        notes.extend(changed.notes);
        let (effects, plan) = summarize_run(FinishedRun {
            assurance: Assurance::Speculative,
            ran: ran.clone(),
            refused,
            read: layer.read_changes().await?,
            notes,
            after_folder: layer.folder.upper_path(),
        });
        Ok(DryRunOutput {
            command: ran,
            effects,
            plan,
            kept_caches: changed.kept,
            _layer: layer.folder,
        })
    }

    /// Finds the masks of a sandbox for a workspace.
    pub(in crate::dry_run) async fn find_masks(
        &self,
        workspace: &Workspace,
    ) -> Result<SandboxMasks, FileError> {
        let (workspace, own) = (workspace.clone(), self.masked.clone());
        let (secrets, staged) = (self.secrets.clone(), self.staged.clone());
        run_blocking(move || {
            let mut masks = find_masks(&workspace, &own, &secrets)?;
            masks.readable_by_git = staged.find_unchanged(workspace.root(), &masks.paths);
            Ok(masks)
        })
        .await
    }

    /// Takes a snapshot of a workspace for a command that is to run in it.
    pub(in crate::dry_run) async fn take_snapshot(
        &self,
        workspace: &Workspace,
        history: &History,
        meta: UndoEntryMeta,
    ) -> Result<Snapshot, FileError> {
        let known = self.capabilities(workspace).await;
        if known.isolation.is_none() {
            return Err(FileError::sandbox_unavailable(
                known.probe.reasons.join(" "),
            ));
        }
        run::take_snapshot(workspace, history, meta, CopyMethod::System).await
    }

    /// Runs a command in the workspace of a snapshot.
    pub(in crate::dry_run) async fn run_in_place(
        &self,
        request: SandboxRequest<'_>,
        picture: &Snapshot,
        on_output: impl FnMut(&str) + Send,
    ) -> Result<InPlaceRun, FileError> {
        let SandboxRequest { command, net, .. } = request;
        command.workspace.check_command(&command.line)?;
        let known = self.capabilities(&command.workspace).await;
        let (Some(walls), true) = (
            known.isolation,
            command.workspace.root() == picture.workspace.root(),
        ) else {
            return Err(FileError::sandbox_unavailable(
                known.probe.reasons.join(" "),
            ));
        };
        if walls == Isolation::Landlock && net.has_network() {
            return Err(FileError::sandbox_unavailable(
                "Without namespaces, network access cannot be limited to chosen hosts. Run it without.",
            ));
        }
        let folder = create_layer(&self.disk, &command.workspace).at("the folder for sandboxes")?;
        let mut masks = self.find_masks(&command.workspace).await?;
        let bare = (walls == Isolation::Landlock).then(|| folder.tmp_path());
        let site = MountPlan {
            readable_by_git: masks.readable_by_git,
            ..MountPlan::in_place(&folder, bare, command, picture.growth_limit())
        };
        let (ran, mut refused) = self
            .run_within_limits(request, &site, masks.paths, on_output)
            .await?;
        refused.notes.append(&mut masks.notes);
        Ok(picture.record_run(ran, refused))
    }

    /// Runs a command as its mount plan says, and ends it when it changes too much.
    pub(in crate::dry_run) async fn run_within_limits(
        &self,
        request: SandboxRequest<'_>,
        site: &MountPlan<'_>,
        masked: Vec<PathBuf>,
        on_output: impl FnMut(&str) + Send,
    ) -> Result<(CommandRun, Refusals), FileError> {
        let Some(program) = &self.program else {
            return Err(FileError::sandbox_unavailable(NOT_INSTALLED_REASON));
        };
        sandboxed_command::run_sandboxed(program, request, site, masked, on_output).await
    }
}

pub(in crate::dry_run) fn create_layer(
    place: &LayerPlace,
    workspace: &Workspace,
) -> io::Result<LayerFolder> {
    place.create_layer(workspace.dir().stat_self()?.mode)
}

/// Returns the nanoseconds since 1970 by one of the system's clocks.
pub(in crate::dry_run) fn clock_ns(clock: ClockId) -> i64 {
    let now = clock_gettime(clock);
    now.tv_sec
        .saturating_mul(1_000_000_000)
        .saturating_add(now.tv_nsec)
}

/// Waits until changed files are stamped with a later time than `then_ns`. The clock for file times advances in steps
/// of some milliseconds, and lags up to two of them behind the one that programs ask.
///
/// # Errors
/// [`FileError::SandboxUnavailable`] where that time does not come: the clock was set back, and changes of others could
/// not be told from the state before.
pub(in crate::dry_run) async fn wait_for_file_clock(then_ns: i64) -> Result<(), FileError> {
    for _ in 0..STEP_WAITS_MAX {
        if clock_ns(ClockId::RealtimeCoarse) > then_ns {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    Err(FileError::sandbox_unavailable(
        "The clock of this machine was set back while the command was prepared, so it was not run. Repeat it.",
    ))
}

/// Five times the number that the slowest kernel needs, whose step is 10 ms.
const STEP_WAITS_MAX: usize = 100;

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_is_written_after_the_wait_is_stamped_later() {
        let folder = tempfile::tempdir().unwrap();
        for round in 0..20 {
            let then_ns = clock_ns(ClockId::Realtime);
            wait_for_file_clock(then_ns).await.unwrap();
            let file = folder.path().join(round.to_string());
            fs::write(&file, "").unwrap();
            let found = fs::metadata(file).unwrap();
            let changed_ns = found.ctime() * 1_000_000_000 + found.ctime_nsec();
            assert!(changed_ns > then_ns, "{changed_ns} {then_ns}");
        }
    }

    #[tokio::test]
    async fn a_clock_that_was_set_back_is_no_ground_for_a_dry_run() {
        let an_hour_ns = 3_600_000_000_000;
        let refused = wait_for_file_clock(clock_ns(ClockId::Realtime) + an_hour_ns).await;
        assert!(
            matches!(&refused, Err(FileError::SandboxUnavailable { reason }) if reason.contains("set back")),
            "{refused:?}"
        );
    }
}
