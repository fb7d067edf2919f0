//! `doctor --bundle`: a report to send with a problem. No engine is opened: a damaged record is told of.

use std::path::{Path, PathBuf};

use agent::EngineConfig;
use agent::problem_report::{AgentReport, ReportSources, compose_report, write_report};
use gateway::connections::{ConnectableAgent, inspect_agent, list_agents};
use protocol::connection::{AgentServersView, ConnectionState};
use serde_json::json;

use super::{absolute_path, connect};
use crate::exit::{CliError, CliResult};
use crate::output::OutputWriter;

/// Writes the report to a file that must not exist.
pub(super) async fn write_bundle(
    data_dir: Option<PathBuf>,
    workspace: &Path,
    file: &Path,
    out: &mut OutputWriter,
) -> CliResult {
    let data_dir = EngineConfig::resolve_data_dir(data_dir).map_err(CliError::config_error)?;
    let workspace = absolute_path("folder", workspace)?;
    let file = absolute_path("report", file)?;
    let own = std::env::current_exe().ok();
    let report = compose_report(ReportSources {
        data_dir: &data_dir,
        workspace: &workspace,
        sandbox_program: own.and_then(|own| agent::find_sandbox_program(&own)),
        agents: inspect_known_agents(&data_dir),
    })
    .await;
    write_report(&file, &report).map_err(CliError::usage_error)?;
    out.write_answer(&json!({ "file": file }), |out| {
        out.write_line(&format!("The report is in {}.", file.display()))?;
        out.write_line("Nothing was sent. Read it before you attach it to an issue.")
    })
}

/// Returns the agents that are found on this machine, or were connected; none where there is no home folder.
fn inspect_known_agents(data_dir: &Path) -> Vec<AgentReport> {
    let Ok(place) = connect::find_place(Some(data_dir.to_owned())) else {
        return Vec::new();
    };
    let describe = |agent: &'static ConnectableAgent| {
        let view = inspect_agent(agent, &place);
        let report = AgentReport {
            agent: &agent.id,
            found: view.program.is_some(),
            hooks: state_name(&view.state),
            servers_behind_gateway: matches!(
                view.servers,
                Some(AgentServersView::Readable {
                    can_restore: true,
                    ..
                })
            ),
        };
        (connect::is_here(&view) || report.servers_behind_gateway).then_some(report)
    };
    list_agents().iter().filter_map(describe).collect()
}

fn state_name(state: &ConnectionState) -> &'static str {
    match state {
        ConnectionState::NotConnected => "not connected",
        ConnectionState::Connected => "connected",
        ConnectionState::OtherProgram { .. } => "connected to another program",
        ConnectionState::Changed => "changed",
        ConnectionState::Removed => "removed",
        ConnectionState::SwitchedOff { .. } => "switched off",
        ConnectionState::Unreadable { .. } => "unreadable",
    }
}
