//! Arguments of `gateway`: serving other people's clients.

use std::path::PathBuf;

use clap::Subcommand;

use super::ApprovalArgs;

/// By which protocol.
#[derive(Debug, Subcommand)]
pub(crate) enum GatewayCommand {
    /// Be a server of tools (MCP) on standard input and output.
    ///
    /// A client starts this program. Its calls are judged, recorded and can be undone like any other; what would ask is
    /// denied. Ends when standard input does.
    Mcp(McpGatewayArgs),
}

/// The MCP server.
#[derive(Debug, clap::Args)]
pub(crate) struct McpGatewayArgs {
    /// The folder that the tools work in.
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) workspace: PathBuf,
    #[command(flatten)]
    pub(crate) consent: ApprovalArgs,
}
