//! `gateway mcp`: serves the tools of a folder to a client on standard input and output.

use std::io::IsTerminal;
use std::path::PathBuf;

use agent::Host;
use protocol::UserError;

use crate::args::{GatewayCommand, McpGatewayArgs};
use crate::exit::{CliError, CliResult, ExitReason};
use crate::output::OutputWriter;

/// Serves until the client closes its side, or the program is told to stop.
pub(crate) async fn run_gateway(
    data_dir: Option<PathBuf>,
    gateway: GatewayCommand,
    out: &mut OutputWriter,
) -> CliResult {
    let GatewayCommand::Mcp(McpGatewayArgs { workspace, consent }) = gateway;
    // Standard output is the protocol's alone.
    out.redirect_to_stderr();
    let config = super::engine_config(data_dir, Host::Headless { approve_all: false })?;
    let config = super::apply_approval_args(config, consent)?;
    let has_rules = config.rules.is_some();
    let desk = super::open_engine(config).await?;
    let workspace = super::absolute_path("folder", &workspace)?;
    desk.list_tools(&workspace).map_err(CliError::usage_error)?;
    desk.check_rules(&workspace)
        .map_err(CliError::usage_error)?;
    super::report_rule_faults(&desk, has_rules, out).await?;
    if std::io::stdin().is_terminal() {
        out.write_warning(&UserError::new(
            "This waits for a client that speaks MCP on standard input.",
            "Name it in the settings of a client: see the README. Ctrl+D ends it.",
        ));
    }
    let (from, to) = (tokio::io::stdin(), tokio::io::stdout());
    gateway::mcp::serve(&desk, &workspace, from, to, wait_for_termination()).await?;
    desk.close();
    Ok(ExitReason::Done)
}

/// Waits until the program is asked to terminate.
async fn wait_for_termination() {
    let interrupted = tokio::signal::ctrl_c();
    #[cfg(unix)]
    if let Ok(mut ended) = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())
    {
        tokio::select! {
            _ = interrupted => {}
            _ = ended.recv() => {}
        }
        return;
    }
    let _ = interrupted.await;
}
