//! One history entry on disk: what stood at each path before and after.
//!
//! An entry that is `Prepared` is its own journal: what a call was about to do, and may have done in part, is taken back
//! or sealed; what a person took back is finished.

use std::fs::{self, File};
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use protocol::history::Node;
use protocol::{Digest, Direction, Fault, UndoEntry, UndoId};
use serde::{Deserialize, Serialize};

use super::states;
use crate::dir::Traits;
use crate::limits::MANIFEST_BYTES_MAX;
use crate::spill::file_name;
use crate::steps::between;
use crate::temp::Tag;
use crate::{FileError, write_atomic};

/// A way from the workspace root. It need not be UTF-8, so it is text where it can be and bytes where it cannot.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(from = "Spelled", into = "Spelled")]
pub(crate) struct Way(pub PathBuf);

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Spelled {
    Text(String),
    Bytes(Vec<u8>),
}

impl From<Way> for Spelled {
    fn from(way: Way) -> Self {
        match way.0.into_os_string().into_string() {
            Ok(text) => Self::Text(text),
            Err(name) => Self::Bytes(name.into_encoded_bytes()),
        }
    }
}

impl From<Spelled> for Way {
    fn from(spelled: Spelled) -> Self {
        match spelled {
            Spelled::Text(text) => Self(text.into()),
            #[cfg(unix)]
            Spelled::Bytes(bytes) => {
                use std::os::unix::ffi::OsStringExt;
                Self(std::ffi::OsString::from_vec(bytes).into())
            }
            #[cfg(not(unix))]
            Spelled::Bytes(bytes) => Self(String::from_utf8_lossy(&bytes).into_owned().into()),
        }
    }
}

/// One path of an entry.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Step {
    pub path: Way,
    pub before: Node,
    pub after: Node,
    /// A folder made on the way to a new file: an undo lets it stay when something else is in it by then.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub made: bool,
    /// Owner, attributes and names before and after, where there is something to say of them.
    #[serde(default, skip_serializing_if = "Traits::is_plain")]
    pub before_traits: Traits,
    #[serde(default, skip_serializing_if = "Traits::is_plain")]
    pub after_traits: Traits,
}

impl Step {
    /// What is to stand there after going `direction`.
    pub(super) fn to(&self, direction: Direction) -> &Node {
        match direction {
            Direction::Undo => &self.before,
            Direction::Redo => &self.after,
        }
    }

    /// Whether there is a moment on the way at which nothing stands there: a folder cannot be replaced in one step.
    pub(super) fn passes_absence(&self) -> bool {
        match (&self.before, &self.after) {
            (Node::Absent, _) | (_, Node::Absent) => false,
            (Node::Folder { .. }, other) | (other, Node::Folder { .. }) => {
                !matches!(other, Node::Folder { .. })
            }
            (Node::File { .. } | Node::Link { .. }, Node::File { .. } | Node::Link { .. }) => false,
        }
    }

    /// What it is to have beside content, mode and time then.
    pub(super) fn traits_to(&self, direction: Direction) -> &Traits {
        match direction {
            Direction::Undo => &self.before_traits,
            Direction::Redo => &self.after_traits,
        }
    }
}

/// A folder that stays while names in it come and go.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Touched {
    pub path: Way,
    pub before_ns: i64,
    /// Known once the effect stands.
    pub after_ns: Option<i64>,
}

/// What the receipt of a person's act tells beside the steps.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Deed {
    /// Paths that stayed as they were, and why.
    pub kept: Vec<(Way, String)>,
    /// Paths that got both changes.
    pub merged: Vec<Way>,
}

/// An entry with everything that a restore needs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Manifest {
    /// First, so that a list of entries need not read on.
    pub entry: UndoEntry,
    pub root: Way,
    /// Temporary names of the call's own effect.
    pub effect: Tag,
    /// In order of the paths: a folder comes before what is in it.
    pub steps: Vec<Step>,
    pub touched: Vec<Touched>,
    /// Whether it is known to the byte, and to the mode, what stands there after the effect.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub known: bool,
    /// A failed effect is on its way back: folders get their times, even where all paths are there already.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub going_back: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deed: Option<Deed>,
}

