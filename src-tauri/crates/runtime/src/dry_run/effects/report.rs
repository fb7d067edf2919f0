//! The changes that a command made, reported twice from one list: as effects for a person, and as steps to carry out.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use protocol::history::Node;
use protocol::text::display_text::name;
use protocol::view::effects::{Effect, EffectKind, PathInfo, PathType};
use protocol::{EffectStep, ExactName};

use crate::dry_run::effects::renames::{RenameMap, find_renames};
use crate::dry_run::overlay::change::{ChangedPath, PathContent};
use crate::undo::entry::node::{MatchLevel, describe_node, is_same_node, path_info};

/// Permission bits that let a program run with its owner's rights.
const SET_ID: u32 = 0o6000;

/// Whether the changes were made in a dry run or for real.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::dry_run) enum ChangeStage {
    /// In a layer: the changes are yet to be carried out.
    DryRun,
    /// In the workspace itself: the changes can be undone.
    InPlace,
}

/// Both forms of the report.
#[derive(Debug, Default)]
pub(in crate::dry_run) struct ChangeReport {
    pub effects: Vec<Effect>,
    pub steps: Vec<EffectStep>,
    pub notes: Vec<String>,
}

/// Builds the report of these changes, which are sorted by path.
pub(in crate::dry_run) fn build_report(
    mut changes: Vec<ChangedPath>,
    stage: ChangeStage,
) -> ChangeReport {
    let mut out = ChangeReport::default();
    if stage == ChangeStage::DryRun {
        for change in &mut changes {
            strip_set_id(change, &mut out.notes);
        }
        changes.retain(|change| change.before != change.after);
    }
    let left = unchangeable_paths(&changes, stage, &mut out.notes);
    let renames = find_renames(&changes, &left);
    let mut ids: BTreeMap<&Path, u32> = BTreeMap::new();
    for change in &changes {
        if renames.is_moved(&change.path) {
            continue;
        }
        let id = u32::try_from(out.effects.len()).unwrap_or(u32::MAX);
        ids.insert(&change.path, id);
        out.effects
            .push(build_effect(id, change, &renames, &changes));
        note_hard_links(change, stage, &mut out.notes);
    }
    for change in &changes {
        let (PathContent::Node(before), PathContent::Node(after)) = (&change.before, &change.after)
        else {
            continue;
        };
        let told_at = renames.target_of(&change.path).unwrap_or(&change.path);
        if let Some(effect) = ids.get(told_at)
            && !left.contains(change.path.as_path())
        {
            out.steps.push(EffectStep {
                path: change.path.clone(),
                before: before.clone(),
                after: after.clone(),
                effect: *effect,
            });
        }
    }
    out
}

/// Clears set-id bits, which would let a program run with other rights than its caller's, unless they were there before
/// on the same content.
fn strip_set_id(change: &mut ChangedPath, notes: &mut Vec<String>) {
    let kept = match &change.before {
        PathContent::Node(Node::File { blob, mode, .. }) => Some((blob.clone(), mode & SET_ID)),
        PathContent::Node(_) | PathContent::Special(_) => None,
    };
    let PathContent::Node(Node::File { blob, mode, .. }) = &mut change.after else {
        return;
    };
    let (had, has) = (kept.as_ref().map(|(_, bits)| *bits), *mode & SET_ID);
    if has == 0 || kept.is_some_and(|(was, bits)| was == *blob && bits == has) {
        return;
    }
    *mode &= !SET_ID;
    let path = name(&change.path);
    notes.push(match had {
        Some(1..) => {
            format!("`{path}` loses the right to run as its owner, because its content changed.")
        }
        Some(0) | None => format!("`{path}` does not get the right to run as its owner."),
    });
}

