//! Files that are found by their paths alone, and read: ignored ones too, since secrets are kept out of git.

use std::fs;

use ignore::WalkBuilder;

use crate::Workspace;

/// How deep below the workspace root files are looked for.
const DEPTH_MAX: usize = 6;

/// How many files are read.
const FILES_MAX: usize = 200;

/// Longest file that is read, in bytes.
const FILE_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// Folders that are not entered: what packages bring along, and git's own.
const SKIPPED_FOLDERS: &[&str] = &[
    ".git",
    "node_modules",
    "target",
    ".venv",
    "venv",
    "__pycache__",
];

/// A file with its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedFile {
    /// Path relative to the workspace root, `/`-separated.
    pub path: String,
    /// The content.
    pub content: Vec<u8>,
}

/// Reads the regular files of a workspace whose paths are wanted. Links are not followed, and files that are too large or
/// cannot be read are left out. Reads files, so it must not run on an async thread.
pub fn read_named_files(workspace: &Workspace, is_wanted: &dyn Fn(&str) -> bool) -> Vec<NamedFile> {
    let walk = WalkBuilder::new(workspace.root())
        .standard_filters(false)
        .max_depth(Some(DEPTH_MAX))
        .filter_entry(|entry| {
            let name = entry.file_name().to_str();
            !name.is_some_and(|name| entry.depth() > 0 && SKIPPED_FOLDERS.contains(&name))
        })
        .build();
    let wanted = walk.flatten().filter_map(|entry| {
        let below = entry.path().strip_prefix(workspace.root()).ok()?;
        let path = below.to_str()?.replace(std::path::MAIN_SEPARATOR, "/");
        let meta = entry.metadata().ok()?;
        let is_read = meta.is_file() && meta.len() <= FILE_BYTES_MAX && is_wanted(&path);
        let content = is_read.then(|| fs::read(entry.path()).ok()).flatten()?;
        Some(NamedFile { path, content })
    });
    wanted.take(FILES_MAX).collect()
}
