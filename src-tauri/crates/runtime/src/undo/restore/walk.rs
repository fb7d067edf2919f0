//! Plans an act: every path from its present state, through each entry, to its final one.
//!
//! Nothing is changed by this. An entry is passed through only where it left the present state; where somebody changed
//! that since, the person's choice decides, and without one the path stays.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use protocol::UndoDirection;
use protocol::history::{ConflictChoice, Node, PathChoice};

use crate::FileError;
use crate::fs::dir::FileAttributes;
use crate::fs::workspace::display_path;
use crate::undo::entry::manifest::{RelPath, TouchedFolder, UndoManifest, UndoStep};
use crate::undo::entry::node;
use crate::undo::entry::node::MatchLevel;
use crate::undo::permissions::UnlockedPaths;
use crate::undo::restore::conflict::{ConflictSides, PathConflict, describe_current};
use crate::undo::restore::merge::MergedText;
use crate::undo::store::CopyStore;

/// The planned changes of an act.
#[derive(Debug, Default)]
pub(in crate::undo) struct RestorePlan {
    /// In order of the paths.
    pub steps: Vec<UndoStep>,
    pub touched: Vec<TouchedFolder>,
    /// Paths that stay although an entry changes them, and why.
    pub kept: Vec<(RelPath, String)>,
    pub merged: Vec<RelPath>,
    /// Texts to be put into the store.
    pub texts: Vec<MergedText>,
    /// Paths that need a choice and have none.
    pub conflicts: Vec<PathConflict>,
}

/// The state of one path during planning.
#[derive(Debug)]
pub(in crate::undo) struct PathTrack {
    /// Node at the path; `None` if it cannot be restored: a pipe, a socket, a device.
    pub from: Option<Node>,
    /// Planned node so far.
    pub planned: Option<Node>,
    /// Whether this is a folder that was created on the way to a file.
    pub made: bool,
    /// Conflict with a state that the history did not leave.
    pub conflict: Option<PathConflict>,
    /// Why the path stays, whatever an entry says.
    pub stay_reason: Option<String>,
    pub merged: bool,
    /// Attributes that the path is to have beside content, mode and time, where an entry names them.
    pub attributes: Option<FileAttributes>,
}

impl PathTrack {
    pub(in crate::undo) fn new(from: Option<Node>) -> Self {
        Self {
            planned: from.clone(),
            from,
            made: false,
            conflict: None,
            stay_reason: None,
            merged: false,
            attributes: None,
        }
    }

    pub(in crate::undo) fn keep_current(&mut self, why: impl Into<String>) {
        self.planned.clone_from(&self.from);
        self.merged = false;
        self.stay_reason.get_or_insert(why.into());
    }

    fn is_at_target(&self) -> bool {
        match (&self.from, &self.planned) {
            (Some(from), Some(at)) => node::is_same_node(from, at, MatchLevel::Exact),
            _ => false,
        }
    }
}

pub(in crate::undo) struct RestoreWalk<'a> {
    pub unlocked: &'a UnlockedPaths,
    pub store: &'a CopyStore,
    pub choices: BTreeMap<&'a str, ConflictChoice>,
    pub at_ns: i64,
    pub tracks: BTreeMap<PathBuf, PathTrack>,
    pub texts: Vec<MergedText>,
    /// Folders with their present and planned times; no planned time where somebody else changed names in them.
    pub times: BTreeMap<PathBuf, (i64, Option<i64>)>,
}

/// Walks through entries in their order.
pub(in crate::undo) fn plan_restore(
    unlocked: &UnlockedPaths,
    store: &CopyStore,
    moves: &[(UndoManifest, UndoDirection)],
    choices: &[PathChoice],
    at_ns: i64,
) -> Result<RestorePlan, FileError> {
    let steps = moves.iter().flat_map(|(manifest, _)| &manifest.steps);
    unlocked.unlock_for_reading(steps.map(|step| step.path.0.as_path()))?;
    let mut walk = RestoreWalk {
        unlocked,
        store,
        choices: choices
            .iter()
            .map(|choice| (choice.path.as_str(), choice.choice))
            .collect(),
        at_ns,
        tracks: BTreeMap::new(),
        texts: Vec::new(),
        times: BTreeMap::new(),
    };
    for (manifest, direction) in moves {
        for step in &manifest.steps {
            walk.walk_step(step, *direction)
                .map_err(|error| error.into_file_error(&step.path.0))?;
        }
        walk.update_folder_times(manifest, *direction)?;
    }
    let mut conflicts = walk.resolve_conflicts();
    walk.resolve_unknown_names(&mut conflicts)?;
    walk.ensure_parents()?;
    let touched = walk.changed_folder_times();
    Ok(walk.into_plan(touched, conflicts))
}

/// An error at a path.
pub(in crate::undo) enum WalkError {
    Io(io::Error),
    File(FileError),
}

impl From<io::Error> for WalkError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl WalkError {
    fn into_file_error(self, path: &Path) -> FileError {
        match self {
            Self::Io(error) => FileError::from_io(display_path(path), &error),
            Self::File(error) => error,
        }
    }
}