/// Collects paths that stay as they are whatever a person approves: pipes, sockets and devices, paths that take the
/// place of one or lie below it, and the folders above those that would be removed.
fn unchangeable_paths<'a>(
    changes: &'a [ChangedPath],
    stage: ChangeStage,
    notes: &mut Vec<String>,
) -> BTreeSet<&'a Path> {
    let mut left: BTreeSet<&Path> = BTreeSet::new();
    for change in changes {
        let special = [&change.before, &change.after]
            .into_iter()
            .any(|thing| matches!(thing, PathContent::Special(_)));
        let below = change
            .path
            .ancestors()
            .skip(1)
            .any(|above| left.contains(above));
        if special || below {
            left.insert(&change.path);
        }
    }
    let mut stay: BTreeSet<&Path> = BTreeSet::new();
    for change in changes.iter().rev() {
        let path = change.path.as_path();
        let was_there = change.before != PathContent::Node(Node::Absent);
        let folder_goes = is_folder_content(&change.before) && !is_folder_content(&change.after);
        // A folder that was really removed comes back without the special files that were in it.
        let stays = stage == ChangeStage::DryRun && folder_goes && stay.contains(path);
        if stays && left.insert(path) {
            notes.push(format!(
                "`{}` stays, because a pipe, a socket or a device in it does.",
                name(path)
            ));
        }
        if was_there && left.contains(path) {
            stay.extend(path.ancestors().skip(1));
        }
    }
    for change in changes.iter().filter(|c| is_special(c)) {
        let path = name(&change.path);
        notes.push(match stage {
            ChangeStage::DryRun => format!(
                "`{path}` is a pipe, a socket or a device: what happened to it is reported and not committed."
            ),
            ChangeStage::InPlace => format!(
                "`{path}` is a pipe, a socket or a device: what happened to it cannot be undone."
            ),
        });
    }
    left
}

fn note_hard_links(change: &ChangedPath, stage: ChangeStage, notes: &mut Vec<String>) {
    let path = name(&change.path);
    let links = change.has_hard_links;
    match (links.before, links.after) {
        (true, _) | (_, true) if stage == ChangeStage::InPlace => notes.push(format!(
            "`{path}` is one file with another name: after an undo it is a file of its own."
        )),
        (true, _) => notes.push(format!(
            "`{path}` is a file with other names; under those it stays as it is."
        )),
        (false, true) => notes.push(format!(
            "`{path}` is one file with another name there; it becomes a file of its own."
        )),
        (false, false) => {}
    }
}

fn build_effect(
    id: u32,
    change: &ChangedPath,
    renames: &RenameMap<'_>,
    changes: &[ChangedPath],
) -> Effect {
    let from = renames.source_of(&change.path);
    let was = from.and_then(|from| {
        let at = changes.binary_search_by(|change| change.path.as_path().cmp(from));
        at.ok().and_then(|at| changes.get(at))
    });
    let before = was.map_or(&change.before, |was| &was.before);
    let kind = match from {
        Some(_) => EffectKind::Renamed,
        None => effect_kind(change),
    };
    let (path, from_told) = (name(&change.path), from.map(name));
    Effect {
        id,
        path_exact: ExactName::from_path(&path, &change.path),
        path,
        kind,
        before: describe_content(before),
        after: describe_content(&change.after),
        from_exact: from
            .zip(from_told.as_deref())
            .and_then(|(from, told)| ExactName::from_path(told, from)),
        from: from_told,
        diff: None,
        undiffed: (kind == EffectKind::Changed && is_time_only(change))
            .then(|| "only its time changed".to_owned()),
    }
}

fn effect_kind(change: &ChangedPath) -> EffectKind {
    if is_special(change) {
        return EffectKind::Special;
    }
    let nothing = PathContent::Node(Node::Absent);
    match (&change.before, &change.after) {
        (_, after) if *after == nothing => EffectKind::Deleted,
        (_, PathContent::Node(Node::Link { .. })) => EffectKind::Link,
        (before, _) if *before == nothing => EffectKind::Added,
        (PathContent::Node(before), PathContent::Node(after))
            if is_same_node(before, after, MatchLevel::Loose) && !is_time_only(change) =>
        {
            EffectKind::Mode
        }
        _ => EffectKind::Changed,
    }
}

fn is_time_only(change: &ChangedPath) -> bool {
    match (&change.before, &change.after) {
        (PathContent::Node(before @ Node::File { .. }), PathContent::Node(after)) => {
            is_same_node(before, after, MatchLevel::InProgress)
        }
        _ => false,
    }
}

fn is_special(change: &ChangedPath) -> bool {
    let special = |thing: &PathContent| matches!(thing, PathContent::Special(_));
    special(&change.before) || special(&change.after)
}

fn is_folder_content(thing: &PathContent) -> bool {
    matches!(thing, PathContent::Node(Node::Folder { .. }))
}

fn describe_content(thing: &PathContent) -> Option<PathInfo> {
    match thing {
        PathContent::Node(node) => describe_node(node),
        PathContent::Special(mode) => Some(path_info(PathType::Special, 0, *mode)),
    }
}
