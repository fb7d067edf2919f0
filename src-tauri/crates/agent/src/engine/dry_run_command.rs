//! A dry run of a person's own command, and the assurances that this machine can give for commands at all.

use std::path::Path;
use std::sync::Arc;

use parking_lot::RwLock;
use policy::RuleSet;
use protocol::view::effects::{AssuranceReport, Effects};
use protocol::{Plan, UserError};
use runtime::{ErrorPipe, NetworkClient, ShellCommand, Workspace};
use tokio_util::sync::CancellationToken;

use crate::engine::Engine;
use crate::permissions::{egress, rules};
use crate::session::engine_state::EngineState;

/// Time limit of a person's own command, in milliseconds, and the number of bytes of each stream that are kept.
const TIMEOUT_MS: u64 = 10 * 60 * 1000;
const OUTPUT_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// Effects and output of a command in a dry run.
#[derive(Debug, Clone, PartialEq)]
pub struct CommandDryRun {
    /// Effects of the command.
    pub effects: Effects,
    /// Standard output of the command.
    pub stdout: Vec<u8>,
    /// Standard error of the command.
    pub stderr: Vec<u8>,
}

impl Engine {
    /// Runs a command in a dry run over a workspace, returns its effects, and discards them. Neither a person nor a
    /// rule is asked, because nothing real changes. Data sent to `hosts` does leave this machine: the caller opens
    /// network access to them, and a rule that denies one of them closes it.
    ///
    /// # Errors
    /// Dry runs are not available on this machine, a host stays closed, or the command did more than can be examined.
    pub async fn dry_run_command(
        &self,
        workspace: &Path,
        line: String,
        hosts: &[String],
    ) -> Result<CommandDryRun, UserError> {
        let builtin = Arc::new(RwLock::new(Arc::new(RuleSet::builtin())));
        let closed = rules::closed_paths(builtin, self.state.config.clock.clone());
        let workspace = Workspace::open(workspace)?
            .with_closed_files(closed)
            .with_inherited_env(self.state.inherited_variables.clone())
            .with_sandbox_options(self.state.sandbox_options.clone());
        let net = self.build_egress(&workspace, hosts)?;
        let failed = |error: &dyn std::error::Error| {
            UserError::new("The command could not be tried out.", "Try again.").with_source(error)
        };
        let (writer, errors) = ErrorPipe::open(OUTPUT_BYTES_MAX).map_err(|error| failed(&error))?;
        let command = ShellCommand {
            line,
            workspace: workspace.clone(),
            folder: String::new(),
            env: Vec::new(),
            timeout_ms: TIMEOUT_MS,
            output_bytes_max: OUTPUT_BYTES_MAX,
            spill: None,
            errors: Some(writer),
            mask_secrets: false,
        };
        let (environment, stop) = (&self.state.dry_run_environment, CancellationToken::new());
        let rehearsed = environment.dry_run(&command, &net, |_| {}, &stop).await;
        // While it is held, the reader waits for more.
        drop(command);
        let stderr = errors.finish().await;
        let mut rehearsed = rehearsed?;
        if let Plan::Effects(captured) = &rehearsed.plan {
            tools::diff::add_file_diffs(&workspace, captured, &mut rehearsed.effects);
        }
        Ok(CommandDryRun {
            stdout: rehearsed.command.head.clone(),
            stderr: stderr.map_err(|error| failed(&error))?.head,
            effects: rehearsed.effects.clone(),
        })
    }

    /// Returns network access to these hosts, if there are any.
    fn build_egress(
        &self,
        workspace: &Workspace,
        hosts: &[String],
    ) -> Result<NetworkClient, UserError> {
        let closed = NetworkClient::offline();
        if hosts.is_empty() {
            return Ok(closed);
        }
        let (config, now) = (&self.state.config, self.state.config.clock.now());
        let rules = rules::load_rules(&config.data_dir, Some(workspace), &[], None).rules;
        let hosts = egress::check_hosts(hosts, &rules, now)?;
        Ok(egress::allow_hosts(&closed, hosts, Arc::new(rules), now))
    }
}

/// Returns the result of testing the sandbox in a workspace.
pub(crate) async fn read_assurance(engine: &EngineState, workspace: &Workspace) -> AssuranceReport {
    let probe = engine.dry_run_environment.probe(workspace).await;
    AssuranceReport {
        assurance: probe.assurance,
        net_off: probe.net_off,
        unix_sockets_off: probe.unix_sockets_off,
        kill_tree: probe.kill_tree,
        in_place: probe.in_place,
        reasons: probe.reasons,
    }
}
