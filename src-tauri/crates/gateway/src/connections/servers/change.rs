//! One change of the servers in an agent's configuration: planned, shown, applied.

use std::path::{Path, PathBuf};

use protocol::UserError;
use protocol::text::redact;
use runtime::ConfigFile;
use serde::Serialize;
use serde_json::Value;
use similar::TextDiff;

use super::entries::{GatewayCommand, RewrittenEntry, rewrite_entry};
use super::entry_text::{ServersText, pointer};
use super::records::{EntryRecord, ServerRecords, ServersRecord};
use crate::connections::agents::{AgentServers, ConnectableAgent};
use crate::connections::change::describe_file_error;
use crate::connections::edit_error::EditError;
use crate::connections::survey::ConnectionPlace;

/// What every error here ends with.
const UNCHANGED: &str = "Nothing was changed.";
/// A step of a section's path that stands for every member.
const EVERY_MEMBER: &str = "*";

/// A planned change, and what is told of the entries that stay as they are.
#[derive(Debug)]
pub struct ServersPlan {
    /// The change; none if there is nothing to change.
    pub change: Option<ServersChange>,
    /// What is told, in the order of the file.
    pub notes: Vec<EntryNote>,
}

/// What is told of an entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EntryNote {
    /// Name of the server, as the agent has it.
    pub server: String,
    /// What is told, in one sentence.
    pub text: String,
}

impl EntryNote {
    fn new(path: &[String], text: impl Into<String>) -> Self {
        Self {
            server: path.last().cloned().unwrap_or_default(),
            text: text.into(),
        }
    }
}

/// A change that is not applied yet.
#[derive(Debug)]
pub struct ServersChange {
    agent: &'static ConnectableAgent,
    records: ServerRecords,
    file: ConfigFile,
    before: ServersText,
    after: ServersText,
    /// The entries of servers in the file.
    paths: Vec<Vec<String>>,
    /// The entries that are behind the gateway after the change.
    behind: Vec<EntryRecord>,
}

/// Plans to put the servers of an agent's configuration behind the gateway.
///
/// # Errors
/// The agent has no servers that are known here, or its configuration cannot be read or edited.
pub fn plan_servers_behind_gateway(
    agent: &'static ConnectableAgent,
    place: &ConnectionPlace,
) -> Result<ServersPlan, UserError> {
    let (program, data_dir) = (place.program.as_deref(), place.data_dir.to_str());
    let program = program.and_then(Path::to_str);
    let (Some(program), Some(data_dir)) = (program, data_dir) else {
        let message = "The path of the program or of the data folder cannot be written.";
        return Err(UserError::new(message, UNCHANGED));
    };
    let gateway = GatewayCommand { program, data_dir };
    let mut change = ServersChange::read(agent, place)?;
    let edit_error = |error: EditError| describe_servers_error(agent, change.file.path(), &error);
    let config = change.before.parse().map_err(edit_error)?;
    let dialect = servers_of(agent)?.dialect;
    let (mut text, mut behind, mut notes) = (change.before.clone(), Vec::new(), Vec::new());
    for path in &change.paths {
        let Some(entry) = config.pointer(&pointer(path)) else {
            continue;
        };
        let name = path.last().map_or("", String::as_str);
        match rewrite_entry(dialect, name, entry, &gateway) {
            RewrittenEntry::Through => {
                let known = change.behind.iter().find(|known| known.path == *path);
                behind.extend(known.cloned());
            }
            RewrittenEntry::Left(why) => notes.push(EntryNote::new(path, why)),
            RewrittenEntry::Behind(written) => match text.with_entry(path, &written) {
                Ok(edited) => {
                    let before = text.entry(path).map_err(edit_error)?.to_owned();
                    behind.push(EntryRecord {
                        path: path.clone(),
                        before,
                        written,
                    });
                    text = edited;
                }
                Err(error) => notes.push(EntryNote::new(path, format!("It stays: {error}."))),
            },
        }
    }
    let is_same = text == change.before;
    (change.after, change.behind) = (text, behind);
    Ok(ServersPlan {
        change: Some(change).filter(|_| !is_same),
        notes,
    })
}

