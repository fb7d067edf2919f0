//! What git knows of a workspace: read from its repository, without running git, whose settings may name programs.

mod checkout;
mod commit_signatures;
mod database_rows;
mod foreign_commits;
mod gone_rows;
mod ignored;
mod known_contents;
mod line_changes;
mod loss;
mod notebook_cells;
mod personal_settings;
mod pushed_files;
mod refs;
mod remotes;
mod removed_objects;
mod settings;
mod share;
mod stored_forms;
mod unpushed;

use std::path::{Path, PathBuf};

use gix_hash::{Kind, ObjectId};
use gix_object::{Data, Exists as _, Find as _, Kind as ObjectKind};
use protocol::{CapturedEffects, Node};

pub use gone_rows::{GoneRows, find_gone_rows, holds_rows};
pub use ignored::count_build_outputs;
pub use known_contents::KnownContents;
pub use loss::{UnversionedChanges, UnversionedLoss, examine_unversioned_changes};
pub use pushed_files::find_pushed_files;
pub use refs::{RepositoryChange, examine_repository_change};
pub use remotes::{KnownRemote, find_fetch_remote, find_push_remote};
pub use share::{ChangedShare, find_large_share};
pub use unpushed::{UnpushedText, visit_unpushed_texts};

use self::commit_signatures::CommitSignatures;
use crate::fs::repository_folders::{RepositoryFolders, read_index};

/// How many commits are searched for a file. What only a further one has counts as unknown to git.
const TIPS_MAX: usize = 200;

/// A repository, opened to read objects from it.
struct Repository {
    work_tree: PathBuf,
    /// The folder with the refs and objects, which all work trees share.
    common_dir: PathBuf,
    objects: gix_odb::Handle,
    /// The files that are staged; none if they cannot be read.
    index: Option<gix_index::File>,
    /// The commits that refs lead to.
    tips: Vec<ObjectId>,
    layer: Option<Layer>,
}

/// What a command wrote into the repository, in a layer over it.
struct Layer {
    objects: gix_odb::Handle,
    /// The commits that refs were moved to.
    tips: Vec<ObjectId>,
}

impl Repository {
    /// Finds the repository of a folder: in it, or in a folder above; none if there is none that can be read.
    fn discover(folder: &Path) -> Option<Self> {
        let mut work_trees = folder.ancestors();
        work_trees.find_map(|work_tree| Self::open(RepositoryFolders::of_work_tree(work_tree)?))
    }

    fn open(folders: RepositoryFolders) -> Option<Self> {
        let RepositoryFolders {
            work_tree,
            git_dir,
            common_dir,
        } = folders;
        let objects = gix_odb::at(common_dir.join("objects"), Kind::Sha1).ok()?;
        Some(Self {
            work_tree,
            index: read_index(&git_dir),
            tips: refs::read_tips(&git_dir, &common_dir),
            common_dir,
            objects,
            layer: None,
        })
    }

    /// Adds what a command wrote into the repository of its workspace, if it wrote anything there. What is staged is what
    /// the command left so.
    fn with_layer(mut self, captured: &CapturedEffects) -> Self {
        let mut changed = captured.steps.iter();
        if let Some(step) = changed.find(|step| step.path == Path::new(".git/index")) {
            self.index = match step.after {
                Node::File { .. } => read_index(&captured.layer.join(".git")),
                Node::Absent | Node::Link { .. } | Node::Folder { .. } => None,
            };
        }
        let folder = captured.layer.join(".git").join("objects");
        if folder.is_dir()
            && let Ok(objects) = gix_odb::at(folder, Kind::Sha1)
        {
            let tips = refs::moved_tips(&self.common_dir, captured);
            self.layer = Some(Layer { objects, tips });
        }
        self
    }

    /// Whether git has this content of a file, in the form in which it keeps it: staged, or in a commit that a ref leads to, before a command or after it.
    /// An object that nothing leads to does not count: git removes it some day. The path is absolute.
    fn has_content(&self, path: &Path, content: &[u8]) -> bool {
        let Ok(path) = path.strip_prefix(&self.work_tree) else {
            return false;
        };
        stored_forms::list_stored_forms(content, &self.common_dir).any(|form| {
            let id = gix_object::compute_hash(Kind::Sha1, ObjectKind::Blob, &form);
            id.is_ok_and(|id| self.is_staged(path, &id) || self.is_committed(path, &id))
        })
    }

