//! A report of this machine and its data folder that a person can send with a problem: nothing that they wrote, named, or
//! keep secret is in it.
//!
//! **Only what a field is declared for gets in**: a text of the report is `'static`, a number, or made by one of the
//! types of `text`, which let nothing of a person's through. What is new in the settings or in the record stays out
//! until somebody decides on it here. **Whatever cannot be read is said in it, and keeps no report from being made.**

mod machine;
mod program_shapes;
mod record_state;
mod sandbox_promise;
mod settings_shape;
mod sources;
mod text;

use std::path::{Path, PathBuf};

use protocol::UserError;
use serde::Serialize;

use crate::engine::maintenance::folder_size::{PartSize, measure_data_folder};
use machine::MachineReport;
use record_state::RecordReport;
use sandbox_promise::SandboxReport;
use settings_shape::SettingsReport;
use sources::SourcesReport;

/// What stands above everything else in the report.
const ABOUT: &str = "A report of Countersign for an issue. It has no keys, prompts, titles, paths, or names of yours: texts that you set are \"set\", and providers and servers of your own have numbers. Read it before you send it.";

/// A report to send with a problem.
#[derive(Debug, Serialize)]
pub struct ProblemReport {
    about: &'static str,
    version: &'static str,
    machine: MachineReport,
    sandbox: SandboxReport,
    settings: SettingsReport,
    data_folder: FolderReport,
    record: RecordReport,
    agents: Vec<AgentReport>,
    servers: SourcesReport,
    services: SourcesReport,
}

/// What a data folder takes.
#[derive(Debug, Serialize)]
struct FolderReport {
    bytes: u64,
    parts: Vec<PartSize>,
    unreadable_folders: usize,
}

/// Another agent on this machine.
#[derive(Debug, Serialize)]
pub struct AgentReport {
    /// Its name on the command line.
    pub agent: &'static str,
    /// Whether its program was found.
    pub found: bool,
    /// Whether it is connected.
    pub hooks: &'static str,
    /// Whether servers of its own are behind the gateway.
    pub servers_behind_gateway: bool,
}

/// What a report is made of.
#[derive(Debug)]
pub struct ReportSources<'a> {
    /// The data folder.
    pub data_dir: &'a Path,
    /// The folder that commands would work in.
    pub workspace: &'a Path,
    /// Program that runs commands in a sandbox; none if it is not installed.
    pub sandbox_program: Option<PathBuf>,
    /// Other agents that are found here, or were connected.
    pub agents: Vec<AgentReport>,
}

/// Composes the report.
pub async fn compose_report(sources: ReportSources<'_>) -> ProblemReport {
    let data_dir = sources.data_dir;
    // Before the sandbox is tried, which puts something into the folder.
    let size = measure_data_folder(data_dir);
    ProblemReport {
        about: ABOUT,
        version: env!("CARGO_PKG_VERSION"),
        machine: MachineReport::read(),
        sandbox: sandbox_promise::probe_sandbox(&sources).await,
        settings: SettingsReport::read(data_dir),
        data_folder: FolderReport {
            bytes: size.bytes(),
            parts: size.parts,
            unreadable_folders: size.unreadable.len(),
        },
        record: RecordReport::read(data_dir),
        agents: sources.agents,
        servers: sources::read_servers(data_dir),
        services: sources::read_services(data_dir),
    }
}

/// Writes a report to a file, for the owner alone.
///
/// # Errors
/// The file exists already, or cannot be written.
pub fn write_report(file: &Path, report: &ProblemReport) -> Result<(), UserError> {
    let text = serde_json::to_string_pretty(report).map_err(|error| {
        UserError::new("The report cannot be written.", "Report this.").with_source(&error)
    })?;
    if !runtime::create_exclusive(file)? {
        return Err(UserError::new(
            format!("{} is there already.", file.display()),
            "Name a file that is not there yet.",
        ));
    }
    Ok(runtime::write_atomic(
        file,
        format!("{text}\n").as_bytes(),
        0o600,
    )?)
}
