//! Captures the paths that a plan will change, before and after.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use protocol::call::plan::{FileChange, Removal};
use protocol::history::Node;
use protocol::{At, Plan};

use crate::fs::at_path::AtPath as _;
use crate::fs::dir;
use crate::fs::dir::{FileAttributes, is_not_found};
use crate::fs::workspace::{PathKind, display_path, list_tree_at};
use crate::limits::TREE_ITEMS_MAX;
use crate::undo::capture::command;
use crate::undo::entry::manifest::{RelPath, TouchedFolder, UndoStep};
use crate::undo::entry::node;
use crate::undo::permissions::UnlockedPaths;
use crate::undo::store::{CopyBatch, CopyStore};
use crate::{FileError, Workspace};

/// Expected mode of new files and folders, until the effect stands and their modes are read.
const NEW_FILE_MODE: u32 = 0o644;
const NEW_FOLDER_MODE: u32 = 0o755;

pub(in crate::undo) struct CaptureResult {
    pub steps: Vec<UndoStep>,
    pub touched: Vec<TouchedFolder>,
}

/// Takes the copies that `plan` needs, and has them on disk when it returns.
pub(in crate::undo) fn capture_plan(
    workspace: &Workspace,
    unlocked: &UnlockedPaths,
    plan: &Plan,
    store: &CopyStore,
    at: At,
) -> Result<CaptureResult, FileError> {
    let mut taking = PlanCapture {
        workspace,
        unlocked,
        batch: store.start_batch().at("the history")?,
        steps: BTreeMap::new(),
        touched: BTreeMap::new(),
        at_ns: at.saturating_mul(1_000_000),
    };
    match plan {
        Plan::None => {}
        Plan::Write(changes) => {
            for change in changes {
                match &change.after {
                    Some(after) => taking.capture_change(change, after)?,
                    None => taking.capture_removed_file(change)?,
                }
            }
        }
        Plan::Remove(removal) => taking.capture_removal(removal)?,
        Plan::Effects(captured) => taking.capture_effects(captured)?,
    }
    taking.batch.commit().at("the history")?;
    let touched = taking.touched.into_iter();
    Ok(CaptureResult {
        steps: taking.steps.into_values().collect(),
        touched: touched
            .map(|(path, before_ns)| TouchedFolder {
                path: RelPath(path),
                before_ns,
                after_ns: None,
            })
            .collect(),
    })
}

pub(in crate::undo) struct PlanCapture<'a> {
    pub workspace: &'a Workspace,
    pub unlocked: &'a UnlockedPaths,
    pub batch: CopyBatch<'a>,
    steps: BTreeMap<PathBuf, UndoStep>,
    pub touched: BTreeMap<PathBuf, i64>,
    at_ns: i64,
}

