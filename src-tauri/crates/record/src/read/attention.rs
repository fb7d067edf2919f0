//! What a person's attention was spent on: questions and their answers, and calls that ran without a question.
//!
//! One walk over the rows that SQLite has put together, one for each question: nothing is kept of a row but its counts,
//! its wait, and the few answers that are listed.

use std::collections::{BTreeMap, VecDeque};

use protocol::rule::backtest::RecordedDecision;
use protocol::rule::evidence::Evidence;
use protocol::text::redact;
use protocol::view::attention::{
    AttentionReport, CauseQuestions, QuestionCause, QuestionReport, QuickAnswer, QuickAnswers,
    ToolQuestions, UnaskedReport,
};
use protocol::{At, CallId, SessionId, Trail, UndoId};
use rusqlite::{Connection, OptionalExtension, Row};

use crate::RecordError;
use crate::projections::statements::{from_json, seq_from_sql};
use crate::record::Record;

const SELECT_FIRST_SEQ: &str = "SELECT seq FROM entries WHERE at >= ?1 ORDER BY seq LIMIT 1";
/// The calls that were made here: those of transcripts were made elsewhere, and at other times.
const SELECT_CALLS: &str = "
SELECT count(*), count(DISTINCT at / 3600000) FROM entries WHERE seq >= ?1 AND body = 'call'
    AND seq NOT IN (SELECT entry FROM events WHERE seq >= ?1 AND type = 'call_imported')";
/// A question begins with the first event that asks and ends with the next that settles it; an event in between that asks
/// again showed the card anew. Events have other names in the records of earlier versions. Most calls never ask, so the
/// steps of those that did are read alone: the plus keeps SQLite from an index over all events.
const SELECT_QUESTIONS: &str = "
WITH asked AS MATERIALIZED (
    SELECT DISTINCT entry FROM events
    WHERE seq >= ?1 AND type IN ('call_waiting', 'call_waits', 'server_request_received', 'call_asked')
), steps AS (
    SELECT events.entry AS entry, events.seq AS seq, events.at AS at,
        iif(type = 'call_judged', events.seq, NULL) AS judged,
        type IN ('call_waiting', 'call_waits', 'server_request_received', 'call_asked') AS asks,
        type IN ('server_request_received', 'call_asked') AS asks_for_server,
        type IN ('call_decided', 'call_edited', 'call_started', 'call_ended', 'server_request_answered', 'call_answered')
            AS settles
    FROM asked
    CROSS JOIN entries ON entries.seq = asked.entry
    CROSS JOIN events ON events.seq BETWEEN max(entries.seq, ?1)
            AND iif(state IN ('proposed', 'waiting', 'running'), 9223372036854775807, folded_to)
        AND +events.entry = asked.entry
    WHERE judged IS NOT NULL OR asks OR settles
), rounds AS (
    SELECT entry, seq, at, asks, asks_for_server, settles,
        max(judged) OVER past AS judged, sum(settles) OVER past - settles AS round
    FROM steps WINDOW past AS (PARTITION BY entry ORDER BY seq)
), questions AS (
    SELECT entry, max(judged) AS judged, max(asks_for_server) AS asks_for_server,
        min(iif(asks, at, NULL)) AS asked_at, max(iif(asks, at, NULL)) AS shown_at, max(iif(settles, seq, NULL)) AS settled
    FROM rounds GROUP BY entry, round HAVING max(asks)
)
SELECT sessions.id AS session, entries.id AS call, entries.tool AS tool, entries.target AS target,
    entries.state = 'waiting' AS waits, asks_for_server, asked_at, shown_at, settled.at AS settled_at,
    settled.type IN ('call_decided', 'call_edited')
        OR settled.type IN ('server_request_answered', 'call_answered') AND settled.body ->> '$.why' IS NULL AS by_person,
    settled.body ->> '$.decision.type' AS decision,
    judged.body -> '$.trail' AS trail, coalesce(judged.body -> '$.evidence', judged.body -> '$.grounds') AS evidence
