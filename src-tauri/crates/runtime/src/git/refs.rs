//! What a command did to a repository: whether every commit that a branch held is still held by one.

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::fs;
use std::path::{Path, PathBuf};

use gix_hash::ObjectId;
use protocol::rule::evidence::GitSettingsChange;
use protocol::{CapturedEffects, Digest, Node, Plan};

use super::Repository;
use super::checkout::{describe_hidden_files, describe_moved_head};
use super::foreign_commits::describe_foreign_commit;
use super::removed_objects::loses_objects;
use super::settings::compare_settings;
use crate::dry_run::read_contents;
use crate::fs::repository_folders::read_line_file;
use crate::fs::workspace::Workspace;

/// How many commits are followed. A history that would need more counts as dropped.
pub(super) const COMMITS_MAX: usize = 20_000;

/// Longest list of packed refs that is read, in bytes.
const PACKED_REFS_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Files at the top of `.git` that the everyday commands write.
const EVERYDAY_FILES: &[&str] = &[
    "index",
    "HEAD",
    "ORIG_HEAD",
    "FETCH_HEAD",
    "MERGE_HEAD",
    "MERGE_MSG",
    "MERGE_MODE",
    "AUTO_MERGE",
    "CHERRY_PICK_HEAD",
    "REVERT_HEAD",
    "REBASE_HEAD",
    "SQUASH_MSG",
    "COMMIT_EDITMSG",
    "packed-refs",
    "gc.log",
    "BISECT_ANCESTORS_OK",
    "BISECT_EXPECTED_REV",
    "BISECT_FIRST_PARENT",
    "BISECT_LOG",
    "BISECT_RUN",
    "BISECT_START",
];

/// Files at the top of `.git` that earlier versions of git give to a shell: the paths that a bisection is limited to, and its
/// words for good and bad. Plain words do nothing there.
const SHELL_WORD_FILES: &[&str] = &["BISECT_NAMES", "BISECT_TERMS"];

/// Refs that hold commits for as long as a bisection goes on.
const BISECT_REFS: &str = "refs/bisect/";

/// Folders of `.git` that the everyday commands write in.
const EVERYDAY_FOLDERS: &[&str] = &[
    "objects",
    "refs",
    "logs",
    "rebase-merge",
    "rebase-apply",
    "sequencer",
];

/// Names of the branch that a project goes on from.
const MAIN_BRANCHES: &[&str] = &["main", "master", "trunk", "develop"];

/// Ref of the newest stash.
const STASH: &str = "refs/stash";

/// Folder of `.git` with the refs that let git show one object in the place of another.
const REPLACEMENTS: &str = "refs/replace";

/// File below `.git` that lists the refs for those who fetch them without git, and that a repack writes.
const LIST_OF_REFS: &str = "info/refs";

/// Folder of `.git` with the objects.
const OBJECTS: &str = "objects";

/// Path of the settings below `.git`.
const SETTINGS: &str = "config";

/// Longest settings that are compared, in bytes.
pub(super) const SETTINGS_BYTES_MAX: u64 = 1024 * 1024;

/// What a command did to the repository of its workspace.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RepositoryChange {
    /// What no everyday command does, in one sentence; none if there is nothing else: every commit is still held.
    pub unusual: Option<String>,
    /// Change of the settings, if none of them could run a program.
    pub settings: Option<GitSettingsChange>,
}

/// Examines the changes of a plan below `.git` of its workspace; none if there are none. `is_own` tells by path and content
/// what the session wrote, such as a tag. Reads files, so it must not run on an async thread.
pub fn examine_repository_change(
    workspace: &Workspace,
    plan: &Plan,
    is_own: &dyn Fn(&str, &Digest) -> bool,
) -> Option<RepositoryChange> {
    let Plan::Effects(captured) = plan else {
        return None;
    };
    let changes = GitChanges::new(captured);
    if changes.0.is_empty() {
        return None;
    }
    let settings = examine_settings(workspace, captured);
    let unusual = changes
        .describe_unusual(settings.as_ref(), &captured.layer)
        .or_else(|| match Repository::discover(workspace.root()) {
            Some(repository) if repository.common_dir == workspace.root().join(".git") => {
                let repository = repository.with_layer(captured);
                match loses_objects(&repository, &changes.removed_below(OBJECTS)) {
                    true => Some("It removes objects of the repository.".to_owned()),
                    false => {
                        let refs = RefsChange::new(&repository, &changes, captured);
                        describe_dropped(&repository, captured, &changes, &refs, is_own)
                            .or_else(|| describe_moved_head(&repository, captured, &refs))
                            .or_else(|| {
                                let before = Repository::discover(workspace.root())?;
                                describe_hidden_files(&before, &repository)
                            })
                    }
                }
            }
            Some(_) | None => Some("It changes a repository that cannot be read.".to_owned()),
        });
    Some(RepositoryChange { unusual, settings })
}

