//! Files of a workspace, reached by directory handle and never by a path that is checked first and opened later.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use protocol::{Access, Capability, Digest, ResolvedAccess, UserError};

use crate::fs::at_path::AtPath as _;
use crate::fs::dir::Dir;
use crate::fs::fault_injection;
use crate::inherited_env::InheritedEnv;
use crate::sandbox_options::SandboxOptions;
use crate::{FileError, error, limits};

mod access_scope;
mod closed_files;
mod inspect;
#[cfg(unix)]
mod link_names;
mod read;
mod readable;
mod real_path;
mod tree;

use crate::fs::workspace::access_scope::AccessScope;
pub(crate) use crate::fs::workspace::access_scope::PathUse;
pub use crate::fs::workspace::closed_files::{ClosedFiles, ClosedSource};
pub use crate::fs::workspace::inspect::PathInspection;
#[cfg(unix)]
pub(crate) use crate::fs::workspace::link_names::LinkNameWalk;
pub(crate) use crate::fs::workspace::read::read_range;
use crate::fs::workspace::readable::ReadableRoots;
pub(crate) use crate::fs::workspace::tree::list_tree_at;

/// A granted folder. Cheap to clone.
///
/// Paths are relative to its root with `/`, or absolute. `.`, `..` and links are followed to their targets; a path that
/// leads out is [`FileError::Outside`].
#[derive(Debug, Clone)]
pub struct Workspace {
    root: Arc<Root>,
    readable: ReadableRoots,
    closed: ClosedFiles,
    inherited: InheritedEnv,
    sandbox_options: SandboxOptions,
    reach: AccessScope,
}

/// A granted folder: its real path, and the handle through which everything below it is reached.
#[derive(Debug)]
pub(crate) struct Root {
    pub path: PathBuf,
    pub dir: Dir,
}

/// A resolved path.
#[derive(Debug)]
pub(crate) struct ResolvedPath {
    /// The granted folder that the path is in.
    pub root: Arc<Root>,
    /// The path relative to that folder, without links, `.` and `..`; empty for the folder itself.
    pub rel: PathBuf,
}

/// A part of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileBytes {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// Length of the whole file, in bytes.
    pub total: u64,
    /// Modification time, nanoseconds since the epoch.
    pub mtime_ns: i64,
}

/// The kind of the entry at a path.
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
    /// Returns `file`, `folder`, `link` or `special`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Folder => "folder",
            Self::Link => "link",
            Self::Special => "special",
        }
    }
}

/// Limits on listing a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TreeLimits {
    /// Entries beyond which listing fails.
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
    /// Digest over names, kinds, modes, sizes and modification times: [`protocol::call::plan::Removal::listing`].
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
    /// Kind of the entry.
    pub kind: PathKind,
    /// Length in bytes; 0 if it is not a regular file.
    pub bytes: u64,
    /// Permission bits.
    pub mode: u32,
    /// Modification time, nanoseconds since the epoch.
    pub mtime_ns: i64,
}

impl Workspace {
    /// Opens a folder.
    ///
    /// # Errors
    /// When it does not exist, is no folder, or may not be opened.
    pub fn open(root: &Path) -> Result<Self, UserError> {
        Ok(Self {
            root: Arc::new(open_root(root)?),
            readable: ReadableRoots::default(),
            closed: ClosedFiles::default(),
            inherited: InheritedEnv::default(),
            sandbox_options: SandboxOptions::default(),
            reach: AccessScope::default(),
        })
    }

    /// Returns the real path of the folder, absolute.
    pub fn root(&self) -> &Path {
        &self.root.path
    }

    /// Returns the workspace with files that no search reads.
    #[must_use]
    pub fn with_closed_files(&self, closed: ClosedFiles) -> Self {
        Self {
            closed,
            ..self.clone()
        }
    }

    /// Returns the workspace with the variables that processes started in it inherit.
    #[must_use]
    pub fn with_inherited_env(&self, inherited: InheritedEnv) -> Self {
        Self {
            inherited,
            ..self.clone()
        }
    }

