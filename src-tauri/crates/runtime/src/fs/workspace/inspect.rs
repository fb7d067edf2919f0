//! Properties of a path beyond those of a plain file: a pipe, a device, or a file that has other names as well.

use std::path::Path;

use protocol::{Access, ResolvedAccess};

#[cfg(unix)]
use crate::fs::workspace::LinkNameWalk;
use crate::fs::workspace::Workspace;
#[cfg(unix)]
use crate::limits::LINK_NAMES_SCANNED_MAX;

/// The result of inspecting a path.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PathInspection {
    /// Kind of the entry, where writing to it is not writing a file: "a pipe", "a device", "a socket".
    pub special: Option<&'static str>,
    /// The other names of the same file in the workspace, relative to its root.
    pub names: Vec<String>,
    /// Whether the file has names that were not found.
    pub has_more: bool,
}

impl Workspace {
    /// Resolves a word of a command, if it may be a path: an entry exists there, or could be created there. Links are
    /// followed, as [`Self::resolve`] does.
    pub fn resolve_command_word(&self, access: &Access) -> Option<ResolvedAccess> {
        let word = &access.target;
        let fact = self.resolve(access);
        if fact.unresolved.is_some() {
            // A text that no path can be is none; what may not be looked at is.
            let is_absolute = Path::new(word).is_absolute() || word.starts_with("..");
            let hidden = is_absolute && !word.contains(char::is_whitespace);
            return hidden.then_some(fact);
        }
        let real = self.root().join(&fact.real);
        if fact.inside && !word.contains(char::is_whitespace) || real.symlink_metadata().is_ok() {
            return Some(fact);
        }
        // A pattern begins with a slash, too, and whoever may make files beside the root needs nobody's leave.
        let folder = real.parent().filter(|folder| folder.parent().is_some())?;
        let in_folder = word.contains(std::path::is_separator) && folder.is_dir();
        in_folder.then_some(fact)
    }

    /// Returns the special kind of the entry that an access leads to, and the other names of a file that has several.
    pub fn inspect_path(&self, fact: &ResolvedAccess) -> PathInspection {
        inspect_real_path(self.root(), &self.root().join(&fact.real))
    }
}

/// Inspects a real path, its links followed.
#[cfg(unix)]
fn inspect_real_path(root: &Path, real: &Path) -> PathInspection {
    use std::os::unix::fs::{FileTypeExt, MetadataExt};

    let Ok(meta) = std::fs::metadata(real) else {
        return PathInspection::default();
    };
    let kind = meta.file_type();
    if kind.is_file() && meta.nlink() > 1 && real.starts_with(root) {
        return find_other_names(root, real, &meta);
    }
    let special = match () {
        () if kind.is_fifo() => Some("a pipe"),
        () if kind.is_char_device() || kind.is_block_device() => Some("a device"),
        () if kind.is_socket() => Some("a socket"),
        () => None,
    };
    PathInspection {
        special,
        ..PathInspection::default()
    }
}

/// Inspects a real path, its links followed.
#[cfg(not(unix))]
fn inspect_real_path(_root: &Path, _real: &Path) -> PathInspection {
    PathInspection::default()
}

/// Folders whose files often have names in a store elsewhere, and that hold no denied files.
#[cfg(unix)]
const STORE_FOLDERS: &[&str] = &["node_modules", "objects", "target"];

/// Finds the other names of a file that has several.
#[cfg(unix)]
fn find_other_names(root: &Path, real: &Path, meta: &std::fs::Metadata) -> PathInspection {
    use std::collections::HashSet;
    use std::os::unix::fs::MetadataExt;

    let others = usize::try_from(meta.nlink() - 1).unwrap_or(usize::MAX);
    let file = HashSet::from([meta.ino()]);
    let names: Vec<String> = LinkNameWalk::new(root, meta.dev(), &file)
        .skipping_folders(STORE_FOLDERS)
        .with_limit(LINK_NAMES_SCANNED_MAX)
        .filter(|path| path != real)
        .take(others)
        .map(|path| {
            let name = path.strip_prefix(root).unwrap_or(&path);
            name.to_string_lossy().into_owned()
        })
        .collect();
    PathInspection {
        special: None,
        has_more: names.len() < others,
        names,
    }
}