/// Examines a change of the settings; none if they did not change, or in a setting that could run a program.
fn examine_settings(
    workspace: &Workspace,
    captured: &CapturedEffects,
) -> Option<GitSettingsChange> {
    let path = Path::new(".git").join(SETTINGS);
    let step = captured.steps.iter().find(|step| step.path == path)?;
    let contents = read_contents(workspace, captured, step, SETTINGS_BYTES_MAX);
    let (before, after) = contents.ok()?;
    compare_settings(&before?, &after?)
}

/// The changed paths below `.git`, relative to it, each with its state afterwards.
struct GitChanges<'a>(BTreeMap<&'a Path, &'a Node>);

impl<'a> GitChanges<'a> {
    fn new(captured: &'a CapturedEffects) -> Self {
        let steps = captured.steps.iter();
        Self(
            steps
                .filter_map(|step| Some((step.path.strip_prefix(".git").ok()?, &step.after)))
                .filter(|(path, _)| !path.as_os_str().is_empty())
                .collect(),
        )
    }

    /// Returns the removed paths below a folder of `.git`, relative to it.
    fn removed_below(&self, folder: &str) -> HashSet<&Path> {
        let removed = self.0.iter().filter(|(_, after)| ***after == Node::Absent);
        removed
            .filter_map(|(path, _)| path.strip_prefix(folder).ok())
            .filter(|below| !below.as_os_str().is_empty())
            .collect()
    }

    /// Describes a change that no everyday command makes. Settings that are known are looked at by themselves.
    fn describe_unusual(
        &self,
        settings: Option<&GitSettingsChange>,
        layer: &Path,
    ) -> Option<String> {
        self.0.iter().find_map(|(path, after)| {
            if *path == Path::new(SETTINGS) && settings.is_some() {
                return None;
            }
            let mut parts = path
                .components()
                .filter_map(|part| part.as_os_str().to_str());
            let first = parts.next().unwrap_or_default();
            let is_file = parts.next().is_none();
            let is_everyday_file = EVERYDAY_FILES.contains(&first)
                || SHELL_WORD_FILES.contains(&first)
                    && has_plain_words(&layer.join(".git").join(path), after);
            let is_everyday = (EVERYDAY_FOLDERS.contains(&first) || (is_file && is_everyday_file))
                && !path.starts_with(REPLACEMENTS)
                || *path == Path::new(LIST_OF_REFS);
            (!is_everyday).then(|| format!("It changes `.git/{}`.", path.display()))
        })
    }
}

/// Whether a file in a layer is gone, or holds plain words, quoted or not.
fn has_plain_words(file: &Path, after: &Node) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || " \n'-_./".contains(c);
    match after {
        Node::Absent => true,
        Node::File { .. } => read_line_file(file).is_some_and(|text| text.chars().all(is_plain)),
        Node::Link { .. } | Node::Folder { .. } => false,
    }
}

/// The refs of a repository, by name, and where each leads.
#[derive(Debug, Clone, Default)]
pub(super) struct Refs {
    packed: BTreeMap<String, ObjectId>,
    loose: BTreeMap<String, ObjectId>,
    /// The commit that is checked out without a branch.
    pub detached: Option<ObjectId>,
}

impl Refs {
    pub fn read(common_dir: &Path) -> Self {
        let mut refs = Self {
            packed: read_packed_refs(&common_dir.join("packed-refs")),
            ..Self::default()
        };
        refs.detached = read_id(&common_dir.join("HEAD"));
        let mut open = vec![PathBuf::from("refs")];
        while let Some(folder) = open.pop() {
            let entries = fs::read_dir(common_dir.join(&folder)).into_iter().flatten();
            for entry in entries.flatten() {
                let path = folder.join(entry.file_name());
                match entry.file_type() {
                    Ok(kind) if kind.is_dir() => open.push(path),
                    Ok(_) | Err(_) => {
                        let id = read_id(&common_dir.join(&path));
                        refs.loose
                            .extend(id.map(|id| (path.to_string_lossy().into_owned(), id)));
                    }
                }
            }
        }
        refs
    }