    /// Returns the workspace with options for the sandboxes in which its commands run.
    #[must_use]
    pub fn with_sandbox_options(&self, sandbox_options: SandboxOptions) -> Self {
        Self {
            sandbox_options,
            ..self.clone()
        }
    }

    /// Returns the options for the sandboxes in which commands run.
    #[cfg(any(target_os = "linux", target_os = "macos"))]
    pub(crate) fn sandbox_options(&self) -> &SandboxOptions {
        &self.sandbox_options
    }

    /// Returns what says which variables processes started in the workspace inherit.
    pub fn inherited_env(&self) -> &InheritedEnv {
        &self.inherited
    }

    /// Returns the variables that processes started in the workspace inherit.
    pub(crate) fn inherited_variables(&self) -> Vec<(OsString, OsString)> {
        self.inherited.inherited_variables()
    }

    /// Whether a search must not read a file.
    pub(crate) fn is_closed(&self, path: &str) -> bool {
        let closes = self.closed.closes.as_ref();
        closes.is_some_and(|closes| closes(path))
    }

    /// Returns the source that decides which files are closed, if it is known.
    pub(crate) fn closed_source(&self) -> Option<ClosedSource> {
        self.closed.by.as_ref().and_then(|by| by())
    }

    /// Resolves an access to its real target: links followed, `..` resolved, the missing tail of a path allowed. For
    /// [`Capability::FsDelete`] the last part is not followed, since the link is removed and not its target. Commands
    /// and hosts pass through. A path in a readable folder is inside for reading and stays absolute.
    pub fn resolve(&self, access: &Access) -> ResolvedAccess {
        let fact = |real: String, inside: bool, unresolved: Option<String>| ResolvedAccess {
            capability: access.capability,
            target: access.target.clone(),
            real,
            inside,
            unresolved,
            doubt: None,
            derived: false,
        };
        let (follow_last, reading) = match access.capability {
            Capability::FsRead => (true, true),
            Capability::FsWrite => (true, false),
            Capability::FsDelete => (false, false),
            Capability::NetFetch | Capability::ShellRun => {
                return fact(access.target.clone(), true, None);
            }
        };
        let real = match self.resolve_real_path(&access.target, follow_last) {
            Ok(real) => real,
            Err(error) => return fact(access.target.clone(), false, Some(error.to_string())),
        };
        if real.to_str().is_none() {
            let why = "the path leads to a name that is not UTF-8, which no rule can speak of";
            return fact(display_path(&real), false, Some(why.to_owned()));
        }
        if let Ok(rel) = real.strip_prefix(self.root()) {
            return fact(display_path(rel), true, None);
        }
        let granted = reading && self.readable.find_root(&real).is_some();
        fact(display_path(&real), granted, None)
    }

    /// Returns the kind of the entry at a path, the last part not followed; `None` if there is none.
    ///
    /// # Errors
    /// Outside, or no permission on the way.
    pub fn path_kind(&self, path: &str) -> Result<Option<PathKind>, FileError> {
        let place = self.resolve_readable(path, false, PathUse::List)?;
        let stat = place.root.dir.stat_at(&place.rel);
        Ok(stat.at(path)?.map(|stat| stat.kind))
    }

    /// Returns the handle of the root.
    pub(crate) fn dir(&self) -> &Dir {
        &self.root.dir
    }

    /// Resolves a path in the workspace itself.
    pub(crate) fn resolve_in_root(
        &self,
        path: &str,
        follow_last: bool,
    ) -> Result<PathBuf, FileError> {
        let real = self.resolve_real_path(path, follow_last)?;
        match real.strip_prefix(self.root()) {
            Ok(rel) => Ok(rel.to_owned()),
            Err(_) => Err(outside_workspace_error(path, &real)),
        }
    }

    /// Resolves a path that is to be written (its last part followed) or removed (not followed): only the workspace
    /// itself is allowed, and in it only places that may be used so.
    pub(crate) fn resolve_writable(
        &self,
        path: &str,
        path_use: PathUse,
    ) -> Result<PathBuf, FileError> {
        let rel = self.resolve_in_root(path, path_use != PathUse::Delete)?;
        self.check_access(path, &join_path(self.root(), &rel), path_use)?;
        fault_injection::race_point();
        Ok(rel)
    }