    fn is_staged(&self, path: &Path, blob: &ObjectId) -> bool {
        let name = path.to_string_lossy();
        let index = self.index.as_ref();
        let entry = index.and_then(|index| index.entry_by_path(name.as_bytes().into()));
        entry.is_some_and(|entry| entry.id == *blob)
    }

    fn is_committed(&self, path: &Path, blob: &ObjectId) -> bool {
        let made = self.layer.iter().flat_map(|layer| &layer.tips);
        // A stash keeps untracked files in one of its parents.
        let parents = made.clone().filter_map(|tip| self.commit_parents(tip));
        let parents: Vec<ObjectId> = parents.flatten().collect();
        let tips = self.tips.iter().chain(made).chain(&parents);
        tips.take(TIPS_MAX)
            .any(|commit| self.find_in_commit(commit, path) == Some(*blob))
    }

    /// Returns the versions of a file that git has for the next commit and for the last: what is staged, and what is
    /// checked out. The path is absolute.
    fn read_versions(&self, path: &Path) -> Vec<Vec<u8>> {
        let Ok(path) = path.strip_prefix(&self.work_tree) else {
            return Vec::new();
        };
        let name = path.to_string_lossy();
        let index = self.index.as_ref();
        let staged = index.and_then(|index| index.entry_by_path(name.as_bytes().into()));
        let head = self.tips.first();
        let committed = head.and_then(|head| self.find_in_commit(head, path));
        let blobs = staged.map(|entry| entry.id).into_iter().chain(committed);
        blobs
            .filter_map(|id| {
                let mut buffer = Vec::new();
                Some(self.find_object(&id, &mut buffer)?.data.to_owned())
            })
            .collect()
    }

    /// Returns the object at a path in the tree of a commit.
    fn find_in_commit(&self, commit: &ObjectId, path: &Path) -> Option<ObjectId> {
        let mut buffer = Vec::new();
        let commit = self.find_object(commit, &mut buffer)?;
        let mut id = commit.try_into_commit_iter()?.tree_id().ok()?;
        for name in path.components() {
            let mut buffer = Vec::new();
            let tree = self.find_object(&id, &mut buffer)?.try_into_tree_iter()?;
            let name = name.as_os_str().as_encoded_bytes();
            let entry = tree
                .filter_map(Result::ok)
                .find(|entry| entry.filename == name)?;
            id = entry.oid.to_owned();
        }
        Some(id)
    }

    /// Returns the parents of a commit; none if there is no such commit.
    fn commit_parents(&self, id: &ObjectId) -> Option<Vec<ObjectId>> {
        let mut buffer = Vec::new();
        let commit = self.find_object(id, &mut buffer)?.try_into_commit_iter()?;
        Some(commit.parent_ids().collect())
    }

    /// Returns who wrote a commit, with name and address; none if there is no such commit.
    fn commit_author(&self, id: &ObjectId) -> Option<String> {
        Some(self.commit_signatures(id)?.author)
    }

    /// Returns whose names a commit bears; none if there is no such commit.
    fn commit_signatures(&self, id: &ObjectId) -> Option<CommitSignatures> {
        let mut buffer = Vec::new();
        CommitSignatures::from_object(&self.find_object(id, &mut buffer)?)
    }

    /// Whether a command wrote this object.
    fn is_in_layer(&self, id: &ObjectId) -> bool {
        let layer = self.layer.as_ref();
        layer.is_some_and(|layer| layer.objects.exists(id))
    }

    fn find_object<'a>(&self, id: &ObjectId, buffer: &'a mut Vec<u8>) -> Option<Data<'a>> {
        let layer = self.layer.as_ref().map(|layer| &layer.objects);
        let store = [Some(&self.objects), layer]
            .into_iter()
            .flatten()
            .find(|store| store.exists(id))?;
        store.try_find(id, buffer).ok().flatten()
    }
}
