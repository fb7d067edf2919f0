//! Commits that a command wrote or approved in the name of somebody else, or with a time that is not theirs.

use std::collections::{HashSet, VecDeque};
use std::time::{SystemTime, UNIX_EPOCH};

use gix_hash::ObjectId;

use super::Repository;
use super::commit_signatures::CommitSignatures;
use super::refs::{COMMITS_MAX, Refs};

/// How long before a commit its author may have written it, in seconds, unless it was made of another one.
const WRITTEN_BEFORE_S_MAX: u64 = 24 * 60 * 60;

/// How far the time of a commit may be from the time at which a command made it, in seconds.
const MADE_APART_S_MAX: u64 = 24 * 60 * 60;

/// Describes a commit that a command wrote or approved in the name of somebody else, or with a time that is far from now, unless
/// it made it of one that was there, as by a rebase.
pub(super) fn describe_foreign_commit(
    repository: &Repository,
    before: &Refs,
    after: &Refs,
) -> Option<String> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let now_s = i64::try_from(now.unwrap_or_default().as_secs()).unwrap_or(i64::MAX);
    let tips = |starts: &[&str]| -> Vec<ObjectId> {
        let names = after
            .names()
            .filter(|name| starts.iter().any(|start| name.starts_with(start)));
        names.filter_map(|name| after.get(name).copied()).collect()
    };
    let written = |tips| collect_written_commits(repository, tips);
    let fetched = written(tips(&["refs/remotes/", "refs/tags/"]));
    let heads = tips(&["refs/heads/"]).into_iter().chain(after.detached);
    let made = written(heads.collect());
    let made = made.difference(&fetched);
    let foreign = made
        .filter_map(|id| repository.commit_signatures(id))
        .filter(|it| {
            it.author != it.committer
                || it.approver.is_some()
                || it.made_s.abs_diff(it.written_s) > WRITTEN_BEFORE_S_MAX
                || now_s.abs_diff(it.made_s) > MADE_APART_S_MAX
        });
    let mut foreign: Vec<CommitSignatures> = foreign.collect();
    if foreign.is_empty() {
        return None;
    }
    for known in list_nearest_commits(repository, before.tips()) {
        let Some(known) = repository.commit_signatures(&known) else {
            continue;
        };
        foreign.retain(|it| {
            (&it.author, it.written_s, &it.approver)
                != (&known.author, known.written_s, &known.approver)
        });
    }
    let made_up = foreign.first()?;
    Some(match &made_up.approver {
        _ if made_up.author != made_up.committer => {
            format!("It writes a commit in the name of {}.", made_up.author)
        }
        Some(approver) => format!("It writes a commit that {approver} is said to have approved."),
        None => "It writes a commit with a time that is far from now.".to_owned(),
    })
}

/// Returns the commits that a command wrote, among those that the tips lead to.
fn collect_written_commits(repository: &Repository, tips: Vec<ObjectId>) -> HashSet<ObjectId> {
    let mut written = HashSet::new();
    let mut open = tips;
    while let Some(id) = open.pop() {
        let is_written = repository.is_in_layer(&id);
        if is_written && written.len() < COMMITS_MAX && written.insert(id) {
            open.extend(repository.commit_parents(&id).unwrap_or_default());
        }
    }
    written
}

/// Returns the commits that are nearest to the tips, as many as are followed.
fn list_nearest_commits(
    repository: &Repository,
    tips: impl Iterator<Item = ObjectId>,
) -> HashSet<ObjectId> {
    let mut seen = HashSet::new();
    let mut open: VecDeque<ObjectId> = tips.collect();
    while let Some(id) = open.pop_front() {
        if seen.len() < COMMITS_MAX && seen.insert(id) {
            open.extend(repository.commit_parents(&id).unwrap_or_default());
        }
    }
    seen
}
