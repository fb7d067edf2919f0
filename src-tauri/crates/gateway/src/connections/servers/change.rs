//! One change of the servers in an agent's configuration: planned, shown, applied.

use std::path::{Path, PathBuf};

use protocol::connection::{ConnectionPlan, ServerNote};
use protocol::{Digest, UserError};
use serde_json::json;
use similar::TextDiff;
use tools::diff::{CONTEXT_LINES, diff_file};

use super::config::{ServersConfig, UNCHANGED};
use super::entries::GatewayCommand;
use super::entry_text::{ServersText, pointer};
use super::planned_entry::{PlannedEntry, plan_entry};
use super::records::{EntryRecord, ServerRecords, ServersRecord};
use crate::connections::agents::ConnectableAgent;
use crate::connections::change::{describe_file_error, describe_missing_program};
use crate::connections::edit_error::EditError;
use crate::connections::survey::ConnectionPlace;

/// A planned change, and what is told of the entries that stay as they are.
#[derive(Debug)]
pub struct ServersPlan {
    /// The change; none if there is nothing to change.
    pub change: Option<ServersChange>,
    /// What is told, in the order of the file.
    pub notes: Vec<ServerNote>,
}

/// A change that is not applied yet.
#[derive(Debug)]
pub struct ServersChange {
    config: ServersConfig,
    after: ServersText,
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
    let program = place
        .program
        .as_deref()
        .ok_or_else(describe_missing_program)?;
    let (Some(program), Some(data_dir)) = (program.to_str(), place.data_dir.to_str()) else {
        let message = "The path of the program or of the data folder cannot be written.";
        return Err(UserError::new(message, UNCHANGED));
    };
    let gateway = GatewayCommand { program, data_dir };
    let config = ServersConfig::read(agent, place)?;
    let edit_error = |error: EditError| config.describe_error(&error);
    let parsed = config.parse()?;
    let (mut after, mut behind, mut notes) = (config.text.clone(), Vec::new(), Vec::new());
    for path in &config.paths {
        let Some(entry) = parsed.pointer(&pointer(path)) else {
            continue;
        };
        match plan_entry(&after, path, entry, &gateway) {
            PlannedEntry::Through => {
                let known = config.behind.iter().find(|known| known.path == *path);
                behind.extend(known.cloned());
            }
            PlannedEntry::Stays(why) => notes.push(note_of(path, why)),
            PlannedEntry::Behind { written, text } => {
                let before = after.entry(path).map_err(edit_error)?.to_owned();
                behind.push(EntryRecord {
                    path: path.clone(),
                    before,
                    written,
                });
                after = text;
            }
        }
    }
    let is_same = after == config.text;
    let change = ServersChange {
        config,
        after,
        behind,
    };
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
    let config = ServersConfig::read(agent, place)?;
    if config.behind.is_empty() {
        return Ok(nothing);
    }
    let edit_error = |error: EditError| config.describe_error(&error);
    let parsed = config.parse()?;
    let (mut after, mut notes) = (config.text.clone(), Vec::new());
    for entry in &config.behind {
        match parsed.pointer(&pointer(&entry.path)) {
            Some(now) if *now == entry.written => {
                let restored = after.with_text(&entry.path, &entry.before);
                after = restored.map_err(edit_error)?;
            }
            Some(_) => notes.push(note_of(
                &entry.path,
                "It was changed since it was put behind the gateway, and stays as it is.",
            )),
            None => notes.push(note_of(&entry.path, "It is not there any more.")),
        }
    }
    after.parse().map_err(edit_error)?;
    let change = ServersChange {
        config,
        after,
        behind: Vec::new(),
    };
    Ok(ServersPlan {
        change: Some(change),
        notes,
    })
}

/// Returns what is told of the entry at a path.
fn note_of(path: &[String], text: impl Into<String>) -> ServerNote {
    ServerNote {
        server: path.last().cloned().unwrap_or_default(),
        text: text.into(),
    }
}

impl ServersChange {
    /// Returns the file that changes.
    pub fn file(&self) -> &Path {
        self.config.path()
    }

    /// Returns the file in which the configuration is kept as it was before; none if servers are put back.
    pub fn copy_file(&self) -> Option<PathBuf> {
        (!self.behind.is_empty()).then(|| self.config.records.copy_file())
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
        let before = self.config.shown_text(&self.config.text)?;
        let after = self.config.shown_text(&self.after)?;
        let name = self.config.path().display().to_string();
        let diff = TextDiff::from_lines(&before, &after);
        Ok(diff.unified_diff().header(&name, &name).to_string())
    }

    /// Returns the change as it is shown in the window, in which no value of a variable or a header stands.
    ///
    /// # Errors
    /// As [`Self::diff`].
    pub(in crate::connections) fn to_plan(
        &self,
        notes: Vec<ServerNote>,
    ) -> Result<ConnectionPlan, UserError> {
        let before = self.config.shown_text(&self.config.text)?;
        let after = self.config.shown_text(&self.after)?;
        let file = self.config.path().display().to_string();
        let (old, new) = (before.as_bytes(), after.as_bytes());
        let diff = diff_file(&file, Some(old), new, 0, CONTEXT_LINES);
        let (old, new) = (self.config.text.to_text(), self.after.to_text());
        Ok(ConnectionPlan {
            diff,
            copy: self.copy_file().map(|copy| copy.display().to_string()),
            notes,
            digest: Digest::from_json(&json!([file, old, new])),
        })
    }

    /// Applies the change, if the file is still as it was read.
    ///
    /// # Errors
    /// The file changed, or may not be written. Then it is as it was.
    pub fn apply(&self) -> Result<(), UserError> {
        if !self.behind.is_empty() {
            self.config.records.save_copy(&self.config.text.to_text())?;
        }
        if self.after != self.config.text {
            let written = self.config.file.write(&self.after.to_text());
            written.map_err(|error| describe_file_error(self.config.agent, &error))?;
        }
        if self.behind.is_empty() {
            return self.config.records.forget();
        }
        self.config.records.save(&ServersRecord {
            file: self.config.path().to_owned(),
            entries: self.behind.clone(),
        })
    }
}
