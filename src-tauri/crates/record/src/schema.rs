//! The tables, and how a database of an older format becomes one of this format.

use rusqlite::{Connection, TransactionBehavior};

use crate::RecordError;

/// Marks the file as ours in its header: "CSGN".
pub(crate) const APPLICATION_ID: i32 = 0x4353_474e;

/// One step for each format, in order; the format's number is how many were taken. A step that was released never
/// changes; a new format is a new step.
///
/// `verdicts` holds the evidence of the last verdict of each call, and `rule_hits` how often a rule made a verdict in a
/// session.
///
/// `entries` is narrow, so that a search walks over it quickly; the folded JSON stands beside it in `folded`. Both have
/// the `seq` of the event that began the entry as their key, and so has the full-text index `words`. `folded_to` is the
/// last event that the stored JSON holds, 0 if there is none yet: what just began, and pieces of a text that still
/// streams, come from `events` until the next write. `spans` says between which positions each batch has events of a
/// session: all that is needed to find them, at a fraction of what an index over all events costs each append.
///
/// `projected` has one row, which names the last event that all of them hold; the log and `spans` may have more. A session's
/// row is there with its first event all the same, because events name it.
///
/// Since the second format, `indexed` is 2 where an entry's row in `folded` and its words are owed yet, though it
/// settled; `folded_to` is its last event all the same.
///
/// The fifth format changes nothing here: since then the history beside the database keeps its copies in pieces
/// (`runtime`, `history/store`), which a program of an earlier format cannot read, so that it must refuse the folder.
///
/// `chat_parts` shows the result of every call as the row that the specification of tools names (`S002-66`): the
/// envelope of `S002-61` to `S002-65`, as `Outcome::to_envelope` makes it. It keeps nothing: the events do.
///
/// The seventh format has other names for tables, columns and members of the folded JSON, so that everything which is
/// derived from the events is derived from them anew.
///
/// Since the eighth format a session can be deleted: `deletions` names the event that says so, and only events before it
/// may be removed. `erased` is how far that is: 0 while events and their rows are left, 1 while the full-text index may
/// still hold words of them, 2 once nothing is left.
///
/// The ninth format finds the failed calls of a session by an index.
pub(crate) const MIGRATIONS: &[&str] = &["
CREATE TABLE sessions (
    key  INTEGER PRIMARY KEY,
    id   TEXT NOT NULL UNIQUE,
    seq  INTEGER NOT NULL,
    view TEXT
) STRICT;
CREATE TABLE events (
    seq     INTEGER PRIMARY KEY,
    session INTEGER NOT NULL,
    entry   INTEGER,
    at      INTEGER NOT NULL,
    type    TEXT NOT NULL,
    body    TEXT NOT NULL
) STRICT;
CREATE TRIGGER events_stay BEFORE DELETE ON events BEGIN SELECT raise(ABORT, 'events are only added'); END;
CREATE TRIGGER events_keep BEFORE UPDATE ON events BEGIN SELECT raise(ABORT, 'events are only added'); END;
CREATE TABLE spans (
    session INTEGER NOT NULL,
    last    INTEGER NOT NULL,
    first   INTEGER NOT NULL,
    PRIMARY KEY (session, last)
) STRICT, WITHOUT ROWID;
CREATE TABLE entries (
    seq       INTEGER PRIMARY KEY,
    session   INTEGER NOT NULL,
    id        TEXT NOT NULL,
    at        INTEGER NOT NULL,
    folded_to INTEGER NOT NULL,
    indexed   INTEGER NOT NULL,
    body      TEXT NOT NULL,
    state     TEXT,
    mode      TEXT,
    kind      TEXT,
    tool      TEXT,
    target    TEXT,
    paths     TEXT
) STRICT;
CREATE INDEX entries_session ON entries (session);
CREATE UNIQUE INDEX entries_id ON entries (id, session);
CREATE INDEX entries_waiting ON entries (seq) WHERE state = 'waiting';
CREATE TABLE folded (
    seq   INTEGER PRIMARY KEY,
    entry TEXT NOT NULL
) STRICT;
CREATE TABLE undo_entries (
    seq   INTEGER PRIMARY KEY,
    call  INTEGER NOT NULL UNIQUE,
    id    TEXT NOT NULL UNIQUE,
    entry TEXT NOT NULL
) STRICT;
CREATE VIRTUAL TABLE words USING fts5 (
    text, content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 2'
);
", "
CREATE INDEX entries_late ON entries (seq) WHERE indexed = 2;
", "
CREATE TABLE judged (
    entry   INTEGER PRIMARY KEY,
    session INTEGER NOT NULL,
    call    TEXT NOT NULL,
    at      INTEGER NOT NULL,
    tool    TEXT NOT NULL,
    target  TEXT NOT NULL,
    mode    TEXT,
    undo    TEXT NOT NULL,
    grounds TEXT,
    said    TEXT
) STRICT;
CREATE TABLE hits (
    rule    TEXT NOT NULL,
    session INTEGER NOT NULL,
    hits    INTEGER NOT NULL,
    last    INTEGER NOT NULL,
    PRIMARY KEY (rule, session)
) STRICT, WITHOUT ROWID;
", "
CREATE TABLE made (upto INTEGER NOT NULL) STRICT;
INSERT INTO made SELECT coalesce(max(seq), 0) FROM events;
", "
-- The history's copies are in pieces.
", "
CREATE VIEW chat_parts AS
WITH ended AS (
    SELECT seq, session, at, body ->> '$.call' AS call, body -> '$.outcome' AS outcome
    FROM events WHERE type = 'call_ended'
), told AS (
    SELECT *, outcome ->> '$.state' = 'done' AS worked, outcome ->> '$.text' AS text,
        outcome ->> '$.duration_ms' AS duration_ms, coalesce(json_type(outcome, '$.truncated'), 'null') <> 'null' AS is_cut,
        outcome ->> '$.truncated.output_path' AS output_path
    FROM ended
)
SELECT told.seq AS seq, sessions.id AS session, told.call AS id, told.at AS at,
    CASE WHEN worked THEN 'output' ELSE 'error' END AS type,
    CASE
        WHEN NOT worked THEN NULL
        WHEN is_cut THEN json_object('head', text)
        WHEN coalesce(json_type(outcome, '$.data'), 'null') <> 'null' THEN outcome -> '$.data'
        ELSE json_quote(text)
    END AS data,
    CASE WHEN NOT worked THEN text END AS error_text,
    CASE
        WHEN NOT is_cut THEN json_object('duration_ms', duration_ms)
        WHEN output_path IS NULL THEN json_object('duration_ms', duration_ms, 'truncated', json('true'))
        ELSE json_object('duration_ms', duration_ms, 'truncated', json('true'), 'output_path', output_path)
    END AS metadata
FROM told JOIN sessions ON sessions.key = told.session;
", "
DROP TABLE judged;
DROP TABLE hits;
DROP TABLE made;
DELETE FROM entries;
DELETE FROM folded;
DELETE FROM undo_entries;
INSERT INTO words (words) VALUES ('delete-all');
UPDATE sessions SET view = NULL;
CREATE TABLE verdicts (
    entry    INTEGER PRIMARY KEY,
    session  INTEGER NOT NULL,
    call     TEXT NOT NULL,
    at       INTEGER NOT NULL,
    tool     TEXT NOT NULL,
    target   TEXT NOT NULL,
    mode     TEXT,
    undo     TEXT NOT NULL,
    evidence TEXT,
    answer   TEXT
) STRICT;
CREATE TABLE rule_hits (
    rule    TEXT NOT NULL,
    session INTEGER NOT NULL,
    hits    INTEGER NOT NULL,
    last    INTEGER NOT NULL,
    PRIMARY KEY (rule, session)
) STRICT, WITHOUT ROWID;
CREATE TABLE projected (upto INTEGER NOT NULL) STRICT;
INSERT INTO projected VALUES (0);
", "
CREATE TABLE deletions (
    session INTEGER PRIMARY KEY,
    seq     INTEGER NOT NULL,
    erased  INTEGER NOT NULL
) STRICT;
CREATE INDEX deletions_owed ON deletions (erased) WHERE erased < 2;
CREATE TRIGGER deletions_told BEFORE INSERT ON deletions
WHEN NOT EXISTS (SELECT 1 FROM events WHERE seq = NEW.seq AND session = NEW.session AND type = 'session_deleted')
BEGIN SELECT raise(ABORT, 'no event says that the session was deleted'); END;
CREATE TRIGGER deletions_stay BEFORE DELETE ON deletions BEGIN SELECT raise(ABORT, 'deletions are only added'); END;
CREATE TRIGGER deletions_keep BEFORE UPDATE OF session, seq ON deletions
BEGIN SELECT raise(ABORT, 'deletions are only added'); END;
DROP TRIGGER events_stay;
CREATE TRIGGER events_stay BEFORE DELETE ON events
WHEN NOT EXISTS (SELECT 1 FROM deletions WHERE session = OLD.session AND seq > OLD.seq)
BEGIN SELECT raise(ABORT, 'events are only added'); END;
", "
CREATE INDEX entries_failed ON entries (session) WHERE state = 'failed';
"];

/// The format of a database: how many steps it has taken.
pub(crate) fn read_format(conn: &Connection) -> Result<i64, rusqlite::Error> {
    conn.query_row("PRAGMA user_version", [], |row| row.get(0))
}

/// Takes the steps that are missing, each whole or not at all. Gives whether any was taken.
pub(crate) fn migrate(conn: &mut Connection, steps: &[&str]) -> Result<bool, RecordError> {
    let mut has_migrated = false;
    loop {
        // The format is read within the transaction, so that two processes that start together take each step once.
        let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let at = read_format(&tx)?;
        let Some(step) = usize::try_from(at).ok().and_then(|at| steps.get(at)) else {
            return Ok(has_migrated);
        };
        tx.execute_batch(step)?;
        tx.pragma_update(None, "application_id", APPLICATION_ID)?;
        tx.pragma_update(None, "user_version", at + 1)?;
        tx.commit()?;
        has_migrated = true;
    }
}

/// Returns SQLite's query plan for a statement, one line for each step.
#[cfg(test)]
pub(crate) fn explain_query_plan(conn: &Connection, statement: &str) -> Vec<String> {
    let mut explain = conn
        .prepare(&format!("EXPLAIN QUERY PLAN {statement}"))
        .unwrap();
    let mut rows = explain.raw_query();
    let mut steps = Vec::new();
    while let Some(row) = rows.next().unwrap() {
        steps.push(row.get(3).unwrap());
    }
    steps
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use protocol::event::fold;
    use protocol::{EntryBody, Event};
    use rusqlite::params;
    use rusqlite::types::Value as SqlValue;

    use super::*;
    use crate::open::open_empty;
    use crate::projections::statements::seq_to_sql;
    use crate::projections::{Projector, load};

    /// The log of the demo: a session with calls of every kind, answers, rules and an undo.
    const DEMO_LOG: &str = include_str!("../../../../tests/golden/demo.jsonl");
    /// Events that the demo has none of.
    const MORE_EVENTS: [&str; 2] = [
        r#"{"seq":1001,"session":"ses_1","at":1001,"body":{"type":"sub_agent_finished","child":"ses_2","title":"Look","text":"Found.","failed":false,"message":"msg_1001"}}"#,
        r#"{"seq":1002,"session":"ses_1","at":1002,"body":{"type":"notice_added","notice":{"level":"note","fault":{"message":"Mind the gap.","hint":"","context":[]}}}}"#,
    ];
    /// Names in the events of earlier formats, each after the present one.
    const EARLIER_NAMES: [[&str; 2]; 4] = [
        [r#""type":"call_waiting""#, r#""type":"call_waits""#],
        [r#""type":"sub_agent_finished""#, r#""type":"errand_ended""#],
        [r#""type":"notice_added""#, r#""type":"noted""#],
        [r#""evidence":"#, r#""grounds":"#],
    ];
    /// Every table and view that is derived from the events.
    const DERIVED: [&str; 9] = [
        "sessions",
        "entries",
        "folded",
        "undo_entries",
        "words",
        "verdicts",
        "rule_hits",
        "projected",
        "chat_parts",
    ];

    /// The format that derives everything anew. Those after it take its rows as they are.
    const DERIVED_ANEW: usize = 7;

    fn list_tables(conn: &Connection) -> Vec<String> {
        let mut statement = conn
            .prepare("SELECT name FROM sqlite_schema ORDER BY name")
            .unwrap();
        let names = statement.query_map([], |row| row.get(0)).unwrap();
        names.map(Result::unwrap).collect()
    }

    #[test]
    fn a_step_is_taken_whole_or_not_at_all() {
        let mut conn = Connection::open_in_memory().unwrap();
        let first = "CREATE TABLE a (x); INSERT INTO a VALUES (1);";
        assert!(migrate(&mut conn, &[first]).unwrap());
        assert!(!migrate(&mut conn, &[first]).unwrap(), "nothing to do");

        let broken = "CREATE TABLE b (x); UPDATE a SET x = 2; INSERT INTO nowhere VALUES (1);";
        assert!(migrate(&mut conn, &[first, broken]).is_err());
        assert_eq!(list_tables(&conn), ["a"]);
        let x: i64 = conn.query_row("SELECT x FROM a", [], |r| r.get(0)).unwrap();
        assert_eq!((read_format(&conn).unwrap(), x), (1, 1));

        let mended = "CREATE TABLE b (x); UPDATE a SET x = 2;";
        assert!(migrate(&mut conn, &[first, mended]).unwrap());
        assert_eq!(list_tables(&conn), ["a", "b"]);
        assert_eq!(read_format(&conn).unwrap(), 2);
    }

    /// Adds the log of the demo, and more, with each event as `rewrite` leaves it.
    fn insert_log(conn: &Connection, rewrite: impl Fn(String) -> String) {
        conn.execute_batch("INSERT INTO sessions VALUES (1, 'ses_1', 1, NULL)")
            .unwrap();
        let mut entries: HashMap<String, i64> = HashMap::new();
        let mut last = 0;
        for line in DEMO_LOG.lines().chain(MORE_EVENTS) {
            let event: Event = serde_json::from_str(line).unwrap();
            let seq = seq_to_sql(event.seq);
            let entry =
                fold::entry_id(&event).map(|id| *entries.entry(id.into_owned()).or_insert(seq));
            let body = rewrite(serde_json::to_string(&event.body).unwrap());
            let read: serde_json::Value = serde_json::from_str(&body).unwrap();
            conn.execute(
                "INSERT INTO events VALUES (?1, 1, ?2, ?3, ?4, ?5)",
                params![seq, entry, event.at, read["type"].as_str(), body],
            )
            .unwrap();
            last = seq;
        }
        conn.execute("INSERT INTO spans VALUES (1, ?1, 1)", [last])
            .unwrap();
    }

    /// Puts something into every derived table of a format that its events do not say.
    fn insert_stale_rows(conn: &Connection, format: usize) {
        conn.execute_batch(
            r#"UPDATE sessions SET view = '{"of":"an earlier format"}';
            INSERT INTO entries VALUES (2, 1, 'msg_2', 5, 2, 1, 'errand', NULL, NULL, NULL, NULL, NULL, NULL);
            INSERT INTO entries VALUES (900, 1, 'msg_900', 5, 900, 2, 'errand', 'waiting', NULL, NULL, NULL, NULL, NULL);
            INSERT INTO folded VALUES (2, '{"of":"an earlier format"}'), (900, '{"of":"an earlier format"}');
            INSERT INTO undo_entries VALUES (900, 900, 'und_of_an_earlier_format', '{}');
            INSERT INTO words (rowid, text) VALUES (2, 'stale'), (900, 'stale');"#,
        )
        .unwrap();
        if format >= 3 {
            conn.execute_batch(
                "INSERT INTO judged VALUES (24, 1, 'call_8', 5, 'write', 'stale', NULL, '{}', NULL, NULL);
                INSERT INTO hits VALUES ('stale', 1, 9, 5);",
            )
            .unwrap();
        }
    }

    fn project_all(conn: &Connection) {
        let mut projector = Projector::default();
        projector.project_all(conn).unwrap();
        let deferred = &mut projector.live.deferred;
        while deferred.has_work() {
            deferred.write_deferred(conn, || false).unwrap();
        }
    }

    /// Every row of every derived table, and every word of the full-text index with its places.
    fn derived_rows(conn: &Connection) -> Vec<String> {
        conn.execute_batch(
            "CREATE VIRTUAL TABLE temp.places USING fts5vocab(main, words, instance)",
        )
        .unwrap();
        let mut all = Vec::new();
        for table in DERIVED {
            let from = match table {
                "words" => "temp.places",
                table => table,
            };
            let mut statement = conn.prepare(&format!("SELECT * FROM {from}")).unwrap();
            let columns = statement.column_count();
            let rows = statement.query_map([], |row| {
                let values = (0..columns).map(|column| row.get(column));
                values.collect::<Result<Vec<SqlValue>, _>>()
            });
            let rows = rows
                .unwrap()
                .map(|row| format!("{table}: {:?}", row.unwrap()));
            let mut rows: Vec<String> = rows.collect();
            assert!(!rows.is_empty(), "nothing stands in {table}");
            rows.sort();
            all.extend(rows);
        }
        all
    }

    fn rows_as_json(conn: &Connection, query: &str) -> Vec<String> {
        let mut statement = conn.prepare(query).unwrap();
        let rows = statement.query_map([], |row| row.get(0)).unwrap();
        rows.map(Result::unwrap).collect()
    }

    /// A record of any earlier format comes to have the rows that one of this format has with the same events, and no
    /// others.
    #[test]
    fn a_record_of_an_earlier_format_is_derived_as_a_new_one() {
        let conn = open_empty().unwrap();
        insert_log(&conn, |body| body);
        project_all(&conn);
        let expected = derived_rows(&conn);
        for format in 1..MIGRATIONS.len() {
            let mut conn = Connection::open_in_memory().unwrap();
            migrate(&mut conn, &MIGRATIONS[..format]).unwrap();
            insert_log(&conn, |body| {
                let earlier = EARLIER_NAMES.iter();
                earlier.fold(body, |body, [present, earlier]| {
                    body.replace(present, earlier)
                })
            });
            if format < DERIVED_ANEW {
                insert_stale_rows(&conn, format);
            }
            migrate(&mut conn, MIGRATIONS).unwrap();
            project_all(&conn);
            assert_eq!(derived_rows(&conn), expected, "format {format}");
        }
    }

    #[test]
    fn a_record_of_the_sixth_format_is_derived_anew() {
        let mut conn = Connection::open_in_memory().unwrap();
        migrate(&mut conn, &MIGRATIONS[..6]).unwrap();
        conn.execute_batch(
            r#"INSERT INTO sessions VALUES (1, 'ses_1', 1, NULL);
            INSERT INTO spans VALUES (1, 1, 1);
            INSERT INTO events VALUES (1, 1, 1, 5, 'errand_ended',
                '{"type":"errand_ended","message":"msg_1","child":"ses_2","title":"Look","text":"Found.","failed":false}');
            INSERT INTO entries VALUES (1, 1, 'msg_1', 5, 1, 1, 'errand', NULL, NULL, NULL, NULL, NULL, NULL);
            INSERT INTO folded VALUES (1, '{"of":"an earlier format"}');
            INSERT INTO words (rowid, text) VALUES (1, 'stale');
            UPDATE made SET upto = 1;"#,
        )
        .unwrap();
        migrate(&mut conn, MIGRATIONS).unwrap();
        project_all(&conn);

        let loaded = load::load_entry(&conn, 1, "msg_1").unwrap().unwrap();
        let EntryBody::SubAgentTask { title, text, .. } = loaded.entry.body else {
            panic!("{:?}", loaded.entry);
        };
        assert_eq!((title.as_str(), text.as_str()), ("Look", "Found."));
        let entries = rows_as_json(
            &conn,
            "SELECT json_array(seq, session, id, at, folded_to, indexed, body, state, mode, kind, tool, target, paths) \
             FROM entries",
        );
        assert_eq!(
            entries,
            [r#"[1,1,"msg_1",5,1,1,"sub_agent_task",null,null,null,null,null,null]"#]
        );
        let found = |word: &str| {
            let query = format!("SELECT json_array(rowid) FROM words WHERE words MATCH '{word}'");
            rows_as_json(&conn, &query)
        };
        assert_eq!(
            (found("found"), found("stale")),
            (vec!["[1]".to_owned()], Vec::new())
        );
        assert_eq!(
            rows_as_json(&conn, "SELECT json_array(upto) FROM projected"),
            ["[1]"]
        );
    }

    /// The sixth format shows the results of calls that ended before it was there.
    #[test]
    fn a_record_of_the_fifth_format_shows_the_results_of_its_calls() {
        let mut conn = Connection::open_in_memory().unwrap();
        migrate(&mut conn, &MIGRATIONS[..5]).unwrap();
        conn.execute_batch("INSERT INTO sessions VALUES (1, 'ses_1', 1, NULL)")
            .unwrap();
        for (seq, outcome) in [
            (1, r#"{"state":"done","text":"Found.","duration_ms":7}"#),
            (
                2,
                r#"{"state":"failed","text":"Not there.","duration_ms":8}"#,
            ),
            (
                3,
                r#"{"state":"done","text":"a","data":{"found":[1]},"duration_ms":9}"#,
            ),
            (
                4,
                r#"{"state":"done","text":"long","duration_ms":10,"truncated":{"output_path":"/o/4.txt","bytes":9}}"#,
            ),
            (
                5,
                r#"{"state":"done","text":"long","duration_ms":11,"truncated":{"output_path":null,"bytes":9}}"#,
            ),
        ] {
            let body = format!(r#"{{"type":"call_ended","call":"c{seq}","outcome":{outcome}}}"#);
            conn.execute(
                "INSERT INTO events VALUES (?1, 1, ?1, 50, 'call_ended', ?2)",
                params![seq, body],
            )
            .unwrap();
        }
        let shown = [
            r#"[1,"ses_1","c1",50,"output","\"Found.\"",null,"{\"duration_ms\":7}"]"#,
            r#"[2,"ses_1","c2",50,"error",null,"Not there.","{\"duration_ms\":8}"]"#,
            r#"[3,"ses_1","c3",50,"output","{\"found\":[1]}",null,"{\"duration_ms\":9}"]"#,
            r#"[4,"ses_1","c4",50,"output","{\"head\":\"long\"}",null,"{\"duration_ms\":10,\"truncated\":true,\"output_path\":\"/o/4.txt\"}"]"#,
            r#"[5,"ses_1","c5",50,"output","{\"head\":\"long\"}",null,"{\"duration_ms\":11,\"truncated\":true}"]"#,
        ];
        for steps in [&MIGRATIONS[..6], MIGRATIONS] {
            migrate(&mut conn, steps).unwrap();
            let query = "SELECT json_array(seq, session, id, at, type, data || '', error_text, metadata || '') \
                 FROM chat_parts ORDER BY seq";
            assert_eq!(rows_as_json(&conn, query), shown, "{} steps", steps.len());
        }
    }

    /// Nobody can make room for a removal of events without the event that says so.
    #[test]
    fn a_deletion_is_told_and_stays() {
        let mut conn = Connection::open_in_memory().unwrap();
        migrate(&mut conn, MIGRATIONS).unwrap();
        conn.execute_batch(
            "INSERT INTO sessions VALUES (1, 's', 1, NULL);
             INSERT INTO events VALUES (1, 1, NULL, 0, 'notice_added', '{}'), (2, 1, NULL, 0, 'session_deleted', '{}'),
                (3, 1, NULL, 0, 'notice_added', '{}');",
        )
        .unwrap();
        let refusal = |change: &str| conn.execute_batch(change).unwrap_err().to_string();
        let untold = refusal("INSERT INTO deletions VALUES (1, 3, 0)");
        assert!(untold.contains("no event says"), "{untold}");
        conn.execute_batch("INSERT INTO deletions VALUES (1, 2, 0)")
            .unwrap();
        for change in ["DELETE FROM deletions", "UPDATE deletions SET seq = 4"] {
            let error = refusal(change);
            assert!(error.contains("deletions are only added"), "{error}");
        }
        for kept in [2, 3] {
            let error = refusal(&format!("DELETE FROM events WHERE seq = {kept}"));
            assert!(error.contains("events are only added"), "{error}");
        }
        conn.execute_batch("DELETE FROM events WHERE seq = 1")
            .unwrap();
    }

    #[test]
    fn events_are_only_added() {
        let mut conn = Connection::open_in_memory().unwrap();
        migrate(&mut conn, MIGRATIONS).unwrap();
        conn.execute_batch(
            "INSERT INTO sessions VALUES (1, 's', 1, NULL);
             INSERT INTO events VALUES (1, 1, NULL, 0, 'notice_added', '{}');",
        )
        .unwrap();
        for change in ["DELETE FROM events", "UPDATE events SET at = 1"] {
            let error = conn.execute_batch(change).unwrap_err().to_string();
            assert!(
                error.contains("events are only added"),
                "{change} gave {error}"
            );
        }
    }
}
