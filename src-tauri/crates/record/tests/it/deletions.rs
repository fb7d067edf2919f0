//! Sessions that are deleted: nothing is left of them but the event that says so, wherever the work was cut off.

use protocol::event::SessionEvent;
use protocol::session::deletion::{DeletedSession, DeletionHost};
use protocol::{EventBody, SessionId};
use rusqlite::Connection;

use crate::sample_events;
use crate::support::{Desk, folded};

/// A word that stands in the session to delete, and nowhere else.
const MARK: &str = "zanzibarquartz";

fn deleted(calls: u64) -> EventBody {
    let host = DeletionHost::CommandLine;
    EventBody::Session(SessionEvent::Deleted { host, calls })
}

/// Records a session with an undo entry, a verdict, streamed text, and more events than are erased at a time.
fn tell_session(desk: &mut Desk, session: &str, mark: &str) {
    desk.tell(session, sample_events::opened(&format!("Title {mark}")));
    desk.tell(session, sample_events::said("m1", mark));
    desk.tell(session, sample_events::turn(1, "m2"));
    for _ in 0..600 {
        drop(desk.record.append(
            session.into(),
            1,
            sample_events::agent_said("m2", mark, false),
            record::Durability::Batched,
        ));
    }
    desk.tell(session, sample_events::turn_ended(1, "m2"));
    for call in 0..60 {
        let id = format!("c{call}");
        desk.tell_all(session, sample_events::read_call(&id, "src/a.rs", mark));
    }
    desk.tell(
        session,
        sample_events::undo_prepared("c1", &format!("und_{session}")),
    );
    desk.tell(session, sample_events::noted(mark));
    // So that some rows are made, and others are owed.
    desk.record.desk().unwrap();
}

/// Two sessions that took turns.
fn two_sessions() -> Desk {
    let mut desk = Desk::new();
    tell_session(&mut desk, "ses_kept", "ordinary");
    tell_session(&mut desk, "ses_gone", MARK);
    desk.tell("ses_kept", sample_events::said("m9", "ordinary again"));
    desk.tell("ses_gone", sample_events::said("m9", MARK));
    desk
}

fn count(desk: &Desk, query: &str) -> i64 {
    let conn = Connection::open(desk.file()).unwrap();
    conn.query_row(query, [], |row| row.get(0)).unwrap()
}

/// Number of rows of the deleted session, its line in `sessions` and its last event left out.
fn rows_left(desk: &Desk) -> i64 {
    let key = "(SELECT key FROM sessions WHERE id = 'ses_gone')";
    count(
        desk,
        &format!(
            "SELECT (SELECT count(*) FROM events WHERE session = {key} AND type <> 'session_deleted') \
                + (SELECT count(*) FROM entries WHERE session = {key}) \
                + (SELECT count(*) FROM folded WHERE entry LIKE '%{MARK}%') \
                + (SELECT count(*) FROM verdicts WHERE session = {key}) \
                + (SELECT count(*) FROM rule_hits WHERE session = {key}) \
                + (SELECT count(*) FROM undo_entries WHERE id = 'und_ses_gone') \
                + (SELECT count(*) FROM words WHERE words MATCH '{MARK}') \
                + (SELECT count(*) FROM sessions WHERE view LIKE '%{MARK}%')"
        ),
    )
}

/// Whether the full-text index still has the word, whatever rows it says are gone.
fn is_in_index(desk: &Desk) -> bool {
    let conn = Connection::open(desk.file()).unwrap();
    conn.execute_batch("CREATE VIRTUAL TABLE temp.terms USING fts5vocab(main, words, row)")
        .unwrap();
    let count = "SELECT count(*) FROM temp.terms WHERE term = ?1";
    conn.query_row(count, [MARK], |row| row.get::<_, i64>(0))
        .unwrap()
        > 0
}

fn session_ids(desk: &Desk) -> Vec<String> {
    let sessions = desk.record.sessions().unwrap();
    sessions.into_iter().map(|view| view.id.0).collect()
}

#[test]
fn a_deleted_session_leaves_one_event_and_others_are_as_they_were() {
    let mut desk = two_sessions();
    let kept = SessionId::from("ses_kept");
    let (kept_events, kept_entries) = (
        desk.record.events(0, Some(&kept), u32::MAX).unwrap(),
        desk.record.transcript_from(&kept, 0, 500).unwrap(),
    );
    assert!(rows_left(&desk) > 0);
    assert_eq!(desk.record.count_calls(&"ses_gone".into()).unwrap(), 60);

    let at = desk.tell("ses_gone", deleted(60));
    desk.record.wait_until_erased().unwrap();
    let gone = SessionId::from("ses_gone");
    assert!(desk.record.is_deleted(&gone).unwrap() && !desk.record.is_deleted(&kept).unwrap());
    assert_eq!(session_ids(&desk), ["ses_kept"]);
    assert_eq!(desk.record.session(&gone).unwrap(), None);
    assert!(
        desk.record
            .transcript_from(&gone, 0, 500)
            .unwrap()
            .0
            .is_empty()
    );
    assert!(desk.record.search(MARK, 0, 0, 10).unwrap().hits.is_empty());
    assert_eq!(desk.record.undo_entries(0, 10).unwrap().0.len(), 1);
    let left = desk.record.events(0, Some(&gone), u32::MAX).unwrap();
    assert_eq!(left.iter().map(|event| event.seq).collect::<Vec<_>>(), [at]);
    assert_eq!(rows_left(&desk), 0);
    let line = DeletedSession {
        session: gone,
        at: left[0].at,
        host: DeletionHost::CommandLine,
        calls: 60,
    };
    assert_eq!(desk.record.deleted_sessions(10).unwrap(), [line]);
    assert_eq!(
        desk.record.events(0, Some(&kept), u32::MAX).unwrap(),
        kept_events
    );
    assert_eq!(
        desk.record.transcript_from(&kept, 0, 500).unwrap(),
        kept_entries
    );
    assert_eq!(desk.published().last().unwrap().seq, at);

    // Positions go on after it, and nothing comes back at the next start.
    let mut desk = desk.reopen();
    assert_eq!(desk.tell("ses_kept", sample_events::noted("on")), at + 1);
    assert_eq!(session_ids(&desk), ["ses_kept"]);
    assert_eq!(rows_left(&desk), 0);
}

