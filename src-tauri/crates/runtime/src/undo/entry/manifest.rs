//! One history entry on disk: the content of each path before and after.
//!
//! An entry that is `Prepared` is its own journal: the effect of a call, which may be carried out in part, is taken
//! back or sealed; a restore by a person is finished.

use std::fs::{self, File};
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use protocol::history::Node;
use protocol::{Digest, UndoDirection, UndoEntry, UndoId, UserError};
use serde::{Deserialize, Serialize};

use crate::fs::at_path::AtPath as _;
use crate::fs::dir::FileAttributes;
use crate::fs::fault_injection::crash_point;
use crate::fs::session_folder::file_name_for_id;
use crate::fs::temp::TempTag;
use crate::limits::MANIFEST_BYTES_MAX;
use crate::undo::entry::states;
use crate::{FileError, remove_if_exists, write_atomic};

/// A path relative to the workspace root. It need not be UTF-8, so it is text where possible and bytes otherwise.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(from = "RelPathRepr", into = "RelPathRepr")]
pub(crate) struct RelPath(pub PathBuf);

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum RelPathRepr {
    Text(String),
    Bytes(Vec<u8>),
}

impl From<RelPath> for RelPathRepr {
    fn from(way: RelPath) -> Self {
        match way.0.into_os_string().into_string() {
            Ok(text) => Self::Text(text),
            Err(name) => Self::Bytes(name.into_encoded_bytes()),
        }
    }
}

impl From<RelPathRepr> for RelPath {
    fn from(spelled: RelPathRepr) -> Self {
        match spelled {
            RelPathRepr::Text(text) => Self(text.into()),
            #[cfg(unix)]
            RelPathRepr::Bytes(bytes) => {
                use std::os::unix::ffi::OsStringExt;
                Self(std::ffi::OsString::from_vec(bytes).into())
            }
            #[cfg(not(unix))]
            RelPathRepr::Bytes(bytes) => Self(String::from_utf8_lossy(&bytes).into_owned().into()),
        }
    }
}

/// One path of an entry.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(in crate::undo) struct UndoStep {
    pub path: RelPath,
    pub before: Node,
    pub after: Node,
    /// Whether this is a folder created on the way to a new file: an undo lets it stay when something else is in it by
    /// then.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub made: bool,
    /// Owner, attributes and names before and after, where they are not the defaults.
    #[serde(default, skip_serializing_if = "FileAttributes::is_default")]
    pub before_traits: FileAttributes,
    #[serde(default, skip_serializing_if = "FileAttributes::is_default")]
    pub after_traits: FileAttributes,
}

impl UndoStep {
    /// Returns the node that is to stand at the path after going `direction`.
    pub(in crate::undo) fn target_node(&self, direction: UndoDirection) -> &Node {
        match direction {
            UndoDirection::Undo => &self.before,
            UndoDirection::Redo => &self.after,
        }
    }

    /// Whether there is a moment on the way at which the path is absent: a folder cannot be replaced in one step.
    pub(in crate::undo) fn has_absent_moment(&self) -> bool {
        match (&self.before, &self.after) {
            (Node::Absent, _) | (_, Node::Absent) => false,
            (Node::Folder { .. }, other) | (other, Node::Folder { .. }) => {
                !matches!(other, Node::Folder { .. })
            }
            (Node::File { .. } | Node::Link { .. }, Node::File { .. } | Node::Link { .. }) => false,
        }
    }

    /// Returns the attributes that the path is to have after going `direction`, beside content, mode and time.
    pub(in crate::undo) fn target_attributes(&self, direction: UndoDirection) -> &FileAttributes {
        match direction {
            UndoDirection::Undo => &self.before_traits,
            UndoDirection::Redo => &self.after_traits,
        }
    }
}

/// A folder that stays while names in it are added and removed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(in crate::undo) struct TouchedFolder {
    pub path: RelPath,
    pub before_ns: i64,
    /// Known once the effect stands.
    pub after_ns: Option<i64>,
}

/// Details of a person's restore for its receipt, beside the steps.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(in crate::undo) struct RestoreActions {
    /// Paths that stayed as they were, and why.
    pub kept: Vec<(RelPath, String)>,
    /// Paths in which both changes were merged.
    pub merged: Vec<RelPath>,
}

/// An entry with everything that a restore needs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(in crate::undo) struct UndoManifest {
    /// First, so that a list of entries need not read on.
    pub entry: UndoEntry,
    pub root: RelPath,
    /// Tag of the temporary names of the call's own effect.
    pub effect: TempTag,
    /// Steps in order of the paths: a folder comes before its content.
    pub steps: Vec<UndoStep>,
    pub touched: Vec<TouchedFolder>,
    /// Whether the state after the effect is known to the byte, and to the mode.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub known: bool,
    /// Whether a failed effect is on its way back: folders get their times, even where all paths are restored already.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub going_back: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deed: Option<RestoreActions>,
}

impl UndoManifest {
    /// Returns the tag of the temporary names for carrying out this entry.
    pub(in crate::undo) fn temp_tag(&self) -> TempTag {
        TempTag::from_bytes(self.entry.id.as_str().as_bytes())
    }

