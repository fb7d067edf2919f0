//! What a push sends: the files and messages of commits that a remote does not have.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use gix_hash::ObjectId;
use protocol::Plan;

use super::Repository;
use super::refs::{collect_commits, list_names_after, list_refs};
use crate::fs::workspace::Workspace;

/// How many bytes of files are read.
const BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Folder of the refs that say what remotes have.
const REMOTES: &str = "refs/remotes/";

/// What is said of a commit whose texts are visited.
const UNPUSHED: &str = "of a commit that the remote does not have";

/// Beginnings of the refs that a push may send.
const PUSHED: &[&str] = &["HEAD", "refs/heads/", "refs/tags/"];

/// A text that a push sends.
pub struct UnpushedText<'a> {
    /// Where it stands: a file, a message, or a name.
    pub place: String,
    /// The text.
    pub content: &'a [u8],
}

/// Visits every file and message of the commits that a remote does not have, and every name of a branch or a tag that it
/// does not have, as far as this repository knows, after a command with this plan; without a name, that no remote has.
/// Returns whether all were visited: false if there are too many, one cannot be read, or there is no repository that can.
/// Reads files, so it must not run on an async thread.
pub fn visit_unpushed_texts(
    workspace: &Workspace,
    plan: &Plan,
    remote: Option<&str>,
    visit: &mut dyn FnMut(UnpushedText<'_>),
) -> bool {
    let Some(repository) = Repository::discover(workspace.root()) else {
        return false;
    };
    let repository = match plan {
        Plan::Effects(captured) => repository.with_layer(captured),
        Plan::None | Plan::Write(_) | Plan::Remove(_) => repository,
    };
    let had = match remote {
        Some(name) => format!("{REMOTES}{name}/"),
        None => REMOTES.to_owned(),
    };
    let (mut known, mut own) = (Vec::new(), Vec::new());
    let refs = list_refs(&repository.common_dir);
    for (name, id) in &refs {
        match &**name {
            name if name.starts_with(&had) => known.push(*id),
            name if is_pushed(name) => own.push(*id),
            _ => {}
        }
    }
    for name in list_names_after(&repository.common_dir, plan) {
        let short = name.trim_start_matches("refs/heads/");
        let is_it = |known: &str| known.starts_with(&had) && known.ends_with(&format!("/{short}"));
        if is_pushed(&name) && !refs.iter().any(|(known, _)| is_it(known)) {
            let place = "the name of a branch or a tag".to_owned();
            let content = name.as_bytes();
            visit(UnpushedText { place, content });
        }
    }
    own.extend(repository.layer.iter().flat_map(|layer| &layer.tips));
    let Some(known) = collect_commits(&repository, known, &HashSet::new()) else {
        return false;
    };
    let Some(sent) = collect_commits(&repository, own, &known) else {
        return false;
    };
    let mut visitor = UnpushedVisitor {
        repository: &repository,
        seen: HashSet::new(),
        bytes: 0,
        visit,
    };
    let mut sent: Vec<ObjectId> = sent.into_iter().collect();
    sent.sort_unstable();
    for id in &sent {
        let parents = repository.commit_parents(id).unwrap_or_default();
        for parent in parents.iter().filter(|parent| known.contains(*parent)) {
            visitor.skip_commit(parent);
        }
    }
    sent.iter().all(|id| visitor.visit_commit(id).is_some())
}

/// Whether a push may send what a ref leads to.
fn is_pushed(name: &str) -> bool {
    PUSHED.iter().any(|start| name.starts_with(start))
}

struct UnpushedVisitor<'a> {
    repository: &'a Repository,
    /// Folders and files that the remote has, or that were visited.
    seen: HashSet<ObjectId>,
    bytes: u64,
    visit: &'a mut dyn FnMut(UnpushedText<'_>),
}

impl UnpushedVisitor<'_> {
    /// Takes the files of a commit as seen.
    fn skip_commit(&mut self, id: &ObjectId) {
        let mut open: Vec<ObjectId> = self.find_tree(id).into_iter().collect();
        while let Some(tree) = open.pop() {
            for entry in self.list_entries(&tree, Path::new("")).unwrap_or_default() {
                if self.seen.insert(entry.id) && entry.is_folder {
                    open.push(entry.id);
                }
            }
        }
    }

    /// Visits the message of a commit, and its files that were not seen; none if one cannot be read.
    fn visit_commit(&mut self, id: &ObjectId) -> Option<()> {
        let mut buffer = Vec::new();
        let commit = self.repository.find_object(id, &mut buffer)?;
        let place = format!("the message {UNPUSHED}");
        let content = commit.data;
        (self.visit)(UnpushedText { place, content });
        // What is no commit has no files: a tag.
        let Some(tree) = self.find_tree(id) else {
            return Some(());
        };
        let mut open = vec![(PathBuf::new(), tree)];
        while let Some((folder, tree)) = open.pop() {
            for entry in self.list_entries(&tree, &folder)? {
                match entry.is_folder {
                    _ if !self.seen.insert(entry.id) => {}
                    true => open.push((entry.path, entry.id)),
                    false => self.visit_file(&entry)?,
                }
            }
        }
        Some(())
    }

    fn visit_file(&mut self, entry: &TreeEntry) -> Option<()> {
        let mut buffer = Vec::new();
        let content = self.repository.find_object(&entry.id, &mut buffer)?.data;
        self.bytes += content.len() as u64;
        let place = format!("`{}` {UNPUSHED}", entry.path.display());
        (self.bytes <= BYTES_MAX).then(|| (self.visit)(UnpushedText { place, content }))
    }

    fn find_tree(&self, commit: &ObjectId) -> Option<ObjectId> {
        let mut buffer = Vec::new();
        let commit = self.repository.find_object(commit, &mut buffer)?;
        commit.try_into_commit_iter()?.tree_id().ok()
    }

    /// Lists what is in a folder, without other repositories; none if it cannot be read.
    fn list_entries(&self, tree: &ObjectId, folder: &Path) -> Option<Vec<TreeEntry>> {
        let mut buffer = Vec::new();
        let tree = self.repository.find_object(tree, &mut buffer)?;
        let mut entries = Vec::new();
        for entry in tree.try_into_tree_iter()? {
            let entry = entry.ok()?;
            if !entry.mode.is_commit() {
                entries.push(TreeEntry {
                    path: folder.join(&*entry.filename.to_string()),
                    id: entry.oid.to_owned(),
                    is_folder: entry.mode.is_tree(),
                });
            }
        }
        Some(entries)
    }
}

struct TreeEntry {
    path: PathBuf,
    id: ObjectId,
    is_folder: bool,
}