impl Manifest {
    /// Temporary names of carrying this entry.
    pub(super) fn tag(&self) -> Tag {
        Tag::of(self.entry.id.as_str().as_bytes())
    }

    /// Every copy that it needs.
    pub(super) fn blobs(&self) -> impl Iterator<Item = (&Digest, u64)> {
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
pub(super) struct Listed {
    /// The oldest first.
    pub entries: Vec<UndoEntry>,
    pub unreadable: usize,
}

/// The folder of manifests.
#[derive(Debug, Clone)]
pub(super) struct Entries(pub PathBuf);

impl Entries {
    fn file(&self, id: &UndoId) -> PathBuf {
        self.0.join(format!("{}.json", file_name(id.as_str())))
    }

    /// Has the manifest on disk when it returns.
    pub(super) fn save(&self, manifest: &Manifest) -> Result<(), FileError> {
        let path = self.file(&manifest.entry.id);
        let bytes = serde_json::to_vec(manifest)
            .map_err(|error| FileError::other(path.display().to_string(), error))?;
        write_atomic(&path, &bytes, 0o600)
    }

    pub(super) fn load(&self, id: &UndoId) -> Result<Option<Manifest>, Fault> {
        let path = self.file(id);
        let Some(file) = open(&path)? else {
            return Ok(None);
        };
        let mut bytes = Vec::new();
        (&file)
            .read_to_end(&mut bytes)
            .map_err(|error| unreadable(&path, &error))?;
        serde_json::from_slice(&bytes)
            .map(Some)
            .map_err(|error| unreadable(&path, &error))
    }

    pub(super) fn forget(&self, id: &UndoId) -> Result<(), FileError> {
        let path = self.file(id);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(FileError::from_io(path.display().to_string(), &error))
            }
            _ => between().map_err(|error| FileError::from_io("the history", &error)),
        }
    }

    /// Every entry as it stands, without its paths. One that cannot be read is named in the log, counted and left alone.
    pub(super) fn list(&self) -> Result<Listed, Fault> {
        let failed = |error: io::Error| unreadable(&self.0, &error);
        let mut listed = Listed::default();
        for file in fs::read_dir(&self.0).map_err(failed)? {
            let path = file.map_err(failed)?.path();
            if path.extension().is_none_or(|ending| ending != "json") {
                continue;
            }
            match head(&path) {
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
        states::fold(&mut listed.entries);
        Ok(listed)
    }

    /// What all entries take together, in bytes.
    pub(super) fn bytes(&self) -> io::Result<u64> {
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
    pub(super) fn sweep(&self) -> io::Result<()> {
        for entry in fs::read_dir(&self.0)? {
            let entry = entry?;
            if entry.file_name().to_string_lossy().starts_with('.') {
                fs::remove_file(entry.path())?;
            }
        }
        Ok(())
    }
}

/// The entry that a manifest begins with.
fn head(path: &Path) -> Result<Option<UndoEntry>, Fault> {
    const START: &[u8] = br#"{"entry":"#;
    let Some(file) = open(path)? else {
        return Ok(None);
    };
    let failed = |error: &dyn std::error::Error| unreadable(path, error);
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

/// A manifest, if there is one of a length that can be read.
fn open(path: &Path) -> Result<Option<File>, Fault> {
    let failed = |error: io::Error| unreadable(path, &error);
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

fn unreadable(path: &Path, error: &dyn std::error::Error) -> Fault {
    Fault::new(
        format!("The history entry `{}` cannot be read.", path.display()),
        "Restore the data folder from a backup, or drop the entry.",
    )
    .caused_by(error)
}