FROM questions
CROSS JOIN entries ON entries.seq = questions.entry
CROSS JOIN sessions ON sessions.key = entries.session
LEFT JOIN events AS judged ON judged.seq = questions.judged
LEFT JOIN events AS settled ON settled.seq = questions.settled
ORDER BY questions.entry";
/// The calls that ran and whose card was never shown. After a dry run that was denied, a call began and did not run.
const SELECT_UNASKED: &str = "
WITH unasked AS (
    SELECT entry FROM events WHERE seq >= ?1 AND type = 'call_started' AND entry >= ?1
    EXCEPT SELECT entry FROM events WHERE seq >= ?1 AND type IN ('call_waiting', 'call_waits')
    EXCEPT SELECT seq FROM entries WHERE seq >= ?1 AND state = 'denied'
)
SELECT verdicts.undo ->> '$.type' AS undo, undo_entries.id AS undo_entry
FROM unasked
LEFT JOIN verdicts ON verdicts.entry = unasked.entry
LEFT JOIN undo_entries ON undo_entries.call = unasked.entry
ORDER BY unasked.entry";

/// A report as far as the record can tell.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedAttention {
    /// The report, without a rule and without history entries.
    pub report: AttentionReport,
    /// The history entries of the calls that ran without a question, whether or not they can still be undone.
    pub undo_entries: Vec<UndoId>,
}

impl Record {
    /// Reports what the person's attention was spent on from `since` until `now`. What is not on record is counted as
    /// unknown.
    pub fn attention(&self, since: At, now: At) -> Result<RecordedAttention, RecordError> {
        self.query_projections(|tx| {
            let mut report = AttentionReport {
                since,
                until: now,
                ..AttentionReport::default()
            };
            let first: Option<i64> = tx
                .prepare_cached(SELECT_FIRST_SEQ)?
                .query_row([since], |row| row.get(0))
                .optional()?;
            let Some(first) = first else {
                return Ok(RecordedAttention {
                    report,
                    undo_entries: Vec::new(),
                });
            };
            (report.calls, report.hours) =
                tx.prepare_cached(SELECT_CALLS)?.query_row([first], |row| {
                    Ok((seq_from_sql(row.get(0)?), seq_from_sql(row.get(1)?)))
                })?;
            tally_questions(tx, first, now)?.write_to(&mut report);
            let mut undo_entries = Vec::new();
            report.unasked = count_unasked(tx, first, &mut undo_entries)?;
            Ok(RecordedAttention {
                report,
                undo_entries,
            })
        })
    }
}

/// One question with its answer.
struct Question {
    session: SessionId,
    call: CallId,
    tool: Option<String>,
    target: String,
    cause: QuestionCause,
    program: Option<String>,
    shown_at: At,
    end: QuestionEnd,
    /// How long the agent waited; none if the end of the wait is not on record.
    waited_ms: Option<u64>,
}

/// How a question ended.
enum QuestionEnd {
    /// It did not: the call still waits, or its end is not on record.
    Open,
    /// The person answered.
    Answered {
        after_ms: u64,
        person: Option<RecordedDecision>,
    },
    /// It was settled without the person: by another rule, by expiry, or by the end of the run.
    Settled,
}

impl Question {
    fn from_row(row: &Row<'_>, now: At) -> Result<Self, RecordError> {
        let (asked_at, shown_at): (At, At) = (row.get("asked_at")?, row.get("shown_at")?);
        let settled_at: Option<At> = row.get("settled_at")?;
        let waits: Option<bool> = row.get("waits")?;
        let by_person: Option<bool> = row.get("by_person")?;
        let decision: Option<String> = row.get("decision")?;
        let ended_at = settled_at.or_else(|| waits.unwrap_or(false).then_some(now));
        // What an earlier version wrote otherwise is unknown, and no reason to tell nothing at all.
        let read = |name| row.get::<_, Option<String>>(name);
        let trail = read("trail")?.and_then(|text| from_json::<Trail>("trail", &text).ok());
        let evidence =
            read("evidence")?.and_then(|text| from_json::<Evidence>("evidence", &text).ok());
        let target = read("target")?.unwrap_or_default();
        Ok(Self {
            session: SessionId(row.get("session")?),
            call: CallId(row.get("call")?),
            tool: row.get("tool")?,
            cause: match row.get("asks_for_server")? {
                true => QuestionCause::Server,
                false => trail.as_ref().map_or(QuestionCause::Unknown, |trail| {
                    QuestionCause::find(trail, evidence.as_ref())
                }),
            },
            program: evidence
                .as_ref()
                .and_then(|evidence| find_program(evidence, &target)),
            target,
            shown_at,
            end: match (settled_at, by_person) {
                (None, _) => QuestionEnd::Open,
                (Some(at), Some(true)) => QuestionEnd::Answered {
                    after_ms: elapsed_ms(shown_at, at),
                    person: decision.as_deref().and_then(parse_decision),
                },
                (Some(_), Some(false) | None) => QuestionEnd::Settled,
            },
            waited_ms: ended_at.map(|ended_at| elapsed_ms(asked_at, ended_at)),
        })
    }
}