    /// Returns the refs after the changes, whose files lie in a layer.
    fn after(&self, changes: &GitChanges<'_>, layer: &Path) -> Self {
        let mut refs = self.clone();
        for (path, after) in &changes.0 {
            let file = layer.join(".git").join(path);
            let exists = **after != Node::Absent;
            match path.to_str().unwrap_or_default() {
                "HEAD" => refs.detached = read_id(&file),
                "packed-refs" if exists => refs.packed = read_packed_refs(&file),
                "packed-refs" => refs.packed.clear(),
                name if name.starts_with("refs/") => match read_id(&file).filter(|_| exists) {
                    Some(id) => drop(refs.loose.insert(name.to_owned(), id)),
                    None => drop(refs.loose.remove(name)),
                },
                _ => {}
            }
        }
        refs
    }

    pub fn get(&self, name: &str) -> Option<&ObjectId> {
        self.loose.get(name).or_else(|| self.packed.get(name))
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        let packed = self
            .packed
            .keys()
            .filter(|name| !self.loose.contains_key(*name));
        self.loose.keys().chain(packed).map(String::as_str)
    }

    /// The commits by which others are held for good. A stash holds the commit that it was made on, but only until it is
    /// applied.
    fn holders(&self) -> impl Iterator<Item = ObjectId> {
        let names = self.names().filter(|name| *name != STASH);
        let named = names.filter_map(|name| self.get(name).copied());
        named.chain(self.detached)
    }

    pub fn tips(&self) -> impl Iterator<Item = ObjectId> {
        let named = self.names().filter_map(|name| self.get(name).copied());
        named.chain(self.detached)
    }
}

/// The refs before a command and after it.
pub(super) struct RefsChange {
    pub before: Refs,
    pub after: Refs,
}

impl RefsChange {
    fn new(repository: &Repository, changes: &GitChanges<'_>, captured: &CapturedEffects) -> Self {
        let before = Refs::read(&repository.common_dir);
        let after = before.after(changes, &captured.layer);
        Self { before, after }
    }
}

/// Returns the commits that refs lead to, that which is checked out first.
pub(super) fn read_tips(git_dir: &Path, common_dir: &Path) -> Vec<ObjectId> {
    let refs = Refs::read(common_dir);
    let branch = read_branch(git_dir).and_then(|branch| refs.get(&branch).copied());
    let detached = read_id(&git_dir.join("HEAD"));
    branch
        .into_iter()
        .chain(detached)
        .chain(refs.tips())
        .collect()
}

/// Returns the refs with where each leads, and `HEAD` if no branch is checked out.
pub(super) fn list_refs(common_dir: &Path) -> Vec<(String, ObjectId)> {
    let refs = Refs::read(common_dir);
    let named = refs.names().filter_map(|name| {
        let id = refs.get(name)?;
        Some((name.to_owned(), *id))
    });
    let detached = refs.detached.map(|id| ("HEAD".to_owned(), id));
    named.chain(detached).collect()
}

/// Returns the names of the refs after a plan.
pub(super) fn list_names_after(common_dir: &Path, plan: &Plan) -> Vec<String> {
    let refs = Refs::read(common_dir);
    let refs = match plan {
        Plan::Effects(captured) => refs.after(&GitChanges::new(captured), &captured.layer),
        Plan::None | Plan::Write(_) | Plan::Remove(_) => refs,
    };
    refs.names().map(str::to_owned).collect()
}

/// Returns the commits that refs lead to after a command, and did not lead to before.
pub(super) fn moved_tips(common_dir: &Path, captured: &CapturedEffects) -> Vec<ObjectId> {
    let before = Refs::read(common_dir);
    let after = before.after(&GitChanges::new(captured), &captured.layer);
    let known: HashSet<ObjectId> = before.tips().collect();
    after.tips().filter(|tip| !known.contains(tip)).collect()
}

