//! Content that git does not have and that a plan takes away or keeps in part: an undo restores what is lost, and nothing
//! else does.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::Path;

use ignore::WalkBuilder;
use protocol::{CapturedEffects, Digest, EffectStep, FileChange, Node, Plan};

use super::Repository;
use super::database_rows::{is_database, loses_rows};
use super::gone_rows::{find_gone_rows, holds_rows};
use super::ignored::BuildOutputs;
use super::line_changes::{LineChanges, collect_new_lines};
use super::notebook_cells::loses_cells;
use crate::dry_run::read_contents;
use crate::fs::workspace::Workspace;

/// How many files are examined. The others count as unknown to git.
const FILES_MAX: u64 = 20_000;

/// Longest file that is looked for in git, in bytes. Longer ones count as unknown to git.
const FILE_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Ending of notebooks.
const NOTEBOOK_ENDING: &str = ".ipynb";

/// Fewest lines that git does not have that count by themselves: fewer are as often worded anew as lost.
const NEW_LINES_MIN: usize = 2;

/// How many paths are named.
const NAMED_PATHS_MAX: usize = 3;

/// Files that are deleted or overwritten and whose content git does not have.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UnversionedLoss {
    /// Number of files.
    pub files: u64,
    /// Length of their content in bytes.
    pub bytes: u64,
    /// The first of the files, relative to the workspace root.
    pub paths: Vec<String>,
}

/// What becomes of the content that git does not have.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UnversionedChanges {
    /// Files that are deleted or overwritten.
    pub loss: UnversionedLoss,
    /// Paths of the files that have such content after the plan: edited, or moved there.
    pub kept: HashSet<String>,
}

/// Fate of the content that a file had before a plan.
enum Fate {
    /// Git has it, or it is the session's own.
    Replaceable,
    Lost,
    Kept,
}

/// Examines what a plan does to the content that git does not have, other than what a build makes again and what
/// `is_own` says of path and content. Reads files, so it must not run on an async thread.
pub fn examine_unversioned_changes(
    workspace: &Workspace,
    plan: &Plan,
    is_own: &dyn Fn(&str, &Digest) -> bool,
) -> UnversionedChanges {
    let repository = Repository::discover(workspace.root());
    let repository = match plan {
        Plan::Effects(captured) => repository.map(|it| it.with_layer(captured)),
        Plan::None | Plan::Write(_) | Plan::Remove(_) => repository,
    };
    let mut search = LossSearch {
        workspace,
        outputs: BuildOutputs::new(repository.as_ref()),
        repository: repository.as_ref(),
        is_own,
        changes: UnversionedChanges::default(),
    };
    match plan {
        Plan::None => {}
        Plan::Write(changes) => search.add_changes(changes),
        Plan::Remove(removal) => search.add_removal(&removal.path),
        Plan::Effects(captured) => search.add_effects(captured),
    }
    search.changes
}

struct LossSearch<'a> {
    workspace: &'a Workspace,
    repository: Option<&'a Repository>,
    outputs: BuildOutputs<'a>,
    is_own: &'a dyn Fn(&str, &Digest) -> bool,
    changes: UnversionedChanges,
}