impl PlanCapture<'_> {
    fn capture_change(&mut self, change: &FileChange, after: &[u8]) -> Result<(), FileError> {
        let path = change.path.as_str();
        let rel = self.workspace.resolve_in_root(path, true)?;
        let before = self.capture_node(&rel, path)?;
        let blob = self.batch.put_bytes(after).at(path)?;
        let (as_planned, mode) = match (&before, &change.before) {
            (Node::Absent, None) => (true, self.expected_mode(change)?),
            (Node::File { blob, mode, .. }, Some(bytes)) => {
                (*blob == protocol::Digest::from_bytes(bytes), *mode)
            }
            (Node::Folder { .. }, _) => return Err(FileError::IsFolder { path: path.into() }),
            (Node::Absent | Node::File { .. } | Node::Link { .. }, _) => (false, 0),
        };
        if !as_planned {
            return Err(FileError::Changed { path: path.into() });
        }
        let after = Node::File {
            blob,
            bytes: after.len() as u64,
            mode,
            mtime_ns: self.at_ns,
        };
        self.capture_parents(&rel, path)?;
        self.add_step(rel, before, after, false);
        Ok(())
    }

    /// Returns the expected mode of a new file: that of the source if a file moves there.
    fn expected_mode(&self, change: &FileChange) -> Result<u32, FileError> {
        let Some(from) = &change.from else {
            return Ok(NEW_FILE_MODE);
        };
        let rel = self.workspace.resolve_in_root(from, false)?;
        let stat = self.workspace.dir().stat_at(&rel).at(from)?;
        Ok(stat.map_or(NEW_FILE_MODE, |stat| stat.mode))
    }

    /// Captures a file that is removed.
    fn capture_removed_file(&mut self, change: &FileChange) -> Result<(), FileError> {
        let path = change.path.as_str();
        let rel = self.workspace.resolve_in_root(path, false)?;
        let before = self.capture_node(&rel, path)?;
        match (&before, &change.before) {
            (Node::File { blob, .. }, Some(bytes))
                if *blob == protocol::Digest::from_bytes(bytes) => {}
            (Node::Absent | Node::File { .. } | Node::Link { .. } | Node::Folder { .. }, _) => {
                return Err(FileError::Changed { path: path.into() });
            }
        }
        self.capture_parents(&rel, path)?;
        self.add_step(rel, before, Node::Absent, false);
        Ok(())
    }

    /// Captures the folders above a file: those that will be created, and the one in which names change.
    fn capture_parents(&mut self, rel: &Path, path: &str) -> Result<(), FileError> {
        for above in rel.ancestors().skip(1) {
            let stat = self.workspace.dir().stat_at(above).at(path)?;
            match stat {
                Some(stat) if stat.kind != PathKind::Folder => {
                    return Err(FileError::NotAFolder { path: path.into() });
                }
                Some(stat) => {
                    self.touched.insert(above.to_owned(), stat.mtime_ns);
                    return Ok(());
                }
                None => {
                    let made = Node::Folder {
                        mode: NEW_FOLDER_MODE,
                        mtime_ns: self.at_ns,
                    };
                    self.add_step(above.to_owned(), Node::Absent, made, true);
                }
            }
        }
        Ok(())
    }

    fn capture_removal(&mut self, removal: &Removal) -> Result<(), FileError> {
        let path = removal.path.as_str();
        let rel = self.workspace.resolve_in_root(path, false)?;
        let Some((parent, _)) = dir::split_parent(&rel) else {
            let why = "it is the workspace itself, which stays";
            return Err(FileError::from_display(path, why));
        };
        let root = self.workspace.dir();
        let stat = root.stat_at(&rel).at(path)?;
        let changed = || FileError::Changed { path: path.into() };
        let stat = stat.ok_or_else(changed)?;
        let folder = root
            .open_folder(parent)
            .and_then(|folder| folder.stat_self());
        self.touched
            .insert(parent.to_owned(), folder.at(path)?.mtime_ns);
        let list = || {
            list_tree_at(root, &rel, stat, TREE_ITEMS_MAX)
                .map_err(|failure| failure.into_file_error(path, TREE_ITEMS_MAX))
        };
        let tree = list()?;
        if tree.digest != removal.listing {
            return Err(changed());
        }
        for item in &tree.items {
            let node = self.capture_node(&item.path, &display_path(&item.path))?;
            if node == Node::Absent {
                return Err(changed());
            }
            self.add_step(item.path.clone(), node, Node::Absent, false);
        }
        // Copies taken of a tree that moved under us are copies of nothing that ever was.
        if list()?.digest == removal.listing {
            Ok(())
        } else {
            Err(changed())
        }
    }

    pub(in crate::undo) fn capture_node(
        &mut self,
        rel: &Path,
        path: &str,
    ) -> Result<Node, FileError> {
        match node::capture_node(self.unlocked, rel, &mut self.batch) {
            Ok(Some(node)) => Ok(node),
            Ok(None) => Err(FileError::Special { path: path.into() }),
            Err(error) if is_not_found(&error) => Ok(Node::Absent),
            Err(error) => Err(FileError::from_io(path, &error)),
        }
    }

    fn add_step(&mut self, rel: PathBuf, before: Node, after: Node, made: bool) {
        let before_traits = self.workspace.dir().attributes_at(&rel);
        let step = UndoStep {
            path: RelPath(rel),
            before,
            after,
            made,
            before_traits,
            after_traits: FileAttributes::default(),
        };
        self.push_step(step);
    }

    pub(in crate::undo) fn push_step(&mut self, step: UndoStep) {
        self.steps.insert(step.path.0.clone(), step);
    }
}

/// Returns how many bytes a plan's copies take, or why they cannot be taken.
pub(in crate::undo) fn measure_plan(workspace: &Workspace, plan: &Plan) -> Result<u64, FileError> {
    match plan {
        Plan::None => Ok(0),
        Plan::Write(changes) => {
            let length = |change: &FileChange| {
                let side = |bytes: &Option<Vec<u8>>| bytes.as_ref().map_or(0, Vec::len);
                side(&change.before) + side(&change.after)
            };
            Ok(changes.iter().map(length).sum::<usize>() as u64)
        }
        Plan::Effects(captured) => Ok(command::copy_bytes(captured)),
        Plan::Remove(removal) => {
            let limits = crate::TreeLimits {
                lines_bytes_max: 0,
                ..crate::TreeLimits::default()
            };
            workspace.resolve_in_root(&removal.path, false)?;
            let tree = workspace.list_tree(&removal.path, limits)?;
            for item in &tree.items {
                match item.kind {
                    PathKind::Special => {
                        return Err(FileError::Special {
                            path: display_path(&item.path),
                        });
                    }
                    // A file that cannot be read cannot be copied.
                    PathKind::File => {
                        workspace.dir().open_file(&item.path).at(&item.path)?;
                    }
                    PathKind::Folder | PathKind::Link => {}
                }
            }
            Ok(tree.bytes)
        }
    }
}
