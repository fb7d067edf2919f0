//! A person's own command in the sealed copy, and what this machine can promise of commands at all.

use std::io::Read as _;
use std::path::Path;
use std::sync::{Arc, RwLock};

use policy::RuleSet;
use protocol::effects::{Effects, Promise};
use protocol::{Fault, Plan};
use runtime::{Command, Net, Workspace};
use tokio_util::sync::CancellationToken;

use crate::desk::{Desk, Shared};
use crate::{rules, way_out};

/// How long a person's own command may run, and how much of each stream is kept.
const TIMEOUT_MS: u64 = 10 * 60 * 1000;
const OUTPUT_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// What a command did, and what it said.
#[derive(Debug, Clone, PartialEq)]
pub struct DryRun {
    /// What it did.
    pub effects: Effects,
    /// Its standard output.
    pub stdout: Vec<u8>,
    /// Its standard error.
    pub stderr: Vec<u8>,
}

impl Desk {
    /// Runs a command in the sealed copy of a workspace, shows what it did, and leaves nothing of it. Nobody is asked and
    /// no rule is: nothing real changes. But what it sends to `hosts` is out: the caller's word opens the way there, and a
    /// rule that denies one of them closes it.
    ///
    /// # Errors
    /// Where there is no sealed copy on this machine, a host stays closed, or the command did more than can be looked at.
    pub async fn dry_run(
        &self,
        workspace: &Path,
        line: String,
        hosts: &[String],
    ) -> Result<DryRun, Fault> {
        let builtin = Arc::new(RwLock::new(Arc::new(RuleSet::builtin())));
        let closed = rules::closed(builtin, self.shared.config.clock.clone());
        let workspace = Workspace::open(workspace)?
            .closing(closed)
            .inheriting(self.shared.inherited.clone())
            .in_rooms(self.shared.rooms.clone());
        let net = self.way_to(&workspace, hosts)?;
        let failed = |error: &dyn std::error::Error| {
            Fault::new("The command could not be tried out.", "Try again.").caused_by(error)
        };
        let (reader, writer) = std::io::pipe().map_err(|error| failed(&error))?;
        let reading = tokio::task::spawn_blocking(move || read_head(reader));
        let command = Command {
            line,
            workspace: workspace.clone(),
            folder: String::new(),
            env: Vec::new(),
            timeout_ms: TIMEOUT_MS,
            output_bytes_max: OUTPUT_BYTES_MAX,
            spill: None,
            errors: Some(Arc::new(writer)),
            masks: false,
        };
        let (environment, stop) = (&self.shared.environment, CancellationToken::new());
        let rehearsed = environment.rehearse(&command, &net, |_| {}, &stop).await;
        // While it is held, the reader waits for more.
        drop(command);
        let stderr = reading.await.map_err(|error| failed(&error))?;
        let mut rehearsed = rehearsed?;
        if let Plan::Effects(captured) = &rehearsed.plan {
            tools::diff::fill(&workspace, captured, &mut rehearsed.effects);
        }
        Ok(DryRun {
            stdout: rehearsed.ran.head.clone(),
            stderr: stderr.map_err(|error| failed(&error))?,
            effects: rehearsed.effects.clone(),
        })
    }

    /// A way to these hosts, if there are any.
    fn way_to(&self, workspace: &Workspace, hosts: &[String]) -> Result<Net, Fault> {
        let closed = Net::closed();
        if hosts.is_empty() {
            return Ok(closed);
        }
        let (config, now) = (&self.shared.config, self.shared.config.clock.now());
        let rules = rules::load(&config.data_dir, Some(workspace), &[], None).rules;
        let hosts = way_out::named(hosts, &rules, now)?;
        Ok(way_out::opened(&closed, hosts, Arc::new(rules), now))
    }
}

/// The head of what comes through a pipe; all of it is taken, so that nobody waits for room in it.
fn read_head(mut pipe: std::io::PipeReader) -> std::io::Result<Vec<u8>> {
    let mut head = Vec::new();
    pipe.by_ref()
        .take(OUTPUT_BYTES_MAX)
        .read_to_end(&mut head)?;
    std::io::copy(&mut pipe, &mut std::io::sink())?;
    Ok(head)
}

/// What a trial in a workspace showed.
pub(crate) async fn promise(shared: &Shared, workspace: &Workspace) -> Promise {
    let probe = shared.environment.probe(workspace).await;
    Promise {
        assurance: probe.assurance,
        net_off: probe.net_off,
        unix_sockets_off: probe.unix_sockets_off,
        kill_tree: probe.kill_tree,
        in_place: probe.in_place,
        reasons: probe.reasons,
    }
}
