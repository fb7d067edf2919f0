//! Arguments of `connect` and `disconnect`: other people's agents.

use clap::builder::PossibleValuesParser;

/// Which agent to connect.
#[derive(Debug, clap::Args)]
pub(crate) struct ConnectArgs {
    /// The agent; all of them are listed if none is named.
    #[arg(value_name = "AGENT", value_parser = agent_names())]
    pub(crate) agent: Option<String>,
    /// Put its servers of tools behind the gateway, instead of hooks into its settings.
    #[arg(long, requires = "agent", conflicts_with = "check")]
    pub(crate) servers: bool,
    /// Make the change without asking.
    #[arg(long, requires = "agent")]
    pub(crate) yes: bool,
    /// Change nothing; run its hook as it is configured, with a made-up event about a harmless read.
    #[arg(long, requires = "agent", conflicts_with = "yes")]
    pub(crate) check: bool,
}

/// Which agent to disconnect.
#[derive(Debug, clap::Args)]
pub(crate) struct DisconnectArgs {
    /// The agent.
    #[arg(value_name = "AGENT", value_parser = agent_names())]
    pub(crate) agent: String,
    /// Put its servers of tools back, and leave its hooks.
    #[arg(long)]
    pub(crate) servers: bool,
    /// Make the change without asking.
    #[arg(long)]
    pub(crate) yes: bool,
}

fn agent_names() -> PossibleValuesParser {
    let agents = gateway::connections::list_agents().iter();
    agents
        .map(|agent| agent.id.as_str())
        .collect::<Vec<_>>()
        .into()
}
