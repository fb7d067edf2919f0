//! Systems on which no layer can lie over a workspace: a command runs for real, over a snapshot of it, in whatever
//! confinement the system has.
//!
//! The confinement is in the system's own file: `seatbelt.rs`, `unconfined.rs`, or `unsupported.rs`. The rest is here,
//! and is tested on Linux too.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use protocol::view::effects::Assurance;
use protocol::{CommandRun, UserError};
use tokio_util::sync::CancellationToken;

use crate::dry_run::change_limits::GrowthLimit;
use crate::dry_run::in_place::run;
use crate::dry_run::in_place::run::run_blocking;
use crate::dry_run::in_place::snapshot::Snapshot;
use crate::dry_run::overlay::workspace_copy::{CopyMethod, measure_workspace};
use crate::dry_run::platform::probe_common::{
    check_noop_result, noop_command, not_copied_reason, snapshot_only_reason,
};
use crate::dry_run::refusals::Refusals;
use crate::dry_run::{
    DryRunOptions, DryRunOutput, InPlaceRun, Isolation, KeptState, LayerKind, LayeredCompanion,
    SandboxProbe, SandboxRequest,
};
use crate::{
    Companion, CompanionCommand, FileError, History, NetworkClient, ShellCommand, UndoEntryMeta,
    Workspace,
};

/// Reason given where a command is to run in a dry run.
const NO_LAYER_REASON: &str = "On this system no layer can lie over the workspace: a command runs for real, and what it changes cannot be shown before.";
/// Reason given where a command is to reach chosen hosts alone.
const NO_HOST_FILTER_REASON: &str =
    "On this system network access cannot be limited to chosen hosts. Run it without.";

/// Reason given where a companion program is to run in a sandbox.
const NO_COMPANION_REASON: &str = "On this system a program in a sandbox cannot be sent messages.";

/// Note on a snapshot that is not synced to disk as a whole, since no call on this system does that.
const SNAPSHOT_NOT_SYNCED_NOTE: &str = "If the power fails while it runs, the snapshot may be lost with it; if only the app ends, it is not.";

/// Runs a command for real, in the workspace itself.
pub(in crate::dry_run) trait InPlaceRunner:
    fmt::Debug + Send + Sync + Sized + 'static
{
    /// The guarantees for a command that this runner runs.
    const GUARANTEES: RunnerGuarantees;

    /// Prepares the runner. `folder` is for its own files; `masked` is closed to commands as far as the runner can
    /// close anything.
    fn open(
        program: Option<PathBuf>,
        folder: &Path,
        masked: Vec<PathBuf>,
    ) -> Result<Self, UserError>;

    /// Runs a command to its end, and ends it when it exceeds the limit.
    fn run(
        &self,
        command: &ShellCommand,
        grows: GrowthLimit,
        on_output: impl FnMut(&str) + Send,
        cancel: &CancellationToken,
    ) -> impl Future<Output = Result<(CommandRun, Refusals), FileError>> + Send;
}

/// The guarantees for a command that runs for real, and those that are missing.
#[derive(Debug)]
pub(in crate::dry_run) struct RunnerGuarantees {
    /// Whether the command reaches neither the network nor a socket of this machine.
    pub is_cut_off: bool,
    /// The guarantees and their gaps, in plain sentences.
    pub reasons: &'static [&'static str],
}

/// A sandbox of a system on which commands run in place only.
#[derive(Debug)]
pub(in crate::dry_run) struct InPlaceOnly<R> {
    runner: R,
    /// Folder of the app for this environment.
    folder: PathBuf,
    copier: CopyMethod,
    /// Whether a no-op command was run successfully on this system.
    is_proven: AtomicBool,
}

/// Never constructed: there are no layers on these systems.
#[cfg(not(target_os = "linux"))]
#[derive(Debug)]
pub(in crate::dry_run) enum LayerFolder {}

/// Never constructed, for the same reason.
#[cfg(not(target_os = "linux"))]
#[derive(Debug)]
pub enum LayeredChanges {}

#[cfg(not(target_os = "linux"))]
impl LayeredChanges {
    /// Returns what a program changed.
    ///
    /// # Errors
    /// None: there is no such program.
    #[expect(clippy::unused_async, reason = "as where there are layers")]
    pub async fn read(&self, _ended: &crate::EndedProgram) -> Result<DryRunOutput, FileError> {
        match *self {}
    }
}

