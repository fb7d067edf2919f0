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
    /// Answer the hooks of agents without a window.
    ///
    /// The first hook starts this where the app is not open. What would ask is denied. Ends when no hook asked for a while,
    /// or when the app opens.
    Hooks {
        /// End the one that answers now, once what is open there is over.
        #[arg(long)]
        stop: bool,
    },
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

/// An agent's hook.
#[derive(Debug, clap::Args)]
pub(crate) struct HookArgs {
    /// The agent: `claude-code`, `codex`, `gemini-cli`, `opencode`, `cursor`.
    pub(crate) agent: String,
    /// How long the agent waits for its hook, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 600)]
    pub(crate) wait: u64,
}

/// What takes the place of an agent's command.
#[derive(Debug, clap::Args)]
pub(crate) struct CommitArgs {
    /// The call, as the hook named it.
    pub(crate) call: String,
    /// Digest of what was approved.
    #[arg(long, value_name = "DIGEST")]
    pub(crate) expect: String,
}