fn elapsed_ms(from: At, to: At) -> u64 {
    u64::try_from(to.saturating_sub(from)).unwrap_or(0)
}

/// Returns the program that a command line names first. A change of the folder before it is not what the line is about.
fn find_program(evidence: &Evidence, line: &str) -> Option<String> {
    let commands = evidence.commands.iter();
    let words = commands.flat_map(|command| command.plain.iter().chain(&command.may_run));
    let programs = words
        .filter_map(|words| words.first())
        .filter(|program| *program != "cd");
    let places = programs.filter_map(|program| Some((line.find(program.as_str())?, program)));
    places.min().map(|(_, program)| program.clone())
}

fn parse_decision(name: &str) -> Option<RecordedDecision> {
    match name {
        "allow" | "in_place" => Some(RecordedDecision::Allowed),
        "reject" => Some(RecordedDecision::Rejected),
        _ => None,
    }
}

/// Counts of the questions so far.
#[derive(Default)]
struct QuestionTally {
    counts: QuestionReport,
    waits: Vec<u64>,
    by_cause: BTreeMap<QuestionCause, GroupTally>,
    by_tool: BTreeMap<ToolKey, GroupTally>,
    quick: u64,
    latest_quick: VecDeque<QuickAnswer>,
}

/// A tool and the program that it ran.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct ToolKey {
    tool: Option<String>,
    program: Option<String>,
}

/// Counts of the questions of one group.
#[derive(Default)]
struct GroupTally {
    questions: u64,
    waited_ms: u64,
}

impl GroupTally {
    fn add(&mut self, waited_ms: u64) {
        self.questions += 1;
        self.waited_ms += waited_ms;
    }
}

fn tally_questions(conn: &Connection, first: i64, now: At) -> Result<QuestionTally, RecordError> {
    let mut tally = QuestionTally::default();
    let mut statement = conn.prepare_cached(SELECT_QUESTIONS)?;
    let mut rows = statement.query([first])?;
    while let Some(row) = rows.next()? {
        tally.add(Question::from_row(row, now)?);
    }
    Ok(tally)
}

impl QuestionTally {
    fn add(&mut self, question: Question) {
        self.counts.total += 1;
        match (&question.end, question.waited_ms) {
            (QuestionEnd::Open, Some(_)) => self.counts.waiting += 1,
            (QuestionEnd::Open, None) => self.counts.unknown_waits += 1,
            (QuestionEnd::Answered { .. }, _) => self.counts.answered += 1,
            (QuestionEnd::Settled, _) => {}
        }
        self.waits.extend(question.waited_ms);
        let waited_ms = question.waited_ms.unwrap_or(0);
        let cause = self.by_cause.entry(question.cause).or_default();
        cause.add(waited_ms);
        let key = ToolKey {
            tool: question.tool.clone(),
            program: question.program.clone(),
        };
        self.by_tool.entry(key).or_default().add(waited_ms);
        self.add_quick_answer(question);
    }