impl LossSearch<'_> {
    fn add_changes(&mut self, changes: &[FileChange]) {
        let new_place = |path: &str| changes.iter().find(|it| it.from.as_deref() == Some(path));
        for change in changes {
            let Some(before) = &change.before else {
                continue;
            };
            if self.is_replaceable(&change.path, before) {
                continue;
            }
            let kept_at = match &change.after {
                None => new_place(&change.path).map(|place| &place.path),
                Some(after) => {
                    (!self.loses_content(&change.path, before, after)).then_some(&change.path)
                }
            };
            match kept_at {
                Some(path) => drop(self.changes.kept.insert(path.clone())),
                None => self.add_lost_file(&change.path, before.len() as u64),
            }
        }
    }

    /// Adds the files below a path on disk, links not followed.
    fn add_removal(&mut self, path: &str) {
        let root = self.workspace.root();
        let mut examined = 0;
        let walk = WalkBuilder::new(root.join(path))
            .standard_filters(false)
            .build();
        for entry in walk.flatten() {
            let Some(meta) = entry.metadata().ok().filter(fs::Metadata::is_file) else {
                continue;
            };
            let below = entry.path().strip_prefix(root).unwrap_or(entry.path());
            let path = below.to_string_lossy();
            examined += 1;
            let content = match examined <= FILES_MAX && meta.len() <= FILE_BYTES_MAX {
                _ if self.is_generated(&path) => continue,
                true => fs::read(entry.path()).ok(),
                false => None,
            };
            if !content.is_some_and(|content| self.is_replaceable(&path, &content)) {
                self.add_lost_file(&path, meta.len());
            }
        }
    }

    fn add_effects(&mut self, captured: &CapturedEffects) {
        // Content that stands somewhere else afterwards was moved.
        let moved: HashMap<&Digest, &EffectStep> = captured
            .steps
            .iter()
            .filter(|step| step.before == Node::Absent)
            .filter_map(|step| match &step.after {
                Node::File { blob, .. } => Some((blob, step)),
                Node::Absent | Node::Link { .. } | Node::Folder { .. } => None,
            })
            .collect();
        for (at, step) in captured.steps.iter().enumerate() {
            let Node::File { blob, bytes, .. } = &step.before else {
                continue;
            };
            let is_same = matches!(&step.after, Node::File { blob: after, .. } if after == blob);
            let path = step.path.to_string_lossy();
            let is_git = step
                .path
                .components()
                .any(|part| part.as_os_str() == ".git");
            if is_same || is_git || self.is_generated(&path) {
                continue;
            }
            let fate = match (at as u64) < FILES_MAX {
                true => self.fate_of_step(captured, step, blob),
                false => Fate::Lost,
            };
            match (fate, moved.get(blob)) {
                (Fate::Replaceable, _) => {}
                (Fate::Lost | Fate::Kept, Some(place)) => self.add_kept_file(place),
                (Fate::Kept, None) => self.add_kept_file(step),
                (Fate::Lost, None) => self.add_lost_file(&path, *bytes),
            }
        }
    }

    /// Returns the fate of the content that a step finds. A file that cannot be read is lost.
    fn fate_of_step(&self, captured: &CapturedEffects, step: &EffectStep, blob: &Digest) -> Fate {
        let path = step.path.to_string_lossy();
        if (self.is_own)(&path, blob) {
            return Fate::Replaceable;
        }
        match read_contents(self.workspace, captured, step, FILE_BYTES_MAX) {
            Ok((Some(before), _)) if self.has_content(&path, &before) => Fate::Replaceable,
            Ok((Some(before), after)) => {
                match self.loses_content(&path, &before, &after.unwrap_or_default()) {
                    true => Fate::Lost,
                    false => Fate::Kept,
                }
            }
            Ok((None, _)) | Err(_) => Fate::Lost,
        }
    }

    /// Whether little of what stood in a file is left: the file is as git has it, a row of data or a cell is gone, most of
    /// the lines are or stand in another order, or some that git does not have were taken away.
    fn loses_content(&self, path: &str, before: &[u8], after: &[u8]) -> bool {
        if is_database(before) {
            return loses_rows(before, after);
        }
        if path.ends_with(NOTEBOOK_ENDING) && loses_cells(before, after, &self.read_versions(path))
        {
            return true;
        }
        if holds_rows(path) {
            return find_gone_rows(before, after).is_some();
        }
        let changes = LineChanges::compare(before, after);
        changes.kept_in_order * 2 < changes.lines
            || changes.kept < changes.lines
                && (!after.is_empty() && self.has_content(path, after)
                    || self.loses_new_lines(path, before, after))
    }

    /// Returns what git has of a file for the next commit and for the last.
    fn read_versions(&self, path: &str) -> Vec<Vec<u8>> {
        let file = self.workspace.root().join(path);
        self.repository
            .map_or_else(Vec::new, |repository| repository.read_versions(&file))
    }

    /// Whether lines are gone that git does not have, and fewer are new: they were taken away, and not worded anew.
    fn loses_new_lines(&self, path: &str, before: &[u8], after: &[u8]) -> bool {
        let new = collect_new_lines(before, &self.read_versions(path));
        let own = LineChanges::compare(&new, after);
        let gone = own.lines - own.kept;
        let written = LineChanges::compare(after, before);
        gone >= NEW_LINES_MIN && gone > written.lines - written.kept
    }

    fn has_content(&self, path: &str, content: &[u8]) -> bool {
        let file = self.workspace.root().join(path);
        self.repository
            .is_some_and(|repository| repository.has_content(&file, content))
    }

    /// Whether content is in git, made by a build, or the session's own.
    fn is_replaceable(&self, path: &str, content: &[u8]) -> bool {
        self.is_generated(path)
            || (self.is_own)(path, &Digest::from_bytes(content))
            || self.has_content(path, content)
    }

    fn is_generated(&self, path: &str) -> bool {
        self.outputs
            .contains(&self.workspace.root().join(Path::new(path)))
    }

    fn add_kept_file(&mut self, step: &EffectStep) {
        let path = step.path.to_string_lossy().into_owned();
        self.changes.kept.insert(path);
    }

    fn add_lost_file(&mut self, path: &str, bytes: u64) {
        // An empty file has nothing to lose.
        if bytes == 0 {
            return;
        }
        let loss = &mut self.changes.loss;
        loss.files += 1;
        loss.bytes += bytes;
        if loss.paths.len() < NAMED_PATHS_MAX {
            loss.paths.push(path.to_owned());
        }
    }
}
