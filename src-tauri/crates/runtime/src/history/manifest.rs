//! One history entry on disk: what stood at each path before and after, and which way a restore is under way.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use protocol::history::Node;
use protocol::{Fault, UndoEntry, UndoId};
use serde::{Deserialize, Serialize};

use super::Direction;
use crate::limits::MANIFEST_BYTES_MAX;
use crate::spill::file_name;
use crate::temp::Tag;
use crate::{FileError, write_atomic};

/// A way from the workspace root. It need not be UTF-8, so it is text where it can be and bytes where it cannot.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(from = "Spelled", into = "Spelled")]
pub(super) struct Way(pub PathBuf);

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
}

impl Step {
    /// What is to stand there after going `direction`.
    pub(super) fn to(&self, direction: Direction) -> &Node {
        match direction {
            Direction::Undo => &self.before,
            Direction::Redo => &self.after,
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

/// An entry with everything that a restore needs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Manifest {
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
}

/// A restore that has begun and is not known to be done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Journal {
    pub direction: Direction,
    /// Folders whose time is to be set at the end, with the time they had and the time they get.
    pub folders: Vec<(Way, i64, i64)>,
}

impl Manifest {
    /// Temporary names of restores of this entry.
    pub(super) fn tag(&self) -> Tag {
        Tag::of(self.entry.id.as_str().as_bytes())
    }
}

/// The entries of a history.
#[derive(Debug, Default)]
pub(super) struct Listed {
    pub entries: Vec<UndoEntry>,
    pub unreadable: usize,
}

/// The folder of manifests and journals.
#[derive(Debug, Clone)]
pub(super) struct Entries(pub PathBuf);

impl Entries {
    fn file(&self, id: &UndoId, ending: &str) -> PathBuf {
        self.0.join(format!("{}.{ending}", file_name(id.as_str())))
    }

    /// Has the manifest on disk when it returns.
    pub(super) fn save(&self, manifest: &Manifest) -> Result<(), FileError> {
        write_json(&self.file(&manifest.entry.id, "json"), manifest)
    }

    pub(super) fn load(&self, id: &UndoId) -> Result<Option<Manifest>, Fault> {
        read_json(&self.file(id, "json"))
    }

    pub(super) fn begin(&self, id: &UndoId, journal: &Journal) -> Result<(), FileError> {
        write_json(&self.file(id, "journal"), journal)
    }

    pub(super) fn journal(&self, id: &UndoId) -> Result<Option<Journal>, Fault> {
        read_json(&self.file(id, "journal"))
    }

    pub(super) fn done(&self, id: &UndoId) -> Result<(), FileError> {
        remove(&self.file(id, "journal"))
    }

    pub(super) fn forget(&self, id: &UndoId) -> Result<(), FileError> {
        remove(&self.file(id, "json"))
    }

    /// Every entry, without its paths. One that cannot be read is named in the log, counted and left alone.
    pub(super) fn list(&self) -> Result<Listed, Fault> {
        #[derive(Deserialize)]
        struct Head {
            entry: UndoEntry,
        }
        let failed = |error: io::Error| unreadable(&self.0, &error);
        let mut listed = Listed::default();
        for file in fs::read_dir(&self.0).map_err(failed)? {
            let path = file.map_err(failed)?.path();
            if path.extension().is_none_or(|ending| ending != "json") {
                continue;
            }
            match read_json::<Head>(&path) {
                Ok(Some(head)) => listed.entries.push(head.entry),
                Ok(None) => {}
                Err(fault) => {
                    tracing::warn!(%fault, context = ?fault.context, "left alone");
                    listed.unreadable += 1;
                }
            }
        }
        listed.entries.sort_by(|a, b| a.id.cmp(&b.id));
        Ok(listed)
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

fn write_json(path: &Path, value: &impl Serialize) -> Result<(), FileError> {
    let bytes = serde_json::to_vec(value)
        .map_err(|error| FileError::other(path.display().to_string(), error))?;
    write_atomic(path, &bytes, 0o600)
}

fn read_json<T: for<'a> Deserialize<'a>>(path: &Path) -> Result<Option<T>, Fault> {
    let length = match fs::metadata(path) {
        Ok(meta) => meta.len(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unreadable(path, &error)),
    };
    if length > MANIFEST_BYTES_MAX {
        let error = io::Error::other(format!("it is {length} bytes long"));
        return Err(unreadable(path, &error));
    }
    let bytes = fs::read(path).map_err(|error| unreadable(path, &error))?;
    serde_json::from_slice(&bytes)
        .map(Some)
        .map_err(|error| unreadable(path, &error))
}

fn unreadable(path: &Path, error: &dyn std::error::Error) -> Fault {
    Fault::new(
        format!("The history entry `{}` cannot be read.", path.display()),
        "Restore the data folder from a backup, or drop the entry.",
    )
    .caused_by(error)
}

fn remove(path: &Path) -> Result<(), FileError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(FileError::from_io(path.display().to_string(), &error))
        }
        _ => Ok(()),
    }
}