    /// Returns every copy that the entry needs.
    pub(in crate::undo) fn required_copies(&self) -> impl Iterator<Item = (&Digest, u64)> {
        let nodes = self
            .steps
            .iter()
            .flat_map(|step| [&step.before, &step.after]);
        nodes.filter_map(|node| match node {
            Node::File { blob, bytes, .. } => Some((blob, *bytes)),
            Node::Absent | Node::Folder { .. } | Node::Link { .. } => None,
        })
    }
}

/// The entries of a history.
#[derive(Debug, Default)]
pub(in crate::undo) struct EntryList {
    /// The oldest first.
    pub entries: Vec<UndoEntry>,
    pub unreadable: usize,
}

/// The folder of manifests.
#[derive(Debug, Clone)]
pub(in crate::undo) struct ManifestStore(pub PathBuf);

impl ManifestStore {
    fn manifest_path(&self, id: &UndoId) -> PathBuf {
        self.0
            .join(format!("{}.json", file_name_for_id(id.as_str())))
    }

    /// Saves the manifest, and has it on disk when it returns.
    pub(in crate::undo) fn save(&self, manifest: &UndoManifest) -> Result<(), FileError> {
        let path = self.manifest_path(&manifest.entry.id);
        let bytes = serde_json::to_vec(manifest)
            .map_err(|error| FileError::from_display(path.display().to_string(), error))?;
        write_atomic(&path, &bytes, 0o600)
    }

    pub(in crate::undo) fn load(&self, id: &UndoId) -> Result<Option<UndoManifest>, UserError> {
        let path = self.manifest_path(id);
        let Some(file) = open_manifest(&path)? else {
            return Ok(None);
        };
        let mut bytes = Vec::new();
        (&file)
            .read_to_end(&mut bytes)
            .map_err(|error| unreadable_error(&path, &error))?;
        serde_json::from_slice(&bytes)
            .map(Some)
            .map_err(|error| unreadable_error(&path, &error))
    }

    pub(in crate::undo) fn remove(&self, id: &UndoId) -> Result<(), FileError> {
        remove_if_exists(&self.manifest_path(id))?;
        crash_point().at("the history")
    }

    /// Lists every entry in its present state, without its paths. One that cannot be read is logged, counted and left
    /// alone.
    pub(in crate::undo) fn list(&self) -> Result<EntryList, UserError> {
        let failed = |error: io::Error| unreadable_error(&self.0, &error);
        let mut listed = EntryList::default();
        for file in fs::read_dir(&self.0).map_err(failed)? {
            let path = file.map_err(failed)?.path();
            if path.extension().is_none_or(|ending| ending != "json") {
                continue;
            }
            match read_entry(&path) {
                Ok(Some(entry)) => listed.entries.push(entry),
                Ok(None) => {}
                Err(fault) => {
                    tracing::warn!(%fault, context = ?fault.context, "left alone");
                    listed.unreadable += 1;
                }
            }
        }
        // Ids of one moment grow longer, or else come in the order of their letters.
        listed.entries.sort_by(|one, other| {
            let key = |entry: &UndoEntry| (entry.at, entry.id.as_str().len());
            key(one)
                .cmp(&key(other))
                .then_with(|| one.id.cmp(&other.id))
        });
        states::fold_states(&mut listed.entries);
        Ok(listed)
    }

    /// Returns the space that all entries take together, in bytes.
    pub(in crate::undo) fn total_bytes(&self) -> io::Result<u64> {
        let mut bytes = 0;
        for entry in fs::read_dir(&self.0)? {
            bytes += match entry?.metadata() {
                Err(error) if error.kind() == io::ErrorKind::NotFound => 0,
                meta => meta?.len(),
            };
        }
        Ok(bytes)
    }

    /// Removes half-written files of an earlier run.
    pub(in crate::undo) fn remove_partial_files(&self) -> io::Result<()> {
        for entry in fs::read_dir(&self.0)? {
            let entry = entry?;
            if entry.file_name().to_string_lossy().starts_with('.') {
                fs::remove_file(entry.path())?;
            }
        }
        Ok(())
    }
}

/// Reads the entry at the beginning of a manifest.
fn read_entry(path: &Path) -> Result<Option<UndoEntry>, UserError> {
    const START: &[u8] = br#"{"entry":"#;
    let Some(file) = open_manifest(path)? else {
        return Ok(None);
    };
    let failed = |error: &dyn std::error::Error| unreadable_error(path, error);
    let mut reader = BufReader::new(file);
    let mut start = [0; START.len()];
    reader
        .read_exact(&mut start)
        .map_err(|error| failed(&error))?;
    if start != *START {
        return Err(failed(&io::Error::other("it does not begin with an entry")));
    }
    let mut values = serde_json::Deserializer::from_reader(reader).into_iter();
    values.next().transpose().map_err(|error| failed(&error))
}

/// Opens a manifest, if there is one of a length that can be read.
fn open_manifest(path: &Path) -> Result<Option<File>, UserError> {
    let failed = |error: io::Error| unreadable_error(path, &error);
    let file = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        other => other.map_err(failed)?,
    };
    let length = file.metadata().map_err(failed)?.len();
    match length > MANIFEST_BYTES_MAX {
        true => Err(failed(io::Error::other(format!(
            "it is {length} bytes long"
        )))),
        false => Ok(Some(file)),
    }
}

fn unreadable_error(path: &Path, error: &dyn std::error::Error) -> UserError {
    UserError::new(
        format!("The history entry `{}` cannot be read.", path.display()),
        "Restore the data folder from a backup, or drop the entry.",
    )
    .with_source(error)
}
