//! Which servers an agent's own configuration has, and which of them go through the gateway.

use std::path::Path;

use protocol::UserError;
use protocol::connection::{AgentServerView, AgentServersView, ServerRoute};

use super::config::{EVERY_MEMBER, ServersConfig};
use super::entries::GatewayCommand;
use super::entry_text::pointer;
use super::planned_entry::{PlannedEntry, plan_entry};
use crate::connections::agents::ConnectableAgent;
use crate::connections::survey::ConnectionPlace;

/// Stands for a program or a folder that is not known: nothing of it is written.
const UNKNOWN: &str = "countersign";

/// Returns the servers of an agent's own configuration; `None` if where it keeps them is not known.
pub(in crate::connections) fn inspect_servers(
    agent: &'static ConnectableAgent,
    place: &ConnectionPlace,
) -> Option<AgentServersView> {
    let sections = &agent.servers.as_ref()?.sections;
    let view = read_view(agent, place, sections);
    Some(view.unwrap_or_else(|error| AgentServersView::Unreadable { error }))
}

fn read_view(
    agent: &'static ConnectableAgent,
    place: &ConnectionPlace,
    sections: &[Vec<String>],
) -> Result<AgentServersView, UserError> {
    let config = ServersConfig::read(agent, place)?;
    let parsed = config.parse()?;
    let program = place.program.as_deref().and_then(Path::to_str);
    let gateway = GatewayCommand {
        program: program.unwrap_or(UNKNOWN),
        data_dir: place.data_dir.to_str().unwrap_or(UNKNOWN),
    };
    let mut servers = Vec::new();
    for path in &config.paths {
        let Some(entry) = parsed.pointer(&pointer(path)) else {
            continue;
        };
        servers.push(AgentServerView {
            name: path.last().cloned().unwrap_or_default(),
            folder: sections
                .iter()
                .find_map(|section| find_folder(path, section)),
            route: match plan_entry(&config.text, path, entry, &gateway) {
                PlannedEntry::Through => ServerRoute::Gateway,
                PlannedEntry::Behind { .. } => ServerRoute::Direct,
                PlannedEntry::Stays(reason) => ServerRoute::Fixed { reason },
            },
        });
    }
    Ok(AgentServersView::Readable {
        config: config.path().display().to_string(),
        can_restore: !config.behind.is_empty(),
        servers,
    })
}

/// Returns the folder that the entry at a path is for, if it stands in this section and the section is one of folders.
fn find_folder(path: &[String], section: &[String]) -> Option<String> {
    let is_inside = section.len() + 1 == path.len();
    let mut steps = section.iter().zip(path);
    let found = steps.clone().find(|(step, _)| *step == EVERY_MEMBER);
    let matches = steps.all(|(step, name)| step == EVERY_MEMBER || step == name);
    found
        .map(|(_, name)| name.clone())
        .filter(|_| is_inside && matches)
}