/// Describes the first commits or tags that nothing holds afterwards.
fn describe_dropped(
    repository: &Repository,
    captured: &CapturedEffects,
    changes: &GitChanges<'_>,
    refs: &RefsChange,
    is_own: &dyn Fn(&str, &Digest) -> bool,
) -> Option<String> {
    let RefsChange { before, after } = refs;
    let all_after: Vec<ObjectId> = after.holders().collect();
    let held = |name: &str| before.get(name).filter(|id| after.get(name) != Some(id));
    for name in before.names() {
        let Some(old) = held(name) else {
            continue;
        };
        if let Some(tag) = name.strip_prefix("refs/tags/") {
            let file = fs::read(repository.common_dir.join(name));
            let path = format!(".git/{name}");
            if file.is_ok_and(|content| is_own(&path, &Digest::from_bytes(&content))) {
                continue;
            }
            return Some(format!("It moves or deletes the tag `{tag}`."));
        }
        if let Some(branch) = name.strip_prefix("refs/remotes/")
            && after.get(name).is_none()
        {
            return Some(format!("It forgets `{branch}`, a branch of a remote."));
        }
        let Some(branch) = name.strip_prefix("refs/heads/") else {
            continue;
        };
        let is_forward = after
            .get(name)
            .is_some_and(|new| reaches(repository, &[*new], old));
        if is_forward {
            continue;
        }
        let all_before: Vec<ObjectId> = before.holders().collect();
        let dropped = list_commits_only_of(repository, *old, &all_after);
        let new = after.get(name);
        let written = new.map_or_else(
            || Some(HashSet::new()),
            |new| list_commits_only_of(repository, *new, &all_before),
        );
        if let (Some(dropped), Some(written)) = (&dropped, &written)
            && !written.is_empty()
            && !keeps_authors(repository, dropped, written)
        {
            return Some(format!(
                "It changes who wrote commits of the branch `{branch}`."
            ));
        }
        match (dropped.map(|it| it.len()), written.map(|it| it.len())) {
            // The branch went to a commit that was there before, or is gone, and what it held is held elsewhere.
            (Some(0), Some(0)) if is_everyday_move(branch, new, before) => {}
            (Some(0), Some(0)) => {
                return Some(format!(
                    "It moves the branch `{branch}`, which others work on, to another commit."
                ));
            }
            (Some(0), Some(_)) => {
                return Some(format!(
                    "It rewrites commits of `{branch}` that were pushed or are in another branch."
                ));
            }
            // A rebase or an amendment of work that only this branch had.
            (Some(dropped), Some(written))
                if written >= dropped
                    && is_based_on(repository, *old, &all_before, new)
                    && gains_as_many(repository, *old, new) => {}
            (Some(dropped), Some(_)) => {
                let commits = match dropped {
                    1 => "1 commit".to_owned(),
                    many => format!("{many} commits"),
                };
                return Some(format!(
                    "It drops {commits} that only the branch `{branch}` holds."
                ));
            }
            (None, _) | (_, None) => {
                return Some(format!(
                    "It moves the branch `{branch}`, whose history is too long to be compared."
                ));
            }
        }
    }
    if let Some(said) = describe_foreign_commit(repository, before, after) {
        return Some(said);
    }
    let bisected = before.names().filter(|name| name.starts_with(BISECT_REFS));
    let mut loose = before.detached.iter().chain(bisected.filter_map(held));
    if loose.any(|old| !reaches(repository, &all_after, old)) {
        return Some("It leaves commits that no branch holds.".to_owned());
    }
    describe_dropped_stash(repository, captured, changes)
}

/// Whether a branch goes to a commit that was there before, or is gone, as everyday commands let it: it is nobody else's,
/// or follows the branch of the remote.
fn is_everyday_move(branch: &str, new: Option<&ObjectId>, before: &Refs) -> bool {
    let is_main = MAIN_BRANCHES.contains(&branch);
    let at_remotes: Vec<&ObjectId> = before
        .names()
        .filter_map(|name| name.strip_prefix("refs/remotes/").map(|rest| (name, rest)))
        .filter(|(_, rest)| rest.split_once('/').is_some_and(|(_, of)| of == branch))
        .filter_map(|(name, _)| before.get(name))
        .collect();
    match new {
        None => !is_main,
        Some(new) => at_remotes.contains(&new) || !is_main && at_remotes.is_empty(),
    }
}

/// Describes a stash that was dropped, and not applied to files.
fn describe_dropped_stash(
    repository: &Repository,
    captured: &CapturedEffects,
    changes: &GitChanges<'_>,
) -> Option<String> {
    let log = Path::new("logs/refs/stash");
    let after = changes.0.get(log)?;
    let before = count_lines(&repository.common_dir.join(log));
    let after = match after {
        Node::Absent => 0,
        Node::File { .. } | Node::Link { .. } | Node::Folder { .. } => {
            count_lines(&captured.layer.join(".git").join(log))
        }
    };
    let changes_files = captured
        .steps
        .iter()
        .any(|step| !step.path.starts_with(".git"));
    (after < before && !changes_files).then(|| "It drops stashed changes.".to_owned())
}