    fn add_quick_answer(&mut self, question: Question) {
        let QuestionEnd::Answered { after_ms, person } = question.end else {
            return;
        };
        if after_ms >= QuickAnswers::BELOW_MS {
            return;
        }
        self.quick += 1;
        if self.latest_quick.len() == QuickAnswers::LISTED_MAX {
            self.latest_quick.pop_front();
        }
        self.latest_quick.push_back(QuickAnswer {
            session: question.session,
            call: question.call,
            at: question.shown_at,
            after_ms,
            tool: question.tool,
            target: redact::text(&question.target).0.into_owned(),
            person,
        });
    }

    fn write_to(mut self, report: &mut AttentionReport) {
        self.waits.sort_unstable();
        let by_cause = sort_groups(self.by_cause);
        let by_tool = sort_groups(self.by_tool);
        report.questions = QuestionReport {
            per_hour: self.counts.total as f64 / report.hours.max(1) as f64,
            waited_ms: self.waits.iter().sum(),
            median_ms: self.waits.get(self.waits.len() / 2).copied().unwrap_or(0),
            longest_ms: self.waits.last().copied().unwrap_or(0),
            by_cause: by_cause
                .map(|(cause, group)| CauseQuestions {
                    cause,
                    questions: group.questions,
                    waited_ms: group.waited_ms,
                })
                .collect(),
            by_tool: by_tool
                .map(|(key, group)| ToolQuestions {
                    tool: key.tool,
                    program: key.program,
                    questions: group.questions,
                    waited_ms: group.waited_ms,
                })
                .collect(),
            ..self.counts
        };
        report.quick = QuickAnswers {
            total: self.quick,
            latest: self.latest_quick.into_iter().rev().collect(),
        };
    }
}

/// Returns the groups, the most frequent first.
fn sort_groups<K>(groups: BTreeMap<K, GroupTally>) -> impl Iterator<Item = (K, GroupTally)> {
    let mut groups: Vec<(K, GroupTally)> = groups.into_iter().collect();
    groups.sort_by_key(|(_, group)| std::cmp::Reverse(group.questions));
    groups.into_iter()
}