/// The words are merged out of the full-text index, which only marks a removed row.
#[test]
fn the_index_does_not_have_the_words_of_what_was_deleted() {
    let mut desk = two_sessions();
    desk.record.flush_deferred();
    assert!(is_in_index(&desk));
    desk.tell("ses_gone", deleted(60));
    desk.record.wait_until_erased().unwrap();
    assert!(!is_in_index(&desk));
    let desk = desk.reopen();
    let check: String = Connection::open(desk.file())
        .unwrap()
        .query_row("PRAGMA integrity_check", [], |row| row.get(0))
        .unwrap();
    assert_eq!(check, "ok");
    assert_eq!(count(&desk, "SELECT erased FROM deletions"), 2);
    assert!(desk.record.search("ordinary", 0, 0, 10).unwrap().total > 0);
}

/// Puts the database into the state of a process that ended in the midst of the erasure, and opens it again.
fn cut_off_at(state: &str) -> Desk {
    let desk = two_sessions();
    desk.record.flush_deferred();
    let Desk {
        folder,
        record,
        published,
        ..
    } = desk;
    drop((record, published));
    let conn = Connection::open(folder.path().join("record.db")).unwrap();
    conn.execute_batch(&format!(
        r#"CREATE TEMP TABLE one AS SELECT key, (SELECT max(seq) + 1 FROM events) AS seq FROM sessions WHERE id = 'ses_gone';
        INSERT INTO events SELECT seq, key, NULL, 9, 'session_deleted',
            '{{"type":"session_deleted","host":"window","calls":60}}' FROM one;
        INSERT INTO spans SELECT key, seq, seq FROM one;
        INSERT INTO deletions SELECT key, seq, 0 FROM one;
        {state}"#
    ))
    .unwrap();
    drop(conn);
    let (record, published) = crate::support::open(folder.path().join("record.db")).unwrap();
    Desk::from_parts(record, published, folder)
}

#[test]
fn an_erasure_that_was_cut_off_is_finished_at_the_next_start() {
    for state in [
        // Nothing was erased.
        "",
        // Some events are gone, with what is derived from them.
        "CREATE TEMP TABLE first AS SELECT seq FROM events WHERE session = (SELECT key FROM one) LIMIT 700;
        DELETE FROM words WHERE rowid IN first;
        DELETE FROM folded WHERE seq IN first;
        DELETE FROM undo_entries WHERE call IN first;
        DELETE FROM verdicts WHERE entry IN first;
        DELETE FROM entries WHERE seq IN first;
        DELETE FROM events WHERE seq IN first;",
        // All rows are gone, and the words are left.
        "DELETE FROM words WHERE rowid IN (SELECT seq FROM entries WHERE session = (SELECT key FROM one));
        DELETE FROM folded WHERE seq IN (SELECT seq FROM entries WHERE session = (SELECT key FROM one));
        DELETE FROM undo_entries WHERE id = 'und_ses_gone';
        DELETE FROM verdicts WHERE session = (SELECT key FROM one);
        DELETE FROM rule_hits WHERE session = (SELECT key FROM one);
        DELETE FROM entries WHERE session = (SELECT key FROM one);
        DELETE FROM events WHERE session = (SELECT key FROM one) AND seq < (SELECT seq FROM one);
        UPDATE deletions SET erased = 1;",
    ] {
        let desk = cut_off_at(state);
        desk.record.wait_until_erased().unwrap();
        assert_eq!(session_ids(&desk), ["ses_kept"], "{state}");
        assert_eq!(rows_left(&desk), 0, "{state}");
        assert_eq!(count(&desk, "SELECT erased FROM deletions"), 2, "{state}");
        let kept = SessionId::from("ses_kept");
        let events = desk.record.events(0, Some(&kept), u32::MAX).unwrap();
        let entries = desk.record.transcript_from(&kept, 0, 500).unwrap().0;
        assert_eq!(entries, folded(&events, &kept), "{state}");
    }
}

/// What another process says of a session after its deletion is on record, and does not bring it back.
#[test]
fn a_late_event_does_not_bring_a_session_back() {
    let mut desk = two_sessions();
    desk.tell("ses_gone", deleted(60));
    desk.record.wait_until_erased().unwrap();
    let renamed = SessionEvent::Renamed {
        title: "Again".to_owned(),
    };
    desk.tell("ses_gone", EventBody::Session(renamed));
    assert_eq!(session_ids(&desk), ["ses_kept"]);
    assert!(desk.record.is_deleted(&"ses_gone".into()).unwrap());
}
