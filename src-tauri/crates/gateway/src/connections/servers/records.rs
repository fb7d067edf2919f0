//! What became of the entries of an agent's servers, kept in the data folder, with a copy of the file as it was before.

use std::path::{Path, PathBuf};

use protocol::UserError;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::connections::agents::ConnectableAgent;

/// Folder of the records in the data folder.
const RECORDS_FOLDER: &str = "connections";
/// Records and copies are for the person alone: entries hold keys.
const PRIVATE_MODE: u32 = 0o600;

/// The records of one agent in a data folder.
#[derive(Debug, Clone)]
pub(super) struct ServerRecords {
    folder: PathBuf,
    agent: &'static ConnectableAgent,
}

/// The entries of a file that were put behind the gateway.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct ServersRecord {
    /// The file.
    pub(super) file: PathBuf,
    /// The entries.
    pub(super) entries: Vec<EntryRecord>,
}

/// One entry that was put behind the gateway.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct EntryRecord {
    /// Names of the members that lead to it.
    pub(super) path: Vec<String>,
    /// What was there before, to the byte.
    pub(super) before: String,
    /// What was written in its place.
    pub(super) written: Value,
}

impl ServerRecords {
    pub(super) fn new(data_dir: &Path, agent: &'static ConnectableAgent) -> Self {
        Self {
            folder: data_dir.join(RECORDS_FOLDER),
            agent,
        }
    }

    /// Returns the file in which the configuration is kept as it was before.
    pub(super) fn copy_file(&self) -> PathBuf {
        self.folder
            .join(format!("{}.servers.before", self.agent.id))
    }

    fn record_file(&self) -> PathBuf {
        self.folder.join(format!("{}.servers.json", self.agent.id))
    }

    /// Returns what was put behind the gateway, if anything was.
    pub(super) fn load(&self) -> Result<Option<ServersRecord>, UserError> {
        let path = self.record_file();
        let Some(text) = runtime::read_text(&path)? else {
            return Ok(None);
        };
        let record = serde_json::from_str(&text).map_err(|error| {
            UserError::new(
                format!(
                    "{} does not say which servers of {} are behind the gateway.",
                    path.display(),
                    self.agent.title
                ),
                "Put them back by hand: the file that they are in was copied beside it.",
            )
            .with_source(&error)
        })?;
        Ok(Some(record))
    }

    /// Keeps a configuration as it was before.
    pub(super) fn save_copy(&self, text: &str) -> Result<(), UserError> {
        Ok(runtime::write_atomic(
            &self.copy_file(),
            text.as_bytes(),
            PRIVATE_MODE,
        )?)
    }

    pub(super) fn save(&self, record: &ServersRecord) -> Result<(), UserError> {
        let text = serde_json::to_string_pretty(record).map_err(|error| {
            UserError::new("What was written cannot be recorded.", "").with_source(&error)
        })?;
        Ok(runtime::write_atomic(
            &self.record_file(),
            text.as_bytes(),
            PRIVATE_MODE,
        )?)
    }

    /// Removes what is kept.
    pub(super) fn forget(&self) -> Result<(), UserError> {
        runtime::remove_if_exists(&self.record_file())?;
        Ok(runtime::remove_if_exists(&self.copy_file())?)
    }
}