fn count_lines(path: &Path) -> usize {
    fs::read(path).map_or(0, |text| text.iter().filter(|byte| **byte == b'\n').count())
}

/// Whether a branch that was rewritten goes on from a commit that was there before. Where the whole branch was written
/// anew, its first commit counts for that.
fn is_based_on(
    repository: &Repository,
    old: ObjectId,
    before: &[ObjectId],
    new: Option<&ObjectId>,
) -> bool {
    let count = |tip, known: &[ObjectId]| {
        list_commits_only_of(repository, tip, known).map(|commits| commits.len())
    };
    let is_root = |tip| count(tip, &[]) == Some(1);
    new.is_some_and(|new| count(*new, &[]) > count(*new, before) || is_root(old))
}

/// Whether a commit is reached from any of the tips.
fn reaches(repository: &Repository, tips: &[ObjectId], sought: &ObjectId) -> bool {
    let mut seen = HashSet::new();
    let mut open: VecDeque<ObjectId> = tips.iter().copied().collect();
    while let Some(id) = open.pop_front() {
        if id == *sought {
            return true;
        }
        if seen.len() >= COMMITS_MAX {
            return false;
        }
        if seen.insert(id) {
            open.extend(repository.commit_parents(&id).unwrap_or_default());
        }
    }
    false
}

/// Returns the commits that are reached from `tip` and from none of the others; none if there are too many to tell.
fn list_commits_only_of(
    repository: &Repository,
    tip: ObjectId,
    others: &[ObjectId],
) -> Option<HashSet<ObjectId>> {
    let known = collect_commits(repository, others.to_vec(), &HashSet::new())?;
    collect_commits(repository, vec![tip], &known)
}

/// Whether a branch that was rewritten has at least as many new commits as it left behind, of its own or of other branches.
fn gains_as_many(repository: &Repository, old: ObjectId, new: Option<&ObjectId>) -> bool {
    let count = |tip, other| list_commits_only_of(repository, tip, &[other]).map(|it| it.len());
    new.is_some_and(|new| {
        let (left, gained) = (count(old, *new), count(*new, old));
        left.zip(gained)
            .is_some_and(|(left, gained)| gained >= left)
    })
}

/// Whether everybody who wrote one of the dropped commits wrote one of those in their place.
fn keeps_authors(
    repository: &Repository,
    dropped: &HashSet<ObjectId>,
    written: &HashSet<ObjectId>,
) -> bool {
    let list_authors = |commits: &HashSet<ObjectId>| -> HashSet<String> {
        let authors = commits.iter().filter_map(|id| repository.commit_author(id));
        authors.collect()
    };
    list_authors(dropped).is_subset(&list_authors(written))
}

/// Returns the commits that are reached from the tips without passing one of `known`; none if there are too many.
pub(super) fn collect_commits(
    repository: &Repository,
    mut open: Vec<ObjectId>,
    known: &HashSet<ObjectId>,
) -> Option<HashSet<ObjectId>> {
    let mut seen = HashSet::new();
    while let Some(id) = open.pop() {
        if known.contains(&id) || !seen.insert(id) {
            continue;
        }
        if seen.len() > COMMITS_MAX {
            return None;
        }
        open.extend(repository.commit_parents(&id).unwrap_or_default());
    }
    Some(seen)
}

/// Reads the commit or tag that the file of a ref names.
pub(super) fn read_id(path: &Path) -> Option<ObjectId> {
    ObjectId::from_hex(read_line_file(path)?.as_bytes()).ok()
}

/// Returns the ref of the branch that is checked out; none if there is none.
pub(super) fn read_branch(git_dir: &Path) -> Option<String> {
    let head = read_line_file(&git_dir.join("HEAD"))?;
    Some(head.strip_prefix("ref: ")?.to_owned())
}

/// Reads the packed refs: `ID NAME`, one a line, with comments and peeled tags between them.
fn read_packed_refs(path: &Path) -> BTreeMap<String, ObjectId> {
    let is_short = fs::metadata(path).is_ok_and(|meta| meta.len() <= PACKED_REFS_BYTES_MAX);
    let text = is_short.then(|| fs::read_to_string(path).ok()).flatten();
    let text = text.unwrap_or_default();
    let lines = text.lines().filter(|line| !line.starts_with(['#', '^']));
    lines
        .filter_map(|line| {
            let (id, name) = line.split_once(' ')?;
            Some((name.to_owned(), ObjectId::from_hex(id.as_bytes()).ok()?))
        })
        .collect()
}
