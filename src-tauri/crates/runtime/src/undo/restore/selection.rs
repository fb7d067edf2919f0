//! Selects the entries of an act and their directions: the named ones, those after a point, or the reverse of an act.

use std::collections::BTreeSet;

use protocol::history::{RestoreRequest, UndoAction};
use protocol::{CallId, SessionId, UndoDirection, UndoEntry, UndoId, UndoState, UserError};

use crate::Workspace;
use crate::limits::RESTORE_ENTRIES_MAX;
use crate::undo::entry::manifest::{RelPath, UndoManifest};
use crate::undo::entry::states;
use crate::undo::{HistoryInner, missing_entry_error};

/// The entries that an act restores.
pub(in crate::undo) struct RestoreSelection {
    /// Entries with their directions, in the order in which they are applied.
    pub moves: Vec<(UndoManifest, UndoDirection)>,
    pub action: UndoAction,
    pub title: String,
    pub session: SessionId,
    pub call: CallId,
    pub root: RelPath,
}

impl RestoreSelection {
    /// Selects the entries of a request.
    ///
    /// # Errors
    /// When an entry is missing, stands on the other side already, or belongs to another workspace.
    pub(in crate::undo) fn from_request(
        inner: &HistoryInner,
        restore: &RestoreRequest,
    ) -> Result<Self, UserError> {
        let listed = inner.entries.list()?.entries;
        let of = match restore {
            RestoreRequest::Undo { entries } => select_undo(select_named(listed, entries)?)?,
            RestoreRequest::UndoTo { entry } => {
                let place = entry_index(&listed, entry)?;
                let (until, later) = listed.split_at(place + 1);
                let root = until.last().map(|entry| entry.workspace.clone());
                let here = |entry: &&UndoEntry| Some(&entry.workspace) == root.as_ref();
                select_undo(later.iter().filter(here).cloned().collect())?
            }
            RestoreRequest::Redo { entry } => vec![select_redo(listed, entry)?],
        };
        let first = of.first().ok_or_else(nothing_selected_error)?;
        let (action, title) = match (of.as_slice(), &first.0.action) {
            // The way back of an act tells of what the act was about.
            ([(one, UndoDirection::Undo)], Some(action)) => reversed_action(one, action),
            (_, _) => describe_act(&of, first.1),
        };
        let mut moves = Self {
            action,
            title,
            session: first.0.session.clone(),
            call: first.0.call.clone(),
            root: inner.load_manifest(&first.0.id)?.root,
            moves: Vec::with_capacity(of.len()),
        };
        for (entry, direction) in of {
            let manifest = inner.load_manifest(&entry.id)?;
            if manifest.root != moves.root {
                let (one, other) = (&moves.action.of[0], &entry.id);
                return Err(UserError::new(
                    format!("`{one}` and `{other}` belong to different workspaces."),
                    "Undo them one workspace at a time.",
                ));
            }
            moves.moves.push((manifest, direction));
        }
        Ok(moves)
    }

    pub(in crate::undo) fn open_workspace(&self) -> Result<Workspace, UserError> {
        Workspace::open(&self.root.0)
    }
}

fn entry_index(listed: &[UndoEntry], id: &UndoId) -> Result<usize, UserError> {
    let mut ids = listed.iter().map(|entry| &entry.id);
    ids.position(|one| one == id)
        .ok_or_else(|| missing_entry_error(id))
}

/// Selects the named entries of a list. If several are named, those that are undone already are left out.
fn select_named(listed: Vec<UndoEntry>, ids: &[UndoId]) -> Result<Vec<UndoEntry>, UserError> {
    for id in ids {
        let entry = &listed[entry_index(&listed, id)?];
        if ids.len() == 1 {
            check_allowed(entry, UndoDirection::Undo)?;
        }
    }
    let ids: BTreeSet<&UndoId> = ids.iter().collect();
    let mut named = listed;
    named.retain(|entry| ids.contains(&entry.id));
    Ok(named)
}

