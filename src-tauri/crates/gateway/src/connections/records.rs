//! What was written into agents' configurations, kept in the data folder: by it a change is taken back to the byte, and
//! an agent that undoes it is noticed.

use std::path::{Path, PathBuf};

use protocol::{Digest, UserError};
use serde::{Deserialize, Serialize};

use super::agents::ConnectableAgent;

/// Folder of the records in the data folder.
const RECORDS_FOLDER: &str = "connections";
/// Records and copies are for the person alone: a configuration may hold keys.
const PRIVATE_MODE: u32 = 0o600;

/// The records of a data folder.
#[derive(Debug, Clone)]
pub(super) struct ConnectionRecords {
    folder: PathBuf,
}

/// What was written for one agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ConnectionRecord {
    /// The configuration.
    pub(super) file: PathBuf,
    /// Digest of what was written.
    pub(super) digest: Digest,
    /// Whether there was such a file before. What it was stands in the copy.
    pub(super) existed: bool,
    /// Folders that were created for it, the outermost first.
    pub(super) folders: Vec<PathBuf>,
}

impl ConnectionRecords {
    pub(super) fn new(data_dir: &Path) -> Self {
        Self {
            folder: data_dir.join(RECORDS_FOLDER),
        }
    }

    /// Returns the file that the copy of an agent's configuration is kept in.
    pub(super) fn copy_file(&self, agent: &ConnectableAgent) -> PathBuf {
        self.folder.join(format!("{}.before", agent.id))
    }

    fn record_file(&self, agent: &ConnectableAgent) -> PathBuf {
        self.folder.join(format!("{}.json", agent.id))
    }

    /// Returns what was written into a configuration of an agent, if anything was.
    pub(super) fn load(
        &self,
        agent: &ConnectableAgent,
        file: &Path,
    ) -> Result<Option<ConnectionRecord>, UserError> {
        let path = self.record_file(agent);
        let Some(text) = runtime::read_text(&path)? else {
            return Ok(None);
        };
        let record: ConnectionRecord = serde_json::from_str(&text).map_err(|error| {
            UserError::new(
                format!(
                    "{} does not say what was written for {}.",
                    path.display(),
                    agent.title
                ),
                "Remove it, and connect the agent again.",
            )
            .with_source(&error)
        })?;
        Ok(Some(record).filter(|record| record.file == file))
    }

    /// Returns the configuration as it was before, if it is kept.
    pub(super) fn load_copy(&self, agent: &ConnectableAgent) -> Result<Option<String>, UserError> {
        Ok(runtime::read_text(&self.copy_file(agent))?)
    }

    /// Keeps the configuration as it was before.
    pub(super) fn save_copy(&self, agent: &ConnectableAgent, text: &str) -> Result<(), UserError> {
        Ok(runtime::write_atomic(
            &self.copy_file(agent),
            text.as_bytes(),
            PRIVATE_MODE,
        )?)
    }

    pub(super) fn save(
        &self,
        agent: &ConnectableAgent,
        record: &ConnectionRecord,
    ) -> Result<(), UserError> {
        let text = serde_json::to_string_pretty(record).map_err(|error| {
            UserError::new("What was written cannot be recorded.", "").with_source(&error)
        })?;
        Ok(runtime::write_atomic(
            &self.record_file(agent),
            text.as_bytes(),
            PRIVATE_MODE,
        )?)
    }

    /// Removes what is kept of an agent.
    pub(super) fn forget(&self, agent: &ConnectableAgent) -> Result<(), UserError> {
        runtime::remove_if_exists(&self.record_file(agent))?;
        Ok(runtime::remove_if_exists(&self.copy_file(agent))?)
    }
}
