//! Which agents are on this machine, and whether each is connected.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use protocol::connection::{AcpProgram, ConnectionState, ConnectionView};
use protocol::{At, UserError};
use runtime::ConfigFile;
use runtime::clock::{Clock, SystemClock};
use serde_json::Value;

use super::agents::{AcpStart, ConfigFormat, ConnectableAgent, list_agents};
use super::change::{describe_edit_error, describe_file_error};
use super::config_text::parse_config;
use super::edit_error::EditError;
use super::hook_command::HookTarget;
use super::hook_entries::{entries_for, find_own_hooks};
use super::plugin;
use super::records::ConnectionRecords;
use super::servers::inspect_servers;
use crate::agent_calls::ExternalAgent;
use crate::limits::RECENT_SESSIONS_MS;
use crate::transcripts::{TranscriptPlace, count_sessions_since};

/// Where agents keep their configurations, and where it is kept what was written into them.
#[derive(Debug, Clone)]
pub struct ConnectionPlace {
    /// Home folder of the person.
    pub home: PathBuf,
    /// Variables of the person's environment, of which some name folders.
    pub variables: BTreeMap<String, PathBuf>,
    /// Data folder of Countersign.
    pub data_dir: PathBuf,
    /// The program that hooks call, absolute; `None` if it was not found.
    pub program: Option<PathBuf>,
}

impl ConnectionPlace {
    /// Returns the place of a person with this home folder and these variables of the environment.
    ///
    /// # Errors
    /// There is no home folder.
    pub fn new(
        home: Option<PathBuf>,
        variables: impl Iterator<Item = (OsString, OsString)>,
        data_dir: PathBuf,
        program: Option<PathBuf>,
    ) -> Result<Self, UserError> {
        let no_home = || UserError::new("There is no home folder.", "Set the variable HOME.");
        let variables =
            variables.filter_map(|(name, value)| Some((name.into_string().ok()?, value.into())));
        Ok(Self {
            home: home.ok_or_else(no_home)?,
            variables: variables.collect(),
            data_dir,
            program,
        })
    }

    /// Returns what hooks call; `None` if the program was not found.
    pub(super) fn hook_target(&self) -> Option<HookTarget> {
        let program = self.program.clone()?;
        Some(HookTarget {
            program,
            data_dir: Some(self.data_dir.clone()),
        })
    }

    /// Returns where an agent keeps its transcripts.
    ///
    /// # Errors
    /// They have no form that is known.
    pub fn transcripts(&self, agent: ExternalAgent) -> Result<TranscriptPlace, UserError> {
        TranscriptPlace::of_agent(agent, &self.home, |name| {
            let folder = self.variables.get(name)?;
            Some(folder.clone().into_os_string())
        })
    }

    /// Returns the file that an agent's hooks are written into.
    pub(super) fn config_file(&self, agent: &ConnectableAgent) -> PathBuf {
        agent.config_file(&self.home, &self.variables)
    }

    /// Returns the records of what was written.
    pub(super) fn records(&self) -> ConnectionRecords {
        ConnectionRecords::new(&self.data_dir)
    }
}

/// Returns the beginning of the time whose sessions are counted, and imported from the window.
pub fn recent_since() -> At {
    SystemClock.now() - RECENT_SESSIONS_MS
}

/// Returns what there is to know of every agent on this machine.
pub fn inspect_agents(place: &ConnectionPlace) -> Vec<ConnectionView> {
    let agents = list_agents().iter();
    agents.map(|agent| inspect_agent(agent, place)).collect()
}

/// Returns what there is to know of an agent on this machine.
pub fn inspect_agent(agent: &'static ConnectableAgent, place: &ConnectionPlace) -> ConnectionView {
    let config = place.config_file(agent);
    let state = find_state(agent, place, &config);
    let program = agent.find_program(&place.home);
    ConnectionView {
        id: agent.id.clone(),
        title: agent.title.clone(),
        program: program.map(|program| program.display().to_string()),
        state: state.unwrap_or_else(|error| ConnectionState::Unreadable { error }),
        config: config.display().to_string(),
        interfaces: agent.interfaces.clone(),
        acp: agent.acp.as_ref().map(inspect_acp_program),
        gaps: agent.gaps.clone(),
        checked_with: agent.checked_with.clone(),
        recent_sessions: count_recent_sessions(agent, place),
        servers: inspect_servers(agent, place),
    }
}

/// Returns the number of sessions of an agent that went on in the last week; `None` if it keeps no transcripts that can be
/// read.
fn count_recent_sessions(agent: &ConnectableAgent, place: &ConnectionPlace) -> Option<u64> {
    let agent = ExternalAgent::from_id(&agent.id)?;
    count_sessions_since(agent, &place.transcripts(agent).ok()?, recent_since())
}

fn inspect_acp_program(start: &AcpStart) -> AcpProgram {
    let program = start.find_program();
    AcpProgram {
        program: program.map(|program| program.display().to_string()),
        install: start.install.clone(),
    }
}

fn find_state(
    agent: &ConnectableAgent,
    place: &ConnectionPlace,
    config: &Path,
) -> Result<ConnectionState, UserError> {
    let file = ConfigFile::read(config).map_err(|error| describe_file_error(agent, &error))?;
    let state = state_of_text(
        agent,
        file.text().unwrap_or_default(),
        place.hook_target().as_ref(),
    );
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
    target: Option<&HookTarget>,
) -> Result<ConnectionState, EditError> {
    let (found, is_whole) = match agent.format {
        ConfigFormat::Plugin => {
            let Some(found) = plugin::parse_target(text, agent) else {
                return Ok(ConnectionState::NotConnected);
            };
            let is_whole = plugin::format_plugin(&found, agent).as_deref() == Some(text);
            (found, is_whole)
        }
        ConfigFormat::Json | ConfigFormat::Toml => {
            let config = parse_config(agent, text)?;
            let own = find_own_hooks(&config, agent);
            let Some(found) = own.targets.first().cloned() else {
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
        true if Some(&found) == target => ConnectionState::Connected,
        true if target.is_some_and(|target| target.program == found.program) => {
            ConnectionState::Changed
        }
        true => ConnectionState::OtherProgram {
            program: found.program.display().to_string(),
        },
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