/// Orders entries for undo, the newest first; `entries` come with the oldest first. An entry that an act undid is
/// redone by undoing the act, and is then undone itself.
fn select_undo(mut entries: Vec<UndoEntry>) -> Result<Vec<(UndoEntry, UndoDirection)>, UserError> {
    let mut of = Vec::new();
    while let Some(last) = entries.last() {
        if last.state == UndoState::Prepared {
            check_allowed(last, UndoDirection::Undo)?;
        }
        let goes = last.state == UndoState::Applied;
        if goes && last.action.is_some() {
            states::undo_last(&mut entries);
        }
        let last = entries.pop().filter(|_| goes);
        of.extend(last.map(|entry| (entry, UndoDirection::Undo)));
    }
    match of.len() {
        0 => Err(nothing_selected_error()),
        many if many > RESTORE_ENTRIES_MAX => Err(UserError::new(
            format!("{many} entries are more than the {RESTORE_ENTRIES_MAX} that go back at once."),
            "Choose a later point, and go on from there.",
        )),
        _ => Ok(of),
    }
}

/// Selects an undone entry for redo. An act that undid this entry and nothing else knows exactly what stood there.
fn select_redo(
    listed: Vec<UndoEntry>,
    id: &UndoId,
) -> Result<(UndoEntry, UndoDirection), UserError> {
    let entry = &listed[entry_index(&listed, id)?];
    check_allowed(entry, UndoDirection::Redo)?;
    let entry = entry.clone();
    let took_it_back = |other: &UndoEntry| {
        let alone = |action: &UndoAction| match &action.reverses {
            Some(reversed) => reversed == id,
            None => action.of == [id.clone()] && action.direction == UndoDirection::Undo,
        };
        other.state == UndoState::Applied && other.action.as_ref().is_some_and(alone)
    };
    let act = listed.into_iter().rev().find(took_it_back);
    Ok(act.map_or((entry, UndoDirection::Redo), |act| {
        (act, UndoDirection::Undo)
    }))
}

fn reversed_action(entry: &UndoEntry, action: &UndoAction) -> (UndoAction, String) {
    let direction = action.direction.opposite();
    let title = &entry.title;
    let what = title
        .strip_prefix(past_tense_verb(action.direction))
        .unwrap_or_default();
    let reversed = UndoAction {
        direction,
        of: action.of.iter().rev().cloned().collect(),
        reverses: Some(entry.id.clone()),
    };
    (reversed, format!("{}{what}", past_tense_verb(direction)))
}

fn describe_act(
    of: &[(UndoEntry, UndoDirection)],
    direction: UndoDirection,
) -> (UndoAction, String) {
    let what = match of {
        [(one, _)] => format!(": {}", one.title),
        many => {
            let calls = many.iter().filter(|(one, _)| one.action.is_none()).count();
            match calls {
                1 => " 1 change".to_owned(),
                calls => format!(" {calls} changes"),
            }
        }
    };
    let action = UndoAction {
        direction,
        of: of.iter().map(|(one, _)| one.id.clone()).collect(),
        reverses: None,
    };
    (action, format!("{}{what}", past_tense_verb(direction)))
}

fn past_tense_verb(direction: UndoDirection) -> &'static str {
    match direction {
        UndoDirection::Undo => "Undid",
        UndoDirection::Redo => "Redid",
    }
}

fn check_allowed(entry: &UndoEntry, direction: UndoDirection) -> Result<(), UserError> {
    let id = &entry.id;
    let refuse = |what: &str, hint: &str| Err(UserError::new(format!("`{id}` {what}."), hint));
    match (entry.state, direction) {
        (UndoState::Applied, UndoDirection::Undo) | (UndoState::Undone, UndoDirection::Redo) => {
            Ok(())
        }
        (UndoState::Undone, UndoDirection::Undo) => {
            refuse("is undone already", "Redo brings it back.")
        }
        (UndoState::Applied, UndoDirection::Redo) => refuse("is not undone", "Undo it first."),
        (UndoState::Prepared, _) => refuse(
            "was never carried out, as far as is known",
            "Wait for the call to end, or start the app again.",
        ),
    }
}

fn nothing_selected_error() -> UserError {
    UserError::new(
        "There is nothing to undo.",
        "Look at the history for what there is.",
    )
}
