//! Files of a workspace, reached by directory handle and never by a path that was checked first and opened later.

use std::path::{Path, PathBuf};

use protocol::{Access, Digest, Fact, Fault};

use crate::FileError;
use crate::limits;

/// A granted folder. Cheap to clone.
///
/// Paths are relative to its root with `/`, or absolute. `.`, `..` and links are followed to where they lead; what leads
/// out is [`FileError::Outside`].
#[derive(Debug, Clone)]
pub struct Workspace {
    root: PathBuf,
}

/// A piece of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileBytes {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// Length of the whole file, in bytes.
    pub total: u64,
    /// Modification time, nanoseconds since the epoch.
    pub mtime_ns: i128,
}

/// What stands at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PathKind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link.
    Link,
    /// A pipe, socket or device.
    Special,
}

impl PathKind {
    /// `file`, `folder`, `link` or `special`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Folder => "folder",
            Self::Link => "link",
            Self::Special => "special",
        }
    }
}

/// How much of a tree is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TreeLimits {
    /// Entries beyond which it is an error.
    pub items_max: usize,
    /// Bytes beyond which lines are not counted.
    pub lines_bytes_max: u64,
}

impl Default for TreeLimits {
    fn default() -> Self {
        Self {
            items_max: limits::TREE_ITEMS_MAX,
            lines_bytes_max: limits::TREE_LINES_BYTES_MAX,
        }
    }
}

/// Everything at and below a path, links not followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tree {
    /// The path itself first, then all below it; a folder comes before what is in it, names in byte order.
    pub items: Vec<TreeItem>,
    /// Digest over names, kinds, modes, sizes and modification times: [`protocol::plan::Removal::listing`].
    pub digest: Digest,
    /// Everything that is not a folder.
    pub files: u64,
    /// Folders.
    pub folders: u64,
    /// Length of all regular files, in bytes.
    pub bytes: u64,
    /// Lines of text in them; none when there were too many bytes to count.
    pub lines: Option<u64>,
}

/// One entry of a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeItem {
    /// Relative to the workspace root; need not be UTF-8.
    pub path: PathBuf,
    /// What it is.
    pub kind: PathKind,
    /// Length in bytes; 0 for what is not a regular file.
    pub bytes: u64,
    /// Permission bits.
    pub mode: u32,
    /// Modification time, nanoseconds since the epoch.
    pub mtime_ns: i128,
}

impl Workspace {
    /// Opens a folder.
    ///
    /// # Errors
    /// When it does not exist, is no folder, or may not be opened.
    pub fn open(root: &Path) -> Result<Self, Fault> {
        Ok(Self {
            root: root.to_owned(),
        })
    }

    /// The real path of the folder, absolute.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The same workspace with one more folder that may be read, by absolute path.
    ///
    /// # Errors
    /// As [`Workspace::open`].
    pub fn with_readable(&self, folder: &Path) -> Result<Self, Fault> {
        let _ = folder;
        Ok(self.clone())
    }

    /// Where an access really leads: links followed, `..` resolved, the missing tail of a path allowed. For
    /// [`protocol::Capability::FsDelete`] the last part is not followed, since the link goes and not what it points to.
    /// Commands and hosts pass through.
    pub fn resolve(&self, access: &Access) -> Fact {
        Fact {
            capability: access.capability,
            target: access.target.clone(),
            real: access.target.clone(),
            inside: false,
            unresolved: Some("not built yet".to_owned()),
        }
    }

    /// At most `bytes_max` bytes of a file from `from` on.
    ///
    /// # Errors
    /// Every kind of [`FileError`] but `TooLarge`.
    pub fn read(&self, path: &str, from: u64, bytes_max: u64) -> Result<FileBytes, FileError> {
        let _ = (from, bytes_max);
        Err(FileError::other(path, "not built yet"))
    }

    /// A whole file; none if there is none.
    ///
    /// # Errors
    /// [`FileError::TooLarge`] beyond `bytes_max`; else as [`Workspace::read`].
    pub fn read_whole(&self, path: &str, bytes_max: u64) -> Result<Option<Vec<u8>>, FileError> {
        let _ = bytes_max;
        Err(FileError::other(path, "not built yet"))
    }

    /// What stands at a path, the last part not followed; none if nothing does.
    ///
    /// # Errors
    /// Outside, or no permission on the way.
    pub fn kind(&self, path: &str) -> Result<Option<PathKind>, FileError> {
        Err(FileError::other(path, "not built yet"))
    }

    /// Everything at and below `path`, the last part not followed.
    ///
    /// # Errors
    /// Outside, not found, no permission somewhere below, or too many entries.
    pub fn tree(&self, path: &str, limits: TreeLimits) -> Result<Tree, FileError> {
        let _ = limits;
        Err(FileError::other(path, "not built yet"))
    }
}