/// Counts the calls that ran without a question, and adds their history entries.
fn count_unasked(
    conn: &Connection,
    first: i64,
    undo_entries: &mut Vec<UndoId>,
) -> Result<UnaskedReport, RecordError> {
    let mut report = UnaskedReport::default();
    let mut statement = conn.prepare_cached(SELECT_UNASKED)?;
    let mut rows = statement.query([first])?;
    while let Some(row) = rows.next()? {
        report.total += 1;
        let undo: Option<String> = row.get("undo")?;
        *match undo.as_deref() {
            Some("not_needed") => &mut report.not_needed,
            Some("secured") => &mut report.secured,
            Some("captured") => &mut report.captured,
            Some("snapshot" | "pictured") => &mut report.snapshot,
            Some("unsecured") => &mut report.unsecured,
            _ => &mut report.unknown,
        } += 1;
        undo_entries.extend(row.get::<_, Option<String>>("undo_entry")?.map(UndoId));
    }
    Ok(report)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::open::open_empty;
    use crate::schema::explain_query_plan;

    /// Calls of one session, each with its events: type, time, and body.
    type CallEvents<'a> = &'a [(&'a str, At, &'a str)];

    /// A record that holds these calls, one after the other, each in a state.
    fn record_calls(calls: &[(&str, CallEvents<'_>)]) -> Connection {
        let conn = open_empty().unwrap();
        conn.execute_batch("INSERT INTO sessions VALUES (1, 'ses_1', 1, NULL)")
            .unwrap();
        let mut seq = 0;
        for (state, events) in calls {
            let entry = seq + 1;
            let last = seq + i64::try_from(events.len()).unwrap();
            conn.execute(
                "INSERT INTO entries VALUES (?1, 1, 'call_' || ?1, ?2, ?4, 1, 'call', ?3, NULL, NULL, 'bash', 'cd site && npm test *.ts && ls', NULL)",
                (entry, events[0].1, state, last),
            )
            .unwrap();
            for (name, at, body) in *events {
                seq += 1;
                conn.execute(
                    "INSERT INTO events VALUES (?1, 1, ?2, ?3, ?4, ?5)",
                    (seq, entry, at, name, body),
                )
                .unwrap();
            }
        }
        conn
    }

    fn report(conn: &Connection, now: At) -> AttentionReport {
        let mut report = AttentionReport::default();
        let tally = tally_questions(conn, 1, now).unwrap();
        tally.write_to(&mut report);
        report
    }

    #[test]
    fn only_the_steps_of_calls_that_asked_are_read() {
        let plan = explain_query_plan(&open_empty().unwrap(), SELECT_QUESTIONS).join("\n");
        let reads_ranges =
            plan.contains("SEARCH events USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)");
        assert!(reads_ranges && !plan.contains("AUTOMATIC"), "{plan}");
    }

    /// A card that is shown anew is the same question, and its answer is as quick as the last card; an edit ends it.
    #[test]
    fn a_question_lasts_until_it_is_settled() {
        let decided = r#"{"decision":{"type":"reject","note":""}}"#;
        let judged = r#"{"evidence":{"facts":[],"commands":[{"plain":[["cd","site"],["ls"]],"may_run":[["npm","test","*.ts"]]}]}}"#;
        let conn = record_calls(&[
            (
                "rejected",
                &[
                    ("call_proposed", 0, "{}"),
                    ("call_waiting", 1_000, "{}"),
                    ("call_waiting", 9_500, "{}"),
                    ("call_edited", 10_000, "{}"),
                    ("call_waiting", 11_000, "{}"),
                    ("call_decided", 13_000, decided),
                    ("call_ended", 13_001, "{}"),
                ],
            ),
            // Another rule let it run meanwhile.
            (
                "done",
                &[
                    ("call_proposed", 20_000, "{}"),
                    ("call_waiting", 20_000, "{}"),
                    ("call_started", 24_000, "{}"),
                    ("call_ended", 60_000, "{}"),
                ],
            ),
            (
                "waiting",
                &[
                    ("call_proposed", 90_000, "{}"),
                    ("call_judged", 91_000, judged),
                    ("call_waiting", 95_000, "{}"),
                ],
            ),
        ]);
        let report = report(&conn, 100_000);
        let questions = &report.questions;
        assert_eq!(
            (questions.total, questions.answered, questions.waiting),
            (4, 2, 1)
        );
        assert_eq!(questions.waited_ms, 9_000 + 2_000 + 4_000 + 5_000);
        assert_eq!((questions.median_ms, questions.longest_ms), (5_000, 9_000));
        assert_eq!(report.quick.total, 1);
        assert_eq!(report.quick.latest[0].after_ms, 500);
        let programs: Vec<_> = questions
            .by_tool
            .iter()
            .map(|group| (group.program.as_deref(), group.questions))
            .collect();
        assert_eq!(programs, [(None, 3), (Some("npm"), 1)]);
    }

    /// Events of earlier versions have other names, and lack what is counted as unknown.
    #[test]
    fn what_is_not_on_record_is_unknown() {
        let answered = r#"{"answer":{"type":"opened"},"why":null}"#;
        let expired = r#"{"answer":{"type":"dismissed"},"why":"It took too long."}"#;
        let conn = record_calls(&[
            (
                "done",
                &[
                    ("call_judged", 0, r#"{"trail":{"of":"an earlier format"}}"#),
                    ("call_waits", 0, "{}"),
                    ("call_decided", 2_000, "{}"),
                ],
            ),
            (
                "done",
                &[
                    ("call_judged", 0, "{}"),
                    ("call_asked", 0, "{}"),
                    ("call_answered", 3_000, answered),
                    ("call_asked", 5_000, "{}"),
                    ("call_answered", 5_100, expired),
                ],
            ),
            // Its end was lost.
            ("interrupted", &[("call_waits", 0, "{}")]),
        ]);
        let report = report(&conn, 100_000);
        let questions = &report.questions;
        assert_eq!(
            (questions.total, questions.answered, questions.unknown_waits),
            (4, 2, 1)
        );
        let causes: Vec<_> = questions.by_cause.iter().map(|one| one.cause).collect();
        assert_eq!(causes, [QuestionCause::Server, QuestionCause::Unknown]);
        assert_eq!((questions.waiting, report.quick.total), (0, 0));
        assert_eq!(questions.longest_ms, 3_000);
    }
}