impl<R: InPlaceRunner> InPlaceOnly<R> {
    pub(in crate::dry_run) fn open(
        program: Option<PathBuf>,
        folder: &Path,
        mut masked: Vec<PathBuf>,
        _kinds: &[LayerKind],
        _isolations: &[Isolation],
    ) -> Result<Self, UserError> {
        masked.push(folder.to_owned());
        Ok(Self {
            runner: R::open(program, folder, masked)?,
            folder: folder.to_owned(),
            copier: CopyMethod::System,
            is_proven: AtomicBool::new(false),
        })
    }

    pub(in crate::dry_run) async fn probe(&self, workspace: &Workspace) -> SandboxProbe {
        if let Err(why) = self.probe_in_place(workspace).await {
            return SandboxProbe::gate_only(vec![why]);
        }
        let mut reasons = vec![NO_LAYER_REASON.to_owned()];
        reasons.extend(R::GUARANTEES.reasons.iter().copied().map(str::to_owned));
        reasons.extend([snapshot_only_reason(), SNAPSHOT_NOT_SYNCED_NOTE.to_owned()]);
        SandboxProbe {
            assurance: Assurance::Snapshot,
            layer: LayerKind::None,
            in_place: true,
            net_off: R::GUARANTEES.is_cut_off,
            unix_sockets_off: R::GUARANTEES.is_cut_off,
            kill_tree: false,
            reasons,
        }
    }

    /// Checks whether a snapshot can be taken, each time anew since a workspace grows, and whether a no-op command can
    /// be run, until that has succeeded once.
    async fn probe_in_place(&self, workspace: &Workspace) -> Result<(), String> {
        let real = |path: &Path| std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        if real(&self.folder).starts_with(real(workspace.root())) {
            return Err(
                "No snapshot can be taken: the data folder lies in the workspace.".to_owned(),
            );
        }
        let whole = workspace.clone();
        let weighed = run_blocking(move || measure_workspace(whole.dir())).await;
        weighed.map_err(|error| not_copied_reason(&error))?;
        if self.is_proven.load(Ordering::Relaxed) {
            return Ok(());
        }
        let (command, never) = (noop_command(workspace), CancellationToken::new());
        let grows = GrowthLimit::for_probe();
        let ran = self.runner.run(&command, grows, |_: &str| {}, &never);
        let ran = ran.await.map(|(ran, _)| ran);
        check_noop_result(ran).map_err(|why| format!("Commands cannot be run in place: {why}."))?;
        self.is_proven.store(true, Ordering::Relaxed);
        Ok(())
    }

    pub(in crate::dry_run) async fn dry_run(
        &self,
        _request: SandboxRequest<'_>,
        _options: DryRunOptions<'_>,
        _on_output: impl FnMut(&str) + Send,
    ) -> Result<DryRunOutput, FileError> {
        Err(FileError::sandbox_unavailable(NO_LAYER_REASON))
    }

    pub(in crate::dry_run) async fn start_companion(
        &self,
        _command: &CompanionCommand,
        _workspace: &Workspace,
        _net: &NetworkClient,
    ) -> Result<Companion, FileError> {
        Err(FileError::sandbox_unavailable(NO_COMPANION_REASON))
    }

    pub(in crate::dry_run) async fn start_layered_companion(
        &self,
        _command: &CompanionCommand,
        _workspace: &Workspace,
        _net: &NetworkClient,
        _state: &KeptState,
    ) -> Result<LayeredCompanion, FileError> {
        Err(FileError::sandbox_unavailable(NO_COMPANION_REASON))
    }

    pub(in crate::dry_run) async fn take_snapshot(
        &self,
        workspace: &Workspace,
        history: &History,
        meta: UndoEntryMeta,
    ) -> Result<Snapshot, FileError> {
        self.probe_in_place(workspace)
            .await
            .map_err(FileError::sandbox_unavailable)?;
        run::take_snapshot(workspace, history, meta, self.copier).await
    }

    pub(in crate::dry_run) async fn run_in_place(
        &self,
        request: SandboxRequest<'_>,
        picture: &Snapshot,
        on_output: impl FnMut(&str) + Send,
    ) -> Result<InPlaceRun, FileError> {
        let SandboxRequest {
            command,
            net,
            cancel,
        } = request;
        command.workspace.check_command(&command.line)?;
        if command.workspace.root() != picture.workspace.root() {
            return Err(FileError::sandbox_unavailable(
                "The snapshot is of another workspace.",
            ));
        }
        if net.has_network() {
            return Err(FileError::sandbox_unavailable(NO_HOST_FILTER_REASON));
        }
        let grows = picture.growth_limit();
        let ran = self.runner.run(command, grows, on_output, cancel).await;
        let (ran, refused) = ran?;
        Ok(picture.record_run(ran, refused))
    }
}

#[cfg(test)]
mod tests;
