//! What a command changed, told twice from one list: as effects for a person, and as steps to carry out.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use protocol::effects::Thing as Kind;
use protocol::effects::{Effect, EffectKind, Standing};
use protocol::history::Node;
use protocol::shown::{name, name_of_bytes};
use protocol::{EffectStep, Exact};

use super::change::{Change, Thing};
use super::renames::{Renames, renames};

/// Permission bits that let a program run with its owner's rights.
const SET_ID: u32 = 0o6000;

/// Whether it was done for show, or for real.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Done {
    /// In a layer: it is yet to be carried out.
    ForShow,
    /// In the workspace itself: it can be taken back.
    ForReal,
}

/// Both tellings.
#[derive(Debug, Default)]
pub(super) struct ReadOut {
    pub effects: Vec<Effect>,
    pub steps: Vec<EffectStep>,
    pub notes: Vec<String>,
}

/// Tells of these changes, which are in order of the paths.
pub(super) fn read_out(mut changes: Vec<Change>, done: Done) -> ReadOut {
    let mut out = ReadOut::default();
    if done == Done::ForShow {
        for change in &mut changes {
            strip(change, &mut out.notes);
        }
        changes.retain(|change| change.before != change.after);
    }
    let left = left_alone(&changes, done, &mut out.notes);
    let renames = renames(&changes, &left);
    let mut ids: BTreeMap<&Path, u32> = BTreeMap::new();
    for change in &changes {
        if renames.goes(&change.path) {
            continue;
        }
        let id = u32::try_from(out.effects.len()).unwrap_or(u32::MAX);
        ids.insert(&change.path, id);
        out.effects.push(effect(id, change, &renames, &changes));
        name_others(change, done, &mut out.notes);
    }
    for change in &changes {
        let (Thing::Node(before), Thing::Node(after)) = (&change.before, &change.after) else {
            continue;
        };
        let told_at = renames.to(&change.path).unwrap_or(&change.path);
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

/// Takes the bits away that would let a program run with other rights than its caller's, unless they were there before
/// on the same content.
fn strip(change: &mut Change, notes: &mut Vec<String>) {
    let kept = match &change.before {
        Thing::Node(Node::File { blob, mode, .. }) => Some((blob.clone(), mode & SET_ID)),
        Thing::Node(_) | Thing::Special(_) => None,
    };
    let Thing::Node(Node::File { blob, mode, .. }) = &mut change.after else {
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

/// Paths that stay as they are whatever is agreed to: pipes, sockets and devices, what stands in the place of one or below
/// it, and the folders above those that would go.
fn left_alone<'a>(
    changes: &'a [Change],
    done: Done,
    notes: &mut Vec<String>,
) -> BTreeSet<&'a Path> {
    let mut left: BTreeSet<&Path> = BTreeSet::new();
    for change in changes {
        let special = [&change.before, &change.after]
            .into_iter()
            .any(|thing| matches!(thing, Thing::Special(_)));
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
        let was_there = change.before != Thing::Node(Node::Absent);
        let folder_goes = is_folder(&change.before) && !is_folder(&change.after);
        // What went for real comes back without what stood in it.
        let stays = done == Done::ForShow && folder_goes && stay.contains(path);
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
        notes.push(match done {
            Done::ForShow => format!(
                "`{path}` is a pipe, a socket or a device: what happened to it is told and not carried out."
            ),
            Done::ForReal => format!(
                "`{path}` is a pipe, a socket or a device: what happened to it cannot be taken back."
            ),
        });
    }
    left
}

fn name_others(change: &Change, done: Done, notes: &mut Vec<String>) {
    let path = name(&change.path);
    match change.more_names {
        (true, _) | (_, true) if done == Done::ForReal => notes.push(format!(
            "`{path}` is one file with another name: taken back, it is a file of its own."
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

fn effect(id: u32, change: &Change, renames: &Renames<'_>, changes: &[Change]) -> Effect {
    let from = renames.from(&change.path);
    let was = from.and_then(|from| {
        let at = changes.binary_search_by(|change| change.path.as_path().cmp(from));
        at.ok().and_then(|at| changes.get(at))
    });
    let before = was.map_or(&change.before, |was| &was.before);
    let kind = match from {
        Some(_) => EffectKind::Renamed,
        None => kind(change),
    };
    let (path, from_told) = (name(&change.path), from.map(name));
    Effect {
        id,
        path_exact: Exact::of_path(&path, &change.path),
        path,
        kind,
        before: standing(before),
        after: standing(&change.after),
        from_exact: from
            .zip(from_told.as_deref())
            .and_then(|(from, told)| Exact::of_path(told, from)),
        from: from_told,
        diff: None,
        undiffed: (kind == EffectKind::Changed && only_time(change))
            .then(|| "only its time changed".to_owned()),
    }
}

fn kind(change: &Change) -> EffectKind {
    if is_special(change) {
        return EffectKind::Special;
    }
    let nothing = Thing::Node(Node::Absent);
    match (&change.before, &change.after) {
        (_, after) if *after == nothing => EffectKind::Deleted,
        (_, Thing::Node(Node::Link { .. })) => EffectKind::Link,
        (before, _) if *before == nothing => EffectKind::Added,
        (Thing::Node(Node::Folder { .. }), Thing::Node(Node::Folder { .. })) => EffectKind::Mode,
        (
            Thing::Node(Node::File { blob, mode, .. }),
            Thing::Node(Node::File {
                blob: same,
                mode: same_mode,
                ..
            }),
        ) if blob == same && mode != same_mode => EffectKind::Mode,
        _ => EffectKind::Changed,
    }
}

fn only_time(change: &Change) -> bool {
    match (&change.before, &change.after) {
        (
            Thing::Node(Node::File { blob, mode, .. }),
            Thing::Node(Node::File {
                blob: same,
                mode: same_mode,
                ..
            }),
        ) => blob == same && mode == same_mode,
        _ => false,
    }
}

fn is_special(change: &Change) -> bool {
    let special = |thing: &Thing| matches!(thing, Thing::Special(_));
    special(&change.before) || special(&change.after)
}

fn is_folder(thing: &Thing) -> bool {
    matches!(thing, Thing::Node(Node::Folder { .. }))
}

fn standing(thing: &Thing) -> Option<Standing> {
    let plain = |what, bytes, mode| Standing {
        what,
        bytes,
        mode,
        target: None,
        target_exact: None,
    };
    Some(match thing {
        Thing::Node(Node::Absent) => return None,
        Thing::Node(Node::File { bytes, mode, .. }) => plain(Kind::File, *bytes, *mode),
        Thing::Node(Node::Folder { mode, .. }) => plain(Kind::Folder, 0, *mode),
        Thing::Node(Node::Link { target, .. }) => {
            let told = name_of_bytes(target);
            Standing {
                target_exact: Exact::unless(&told, target),
                target: Some(told),
                ..plain(Kind::Link, 0, 0o777)
            }
        }
        Thing::Special(mode) => plain(Kind::Special, 0, *mode),
    })
}
