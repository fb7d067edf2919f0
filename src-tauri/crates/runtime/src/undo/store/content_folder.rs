//! A folder of files that are named by their content: `ab/abcd…`, with the storage form at the end of the name.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::path::Path;

use protocol::Digest;

use crate::fs::dir::{Dir, is_not_found};
use crate::fs::fault_injection::crash_point;

/// Name of the folder beside the shelves that holds incomplete files.
pub(super) const NEW_FOLDER_NAME: &str = "new";

/// How a file holds its content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum StorageForm {
    /// Uncompressed.
    Plain,
    /// One zstd frame.
    Packed,
    /// A list of pieces, which are files themselves.
    ChunkList,
}

impl StorageForm {
    pub(super) const ALL: [Self; 3] = [Self::Plain, Self::Packed, Self::ChunkList];
    /// Forms in which a content is one file.
    pub(super) const WHOLE: [Self; 2] = [Self::Plain, Self::Packed];

    fn name_suffix(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Packed => ".zst",
            Self::ChunkList => ".list",
        }
    }
}

/// The name of one file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ContentName {
    pub digest: Digest,
    pub form: StorageForm,
}

impl ContentName {
    pub(super) fn new(digest: &Digest, form: StorageForm) -> Self {
        Self {
            digest: digest.clone(),
            form,
        }
    }

    /// Parses a file name; `None` for a file that does not belong to the store.
    fn parse(name: &OsStr) -> Option<Self> {
        let name = name.to_str()?;
        let (digest, ending) = name.split_at_checked(DIGEST_CHARS)?;
        let form = StorageForm::ALL
            .into_iter()
            .find(|form| form.name_suffix() == ending)?;
        Some(Self::new(&Digest::from(digest), form))
    }

    pub(super) fn file_name(&self) -> OsString {
        format!("{}{}", self.digest, self.form.name_suffix()).into()
    }

    pub(super) fn folder_name(&self) -> &Path {
        Path::new(self.digest.as_str().get(..2).unwrap_or("00"))
    }
}

/// Length of a digest in a name.
const DIGEST_CHARS: usize = 64;

/// The folder.
#[derive(Debug, Clone)]
pub(super) struct ContentFolder(pub Dir);

impl ContentFolder {
    /// Returns the length of a content's file in each of some forms, for those that exist.
    pub(super) fn find_forms(
        &self,
        digest: &Digest,
        forms: &[StorageForm],
    ) -> io::Result<Vec<(ContentName, u64)>> {
        let mut stored = Vec::new();
        let Some(first) = forms.first() else {
            return Ok(stored);
        };
        let shelf = match self
            .0
            .open_folder(ContentName::new(digest, *first).folder_name())
        {
            Err(error) if is_not_found(&error) => return Ok(stored),
            other => other?,
        };
        for form in forms {
            let name = ContentName::new(digest, *form);
            if let Some(stat) = shelf.stat(&name.file_name())? {
                stored.push((name, stat.bytes));
            }
        }
        Ok(stored)
    }

    /// Opens a file; `None` if it does not exist.
    pub(super) fn open_content(&self, name: &ContentName) -> io::Result<Option<File>> {
        match self.0.open_file(&name.folder_name().join(name.file_name())) {
            Err(error) if is_not_found(&error) => Ok(None),
            other => other.map(Some),
        }
    }

    /// Returns the space that all files take together, in bytes.
    pub(super) fn disk_bytes(&self) -> io::Result<u64> {
        let mut bytes = 0;
        for shelf in self.0.list_names()? {
            let folder = self.0.open_folder(Path::new(&shelf))?;
            for name in folder.list_names()? {
                bytes += folder.stat(&name)?.map_or(0, |stat| stat.bytes);
            }
        }
        Ok(bytes)
    }

    /// Removes half-written files of an earlier run.
    pub(super) fn remove_partial_files(&self) -> io::Result<()> {
        let new = match self.0.open_folder(Path::new(NEW_FOLDER_NAME)) {
            Err(error) if is_not_found(&error) => return Ok(()),
            other => other?,
        };
        for name in new.list_names()? {
            new.remove_tree(&name)?;
        }
        Ok(())
    }

    /// Removes every file that is not in `keep`. Lists are removed first: where a list exists, its pieces do.
    pub(super) fn retain_only(&self, keep: &BTreeSet<ContentName>) -> io::Result<()> {
        let mut rest = Vec::new();
        for shelf in self.0.list_names()? {
            if shelf == *NEW_FOLDER_NAME {
                continue;
            }
            let folder = self.0.open_folder(Path::new(&shelf))?;
            let mut others = Vec::new();
            for file in folder.list_names()? {
                match ContentName::parse(&file) {
                    Some(name) if keep.contains(&name) => {}
                    Some(name) if name.form == StorageForm::ChunkList => {
                        folder.remove_file(&file)?;
                        crash_point()?;
                    }
                    Some(_) | None => others.push(file),
                }
            }
            rest.push((shelf, others));
        }
        for (shelf, others) in rest {
            let folder = self.0.open_folder(Path::new(&shelf))?;
            for file in others {
                folder.remove_file(&file)?;
                crash_point()?;
            }
        }
        Ok(())
    }
}
