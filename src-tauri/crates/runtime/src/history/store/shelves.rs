//! A folder of files that are named by what is in them: `ab/abcd…`, and at the end of the name in which form.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::path::Path;

use protocol::Digest;

use crate::dir::{Dir, is_absence};
use crate::steps::between;

/// What is below the shelves, but is none: what is not complete yet.
pub(super) const NEW: &str = "new";

/// How a file holds its content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Form {
    /// As it is.
    Plain,
    /// As one zstd frame.
    Packed,
    /// As a list of pieces, which are files themselves.
    List,
}

impl Form {
    pub(super) const ALL: [Self; 3] = [Self::Plain, Self::Packed, Self::List];
    /// In which a content is one file.
    pub(super) const WHOLE: [Self; 2] = [Self::Plain, Self::Packed];

    fn ending(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Packed => ".zst",
            Self::List => ".list",
        }
    }
}

/// The name of one file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Name {
    pub digest: Digest,
    pub form: Form,
}

impl Name {
    pub(super) fn new(digest: &Digest, form: Form) -> Self {
        Self {
            digest: digest.clone(),
            form,
        }
    }

    /// The name that a file has; none for a file that is not ours.
    fn read(name: &OsStr) -> Option<Self> {
        let name = name.to_str()?;
        let (digest, ending) = name.split_at_checked(DIGEST_CHARS)?;
        let form = Form::ALL.into_iter().find(|form| form.ending() == ending)?;
        Some(Self::new(&Digest::from(digest), form))
    }

    pub(super) fn file(&self) -> OsString {
        format!("{}{}", self.digest, self.form.ending()).into()
    }

    pub(super) fn shelf(&self) -> &Path {
        Path::new(self.digest.as_str().get(..2).unwrap_or("00"))
    }
}

/// Length of a digest in its name.
const DIGEST_CHARS: usize = 64;

/// The folder.
#[derive(Debug, Clone)]
pub(super) struct Shelves(pub Dir);

impl Shelves {
    /// How long the file of a content is in each of some forms, for those that are there.
    pub(super) fn find(&self, digest: &Digest, forms: &[Form]) -> io::Result<Vec<(Name, u64)>> {
        let mut found = Vec::new();
        let Some(first) = forms.first() else {
            return Ok(found);
        };
        let shelf = match self.0.folder(Name::new(digest, *first).shelf()) {
            Err(error) if is_absence(&error) => return Ok(found),
            other => other?,
        };
        for form in forms {
            let name = Name::new(digest, *form);
            if let Some(stat) = shelf.stat(&name.file())? {
                found.push((name, stat.bytes));
            }
        }
        Ok(found)
    }

    /// Opens a file; none where it is not there.
    pub(super) fn open(&self, name: &Name) -> io::Result<Option<File>> {
        match self.0.file(&name.shelf().join(name.file())) {
            Err(error) if is_absence(&error) => Ok(None),
            other => other.map(Some),
        }
    }

    /// What all files take together, in bytes.
    pub(super) fn bytes(&self) -> io::Result<u64> {
        let mut bytes = 0;
        for shelf in self.0.names()? {
            let folder = self.0.folder(Path::new(&shelf))?;
            for name in folder.names()? {
                bytes += folder.stat(&name)?.map_or(0, |stat| stat.bytes);
            }
        }
        Ok(bytes)
    }

    /// Removes what an earlier run left half-written.
    pub(super) fn sweep(&self) -> io::Result<()> {
        let new = match self.0.folder(Path::new(NEW)) {
            Err(error) if is_absence(&error) => return Ok(()),
            other => other?,
        };
        for name in new.names()? {
            new.remove_tree(&name)?;
        }
        Ok(())
    }

    /// Removes every file that is not in `keep`. Lists go first: where one stands, its pieces do.
    pub(super) fn keep_only(&self, keep: &BTreeSet<Name>) -> io::Result<()> {
        let mut rest = Vec::new();
        for shelf in self.0.names()? {
            if shelf == *NEW {
                continue;
            }
            let folder = self.0.folder(Path::new(&shelf))?;
            let mut others = Vec::new();
            for file in folder.names()? {
                match Name::read(&file) {
                    Some(name) if keep.contains(&name) => {}
                    Some(name) if name.form == Form::List => {
                        folder.remove_file(&file)?;
                        between()?;
                    }
                    Some(_) | None => others.push(file),
                }
            }
            rest.push((shelf, others));
        }
        for (shelf, others) in rest {
            let folder = self.0.folder(Path::new(&shelf))?;
            for file in others {
                folder.remove_file(&file)?;
                between()?;
            }
        }
        Ok(())
    }
}
