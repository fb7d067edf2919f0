//! What a command did to the checkout: the branch that it is on, and the files whose changes git shows.

use std::path::Path;

use gix_hash::ObjectId;
use gix_index::entry::Flags;
use protocol::CapturedEffects;

use super::Repository;
use super::refs::{RefsChange, read_branch};

/// By these git takes a file for unchanged, whatever it holds.
const HIDING: Flags = Flags::ASSUME_VALID.union(Flags::SKIP_WORKTREE);

/// Describes a checkout that went to another branch without its files, in one sentence; none if it did not.
pub(super) fn describe_moved_head(
    repository: &Repository,
    captured: &CapturedEffects,
    refs: &RefsChange,
) -> Option<String> {
    let is_changed = |name: &str| {
        let path = Path::new(".git").join(name);
        captured.steps.iter().any(|step| step.path == path)
    };
    // Whoever goes to another branch with its files stages them.
    if !is_changed("HEAD") || is_changed("index") {
        return None;
    }
    let old = refs.before.get(&read_branch(&repository.common_dir)?)?;
    let branch = read_branch(&captured.layer.join(".git"))?;
    let new = refs.after.get(&branch)?;
    let name = branch.strip_prefix("refs/heads/").unwrap_or(&branch);
    let is_same = read_tree(repository, old)? == read_tree(repository, new)?;
    (!is_same).then(|| format!("It goes to the branch `{name}` without its files."))
}

/// Describes files whose changes git does not show any more, in one sentence; none if there are no such files.
pub(super) fn describe_hidden_files(before: &Repository, after: &Repository) -> Option<String> {
    let (before, after) = (before.index.as_ref()?, after.index.as_ref()?);
    let mut hidden = after.entries().iter().filter_map(|entry| {
        let name = entry.path(after);
        let was_hidden = before
            .entry_by_path(name)
            .is_some_and(|entry| entry.flags.intersects(HIDING));
        (entry.flags.intersects(HIDING) && !was_hidden).then(|| name.to_string())
    });
    let first = hidden.next()?;
    Some(match hidden.count() {
        0 => format!("It hides changes of `{first}` from Git."),
        1 => format!("It hides changes of `{first}` and one more file from Git."),
        more => format!("It hides changes of `{first}` and {more} more files from Git."),
    })
}

fn read_tree(repository: &Repository, commit: &ObjectId) -> Option<ObjectId> {
    let mut buffer = Vec::new();
    let commit = repository.find_object(commit, &mut buffer)?;
    commit.try_into_commit_iter()?.tree_id().ok()
}
