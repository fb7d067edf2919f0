//! Files that a command adds to git and pushes, and that the session did not write.

use std::fs;
use std::path::Path;

use gix_hash::ObjectId;
use gix_index::entry::Mode;
use protocol::{CapturedEffects, Digest};

use super::Repository;
use super::refs::read_id;
use crate::fs::workspace::Workspace;

/// Longest file that is compared with what the session wrote, in bytes. A longer one is none of it.
const FILE_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Where git notes what the branches of a remote hold, after a push as after a fetch.
const REMOTES: &str = ".git/refs/remotes";

/// What git has staged.
const INDEX: &str = ".git/index";

/// Returns the files that a command stages for the first time and pushes, other than those that it made itself, that git has
/// the content of, or that `is_own` tells by path and content. The paths are relative to the workspace root. Reads files, so
/// it must not run on an async thread.
pub fn find_pushed_files(
    workspace: &Workspace,
    captured: &CapturedEffects,
    is_own: &dyn Fn(&str, &Digest) -> bool,
) -> Vec<String> {
    let changed = || captured.steps.iter().map(|step| &step.path);
    let pushed: Vec<ObjectId> = changed()
        .filter(|path| path.starts_with(REMOTES))
        .filter_map(|path| read_id(&captured.layer.join(path)))
        .collect();
    if pushed.is_empty() || !changed().any(|path| path == Path::new(INDEX)) {
        return Vec::new();
    }
    let root = workspace.root();
    let (Some(before), Some(after)) = (Repository::discover(root), Repository::discover(root))
    else {
        return Vec::new();
    };
    let after = after.with_layer(captured);
    let Some(index) = &after.index else {
        return Vec::new();
    };
    let added = index.entries().iter().filter_map(|entry| {
        let name = entry.path(index);
        let is_file = matches!(entry.mode, Mode::FILE | Mode::FILE_EXECUTABLE);
        let staged_before = before.index.as_ref();
        let staged_before = staged_before.and_then(|index| index.entry_by_path(name));
        if !is_file || staged_before.is_some() {
            return None;
        }
        let name = name.to_string();
        let is_in = |commit| after.find_in_commit(commit, Path::new(&name)).is_some();
        if !pushed.iter().any(is_in) {
            return None;
        }
        let file = before.work_tree.join(&name);
        let path = file.strip_prefix(root).ok()?.to_str()?;
        let meta = fs::symlink_metadata(&file)
            .ok()
            .filter(fs::Metadata::is_file)?;
        if meta.len() > FILE_BYTES_MAX {
            return Some(path.to_owned());
        }
        let content = fs::read(&file).ok()?;
        let is_known =
            is_own(path, &Digest::from_bytes(&content)) || before.has_content(&file, &content);
        (!is_known).then(|| path.to_owned())
    });
    added.collect()
}
