//! Which entries an act carries which way: those that are named, those after a point, or the way back of an act.

use std::collections::BTreeSet;

use protocol::history::{Act, Restore};
use protocol::{CallId, Direction, Fault, SessionId, UndoEntry, UndoId, UndoState};

use super::manifest::{Manifest, Way};
use super::{Inner, missing, states};
use crate::Workspace;
use crate::limits::ACT_ENTRIES_MAX;

/// What an act is about.
pub(super) struct Moves {
    /// In the order in which they go.
    pub of: Vec<(Manifest, Direction)>,
    pub act: Act,
    pub title: String,
    pub session: SessionId,
    pub call: CallId,
    pub root: Way,
}

impl Moves {
    /// # Errors
    /// When an entry is missing, stands on the other side already, or belongs to another workspace.
    pub(super) fn of(inner: &Inner, restore: &Restore) -> Result<Self, Fault> {
        let listed = inner.entries.list()?.entries;
        let of = match restore {
            Restore::Undo { entries } => back(named(listed, entries)?)?,
            Restore::UndoTo { entry } => {
                let place = place(&listed, entry)?;
                let (until, later) = listed.split_at(place + 1);
                let root = until.last().map(|entry| entry.workspace.clone());
                let here = |entry: &&UndoEntry| Some(&entry.workspace) == root.as_ref();
                back(later.iter().filter(here).cloned().collect())?
            }
            Restore::Redo { entry } => vec![again(listed, entry)?],
        };
        let first = of.first().ok_or_else(nothing)?;
        let (act, title) = match (of.as_slice(), &first.0.act) {
            // The way back of an act tells of what the act was about.
            ([(one, Direction::Undo)], Some(act)) => reversed(one, act),
            (_, _) => told(&of, first.1),
        };
        let mut moves = Self {
            act,
            title,
            session: first.0.session.clone(),
            call: first.0.call.clone(),
            root: inner.load(&first.0.id)?.root,
            of: Vec::with_capacity(of.len()),
        };
        for (entry, direction) in of {
            let manifest = inner.load(&entry.id)?;
            if manifest.root != moves.root {
                let (one, other) = (&moves.act.of[0], &entry.id);
                return Err(Fault::new(
                    format!("`{one}` and `{other}` belong to different workspaces."),
                    "Take them back one workspace at a time.",
                ));
            }
            moves.of.push((manifest, direction));
        }
        Ok(moves)
    }

    pub(super) fn workspace(&self) -> Result<Workspace, Fault> {
        Workspace::open(&self.root.0)
    }
}

fn place(listed: &[UndoEntry], id: &UndoId) -> Result<usize, Fault> {
    let mut ids = listed.iter().map(|entry| &entry.id);
    ids.position(|one| one == id).ok_or_else(|| missing(id))
}

/// The named of a list. Where several are named, those that are back already are left out.
fn named(listed: Vec<UndoEntry>, ids: &[UndoId]) -> Result<Vec<UndoEntry>, Fault> {
    for id in ids {
        let entry = &listed[place(&listed, id)?];
        if ids.len() == 1 {
            allowed(entry, Direction::Undo)?;
        }
    }
    let ids: BTreeSet<&UndoId> = ids.iter().collect();
    let mut named = listed;
    named.retain(|entry| ids.contains(&entry.id));
    Ok(named)
}

/// Entries with the oldest first, taken back with the newest first. What an act undid stands again once the act is taken
/// back, and then is taken back itself.
fn back(mut entries: Vec<UndoEntry>) -> Result<Vec<(UndoEntry, Direction)>, Fault> {
    let mut of = Vec::new();
    while let Some(last) = entries.last() {
        if last.state == UndoState::Prepared {
            allowed(last, Direction::Undo)?;
        }
        let goes = last.state == UndoState::Applied;
        if goes && last.act.is_some() {
            states::take_back_last(&mut entries);
        }
        let last = entries.pop().filter(|_| goes);
        of.extend(last.map(|entry| (entry, Direction::Undo)));
    }
    match of.len() {
        0 => Err(nothing()),
        many if many > ACT_ENTRIES_MAX => Err(Fault::new(
            format!("{many} entries are more than the {ACT_ENTRIES_MAX} that go back at once."),
            "Choose a later point, and go on from there.",
        )),
        _ => Ok(of),
    }
}

/// An undone entry brought again. The act that took back this and nothing else knows exactly what stood there.
fn again(listed: Vec<UndoEntry>, id: &UndoId) -> Result<(UndoEntry, Direction), Fault> {
    let entry = &listed[place(&listed, id)?];
    allowed(entry, Direction::Redo)?;
    let entry = entry.clone();
    let took_it_back = |other: &UndoEntry| {
        let alone = |act: &Act| match &act.reverses {
            Some(act) => act == id,
            None => act.of == [id.clone()] && act.direction == Direction::Undo,
        };
        other.state == UndoState::Applied && other.act.as_ref().is_some_and(alone)
    };
    let act = listed.into_iter().rev().find(took_it_back);
    Ok(act.map_or((entry, Direction::Redo), |act| (act, Direction::Undo)))
}

fn reversed(entry: &UndoEntry, act: &Act) -> (Act, String) {
    let direction = act.direction.opposite();
    let title = &entry.title;
    let what = title.strip_prefix(did(act.direction)).unwrap_or_default();
    let reversed = Act {
        direction,
        of: act.of.iter().rev().cloned().collect(),
        reverses: Some(entry.id.clone()),
    };
    (reversed, format!("{}{what}", did(direction)))
}

fn told(of: &[(UndoEntry, Direction)], direction: Direction) -> (Act, String) {
    let what = match of {
        [(one, _)] => format!(": {}", one.title),
        many => {
            let calls = many.iter().filter(|(one, _)| one.act.is_none()).count();
            match calls {
                1 => " 1 change".to_owned(),
                calls => format!(" {calls} changes"),
            }
        }
    };
    let act = Act {
        direction,
        of: of.iter().map(|(one, _)| one.id.clone()).collect(),
        reverses: None,
    };
    (act, format!("{}{what}", did(direction)))
}

fn did(direction: Direction) -> &'static str {
    match direction {
        Direction::Undo => "Undid",
        Direction::Redo => "Redid",
    }
}

fn allowed(entry: &UndoEntry, direction: Direction) -> Result<(), Fault> {
    let id = &entry.id;
    let refuse = |what: &str, hint: &str| Err(Fault::new(format!("`{id}` {what}."), hint));
    match (entry.state, direction) {
        (UndoState::Applied, Direction::Undo) | (UndoState::Undone, Direction::Redo) => Ok(()),
        (UndoState::Undone, Direction::Undo) => refuse("is undone already", "Redo brings it back."),
        (UndoState::Applied, Direction::Redo) => refuse("is not undone", "Undo it first."),
        (UndoState::Prepared, _) => refuse(
            "was never carried out, as far as is known",
            "Wait for the call to end, or start the app again.",
        ),
    }
}

fn nothing() -> Fault {
    Fault::new(
        "There is nothing to take back.",
        "Look at the history for what there is.",
    )
}
