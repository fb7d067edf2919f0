//! One change of an agent's configuration: planned, shown, applied.

use std::path::{Path, PathBuf};

use protocol::connection::{ConnectionPlan, ConnectionState};
use protocol::{Digest, UserError};
use runtime::{ConfigFile, FileError};
use serde_json::json;
use similar::TextDiff;
use tools::diff::{CONTEXT_LINES, diff_file};

use super::agents::{ConfigFormat, ConnectableAgent};
use super::config_text::{add_hooks, parse_config, remove_hooks};
use super::edit_error::EditError;
use super::records::{ConnectionRecord, ConnectionRecords};
use super::survey::{ConnectionPlace, find_switch, state_of_text};

/// What every error here ends with.
pub(super) const UNCHANGED: &str = "Nothing was changed.";

/// A change that is not applied yet.
#[derive(Debug)]
pub struct ConnectionChange {
    agent: &'static ConnectableAgent,
    records: ConnectionRecords,
    record: Option<ConnectionRecord>,
    file: ConfigFile,
    /// The configuration without our hooks; `None` where there is no file without them.
    bare: Option<String>,
    /// The configuration with our hooks; `None` to disconnect.
    connected: Option<String>,
}

/// Plans to put our hooks into an agent's configuration; `None` if they are there already.
///
/// # Errors
/// The agent is not on this machine, or its configuration cannot be read or edited, or switches hooks off.
pub fn plan_connect(
    agent: &'static ConnectableAgent,
    place: &ConnectionPlace,
) -> Result<Option<ConnectionChange>, UserError> {
    if cfg!(windows) {
        let message =
            "Agents cannot be connected on Windows yet: how they start hooks there was not tried.";
        return Err(UserError::new(message, UNCHANGED));
    }
    let mut change = read_connection(agent, place)?;
    let file = &change.file;
    if file.text().is_none() && agent.find_program(&place.home).is_none() {
        let message = format!("{} was not found on this machine.", agent.title);
        let hint = format!("Install it, or add the folder of its program to PATH. {UNCHANGED}");
        return Err(UserError::new(message, hint));
    }
    let edit_error = |error: EditError| describe_edit_error(agent, file.path(), &error);
    let text = file.text().unwrap_or_default();
    let config = parse_config(agent, text).map_err(edit_error)?;
    if let Some(switch) = find_switch(agent, &config) {
        let path = file.path().display();
        let message = format!(
            "{path} switches the hooks of {} off, at `{switch}`.",
            agent.title
        );
        return Err(UserError::new(
            message,
            format!("Take that out, then connect again. {UNCHANGED}"),
        ));
    }
    let target = place.hook_target().ok_or_else(describe_missing_program)?;
    let state = state_of_text(agent, text, Some(&target)).map_err(edit_error)?;
    if state == ConnectionState::Connected {
        return Ok(None);
    }
    let bare = change.bare.as_deref().unwrap_or_default();
    change.connected = Some(add_hooks(agent, bare, &target).map_err(edit_error)?);
    Ok(Some(change))
}

/// Plans to take our hooks out of an agent's configuration; `None` if none are there and none are remembered.
///
/// # Errors
/// The configuration cannot be read or edited.
pub fn plan_disconnect(
    agent: &'static ConnectableAgent,
    place: &ConnectionPlace,
) -> Result<Option<ConnectionChange>, UserError> {
    let change = read_connection(agent, place)?;
    let is_bare = change.bare.as_deref() == change.file.text();
    Ok(Some(change).filter(|change| !is_bare || change.record.is_some()))
}

/// Reads an agent's configuration, and what it is without our hooks.
fn read_connection(
    agent: &'static ConnectableAgent,
    place: &ConnectionPlace,
) -> Result<ConnectionChange, UserError> {
    let path = place.config_file(agent);
    let file = ConfigFile::read(&path).map_err(|error| describe_file_error(agent, &error))?;
    let mut change = ConnectionChange {
        agent,
        records: place.records(),
        record: place.records().load(agent, &path)?,
        file,
        bare: None,
        connected: None,
    };
    change.bare = change.find_bare_text()?;
    Ok(change)
}

impl ConnectionChange {
    /// Returns the file that changes.
    pub fn file(&self) -> &Path {
        self.file.path()
    }

    /// Returns the file in which the configuration without our hooks is kept; `None` if nothing is kept.
    pub fn copy_file(&self) -> Option<PathBuf> {
        let keeps = self.connected.is_some() && self.bare.is_some();
        keeps.then(|| self.records.copy_file(self.agent))
    }

    /// Returns the change as a unified diff, empty if the file stays as it is.
    pub fn diff(&self) -> String {
        let before = self.file.text().unwrap_or_default();
        let after = self.new_text().unwrap_or_default();
        let name = self.file.path().display().to_string();
        let diff = TextDiff::from_lines(before, after);
        diff.unified_diff().header(&name, &name).to_string()
    }

