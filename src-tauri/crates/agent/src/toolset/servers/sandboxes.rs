//! The sandboxes of servers: around the folder that each may change, restricted by the rules in force when the server
//! is started.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use mcp::ServerSandboxLauncher;
use parking_lot::RwLock;
use protocol::UserError;
use protocol::server::mcp_servers::ServerSandbox;
use runtime::{
    Clock, Companion, CompanionCommand, DryRunEnvironment, FileError, NetworkClient,
    SandboxOptions, Workspace,
};

use crate::permissions::{egress, rules};

/// Builds the sandboxes of servers, in the same way as those of commands.
pub(crate) struct ServerSandboxes {
    pub environment: DryRunEnvironment,
    pub options: SandboxOptions,
    pub data_dir: PathBuf,
    pub clock: Arc<dyn Clock>,
}

#[async_trait]
impl ServerSandboxLauncher for ServerSandboxes {
    async fn start_sandboxed(
        &self,
        command: &CompanionCommand,
        sandbox: &ServerSandbox,
    ) -> Result<Companion, String> {
        let (workspace, net) = self.sandbox_workspace(sandbox).map_err(|fault| {
            let why = fault.message.trim_end_matches('.');
            format!("its sandbox cannot be created, so it was not started: {why}")
        })?;
        let workspace = workspace.with_inherited_env(command.inherited.clone());
        let started = self
            .environment
            .start_companion(command, &workspace, &net)
            .await;
        started.map_err(|error| match error {
            FileError::SandboxUnavailable { reason } => format!(
                "it cannot run in a sandbox here, so it was not started: {}",
                reason.trim_end_matches('.')
            ),
            FileError::Outside { .. } => {
                "it starts outside the folder of its sandbox, so it was not started".to_owned()
            }
            other => format!("its program could not be started: {other}"),
        })
    }

    fn overlaps_folder(&self, sandbox: &ServerSandbox, folder: &Path) -> bool {
        // Around what is no folder there is no sandbox.
        Workspace::open(Path::new(&sandbox.workspace)).is_ok_and(|sandbox| {
            sandbox.root().starts_with(folder) || folder.starts_with(sandbox.root())
        })
    }
}

impl ServerSandboxes {
    /// Returns the server's folder with its closed paths, and network access to its hosts.
    fn sandbox_workspace(
        &self,
        sandbox: &ServerSandbox,
    ) -> Result<(Workspace, NetworkClient), UserError> {
        let workspace = Workspace::open(Path::new(&sandbox.workspace))?;
        let rules = rules::load_rules(&self.data_dir, Some(&workspace), &[], None).rules;
        let rules = Arc::new(rules);
        let net = match sandbox.hosts.is_empty() {
            true => NetworkClient::offline(),
            false => {
                let now = self.clock.now();
                let hosts = egress::check_hosts(&sandbox.hosts, &rules, now)?;
                egress::allow_hosts(&NetworkClient::offline(), hosts, rules.clone(), now)
            }
        };
        let in_force = Arc::new(RwLock::new(rules));
        let closed = rules::closed_paths(in_force, self.clock.clone());
        let workspace = workspace
            .with_closed_files(closed)
            .with_sandbox_options(self.options.clone());
        Ok((workspace, net))
    }
}
