//! One command in a sandbox: starts the sandbox program, sends it the specification of the sandbox, and ends the
//! command when it changes too much.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
#[cfg(target_os = "linux")]
use std::sync::OnceLock;

use protocol::CommandRun;
use protocol::view::effects::{Refusal, RefusalKind};
use sandbox::{LOOPBACK_NAMES, SandboxLimits, SandboxReport, SandboxSpec};

use super::SandboxRequest;
use super::change_limits::run_within_limits;
use super::exit_report::read_command_exit;
use super::mount_plan::{MountPlan, WorkspaceChanges};
use super::refusals::Refusals;
#[cfg(target_os = "linux")]
use crate::dry_run::egress::proxy::EgressProxy;
use crate::dry_run::overlay::diff::diff_limit_error;
#[cfg(target_os = "linux")]
use crate::dry_run::secrets::masks::read_only_below_layer;
use crate::dry_run::secrets::masks::read_only_in_place;
#[cfg(target_os = "linux")]
use crate::fs::at_path::AtPath as _;
use crate::fs::workspace::join_path;
use crate::process::run_to_end;
use crate::process::sandbox_process::SandboxLauncher;
use crate::process::shell::{command_env, shell_name};
use crate::{FileError, NetworkClient, ShellCommand};

/// The folder for temporary files in a sandbox with namespaces of its own.
pub(super) const SANDBOX_TMP: &str = "/tmp";

/// Name that stands for a secret where the system does not tell which one it was, or whether there was any.
const UNKNOWN_SECRET: &str = "(not known: this system does not show which files a command opens)";

/// Runs a command by the sandbox program, with this network access, at its site; and prestarts the next sandbox.
pub(super) async fn run_sandboxed(
    launcher: &Arc<SandboxLauncher>,
    request: SandboxRequest<'_>,
    site: &MountPlan<'_>,
    masked: Vec<PathBuf>,
    on_output: impl FnMut(&str) + Send,
) -> Result<(CommandRun, Refusals), FileError> {
    let SandboxRequest {
        command,
        net,
        cancel,
    } = request;
    let spec = build_sandbox(command, net, site, masked)?;
    let stop = cancel.child_token();
    #[cfg(target_os = "linux")]
    let way_out = OnceLock::new();
    let start = async {
        let (started, listener) = launcher
            .start_command(&spec, command.errors.as_deref())
            .await?;
        #[cfg(target_os = "linux")]
        if let Some(listener) = listener {
            let opened = EgressProxy::open(listener, net.clone()).at("the way out")?;
            way_out.get_or_init(|| opened);
        }
        #[cfg(not(target_os = "linux"))]
        let _ = listener;
        Ok(started)
    };
    let ran = run_to_end(command, start, on_output, &stop);
    let (ran, outgrew) = run_within_limits(
        ran,
        site.watched_folder.clone(),
        site.watched_bytes_max,
        &stop,
    )
    .await;
    launcher.prestart_later();
    if let Some(why) = &outgrew
        && site.workspace != WorkspaceChanges::InPlace
    {
        ran?;
        return Err(diff_limit_error(why));
    }
    let mut ran = ran?;
    let mut limits = Refusals::default();
    if let Some(why) = outgrew {
        // The report says what the command really did, and that it was ended for exceeding the limit.
        limits.add_limit_exceeded(&mut ran, why, cancel.is_cancelled());
    }
    let told = sandbox::read_report(&site.folder.report_path());
    let is_seen = !matches!(told, Ok(Some(SandboxReport::Ended { watched: false, .. })));
    let (ran, mut refusals) = read_command_exit(ran, told)?;
    // The effects may result from a secret that the command could not open, and nobody would know.
    if !is_seen && site.workspace != WorkspaceChanges::InPlace && !spec.masked.is_empty() {
        refusals.list.push(Refusal {
            kind: RefusalKind::Secret,
            target: UNKNOWN_SECRET.to_owned(),
        });
    }
    refusals.list.append(&mut limits.list);
    #[cfg(target_os = "linux")]
    if let Some(way_out) = way_out.get() {
        refusals.add_egress(way_out.close());
    }
    Ok((ran, refusals))
}

/// Returns the app's variables that are valid in a sandbox with this network access. Programs in it are reached without
/// the proxy, but for a name of this machine that the run may reach outside.
pub(super) fn sandbox_inherited_env(
    inherited: Vec<(OsString, OsString)>,
    net: &NetworkClient,
) -> HashMap<String, String> {
    // A variable that is no text cannot be written down; programs that need one are not known.
    let texts = inherited
        .into_iter()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    // Whom the person's own proxy is not asked for is nobody's matter here.
    let mut environment: HashMap<String, String> = texts
        .filter(|(name, _)| !name.eq_ignore_ascii_case("no_proxy"))
        .collect();
    let own_names = LOOPBACK_NAMES.into_iter();
    let own_names: Vec<&str> = own_names
        .filter(|name| !net.allows_loopback(name))
        .collect();
    if own_names.len() < LOOPBACK_NAMES.len() {
        environment.insert("no_proxy".to_owned(), own_names.join(","));
    }
    environment
}

fn build_sandbox(
    command: &ShellCommand,
    net: &NetworkClient,
    site: &MountPlan<'_>,
    masked: Vec<PathBuf>,
) -> Result<SandboxSpec, FileError> {
    let workspace = &command.workspace;
    let folder = match command.folder.as_str() {
        "" => workspace.root().to_owned(),
        folder => join_path(workspace.root(), &workspace.resolve_in_root(folder, true)?),
    };
    let tmp = site
        .private_tmp
        .clone()
        .and_then(|tmp| tmp.into_os_string().into_string().ok());
    let mut environment = sandbox_inherited_env(workspace.inherited_variables(), net);
    environment.insert(
        "TMPDIR".to_owned(),
        tmp.unwrap_or_else(|| SANDBOX_TMP.to_owned()),
    );
    for (name, value) in &site.variables {
        environment
            .entry(name.clone())
            .or_insert_with(|| value.clone());
    }
    for (name, value) in command_env(command, &folder) {
        if let Ok(value) = value.into_string() {
            environment.insert(name, value);
        }
    }
    let read_only = match site.workspace {
        #[cfg(target_os = "linux")]
        WorkspaceChanges::Layered(_) => read_only_below_layer(workspace),
        #[cfg(target_os = "linux")]
        WorkspaceChanges::Refused => vec![workspace.root().to_owned()],
        WorkspaceChanges::InPlace => read_only_in_place(workspace),
    };
    Ok(SandboxSpec {
        workspace: workspace.root().to_owned(),
        folder,
        layers: site.workspace.layers(),
        bare: site.private_tmp.clone(),
        private: site.private.clone(),
        read_only: [read_only, site.read_only.clone()].concat(),
        masked,
        readable_by_git: site.readable_by_git.clone(),
        watched_reads: site.watched_reads.clone(),
        limits: SandboxLimits {
            file_bytes: site.file_bytes,
            total_memory_bytes: workspace.sandbox_options().memory_bytes(),
            ..SandboxLimits::default()
        },
        proxy: net.has_network(),
        input: false,
        command: vec![
            shell_name().to_owned(),
            "-c".to_owned(),
            command.line.clone(),
        ],
        environment: environment.into_iter().collect(),
        told: site.folder.report_path(),
    })
}
