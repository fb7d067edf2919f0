//! The state of each entry: that of its own manifest, until a later restore undid or redid it.
//!
//! So one write, that of the restore, changes the state of all its entries, at once or not at all.

use std::collections::BTreeMap;

use protocol::{UndoDirection, UndoEntry, UndoId, UndoState};

/// Sets the state of every entry of a list; the oldest comes first.
pub(in crate::undo) fn fold_states(entries: &mut [UndoEntry]) {
    let places = index_by_id(entries);
    for place in 0..entries.len() {
        if entries[place].state == UndoState::Applied {
            set_state(entries, &places, place, UndoDirection::Redo);
        }
    }
}

/// Undoes the last entry of a list whose states are set, and changes the state of the entries that it restored.
pub(in crate::undo) fn undo_last(entries: &mut [UndoEntry]) {
    if let Some(last) = entries.len().checked_sub(1) {
        let places = index_by_id(entries);
        set_state(entries, &places, last, UndoDirection::Undo);
    }
}

fn index_by_id(entries: &[UndoEntry]) -> BTreeMap<UndoId, usize> {
    let places = entries.iter().enumerate();
    places
        .map(|(place, entry)| (entry.id.clone(), place))
        .collect()
}

/// Sets an entry to one side, and with a restore every entry that it restored.
fn set_state(
    entries: &mut [UndoEntry],
    places: &BTreeMap<UndoId, usize>,
    place: usize,
    direction: UndoDirection,
) {
    entries[place].state = direction.state();
    let Some(action) = entries[place].action.clone() else {
        return;
    };
    let moves = match action.reverses {
        Some(reversed) => vec![(reversed, UndoDirection::Undo)],
        None => action
            .of
            .into_iter()
            .map(|id| (id, action.direction))
            .collect(),
    };
    for (id, way) in moves {
        let way = match direction {
            UndoDirection::Redo => way,
            UndoDirection::Undo => way.opposite(),
        };
        // An act is about what was there before it; what was dropped since has no state any more.
        if let Some(earlier) = places.get(&id).filter(|earlier| **earlier < place) {
            set_state(entries, places, *earlier, way);
        }
    }
}

#[cfg(test)]
mod tests {
    use protocol::history::UndoAction;

    use super::*;

    fn entry(id: &str, action: Option<UndoAction>) -> UndoEntry {
        UndoEntry {
            id: id.into(),
            session: "s".into(),
            call: "c".into(),
            action,
            at: 0,
            workspace: "/w".into(),
            title: String::new(),
            paths: 1,
            bytes: 0,
            shown: Vec::new(),
            state: UndoState::Applied,
        }
    }

    fn restored(
        id: &str,
        direction: UndoDirection,
        of: &[&str],
        reverses: Option<&str>,
    ) -> UndoEntry {
        let action = UndoAction {
            direction,
            of: of.iter().map(|id| UndoId::from(*id)).collect(),
            reverses: reverses.map(UndoId::from),
        };
        entry(id, Some(action))
    }

    #[test]
    fn an_act_turns_what_it_is_about() {
        use UndoDirection::{Redo, Undo};
        let history = [
            entry("a", None),
            entry("b", None),
            restored("u", Undo, &["b", "a"], None),
            restored("v", Redo, &["a", "b"], Some("u")),
            restored("w", Undo, &["b", "a"], Some("v")),
            restored("x", Redo, &["a"], None),
            restored("gone", Undo, &["long gone"], None),
        ];
        // After so many of them, which stand?
        let tables: [(usize, &str); 7] = [
            (1, "a"),
            (2, "ab"),
            (3, "u"),
            (4, "abv"),
            (5, "uw"),
            (6, "auwx"),
            (7, "auwxgone"),
        ];
        for (count, standing) in tables {
            let mut entries = history[..count].to_vec();
            fold_states(&mut entries);
            let found: String = entries
                .iter()
                .filter(|entry| entry.state == UndoState::Applied)
                .map(|entry| entry.id.as_str())
                .collect();
            assert_eq!(found, standing, "after {count}");
        }
    }

    #[test]
    fn an_act_that_is_not_done_turns_nothing() {
        let mut entries = vec![
            entry("a", None),
            restored("u", UndoDirection::Undo, &["a"], None),
        ];
        entries[1].state = UndoState::Prepared;
        fold_states(&mut entries);
        assert_eq!(entries[0].state, UndoState::Applied);
    }
}
