//! A program that runs in a sandbox for as long as a caller talks to it. Where the workspace is the real one, the caller
//! is responsible for the changes that the program makes there.

use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use sandbox::{SandboxLimits, SandboxSpec, WatchedReads};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};

use super::Isolation;
use super::exit_report::read_exit;
use super::sandboxed_command::{SANDBOX_TMP, sandbox_inherited_env};
use crate::dry_run::egress::proxy::EgressProxy;
use crate::dry_run::overlay::layer::LayerFolder;
use crate::dry_run::platform::linux::{NOT_INSTALLED_REASON, SystemSandbox, create_layer};
use crate::dry_run::secrets::masks::read_only_in_place;
use crate::fs::workspace::join_path;
use crate::process::lifetime::{SandboxGuard, supervise};
use crate::process::sandbox_process::SandboxStopper;
use crate::{
    CommandExit, Companion, CompanionCommand, FileError, NetworkClient, SandboxOutcome, Workspace,
};

/// Ends a sandbox, be it because its caller is done or because what runs in it did too much.
#[derive(Debug, Clone)]
pub(super) struct SharedStopper(Arc<Mutex<Option<SandboxStopper>>>);

impl SharedStopper {
    fn new(stopper: SandboxStopper) -> Self {
        Self(Arc::new(Mutex::new(Some(stopper))))
    }

    /// Ends the sandbox, with everything that runs in it.
    pub fn stop(&self) {
        let mut stopper = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        stopper.take();
    }
}

/// A program in its sandbox.
pub(super) struct LaunchedCompanion {
    pub companion: Companion,
    /// Ends the sandbox before the program ends by itself.
    pub stopper: SharedStopper,
}

impl SystemSandbox {
    /// Starts a program in a sandbox around the workspace itself.
    pub(super) async fn start_companion(
        &self,
        command: &CompanionCommand,
        workspace: &Workspace,
        net: &NetworkClient,
    ) -> Result<Companion, FileError> {
        let known = self.capabilities(workspace).await;
        match known.isolation {
            Some(Isolation::Namespaces) => {}
            // Secrets stay open to what runs there, and the network is everybody's.
            Some(Isolation::Landlock) | None => {
                return Err(FileError::sandbox_unavailable(
                    known.probe.reasons.join(" "),
                ));
            }
        }
        let folder = create_layer(&self.disk, workspace)
            .map_err(|error| FileError::from_io(command.program.as_str(), &error))?;
        let masked = self.find_masks(workspace).await?.paths;
        let spec = SandboxSpec {
            read_only: read_only_in_place(workspace),
            masked,
            ..companion_spec(command, workspace, net, folder.report_path())?
        };
        let launched = self.launch(&spec, net, Arc::new(folder)).await?;
        Ok(launched.companion)
    }

    /// Starts the program of a specification, whose report lies in `folder`.
    pub(super) async fn launch(
        &self,
        spec: &SandboxSpec,
        net: &NetworkClient,
        folder: Arc<LayerFolder>,
    ) -> Result<LaunchedCompanion, FileError> {
        let program = self.program.as_ref();
        let program =
            program.ok_or_else(|| FileError::sandbox_unavailable(NOT_INSTALLED_REASON))?;
        let name = spec.command.first().cloned().unwrap_or_default();
        let failed = |error: io::Error| FileError::from_io(name.as_str(), &error);
        let (input, writer) = io::pipe().map_err(failed)?;
        let (told, errors) = io::pipe().map_err(failed)?;
        let (talking, listener) = program.start_companion(spec, input, &errors).await?;
        // While it is held, what the program says to people does not end.
        drop(errors);
        let way_out = listener.map(|listener| EgressProxy::open(listener, net.clone()));
        let stopper = SharedStopper::new(talking.stopper);
        let around = CompanionSandbox {
            stopper: stopper.clone(),
            way_out: way_out.transpose().map_err(failed)?,
            folder,
        };
        let life = supervise(talking.child, Some(Box::new(around)));
        let (input, output) = (OwnedFd::from(writer), OwnedFd::from(talking.output));
        let told = OwnedFd::from(told);
        let companion = Companion {
            input: ChildStdin::from_std(input.into()).map_err(failed)?,
            output: ChildStdout::from_std(output.into()).map_err(failed)?,
            errors: ChildStderr::from_std(told.into()).map_err(failed)?,
            lifetime: life,
        };
        Ok(LaunchedCompanion { companion, stopper })
    }
}

/// Returns the specification of a sandbox for a program around the workspace itself, in which nothing is masked.
pub(super) fn companion_spec(
    command: &CompanionCommand,
    workspace: &Workspace,
    net: &NetworkClient,
    report: PathBuf,
) -> Result<SandboxSpec, FileError> {
    let start = workspace.resolve_in_root(&command.folder.to_string_lossy(), true)?;
    let folder = join_path(workspace.root(), &start);
    let mut environment = sandbox_inherited_env(command.inherited.inherited_variables(), net);
    environment.insert("TMPDIR".to_owned(), SANDBOX_TMP.to_owned());
    environment.insert("PWD".to_owned(), folder.to_string_lossy().into_owned());
    environment.extend(command.env.iter().cloned());
    let words = std::iter::once(&command.program).chain(&command.args);
    Ok(SandboxSpec {
        workspace: workspace.root().to_owned(),
        folder,
        layers: None,
        bare: None,
        private: Vec::new(),
        read_only: Vec::new(),
        masked: Vec::new(),
        readable_by_git: Vec::new(),
        watched_reads: WatchedReads::default(),
        limits: SandboxLimits {
            total_memory_bytes: workspace.sandbox_options().memory_bytes(),
            ..SandboxLimits::default()
        },
        proxy: net.has_network(),
        input: true,
        command: words.cloned().collect(),
        environment: environment.into_iter().collect(),
        told: report,
    })
}

/// Resources that live as long as the program.
struct CompanionSandbox {
    stopper: SharedStopper,
    way_out: Option<EgressProxy>,
    folder: Arc<LayerFolder>,
}

impl SandboxGuard for CompanionSandbox {
    fn terminate(&mut self) {
        self.stopper.stop();
    }

    fn into_outcome(self: Box<Self>, exit: CommandExit) -> (CommandExit, SandboxOutcome) {
        match read_exit(exit, sandbox::read_report(&self.folder.report_path())) {
            Ok((exit, mut refusals)) => {
                if let Some(way_out) = &self.way_out {
                    refusals.add_egress(way_out.close());
                }
                let fared = SandboxOutcome {
                    entry_error: None,
                    refused: refusals.list,
                    reached: refusals.reached,
                    outside_reads: refusals.outside_reads,
                };
                (exit, fared)
            }
            Err(why) => {
                let fared = SandboxOutcome {
                    entry_error: Some(why),
                    ..SandboxOutcome::default()
                };
                (exit, fared)
            }
        }
    }
}
