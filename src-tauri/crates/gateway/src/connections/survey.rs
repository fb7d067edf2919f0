//! Which agents are on this machine, and whether each is connected.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use protocol::UserError;
use runtime::ConfigFile;
use serde::Serialize;
use serde_json::Value;

use super::agents::{AgentGap, AgentInterface, ConfigFormat, ConnectableAgent};
use super::change::{describe_edit_error, describe_file_error};
use super::config_text::parse_config;
use super::edit_error::EditError;
use super::hook_entries::{entries_for, find_own_hooks};
use super::plugin;
use super::records::ConnectionRecords;

/// Where agents keep their configurations, and where it is kept what was written into them.
#[derive(Debug, Clone)]
pub struct ConnectionPlace {
    /// Home folder of the person.
    pub home: PathBuf,
    /// Variables of the person's environment, of which some name folders.
    pub variables: BTreeMap<String, PathBuf>,
    /// Data folder of Countersign.
    pub data_dir: PathBuf,
    /// The program that hooks call, absolute.
    pub program: PathBuf,
}

impl ConnectionPlace {
    /// Returns the file that an agent's hooks are written into.
    pub(super) fn config_file(&self, agent: &ConnectableAgent) -> PathBuf {
        agent.config_file(&self.home, &self.variables)
    }

    /// Returns the records of what was written.
    pub(super) fn records(&self) -> ConnectionRecords {
        ConnectionRecords::new(&self.data_dir)
    }
}

/// An agent on this machine.
#[derive(Debug, Clone, Serialize)]
pub struct AgentView {
    /// Name on the command line.
    pub id: &'static str,
    /// Name for people.
    pub title: &'static str,
    /// File of its program; `None` if it was not found.
    pub program: Option<PathBuf>,
    /// The file that its hooks are written into.
    pub config: PathBuf,
    /// Whether it is connected.
    pub state: ConnectionState,
    /// What can be put in front of its calls.
    pub interfaces: &'static [AgentInterface],
    /// What it can still do without being judged.
    pub gaps: &'static [AgentGap],
    /// The version that its connection was tried with; `None` if it was tried with none.
    pub checked_with: Option<&'static str>,
}

/// Whether an agent is connected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ConnectionState {
    /// It has none of our hooks.
    NotConnected,
    /// It has our hooks, all and as they were written.
    Connected,
    /// The same, but they call a program at another path.
    OtherProgram {
        /// The path.
        program: PathBuf,
    },
    /// It has our hooks, but some are missing, or say something else.
    Changed,
    /// It was connected, and our hooks are gone.
    Removed,
    /// It has our hooks, and its configuration switches hooks off.
    SwitchedOff {
        /// Place in the configuration, as a JSON pointer.
        switch: String,
    },
    /// Its configuration cannot be read.
    Unreadable {
        /// Why.
        error: UserError,
    },
}

/// Returns what there is to know of an agent on this machine.
pub fn inspect_agent(agent: &'static ConnectableAgent, place: &ConnectionPlace) -> AgentView {
    let config = place.config_file(agent);
    let state = find_state(agent, place, &config);
    AgentView {
        id: &agent.id,
        title: &agent.title,
        program: agent.find_program(&place.home),
        state: state.unwrap_or_else(|error| ConnectionState::Unreadable { error }),
        config,
        interfaces: &agent.interfaces,
        gaps: &agent.gaps,
        checked_with: agent.checked_with.as_deref(),
    }
}

fn find_state(
    agent: &ConnectableAgent,
    place: &ConnectionPlace,
    config: &Path,
) -> Result<ConnectionState, UserError> {
    let file = ConfigFile::read(config).map_err(|error| describe_file_error(agent, &error))?;
    let state = state_of_text(agent, file.text().unwrap_or_default(), &place.program);
    let state = state.map_err(|error| describe_edit_error(agent, config, &error))?;
    let was_connected = place.records().load(agent, config)?.is_some();
    Ok(match state {
        ConnectionState::NotConnected if was_connected => ConnectionState::Removed,
        state => state,
    })
}

/// Returns the state that the text of a configuration shows.
pub(super) fn state_of_text(
    agent: &ConnectableAgent,
    text: &str,
    program: &Path,
) -> Result<ConnectionState, EditError> {
    let (found, is_whole) = match agent.format {
        ConfigFormat::Plugin => {
            let Some(found) = plugin::parse_program(text) else {
                return Ok(ConnectionState::NotConnected);
            };
            let is_whole = plugin::format_plugin(&found, agent).as_deref() == Some(text);
            (found, is_whole)
        }
        ConfigFormat::Json | ConfigFormat::Toml => {
            let config = parse_config(agent, text)?;
            let own = find_own_hooks(&config, agent);
            let Some(found) = own.programs.first().cloned() else {
                return Ok(ConnectionState::NotConnected);
            };
            if let Some(switch) = find_switch(agent, &config) {
                let switch = switch.to_owned();
                return Ok(ConnectionState::SwitchedOff { switch });
            }
            let expected = entries_for(agent, &found).unwrap_or_default();
            let stands_once = |event: &String, entry: &Value| {
                let mut found = own.entries.iter().filter(|(name, _)| name == event);
                found.next().is_some_and(|(_, own)| own == entry) && found.next().is_none()
            };
            let is_whole = own.entries.len() == expected.len()
                && expected
                    .iter()
                    .all(|(event, entry)| stands_once(event, entry));
            (found, is_whole)
        }
    };
    Ok(match is_whole {
        false => ConnectionState::Changed,
        true if found == program => ConnectionState::Connected,
        true => ConnectionState::OtherProgram { program: found },
    })
}

/// Returns the place in a configuration that switches hooks off, if one does.
pub(super) fn find_switch<'a>(agent: &'a ConnectableAgent, config: &Value) -> Option<&'a str> {
    let mut switches = agent.switches.iter().filter(|switch| {
        let value = config.pointer(&switch.place);
        let lists = |value: &Value| {
            value
                .as_array()
                .is_some_and(|list| list.contains(&switch.value))
        };
        value.is_some_and(|value| *value == switch.value || lists(value))
    });
    switches.next().map(|switch| switch.place.as_str())
}