impl RestoreWalk<'_> {
    fn walk_step(&mut self, step: &UndoStep, direction: UndoDirection) -> Result<(), WalkError> {
        let (left, wanted) = (
            step.target_node(direction.opposite()),
            step.target_node(direction),
        );
        let fit = if step.made {
            MatchLevel::Loose
        } else {
            MatchLevel::Exact
        };
        let path = &step.path.0;
        let mut track = match self.tracks.remove(path) {
            Some(track) => track,
            None => self.inspect_path(path, left, wanted, fit)?,
        };
        track.made |= step.made;
        if track.stay_reason.is_none() {
            match &track.planned {
                Some(at) if node::is_same_node(at, left, fit) => {
                    track.planned = Some(wanted.clone());
                    track.attributes = Some(step.target_attributes(direction).clone());
                }
                Some(at) if node::is_same_node(at, wanted, fit) => {}
                _ => {
                    self.build_conflict(path, &mut track, left, wanted)?;
                    track.attributes = Some(step.target_attributes(direction).clone());
                }
            }
        }
        self.tracks.insert(path.clone(), track);
        Ok(())
    }

    /// Returns the track of a path. Its content is read only where it matches neither of the expected nodes.
    fn inspect_path(
        &self,
        path: &Path,
        left: &Node,
        wanted: &Node,
        fit: MatchLevel,
    ) -> io::Result<PathTrack> {
        for expected in [left, wanted] {
            if node::matches_node(self.unlocked, path, expected, fit)? {
                let stat = self.unlocked.stat(path)?;
                return Ok(PathTrack::new(Some(node::with_current_stat(
                    expected, stat,
                ))));
            }
        }
        node::observe_node(self.unlocked, path).map(PathTrack::new)
    }

    fn build_conflict(
        &mut self,
        path: &Path,
        track: &mut PathTrack,
        left: &Node,
        wanted: &Node,
    ) -> Result<(), WalkError> {
        let sides = ConflictSides {
            left,
            wanted,
            now: track.planned.as_ref(),
        };
        let path_conflict = PathConflict::from_sides(self.unlocked.dir(), self.store, path, &sides);
        let name = display_path(path);
        let choice = self.choices.get(name.as_str()).copied();
        if let Some(choice) = choice
            && !path_conflict.conflict.choices.contains(&choice)
        {
            let why = match choice {
                ConflictChoice::Keep | ConflictChoice::Restore => {
                    "it is a pipe, socket or device, so it can only be kept"
                }
                ConflictChoice::Merge => {
                    "both changes touch the same lines, so they cannot be merged"
                }
            };
            return Err(WalkError::File(FileError::from_display(name, why)));
        }
        match choice {
            Some(ConflictChoice::Keep) => track.keep_current("You chose to keep it."),
            Some(ConflictChoice::Merge) => {
                if let Some(bytes) = path_conflict.merged.clone() {
                    let text = MergedText::new(bytes);
                    track.planned =
                        Some(text.merged_node(left, wanted, track.planned.as_ref(), self.at_ns));
                    self.texts.push(text);
                    track.merged = true;
                }
            }
            Some(ConflictChoice::Restore) => track.planned = Some(wanted.clone()),
            None => {
                track.planned = Some(wanted.clone());
                track.conflict.get_or_insert(path_conflict);
            }
        }
        Ok(())
    }

    /// Returns the conflicts that need a choice, and lets their paths stay meanwhile. A conflict whose path is at its
    /// target already is dropped.
    fn resolve_conflicts(&mut self) -> Vec<PathConflict> {
        let mut conflicts = Vec::new();
        for track in self.tracks.values_mut() {
            let Some(mut path_conflict) = track.conflict.take() else {
                continue;
            };
            if track.is_at_target() {
                track.planned.clone_from(&track.from);
                continue;
            }
            path_conflict.conflict.wanted = track.planned.as_ref().and_then(node::describe_node);
            path_conflict.conflict.now = describe_current(track.from.as_ref());
            conflicts.push(path_conflict);
            track.keep_current("It changed since.");
        }
        conflicts
    }

    fn into_plan(self, touched: Vec<TouchedFolder>, conflicts: Vec<PathConflict>) -> RestorePlan {
        let mut plan = RestorePlan {
            touched,
            conflicts,
            ..RestorePlan::default()
        };
        let mut used = BTreeSet::new();
        for (path, track) in self.tracks {
            let way = RelPath(path);
            if let Some(why) = track.stay_reason {
                plan.kept.push((way, why));
                continue;
            }
            let (Some(before), Some(after)) = (track.from, track.planned) else {
                continue;
            };
            let as_is = node::is_same_node(&before, &after, MatchLevel::Exact)
                && node::mtime_ns(&before) == node::mtime_ns(&after);
            if as_is {
                continue;
            }
            if track.merged {
                plan.merged.push(way.clone());
            }
            if let Node::File { blob, .. } = &after {
                used.insert(blob.clone());
            }
            let before_traits = self.unlocked.dir().attributes_at(&way.0);
            plan.steps.push(UndoStep {
                path: way,
                before,
                after,
                made: track.made,
                // A text that was put together stays what it was beside its content.
                after_traits: match (track.merged, track.attributes) {
                    (false, Some(traits)) => traits,
                    (_, _) => before_traits.clone(),
                },
                before_traits,
            });
        }
        plan.texts = self.texts;
        plan.texts.retain(|text| used.contains(&text.blob));
        plan
    }
}
