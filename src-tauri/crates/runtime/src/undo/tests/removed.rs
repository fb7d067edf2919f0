//! Entries of sessions that are removed from the history, and the copies that stay because others need them.

use std::collections::BTreeSet;

use protocol::SessionId;

use super::*;
use crate::RemovedEntries;

/// Carries out an effect as that of a call in a session.
fn effect_in(fixture: &Fixture, session: &str, id: &str, plan: &Plan) -> UndoId {
    let meta = UndoEntryMeta {
        session: session.into(),
        ..fixture.meta(id)
    };
    let entry = fixture
        .history
        .prepare_entry(&fixture.workspace, plan, meta)
        .unwrap();
    fixture.carry_out(plan).unwrap();
    fixture.history.mark_applied(&entry.id).unwrap();
    entry.id
}

fn sessions(ids: &[&str]) -> BTreeSet<SessionId> {
    ids.iter().map(|id| SessionId::from(*id)).collect()
}

#[test]
fn a_removal_takes_what_nothing_else_needs_and_says_so_before() {
    let fixture = Fixture::new();
    fixture.file("shared.txt", "the same in both", 0o644);
    fixture.file("own.txt", &"its own ".repeat(5_000), 0o644);
    effect_in(
        &fixture,
        "ses_gone",
        "und_01",
        &fixture.writing(&[("own.txt", "short")]),
    );
    let both = fixture.writing(&[("shared.txt", "after")]);
    effect_in(&fixture, "ses_gone", "und_02", &both);
    fixture.file("other.txt", "the same in both", 0o644);
    let kept = fixture.writing(&[("other.txt", "other after")]);
    let kept = effect_in(&fixture, "ses_kept", "und_03", &kept);

    let gone = sessions(&["ses_gone"]);
    let before = fixture.history.disk_bytes().unwrap();
    let told = fixture.history.preview_removal(&gone).unwrap();
    assert_eq!(told.entries, 2);
    assert!(
        told.bytes > 0 && told.bytes < before,
        "{told:?} of {before}"
    );
    assert_eq!(
        fixture.history.disk_bytes().unwrap(),
        before,
        "nothing changed"
    );

    let removed = fixture.history.remove_sessions(&gone).unwrap();
    assert_eq!(removed.entries, 2);
    assert_eq!(
        fixture.history.disk_bytes().unwrap(),
        before - removed.bytes
    );
    assert!(removed.bytes >= told.bytes, "{removed:?} and {told:?}");
    let left = fixture.history.entries().unwrap();
    assert_eq!(
        left.iter().map(|entry| &entry.id).collect::<Vec<_>>(),
        [&kept]
    );
    assert_eq!(
        fixture.history.0.store.disk_bytes().unwrap(),
        needed(&fixture.history).bytes(),
        "no copy is left over"
    );
    fixture.undo(&kept).unwrap();
    assert_eq!(
        fs::read_to_string(fixture.at("other.txt")).unwrap(),
        "the same in both"
    );
    assert_eq!(
        fixture.history.remove_sessions(&gone).unwrap(),
        RemovedEntries::default(),
        "again it finds nothing"
    );
}

#[test]
fn an_effect_under_way_keeps_all_entries_of_its_session() {
    let fixture = Fixture::new();
    fixture.file("a.txt", "a", 0o644);
    let plan = fixture.writing(&[("a.txt", "b")]);
    let meta = fixture.meta("und_01");
    let session = meta.session.clone();
    fixture
        .history
        .prepare_entry(&fixture.workspace, &plan, meta)
        .unwrap();
    let fault = fixture
        .history
        .remove_sessions(&BTreeSet::from([session]))
        .unwrap_err();
    assert!(fault.message.ends_with("is not finished."), "{fault}");
    assert_eq!(fixture.history.entries().unwrap().len(), 1);
}