    /// Returns the change as it is shown in the window.
    pub(super) fn to_plan(&self) -> ConnectionPlan {
        let file = self.file.path().display().to_string();
        let (before, after) = (self.file.text(), self.new_text());
        let new = after.unwrap_or_default().as_bytes();
        let mut diff = diff_file(&file, before.map(str::as_bytes), new, 0, CONTEXT_LINES);
        diff.gone = before.is_some() && after.is_none();
        ConnectionPlan {
            diff,
            copy: self.copy_file().map(|copy| copy.display().to_string()),
            notes: Vec::new(),
            digest: Digest::from_json(&json!([file, before, after])),
        }
    }

    /// Returns the configuration after the change; `None` if there is no file then.
    fn new_text(&self) -> Option<&str> {
        self.connected.as_deref().or(self.bare.as_deref())
    }

    /// Applies the change, if the file is still as it was read.
    ///
    /// # Errors
    /// The file changed, or may not be written. Then it is as it was.
    pub fn apply(&self) -> Result<(), UserError> {
        match &self.connected {
            Some(connected) => self.write_connected(connected),
            None => self.write_bare(),
        }
    }

    fn write_connected(&self, connected: &str) -> Result<(), UserError> {
        if let Some(bare) = &self.bare {
            self.records.save_copy(self.agent, bare)?;
        }
        let written = self.file.write(connected);
        let written = written.map_err(|error| describe_file_error(self.agent, &error))?;
        let record = ConnectionRecord {
            file: self.file.path().to_owned(),
            digest: Digest::from_bytes(connected.as_bytes()),
            existed: self.bare.is_some(),
            folders: [self.created_folders(), &written].concat(),
        };
        self.records.save(self.agent, &record)
    }

    fn write_bare(&self) -> Result<(), UserError> {
        let written = match (&self.bare, self.file.text()) {
            (Some(bare), Some(text)) if bare != text => self.file.write(bare).map(drop),
            (None, Some(_)) => self.file.remove(self.created_folders()),
            (Some(_) | None, _) => Ok(()),
        };
        written.map_err(|error| describe_file_error(self.agent, &error))?;
        self.records.forget(self.agent)
    }

    /// Returns the folders that were created for the configuration.
    fn created_folders(&self) -> &[PathBuf] {
        self.record.as_ref().map_or(&[], |record| &record.folders)
    }

    /// Returns the configuration without our hooks: the bytes that were there before, if only we changed it since.
    fn find_bare_text(&self) -> Result<Option<String>, UserError> {
        let Some(text) = self.file.text() else {
            return Ok(None);
        };
        let copy = match &self.record {
            Some(record) if record.existed => self.records.load_copy(self.agent)?,
            Some(_) | None => None,
        };
        if let Some(record) = &self.record
            && record.digest == Digest::from_bytes(text.as_bytes())
            && record.existed == copy.is_some()
        {
            return Ok(copy);
        }
        let bare = remove_hooks(self.agent, text, copy.as_deref());
        let bare =
            bare.map_err(|error| describe_edit_error(self.agent, self.file.path(), &error))?;
        let is_created = self.record.as_ref().is_some_and(|record| !record.existed);
        let is_ours = is_created || self.agent.format == ConfigFormat::Plugin;
        let is_gone = is_ours && bare.is_empty && bare.text != text;
        Ok(Some(bare.text).filter(|_| !is_gone))
    }
}

/// Returns the error for a configuration that has to name our program, where the program was not found.
pub(super) fn describe_missing_program() -> UserError {
    UserError::new(
        "The program `countersign`, which the agent has to start, was not found.",
        format!("Install it, or add its folder to PATH. {UNCHANGED}"),
    )
}

/// Returns the error for a configuration that cannot be read or written.
pub(super) fn describe_file_error(agent: &ConnectableAgent, error: &FileError) -> UserError {
    match error {
        FileError::IsFolder { path } => UserError::new(
            format!("`{path}` is a folder, where {} has a file.", agent.title),
            format!("Move it away, then repeat. {UNCHANGED}"),
        ),
        FileError::NoPermission { path } => UserError::new(
            format!("The system does not let you change `{path}`."),
            format!("Check who owns it and its mode, then repeat. {UNCHANGED}"),
        ),
        error => UserError::new(error.to_string(), UNCHANGED),
    }
}

/// Returns the error for a configuration that cannot be edited.
pub(super) fn describe_edit_error(
    agent: &ConnectableAgent,
    file: &Path,
    error: &EditError,
) -> UserError {
    UserError::new(
        format!(
            "{}, where {} has its hooks, cannot be edited: {error}.",
            file.display(),
            agent.title
        ),
        format!("Correct it by hand, then repeat. {UNCHANGED}"),
    )
}