/// Plans to put back what the servers of an agent's configuration were before. An entry that somebody changed since stays,
/// and is told of.
///
/// # Errors
/// The configuration cannot be read or edited.
pub fn plan_servers_restored(
    agent: &'static ConnectableAgent,
    place: &ConnectionPlace,
) -> Result<ServersPlan, UserError> {
    let nothing = ServersPlan {
        change: None,
        notes: Vec::new(),
    };
    if ServerRecords::new(&place.data_dir, agent).load()?.is_none() {
        return Ok(nothing);
    }
    let mut change = ServersChange::read(agent, place)?;
    if change.behind.is_empty() {
        return Ok(nothing);
    }
    let edit_error = |error: EditError| describe_servers_error(agent, change.file.path(), &error);
    let config = change.before.parse().map_err(edit_error)?;
    let (mut text, mut notes) = (change.before.clone(), Vec::new());
    for entry in &change.behind {
        match config.pointer(&pointer(&entry.path)) {
            Some(now) if *now == entry.written => {
                let restored = text.with_text(&entry.path, &entry.before);
                text = restored.map_err(edit_error)?;
            }
            Some(_) => notes.push(EntryNote::new(
                &entry.path,
                "It was changed since it was put behind the gateway, and stays as it is.",
            )),
            None => notes.push(EntryNote::new(&entry.path, "It is not there any more.")),
        }
    }
    text.parse().map_err(edit_error)?;
    (change.after, change.behind) = (text, Vec::new());
    Ok(ServersPlan {
        change: Some(change),
        notes,
    })
}

/// Returns the error for a configuration whose servers cannot be edited.
fn describe_servers_error(agent: &ConnectableAgent, file: &Path, error: &EditError) -> UserError {
    UserError::new(
        format!(
            "{}, where {} has its servers, cannot be edited: {error}.",
            file.display(),
            agent.title
        ),
        format!("Correct it by hand, then repeat. {UNCHANGED}"),
    )
}

fn servers_of(agent: &ConnectableAgent) -> Result<&AgentServers, UserError> {
    agent.servers.as_ref().ok_or_else(|| {
        UserError::new(
            format!("Where {} keeps its servers is not known.", agent.title),
            UNCHANGED,
        )
    })
}

impl ServersChange {
    /// Reads an agent's servers, and which of them are behind the gateway; without any change.
    fn read(agent: &'static ConnectableAgent, place: &ConnectionPlace) -> Result<Self, UserError> {
        let servers = servers_of(agent)?;
        let mut read = None;
        for path in servers.config_files(&place.home, &place.variables) {
            let file =
                ConfigFile::read(&path).map_err(|error| describe_file_error(agent, &error))?;
            let is_there = file.text().is_some();
            read = Some(file);
            if is_there {
                break;
            }
        }
        let Some(file) = read else {
            let message = format!("{} has no file for its servers.", agent.title);
            return Err(UserError::new(message, UNCHANGED));
        };
        let text = ServersText::new(file.text().unwrap_or_default(), servers.dialect);
        let config = text
            .parse()
            .map_err(|error| describe_servers_error(agent, file.path(), &error))?;
        let records = ServerRecords::new(&place.data_dir, agent);
        let record = records.load()?.filter(|record| record.file == file.path());
        Ok(Self {
            agent,
            behind: record.map_or_else(Vec::new, |record| record.entries),
            records,
            paths: find_entries(&config, servers),
            after: text.clone(),
            before: text,
            file,
        })
    }

    /// Returns the file that changes.
    pub fn file(&self) -> &Path {
        self.file.path()
    }

    /// Returns the file in which the configuration is kept as it was before; none if servers are put back.
    pub fn copy_file(&self) -> Option<PathBuf> {
        (!self.behind.is_empty()).then(|| self.records.copy_file())
    }

    /// Returns the names of the servers that are behind the gateway after the change.
    pub fn servers(&self) -> Vec<String> {
        let paths = self.behind.iter().map(|entry| &entry.path);
        paths.filter_map(|path| path.last().cloned()).collect()
    }

    /// Returns the change as a unified diff, in which no value of a variable or a header stands.
    ///
    /// # Errors
    /// A value cannot be found in the text, so nothing is shown.
    pub fn diff(&self) -> Result<String, UserError> {
        let shown = |text: &ServersText| {
            let hidden = text.hide_values(&self.paths);
            hidden.map_err(|error| describe_servers_error(self.agent, self.file.path(), &error))
        };
        let (before, after) = (shown(&self.before)?, shown(&self.after)?);
        let name = self.file.path().display().to_string();
        let diff = TextDiff::from_lines(&before, &after);
        let diff = diff.unified_diff().header(&name, &name).to_string();
        Ok(redact::text(&diff).0.into_owned())
    }

    /// Applies the change, if the file is still as it was read.
    ///
    /// # Errors
    /// The file changed, or may not be written. Then it is as it was.
    pub fn apply(&self) -> Result<(), UserError> {
        if !self.behind.is_empty() {
            self.records.save_copy(&self.before.to_text())?;
        }
        if self.after != self.before {
            let written = self.file.write(&self.after.to_text());
            written.map_err(|error| describe_file_error(self.agent, &error))?;
        }
        if self.behind.is_empty() {
            return self.records.forget();
        }
        self.records.save(&ServersRecord {
            file: self.file.path().to_owned(),
            entries: self.behind.clone(),
        })
    }
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
