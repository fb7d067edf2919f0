//! What the sandbox promises on this machine, found out by trying, and why no more.

use protocol::UserError;
use protocol::view::effects::Assurance;
use runtime::{DryRunEnvironment, SandboxProbe, Workspace};
use serde::Serialize;

use super::ReportSources;
use super::text::{MaskedText, TextMasks};
use crate::engine::maintenance::folder_use::share_data_folder;
use crate::host::config::EngineConfig;

const HOST_NAME_FILE: &str = "/proc/sys/kernel/hostname";
/// Variables that name the person or the machine.
const NAME_VARIABLES: [(&str, &str); 6] = [
    ("USER", "USER"),
    ("LOGNAME", "USER"),
    ("USERNAME", "USER"),
    ("HOSTNAME", "HOST"),
    ("HOST", "HOST"),
    ("COMPUTERNAME", "HOST"),
];

/// What the sandbox promises.
#[derive(Debug, Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub(super) enum SandboxReport {
    /// It was tried.
    Tried {
        installed: bool,
        assurance: Assurance,
        network_off: bool,
        unix_sockets_off: bool,
        kill_tree: bool,
        in_place: bool,
        reasons: Vec<MaskedText>,
    },
    /// It could not be tried.
    NotTried { reason: MaskedText },
}

/// Tries the sandbox.
pub(super) async fn probe_sandbox(sources: &ReportSources<'_>) -> SandboxReport {
    let masks = collect_masks(sources);
    let probe = match try_sandbox(sources).await {
        Ok(probe) => probe,
        Err(error) => {
            return SandboxReport::NotTried {
                reason: masks.mask(&error.message),
            };
        }
    };
    SandboxReport::Tried {
        installed: sources.sandbox_program.is_some(),
        assurance: probe.assurance,
        network_off: probe.net_off,
        unix_sockets_off: probe.unix_sockets_off,
        kill_tree: probe.kill_tree,
        in_place: probe.in_place,
        reasons: probe
            .reasons
            .iter()
            .map(|reason| masks.mask(reason))
            .collect(),
    }
}

async fn try_sandbox(sources: &ReportSources<'_>) -> Result<SandboxProbe, UserError> {
    let data_dir = sources.data_dir;
    runtime::create_private_folder(data_dir)?;
    let _shared = share_data_folder(data_dir)?;
    let environment = DryRunEnvironment::open(
        sources.sandbox_program.clone(),
        &data_dir.join("sandboxes"),
        vec![data_dir.to_owned()],
    )?;
    let workspace = Workspace::open(sources.workspace)?;
    Ok(environment.probe(&workspace).await)
}

fn collect_masks(sources: &ReportSources<'_>) -> TextMasks {
    let mut masks = TextMasks::default();
    masks.add_path(sources.data_dir, "DATA FOLDER");
    masks.add_path(sources.workspace, "WORKSPACE");
    if let Some(home) = EngineConfig::home_dir() {
        masks.add_path(&home, "HOME");
        let name = home.file_name().unwrap_or_default();
        masks.add_name(&name.to_string_lossy(), "USER");
    }
    for (variable, label) in NAME_VARIABLES {
        masks.add_name(&std::env::var(variable).unwrap_or_default(), label);
    }
    let host = runtime::read_text(std::path::Path::new(HOST_NAME_FILE));
    masks.add_name(&host.ok().flatten().unwrap_or_default(), "HOST");
    masks
}
