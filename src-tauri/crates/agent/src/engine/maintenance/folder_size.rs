//! The parts of a data folder, and what each takes. Known by the names of files, so that a damaged folder is measured
//! too, and one that engines work with.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use mcp::catalogue::ToolCatalogue;
use mcp::config::ServersFile;
use serde::Serialize;
use tools::config_table::ConfigTable;
use tools::sources::Catalogue;

use crate::engine::maintenance::folder_use::LOCK_FILE;
use crate::engine::maintenance::record_check::RECORD_NAME;
use crate::engine::maintenance::record_rescue::RESCUED_NAME;
use crate::permissions::rules::SAMPLES_FOLDER;

/// A part of a data folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DataPart {
    /// The record.
    Record,
    /// Damaged records that were replaced, and what was saved of them.
    EarlierRecords,
    /// Copies for undo.
    Undo,
    /// Long outputs of calls.
    Outputs,
    /// What commands in the sandbox changed, until it is agreed to.
    Sandboxes,
    /// Sample workspaces of the demo.
    Demo,
    /// Settings, rules, and tools of the person's own.
    Settings,
    /// Approvals, grants, and what is known of servers and other people's agents.
    Approvals,
    /// Whatever the app did not put there.
    Other,
}

/// Names in a data folder, each with its part. The files of a record have several names, and are not among them.
const NAMES: [(&str, DataPart); 27] = [
    ("history", DataPart::Undo),
    ("sessions", DataPart::Outputs),
    ("sandboxes", DataPart::Sandboxes),
    (SAMPLES_FOLDER, DataPart::Demo),
    ("settings.toml", DataPart::Settings),
    ("rules.toml", DataPart::Settings),
    (ServersFile::FILE, DataPart::Settings),
    ("apis.toml", DataPart::Settings),
    ("tools", DataPart::Settings),
    ("activities", DataPart::Settings),
    ("delegates", DataPart::Settings),
    (LOCK_FILE, DataPart::Approvals),
    ("rules.lock", DataPart::Approvals),
    ("servers.lock", DataPart::Approvals),
    ("apis.lock", DataPart::Approvals),
    ("trusted.json", DataPart::Approvals),
    ("trusted.lock", DataPart::Approvals),
    ("grants", DataPart::Approvals),
    ("uses", DataPart::Approvals),
    (ToolCatalogue::FOLDER, DataPart::Approvals),
    ("apis", DataPart::Approvals),
    ("sign-ins", DataPart::Approvals),
    ("connections", DataPart::Approvals),
    ("agents", DataPart::Approvals),
    ("gateway-tokens.json", DataPart::Approvals),
    ("gateway-tokens.lock", DataPart::Approvals),
    ("desk.sock", DataPart::Approvals),
];
/// Beginning of the names of files that are being written.
const UNFINISHED_PREFIX: &str = ".countersign-";
/// Endings of the files that a database has beside its own.
const DATABASE_SUFFIXES: [&str; 3] = ["-wal", "-shm", "-journal"];

impl DataPart {
    /// Returns the part that a file or folder belongs to, by its path in the data folder.
    pub fn of_path(path: &Path) -> Self {
        let first = path.components().next();
        let Some(name) = first.and_then(|first| first.as_os_str().to_str()) else {
            return Self::Other;
        };
        if name.starts_with(UNFINISHED_PREFIX) {
            return Self::Approvals;
        }
        let known = NAMES.iter().find(|(known, _)| *known == name);
        known.map_or_else(|| part_of_database(name), |(_, part)| *part)
    }
}

fn part_of_database(name: &str) -> DataPart {
    let mut suffixes = DATABASE_SUFFIXES.iter();
    let database = suffixes.find_map(|suffix| name.strip_suffix(suffix));
    match database.unwrap_or(name) {
        RECORD_NAME => DataPart::Record,
        RESCUED_NAME => DataPart::EarlierRecords,
        name if name.starts_with("record.damaged") && name.ends_with(".db") => {
            DataPart::EarlierRecords
        }
        _ => DataPart::Other,
    }
}

/// What a part of a data folder takes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PartSize {
    /// The part.
    pub part: DataPart,
    /// Number of files.
    pub files: u64,
    /// Length of all of them, in bytes: what limits in the settings count.
    pub bytes: u64,
}

/// What a data folder takes, part by part.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DataFolderSize {
    /// The parts that have files.
    pub parts: Vec<PartSize>,
    /// Folders that could not be read, by their paths in the data folder.
    pub unreadable: Vec<PathBuf>,
}

impl DataFolderSize {
    /// Length of all files, in bytes.
    pub fn bytes(&self) -> u64 {
        self.parts.iter().map(|part| part.bytes).sum()
    }
}

/// Measures a data folder, whatever state it is in. One that is not there takes nothing.
pub fn measure_data_folder(data_dir: &Path) -> DataFolderSize {
    let mut parts: BTreeMap<DataPart, PartSize> = BTreeMap::new();
    let unreadable = runtime::visit_files(data_dir, &mut |path, bytes| {
        let part = DataPart::of_path(path);
        let size = parts.entry(part).or_insert(PartSize {
            part,
            files: 0,
            bytes: 0,
        });
        size.files += 1;
        size.bytes += bytes;
    });
    DataFolderSize {
        parts: parts.into_values().collect(),
        unreadable,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_known_by_their_names() {
        for (path, part) in [
            ("record.db", DataPart::Record),
            ("record.db-wal", DataPart::Record),
            ("record.rescued.db", DataPart::EarlierRecords),
            ("record.damaged-2.db-wal", DataPart::EarlierRecords),
            ("record.db.bak", DataPart::Other),
            ("history/copies/ab/cd", DataPart::Undo),
            ("servers/files.json", DataPart::Approvals),
            ("servers.toml", DataPart::Settings),
            (".countersign-x1y2/record.db", DataPart::Approvals),
            ("letters/history", DataPart::Other),
        ] {
            assert_eq!(DataPart::of_path(Path::new(path)), part, "{path}");
        }
    }
}
