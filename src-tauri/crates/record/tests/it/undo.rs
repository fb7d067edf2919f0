//! The undo list: what can be taken back, as the calls' lives go on.

use protocol::{CallState, UndoId, UndoState};

use crate::sample_events;
use crate::support::Desk;

/// The undo list as ids with their states.
fn list(desk: &Desk) -> Vec<(String, UndoState)> {
    let (entries, more) = desk.record.undo_entries(0, 10).unwrap();
    assert!(!more);
    for entry in &entries {
        let one = desk.record.undo_entry(&entry.id).unwrap();
        assert_eq!(one.as_ref(), Some(entry));
    }
    entries.into_iter().map(|e| (e.id.0, e.state)).collect()
}

fn deletion(desk: &mut Desk, call: &str, undo: &str, end: Option<CallState>) {
    desk.tell(
        "ses_1",
        sample_events::proposed(call, "delete_path", serde_json::json!({})),
    );
    desk.tell(
        "ses_1",
        sample_events::judged(call, "delete_path", "tests/old"),
    );
    desk.tell("ses_1", sample_events::undo_prepared(call, undo));
    desk.tell("ses_1", sample_events::started(call));
    if let Some(end) = end {
        desk.tell("ses_1", sample_events::ended(call, end, "ended"));
    }
}

/// A provider may use an id again: what the first call of that name did can be taken back as before.
#[test]
fn an_id_that_is_used_again_leaves_what_was_done() {
    let mut desk = Desk::new();
    desk.tell("ses_1", sample_events::opened("Cleans up"));
    deletion(&mut desk, "c1", "und_1", Some(CallState::Done));
    let again = sample_events::proposed("c1", "bash", serde_json::json!({}));
    desk.tell("ses_1", again);
    assert_eq!(list(&desk), [("und_1".to_owned(), UndoState::Applied)]);
}

#[test]
fn an_entry_follows_its_call() {
    let mut desk = Desk::new();
    desk.tell("ses_1", sample_events::opened("Cleans up"));
    deletion(&mut desk, "c1", "und_1", Some(CallState::Done));
    deletion(&mut desk, "c2", "und_2", Some(CallState::Failed));
    deletion(&mut desk, "c3", "und_3", Some(CallState::Interrupted));
    deletion(&mut desk, "c4", "und_4", None);
    let named = |id: &str, state| (id.to_owned(), state);
    assert_eq!(
        list(&desk),
        [
            named("und_4", UndoState::Prepared),
            named("und_3", UndoState::Prepared),
            named("und_1", UndoState::Applied),
        ],
        "newest first; a call that failed changed nothing"
    );
    desk.tell("ses_1", sample_events::undone("c1", "und_1"));
    assert_eq!(list(&desk)[2], named("und_1", UndoState::Undone));
    desk = desk.reopen();
    desk.tell("ses_1", sample_events::redone("c1", "und_1"));
    assert_eq!(list(&desk)[2], named("und_1", UndoState::Applied));
    desk.tell(
        "ses_1",
        sample_events::ended("c4", CallState::Done, "ended"),
    );
    assert_eq!(list(&desk)[0], named("und_4", UndoState::Applied));
    assert_eq!(
        desk.record.undo_entry(&UndoId::from("und_2")).unwrap(),
        None
    );
}

#[test]
fn the_list_comes_in_pages() {
    let mut desk = Desk::new();
    for n in 0..5 {
        deletion(
            &mut desk,
            &format!("c{n}"),
            &format!("und_{n}"),
            Some(CallState::Done),
        );
    }
    let ids = |offset, limit| {
        let (entries, more) = desk.record.undo_entries(offset, limit).unwrap();
        (
            entries.into_iter().map(|e| e.id.0).collect::<Vec<_>>(),
            more,
        )
    };
    assert_eq!(ids(0, 2), (vec!["und_4".into(), "und_3".into()], true));
    assert_eq!(ids(3, 2), (vec!["und_1".into(), "und_0".into()], false));
    assert_eq!(ids(9, 2), (vec![], false));
}
