//! Changes of a command in a dry run: copies of both sides for the history, and carrying the changes out from the
//! layer.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use protocol::history::Node;
use protocol::{CapturedEffects, EffectStep, Plan};

use crate::FileError;
use crate::error::is_link_refused;
use crate::fs::at_path::AtPath as _;
use crate::fs::dir::{Dir, FileAttributes, is_not_found, is_restorable_xattr};
use crate::fs::temp::{TempTag, sweep_temp_files};
use crate::fs::workspace::display_path;
use crate::undo::UndoDirection;
use crate::undo::capture::plan::PlanCapture;
use crate::undo::entry::manifest::{RelPath, UndoStep};
use crate::undo::entry::node;
use crate::undo::entry::node::MatchLevel;
use crate::undo::permissions::{AccessNeed, UnlockedPaths};
use crate::undo::restore::apply::{ContentSource, StepApplier};
use crate::undo::restore::survey::{PathState, find_unknown_names};

/// Returns how many bytes the copies of both sides take: each content is kept once, at however many paths it stands.
pub(in crate::undo) fn copy_bytes(captured: &CapturedEffects) -> u64 {
    let nodes = captured.steps.iter().flat_map(|s| [&s.before, &s.after]);
    let mut once = BTreeSet::new();
    let lengths = nodes.map(|node| match node {
        Node::File { blob, bytes, .. } if once.insert(blob) => *bytes,
        Node::File { .. } | Node::Absent | Node::Folder { .. } | Node::Link { .. } => 0,
    });
    lengths.fold(0, u64::saturating_add)
}

impl PlanCapture<'_> {
    /// Captures both sides of every step: the workspace, which must be as the command found it, and the layer.
    pub(in crate::undo) fn capture_effects(
        &mut self,
        captured: &CapturedEffects,
    ) -> Result<(), FileError> {
        let layer = open_captured_layer(captured)?;
        let paths = captured.steps.iter().map(|step| step.path.as_path());
        self.unlocked.unlock_for_reading(paths)?;
        for step in &captured.steps {
            let path = display_path(&step.path);
            let before = self.capture_node(&step.path, &path)?;
            if !node::is_same_node(&before, &step.before, MatchLevel::Exact) {
                return Err(FileError::Changed { path });
            }
            if let Node::File { blob, bytes, .. } = &step.after {
                let mut file = layer.open_file(&step.path).at(&path)?;
                if self.batch.put_file(&mut file, *bytes).at(&path)?.0 != *blob {
                    return Err(FileError::Changed { path });
                }
            }
            self.push_step(UndoStep {
                before,
                ..step_from_effect(step, self.unlocked.dir(), &layer)
            });
        }
        let steps: BTreeSet<&Path> = captured.steps.iter().map(|s| s.path.as_path()).collect();
        for parent in captured.steps.iter().filter_map(|step| step.path.parent()) {
            if steps.contains(parent) || self.touched.contains_key(parent) {
                continue;
            }
            match self.workspace.dir().stat_at(parent) {
                Ok(Some(stat)) => {
                    self.touched.insert(parent.to_owned(), stat.mtime_ns);
                }
                Ok(None) => {}
                Err(error) => return Err(FileError::from_io(display_path(parent), &error)),
            }
        }
        Ok(())
    }
}

/// Carries out the changes of a command: every path is compared with the state that the command found, all bytes are
/// staged beside their targets and synced, and only then the first path changes.
///
/// # Errors
/// [`FileError::Changed`] when a path is no longer as the command found it, [`FileError::NoPermission`] when names
/// cannot be removed from a folder, [`FileError::DiskFull`] when there is no room: nothing was touched then. A later
/// failure is taken back by the history entry that was prepared for the plan.
pub(in crate::undo) fn apply_captured(
    unlocked: &UnlockedPaths,
    plan: &Plan,
    captured: &CapturedEffects,
) -> Result<(), FileError> {
    let layer = open_captured_layer(captured)?;
    let paths = captured.steps.iter().map(|step| step.path.as_path());
    unlocked.unlock_for_reading(paths)?;
    let steps = captured
        .steps
        .iter()
        .map(|step| step_from_effect(step, unlocked.dir(), &layer));
    let steps: Vec<UndoStep> = steps.collect();
    check_unchanged(unlocked, captured, &steps)?;
    let tag = TempTag::from_plan(plan);
    let carry = StepApplier {
        unlocked,
        source: ContentSource::Layer(&layer),
        steps: &steps,
        direction: UndoDirection::Redo,
        tag: tag.clone(),
        is_resumed: false,
    };
    let states = vec![PathState::AtOrigin; steps.len()];
    let done = carry.apply_all(&states, &[]);
    if done.is_err() {
        let paths = captured.steps.iter().map(|step| step.path.as_path());
        if let Err(error) = sweep_temp_files(unlocked.dir(), paths, &[tag]) {
            tracing::warn!(%error, "something temporary stays");
        }
    }
    done
}

/// Checks that every path is as the command found it, and that its step can be carried out.
fn check_unchanged(
    unlocked: &UnlockedPaths,
    captured: &CapturedEffects,
    steps: &[UndoStep],
) -> Result<(), FileError> {
    let dir = unlocked.dir();
    let mut parents: BTreeSet<&Path> = BTreeSet::new();
    for step in &captured.steps {
        if !node::matches_node(unlocked, &step.path, &step.before, MatchLevel::Exact)
            .at(&step.path)?
        {
            let path = display_path(&step.path);
            return Err(FileError::Changed { path });
        }
        parents.extend(step.path.parent());
    }
    if let Some(path) = find_unknown_names(dir, steps, UndoDirection::Redo)?
        .into_iter()
        .next()
    {
        return Err(FileError::Changed { path });
    }
    unlocked.unlock_paths(parents.iter().map(|parent| (*parent, AccessNeed::Change)))?;
    for parent in parents {
        match dir.open_folder(parent) {
            Ok(folder) if !folder.can_change_names() => {
                let path = display_path(parent);
                return Err(FileError::NoPermission { path });
            }
            Ok(_) => {}
            Err(error) if is_not_found(&error) || is_link_refused(&error) => {}
            Err(error) => return Err(FileError::from_io(display_path(parent), &error)),
        }
    }
    Ok(())
}

fn open_captured_layer(captured: &CapturedEffects) -> Result<Dir, FileError> {
    Dir::open(&captured.layer).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => FileError::sandbox_unavailable(
            "What the command did is no longer kept, so nothing was done. Run it again.",
        ),
        _ => FileError::from_io(captured.layer.display().to_string(), &error),
    })
}

/// Builds the step of an effect. The layer keeps the owner and attributes of its entries.
fn step_from_effect(step: &EffectStep, workspace: &Dir, layer: &Dir) -> UndoStep {
    let before_traits = workspace.attributes_at(&step.path);
    let mut after_traits = match step.after {
        Node::File { .. } | Node::Folder { .. } => layer.attributes_at(&step.path),
        Node::Absent | Node::Link { .. } => FileAttributes::default(),
    };
    // Attributes that give a program more rights are not a command's to give; they stay where they were, on the same
    // content.
    let is_same = node::is_same_node(&step.before, &step.after, MatchLevel::Loose);
    after_traits.attributes.retain(|attribute| {
        is_restorable_xattr(&attribute.0) || is_same && before_traits.attributes.contains(attribute)
    });
    UndoStep {
        path: RelPath(step.path.clone()),
        before: step.before.clone(),
        after: step.after.clone(),
        made: false,
        before_traits,
        after_traits,
    }
}