    /// Resolves a path that is to be read: in the workspace or a readable folder.
    pub(crate) fn resolve_readable(
        &self,
        path: &str,
        follow_last: bool,
        path_use: PathUse,
    ) -> Result<ResolvedPath, FileError> {
        let real = self.resolve_real_path(path, follow_last)?;
        let root = match real.starts_with(self.root()) {
            true => Some(Arc::clone(&self.root)),
            false => self.readable.find_root(&real),
        };
        let Some(root) = root else {
            return Err(outside_workspace_error(path, &real));
        };
        let Ok(rel) = real.strip_prefix(&root.path).map(Path::to_owned) else {
            return Err(outside_workspace_error(path, &real));
        };
        self.check_access(path, &real, path_use)?;
        fault_injection::race_point();
        Ok(ResolvedPath { root, rel })
    }

    /// Opens the target of a path, and resolves again when the path changes meanwhile. The file that is opened is the
    /// one that was resolved: from the handle of the root on every link is refused, so the resolved path is the real
    /// path of the open file.
    pub(crate) fn open_resolved<T>(
        &self,
        path: &str,
        open: impl Fn(&ResolvedPath) -> io::Result<T>,
    ) -> Result<T, FileError> {
        for _ in 0..limits::RACES_MAX {
            let place = self.resolve_readable(path, true, PathUse::Read)?;
            match open(&place) {
                Ok(opened) => return Ok(opened),
                Err(error) if error::is_link_refused(&error) => {}
                Err(error) => return Err(FileError::from_io(path, &error)),
            }
        }
        Err(FileError::Changed {
            path: path.to_owned(),
        })
    }

    fn resolve_real_path(&self, path: &str, follow_last: bool) -> Result<PathBuf, FileError> {
        if path.contains('\0') {
            return Err(FileError::from_display(
                path.replace('\0', "\\0"),
                "a path cannot hold a NUL character",
            ));
        }
        if path.len() > limits::PATH_BYTES_MAX {
            let start: String = path.chars().take(60).collect();
            return Err(FileError::from_display(
                format!("{start}…"),
                format_args!("a path can be {} bytes long", limits::PATH_BYTES_MAX),
            ));
        }
        real_path::resolve_real_path(self.root(), Path::new(path), follow_last).at(path)
    }
}

fn open_root(folder: &Path) -> Result<Root, UserError> {
    let fault = |error: &io::Error| {
        let name = folder.display();
        let (message, hint) = match error.kind() {
            io::ErrorKind::NotFound => (
                format!("The folder `{name}` does not exist."),
                "Choose a folder that exists.",
            ),
            io::ErrorKind::NotADirectory => (
                format!("`{name}` is not a folder."),
                "Choose a folder, not a file.",
            ),
            _ => (
                format!("The folder `{name}` cannot be opened."),
                "Check its permissions, or choose another folder.",
            ),
        };
        UserError::new(message, hint).with_source(error)
    };
    let path = folder.canonicalize().map_err(|error| fault(&error))?;
    let dir = Dir::open(&path).map_err(|error| fault(&error))?;
    Ok(Root { path, dir })
}

fn outside_workspace_error(path: &str, real: &Path) -> FileError {
    FileError::Outside {
        path: path.to_owned(),
        real: display_path(real),
    }
}

/// Joins a path below a root to an absolute one, part by part, because joining an empty path would add a slash.
pub(crate) fn join_path(root: &Path, rel: &Path) -> PathBuf {
    rel.iter()
        .fold(root.to_owned(), |path, name| path.join(name))
}

/// Formats a path for people and models: `/` between names, bytes that are not UTF-8 replaced.
pub(crate) fn display_path(path: &Path) -> String {
    let text = path.to_string_lossy();
    if cfg!(windows) {
        text.replace('\\', "/")
    } else {
        text.into_owned()
    }
}

#[cfg(test)]
mod tests;
