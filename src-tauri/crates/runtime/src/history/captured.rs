//! What a command did in the sealed room: copies of both sides for the history, and carrying it out from its layer.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use protocol::history::Node;
use protocol::{Captured, EffectStep, Plan};

use super::Direction;
use super::capture::Taking;
use super::carry::{Carry, Source};
use super::manifest::{Step, Way};
use super::node::{self, Fit};
use super::survey::{Stand, strangers};
use super::unlock::{Need, Unlocked};
use crate::FileError;
use crate::dir::{Dir, Traits, is_absence, is_of_programs};
use crate::error::is_link_refused;
use crate::files::shown;
use crate::temp::{Tag, sweep};

/// How many bytes the copies of both sides take: each content is kept once, at however many paths it stands.
pub(super) fn bytes(captured: &Captured) -> u64 {
    let nodes = captured.steps.iter().flat_map(|s| [&s.before, &s.after]);
    let mut once = BTreeSet::new();
    let lengths = nodes.map(|node| match node {
        Node::File { blob, bytes, .. } if once.insert(blob) => *bytes,
        Node::File { .. } | Node::Absent | Node::Folder { .. } | Node::Link { .. } => 0,
    });
    lengths.fold(0, u64::saturating_add)
}

impl Taking<'_> {
    /// Takes both sides of every step: what stands there, which must be what the command found, and what it left.
    pub(super) fn effects(&mut self, captured: &Captured) -> Result<(), FileError> {
        let layer = open_layer(captured)?;
        let paths = captured.steps.iter().map(|step| step.path.as_path());
        self.unlocked.unlock(paths.map(|path| (path, Need::Read)))?;
        for step in &captured.steps {
            let path = shown(&step.path);
            let failed = |error: io::Error| FileError::from_io(path.as_str(), &error);
            let before = self.node(&step.path, &path)?;
            if !node::same(&before, &step.before, Fit::Exact) {
                return Err(FileError::Changed { path });
            }
            if let Node::File { blob, bytes, .. } = &step.after {
                let mut file = layer.file(&step.path).map_err(failed)?;
                if self.batch.put_file(&mut file, *bytes).map_err(failed)?.0 != *blob {
                    return Err(FileError::Changed { path });
                }
            }
            self.put(Step {
                before,
                ..step_of(step, self.unlocked.dir(), &layer)
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
                Err(error) => return Err(FileError::from_io(shown(parent), &error)),
            }
        }
        Ok(())
    }
}

/// Carries out what a command did: every path is compared with what the command found, all bytes are staged beside their
/// places and on disk, and only then the first path changes.
///
/// # Errors
/// [`FileError::Changed`] when something is no longer as the command found it, [`FileError::NoPermission`] when a folder
/// would not let go of its names, [`FileError::DiskFull`] when there is no room: nothing was touched then. Anything later
/// is taken back by the history entry that was prepared for the plan.
pub(super) fn carry_out(
    unlocked: &Unlocked,
    plan: &Plan,
    captured: &Captured,
) -> Result<(), FileError> {
    let layer = open_layer(captured)?;
    let paths = captured.steps.iter().map(|step| step.path.as_path());
    unlocked.unlock(paths.map(|path| (path, Need::Read)))?;
    let steps = captured
        .steps
        .iter()
        .map(|step| step_of(step, unlocked.dir(), &layer));
    let steps: Vec<Step> = steps.collect();
    unchanged(unlocked, captured, &steps)?;
    let tag = Tag::of_plan(plan);
    let carry = Carry {
        unlocked,
        source: Source::Layer(&layer),
        steps: &steps,
        direction: Direction::Redo,
        tag: tag.clone(),
        again: false,
    };
    let stands = vec![Stand::Here; steps.len()];
    let done = carry.stage_and_go(&stands, &[]);
    if done.is_err() {
        let paths = captured.steps.iter().map(|step| step.path.as_path());
        if let Err(error) = sweep(unlocked.dir(), paths, &[tag]) {
            tracing::warn!(%error, "something temporary stays");
        }
    }
    done
}

/// Makes sure that every path is as the command found it, and that it can become what it is to become.
fn unchanged(unlocked: &Unlocked, captured: &Captured, steps: &[Step]) -> Result<(), FileError> {
    let dir = unlocked.dir();
    let mut parents: BTreeSet<&Path> = BTreeSet::new();
    for step in &captured.steps {
        let failed = |error: io::Error| FileError::from_io(shown(&step.path), &error);
        if !node::fits(unlocked, &step.path, &step.before, Fit::Exact).map_err(failed)? {
            let path = shown(&step.path);
            return Err(FileError::Changed { path });
        }
        parents.extend(step.path.parent());
    }
    if let Some(path) = strangers(dir, steps, Direction::Redo)?.into_iter().next() {
        return Err(FileError::Changed { path });
    }
    unlocked.unlock(parents.iter().map(|parent| (*parent, Need::Change)))?;
    for parent in parents {
        match dir.folder(parent) {
            Ok(folder) if !folder.may_change() => {
                let path = shown(parent);
                return Err(FileError::NoPermission { path });
            }
            Ok(_) => {}
            Err(error) if is_absence(&error) || is_link_refused(&error) => {}
            Err(error) => return Err(FileError::from_io(shown(parent), &error)),
        }
    }
    Ok(())
}

fn open_layer(captured: &Captured) -> Result<Dir, FileError> {
    Dir::open(&captured.layer).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => FileError::NoRoom {
            reason: "What the command did is no longer kept, so nothing was done. Run it again."
                .to_owned(),
        },
        _ => FileError::from_io(captured.layer.display().to_string(), &error),
    })
}

/// The layer keeps owner and attributes of what it has.
fn step_of(step: &EffectStep, workspace: &Dir, layer: &Dir) -> Step {
    let before_traits = workspace.traits_at(&step.path);
    let mut after_traits = match step.after {
        Node::File { .. } | Node::Folder { .. } => layer.traits_at(&step.path),
        Node::Absent | Node::Link { .. } => Traits::default(),
    };
    // What gives a program more rights is not a command's to give; it stays where it was, on the same content.
    let is_same = node::same(&step.before, &step.after, Fit::Loose);
    after_traits.attributes.retain(|attribute| {
        is_of_programs(&attribute.0) || is_same && before_traits.attributes.contains(attribute)
    });
    Step {
        path: Way(step.path.clone()),
        before: step.before.clone(),
        after: step.after.clone(),
        made: false,
        before_traits,
        after_traits,
    }
}
