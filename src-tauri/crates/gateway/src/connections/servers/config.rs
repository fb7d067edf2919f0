//! The servers of an agent's configuration, as they are: read without any change.

use std::path::Path;

use protocol::UserError;
use protocol::text::redact;
use runtime::ConfigFile;
use serde_json::Value;

use super::entry_text::{ServersText, pointer};
use super::records::{EntryRecord, ServerRecords};
use crate::connections::agents::{AgentServers, ConnectableAgent};
use crate::connections::change::describe_file_error;
use crate::connections::edit_error::EditError;
use crate::connections::survey::ConnectionPlace;

/// What every error here ends with.
pub(super) const UNCHANGED: &str = "Nothing was changed.";
/// A step of a section's path that stands for every member.
pub(super) const EVERY_MEMBER: &str = "*";

/// The servers of an agent's configuration.
#[derive(Debug)]
pub(super) struct ServersConfig {
    pub(super) agent: &'static ConnectableAgent,
    pub(super) records: ServerRecords,
    pub(super) file: ConfigFile,
    pub(super) text: ServersText,
    /// The entries of servers in the file.
    pub(super) paths: Vec<Vec<String>>,
    /// The entries that were put behind the gateway.
    pub(super) behind: Vec<EntryRecord>,
}

impl ServersConfig {
    /// Reads an agent's servers, and which of them were put behind the gateway.
    ///
    /// # Errors
    /// The agent has no servers that are known here, or its configuration cannot be read.
    pub(super) fn read(
        agent: &'static ConnectableAgent,
        place: &ConnectionPlace,
    ) -> Result<Self, UserError> {
        let servers = agent.servers.as_ref().ok_or_else(|| {
            let message = format!("Where {} keeps its servers is not known.", agent.title);
            UserError::new(message, UNCHANGED)
        })?;
        let file = read_file(agent, servers, place)?;
        let records = ServerRecords::new(&place.data_dir, agent);
        let record = records.load()?.filter(|record| record.file == file.path());
        let mut config = Self {
            agent,
            text: ServersText::new(file.text().unwrap_or_default(), servers.dialect),
            behind: record.map_or_else(Vec::new, |record| record.entries),
            paths: Vec::new(),
            records,
            file,
        };
        config.paths = find_entries(&config.parse()?, servers);
        Ok(config)
    }

    /// Returns what the file says.
    pub(super) fn parse(&self) -> Result<Value, UserError> {
        let parsed = self.text.parse();
        parsed.map_err(|error| self.describe_error(&error))
    }

    /// Returns a text of the file without secrets.
    pub(super) fn shown_text(&self, text: &ServersText) -> Result<String, UserError> {
        let hidden = text.hide_values(&self.paths);
        let hidden = hidden.map_err(|error| self.describe_error(&error))?;
        Ok(redact::text(&hidden).0.into_owned())
    }

    /// Returns the error for a configuration whose servers cannot be edited.
    pub(super) fn describe_error(&self, error: &EditError) -> UserError {
        let (file, title) = (self.path().display(), &self.agent.title);
        UserError::new(
            format!("{file}, where {title} has its servers, cannot be edited: {error}."),
            format!("Correct it by hand, then repeat. {UNCHANGED}"),
        )
    }

    pub(super) fn path(&self) -> &Path {
        self.file.path()
    }
}

/// Reads the first file of an agent's servers that is there.
fn read_file(
    agent: &ConnectableAgent,
    servers: &AgentServers,
    place: &ConnectionPlace,
) -> Result<ConfigFile, UserError> {
    let mut read = None;
    for path in servers.config_files(&place.home, &place.variables) {
        let file = ConfigFile::read(&path).map_err(|error| describe_file_error(agent, &error))?;
        let is_there = file.text().is_some();
        read = Some(file);
        if is_there {
            break;
        }
    }
    read.ok_or_else(|| {
        let message = format!("{} has no file for its servers.", agent.title);
        UserError::new(message, UNCHANGED)
    })
}

/// Returns the paths of the entries of servers in a configuration.
fn find_entries(config: &Value, servers: &AgentServers) -> Vec<Vec<String>> {
    let sections = servers.sections.iter();
    sections
        .flat_map(|section| find_members(config, section))
        .collect()
}

/// Returns the paths of the members of a section, of which a step may stand for every member.
fn find_members(config: &Value, section: &[String]) -> Vec<Vec<String>> {
    let mut paths = vec![Vec::new()];
    let steps = section.iter().map(String::as_str).chain([EVERY_MEMBER]);
    for step in steps {
        paths = paths
            .into_iter()
            .flat_map(|path: Vec<String>| {
                let members = config.pointer(&pointer(&path)).and_then(Value::as_object);
                let names = members.into_iter().flat_map(|members| members.keys());
                let names = names.filter(|name| step == EVERY_MEMBER || name.as_str() == step);
                let names: Vec<String> = names.cloned().collect();
                names
                    .into_iter()
                    .map(move |name| [path.clone(), vec![name]].concat())
            })
            .collect();
    }
    paths
}
