//! Agents that are left with a hook, or with a server, that leads nowhere once a data folder is gone.

use protocol::UserError;
use protocol::connection::AgentServersView;
use runtime::ConfigFile;

use super::agents::{ConfigFormat, ConnectableAgent, list_agents};
use super::change::describe_edit_error;
use super::config_text::parse_config;
use super::hook_command::HookTarget;
use super::hook_entries::find_own_hooks;
use super::plugin;
use super::servers::inspect_servers;
use super::survey::ConnectionPlace;

/// Returns the agents whose hooks ask the data folder of a place, or whose servers are behind its gateway.
pub fn find_dependent_agents(place: &ConnectionPlace) -> Vec<&'static ConnectableAgent> {
    let agents = list_agents().iter();
    agents
        .filter(|agent| has_hooks(agent, place) || has_servers_behind_gateway(agent, place))
        .collect()
}

/// Whether an agent has hooks that ask the data folder. Where its configuration cannot be read, it has those that were
/// written into it.
fn has_hooks(agent: &ConnectableAgent, place: &ConnectionPlace) -> bool {
    match read_targets(agent, place) {
        Ok(targets) => targets.iter().any(|target| {
            let data_dir = target.data_dir.as_ref();
            data_dir.is_none_or(|data_dir| *data_dir == place.data_dir)
        }),
        Err(_) => {
            let written = place.records().load(agent, &place.config_file(agent));
            !matches!(written, Ok(None))
        }
    }
}

fn read_targets(
    agent: &ConnectableAgent,
    place: &ConnectionPlace,
) -> Result<Vec<HookTarget>, UserError> {
    let path = place.config_file(agent);
    let file = ConfigFile::read(&path)?;
    let text = file.text().unwrap_or_default();
    match agent.format {
        ConfigFormat::Plugin => Ok(plugin::parse_target(text, agent).into_iter().collect()),
        ConfigFormat::Json | ConfigFormat::Toml => {
            let config = parse_config(agent, text)
                .map_err(|error| describe_edit_error(agent, &path, &error))?;
            Ok(find_own_hooks(&config, agent).targets.into_iter().collect())
        }
    }
}

fn has_servers_behind_gateway(agent: &'static ConnectableAgent, place: &ConnectionPlace) -> bool {
    matches!(
        inspect_servers(agent, place),
        Some(AgentServersView::Readable {
            can_restore: true,
            ..
        })
    )
}
