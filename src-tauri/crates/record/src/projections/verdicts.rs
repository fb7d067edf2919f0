//! Verdicts beside the log: what each was made from, what the person said, and how often each rule made one.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use protocol::rule::backtest::RecordedDecision;
use protocol::rule::evidence::Evidence;
use protocol::view::preview::UndoAvailability;
use protocol::{At, CallId, Decision, Event, EventBody, Gate, Rule, SessionId, ToolMode};
use rusqlite::{CachedStatement, Connection, params};

use crate::RecordError;
use crate::projections::columns;
use crate::projections::statements::{from_json, seq_from_sql, seq_to_sql, to_json};
use crate::record::Record;

/// A recorded call with what its last verdict was made from.
#[derive(Debug, Clone, PartialEq)]
pub struct CallVerdict {
    /// Its position.
    pub seq: u64,
    /// Its session.
    pub session: SessionId,
    /// The call.
    pub call: CallId,
    /// When it was judged.
    pub at: At,
    /// The tool's id.
    pub tool: String,
    /// What it acts on.
    pub target: String,
    /// The mode that the verdict knew.
    pub mode: Option<ToolMode>,
    /// Whether it could be taken back, as JSON.
    undo: String,
    /// The rest, as JSON; none if it was not kept.
    evidence: Option<String>,
    /// What the person said, if they were asked.
    pub answer: Option<RecordedDecision>,
}

impl CallVerdict {
    /// What the verdict was made from; none if it was not kept. Read apart from the row, so that several threads can.
    pub fn evidence(&self) -> Result<Option<(Evidence, UndoAvailability)>, RecordError> {
        let Some(text) = &self.evidence else {
            return Ok(None);
        };
        let grounds = from_json("grounds of a verdict", text)?;
        Ok(Some((grounds, from_json("undo outlook", &self.undo)?)))
    }
}

/// Some recorded calls, the newest first.
#[derive(Debug, Clone, PartialEq)]
pub struct CallVerdictPage {
    /// The calls.
    pub calls: Vec<CallVerdict>,
    /// Where to go on, if there may be more.
    pub next: Option<u64>,
}

/// How often a rule made a verdict, and when it last did.
pub type RuleHits = HashMap<(String, SessionId), (u64, At)>;

/// A verdict takes the place of the call's last one; what the person said of the call stays.
const UPSERT_VERDICT: &str = "INSERT INTO judged VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, NULL) ON CONFLICT DO UPDATE SET \
     session = excluded.session, call = excluded.call, at = excluded.at, tool = excluded.tool, target = excluded.target, \
     mode = excluded.mode, undo = excluded.undo, grounds = excluded.grounds";
const UPSERT_RULE_HIT: &str = "INSERT INTO hits VALUES (?1, ?2, ?3, ?4) \
     ON CONFLICT DO UPDATE SET hits = hits + excluded.hits, last = excluded.last";
const PAGE_VERDICTS_MAX: u32 = 10_000;
const SELECT_VERDICTS: &str = "SELECT judged.entry, sessions.id, judged.call, judged.at, judged.tool, judged.target, judged.mode, \
     judged.undo, judged.grounds, judged.said FROM judged CROSS JOIN sessions ON sessions.key = judged.session \
     WHERE judged.entry < ?1 ORDER BY judged.entry DESC LIMIT ?2";

impl Record {
    /// At most `limit` recorded calls before a position (from the end if none), the newest first.
    pub fn list_verdicts(
        &self,
        before: Option<u64>,
        limit: u32,
    ) -> Result<CallVerdictPage, RecordError> {
        let limit = limit.min(PAGE_VERDICTS_MAX);
        self.query_projections(|tx| {
            let mut statement = tx.prepare_cached(SELECT_VERDICTS)?;
            let mut rows = statement.query(params![before.map_or(i64::MAX, seq_to_sql), limit])?;
            let mut calls = Vec::new();
            while let Some(row) = rows.next()? {
                calls.push(call_verdict_from_row(row)?);
            }
            let next = calls.last().map(|call: &CallVerdict| call.seq);
            let is_full = calls.len() == limit as usize;
            Ok(CallVerdictPage {
                calls,
                next: next.filter(|_| is_full),
            })
        })
    }

    /// How many calls each session has whose verdict stands in no row here: from an older version, or not judged.
    pub fn count_calls_without_verdict(&self) -> Result<Vec<(SessionId, u64)>, RecordError> {
        self.query_projections(|tx| {
            let mut statement = tx.prepare_cached(
                "SELECT sessions.id, count(*) FROM entries JOIN sessions ON sessions.key = entries.session \
                 LEFT JOIN judged ON judged.entry = entries.seq \
                 WHERE entries.body = 'call' AND judged.entry IS NULL GROUP BY sessions.id",
            )?;
            let mut rows = statement.query([])?;
            let mut counts = Vec::new();
            while let Some(row) = rows.next()? {
                counts.push((SessionId(row.get(0)?), seq_from_sql(row.get(1)?)));
            }
            Ok(counts)
        })
    }

    /// How often each rule made a verdict, by [`rule_key`] and session.
    pub fn rule_hits(&self) -> Result<RuleHits, RecordError> {
        self.query_projections(|tx| {
            let mut statement = tx.prepare_cached(
                "SELECT hits.rule, sessions.id, hits.hits, hits.last FROM hits JOIN sessions ON sessions.key = hits.session",
            )?;
            let mut rows = statement.query([])?;
            let mut hits = HashMap::new();
            while let Some(row) = rows.next()? {
                let session = SessionId(row.get(1)?);
                hits.insert((row.get(0)?, session), (seq_from_sql(row.get(2)?), row.get(3)?));
            }
            Ok(hits)
        })
    }
}

/// What makes a rule the same rule: another line or reason does not.
pub fn rule_key(rule: &Rule) -> String {
    let same = Rule {
        line: None,
        reason: None,
        ..rule.clone()
    };
    protocol::Digest::from_json(&same).0
}

fn call_verdict_from_row(row: &rusqlite::Row<'_>) -> Result<CallVerdict, RecordError> {
    let mode: Option<String> = row.get(6)?;
    let said: Option<String> = row.get(9)?;
    Ok(CallVerdict {
        seq: seq_from_sql(row.get(0)?),
        session: SessionId(row.get(1)?),
        call: CallId(row.get(2)?),
        at: row.get(3)?,
        tool: row.get(4)?,
        target: row.get(5)?,
        mode: mode.and_then(|name| {
            columns::ALL_MODES
                .into_iter()
                .find(|mode| mode.as_str() == name)
        }),
        undo: row.get(7)?,
        evidence: row.get(8)?,
        answer: said.map(|said| match said.as_str() {
            "allowed" => RecordedDecision::Allowed,
            _ => RecordedDecision::Rejected,
        }),
    })
}

/// Keeps the tables what the events of a batch say: one row for each call and one for each rule, however often they name
/// it. `places` are the keys of each event's session and entry.
pub(crate) fn project_verdicts(
    conn: &Connection,
    events: &[Event],
    places: &[(i64, Option<u64>)],
) -> Result<(), RecordError> {
    let mut batch = VerdictBatch::default();
    for (event, (session, entry)) in events.iter().zip(places) {
        if let Some(entry) = *entry {
            batch.add_event(event, *session, seq_to_sql(entry));
        }
    }
    batch.store_all(conn)
}

/// What a batch says of calls and rules.
#[derive(Default)]
struct VerdictBatch<'e> {
    /// The calls that it names, in its order, by the keys of their entries.
    calls: Vec<(i64, CallChange<'e>)>,
    /// Where each of them stands.
    call_index: HashMap<i64, usize, RandomState>,
    hits: Vec<RuleHit<'e>>,
}

/// What a batch says of one call.
#[derive(Default)]
struct CallChange<'e> {
    session: i64,
    /// The event of its last verdict, if it was judged.
    judged: Option<&'e Event>,
    /// What the person said before that verdict was made, which is of an earlier one, if there is one.
    answer_before: Option<&'static str>,
    answer: Option<&'static str>,
}

/// How often a rule made a verdict in a session.
struct RuleHit<'e> {
    rule: &'e Rule,
    session: i64,
    count: i64,
    last: At,
}

impl<'e> VerdictBatch<'e> {
    fn add_event(&mut self, event: &'e Event, session: i64, entry: i64) {
        match &event.body {
            EventBody::CallJudged { trail, grounds, .. } => {
                self.call_change_mut(session, entry).judged = Some(event);
                // A call that was let through before is judged again by its effects: its other rules were counted then.
                let tried = grounds.as_ref().and_then(|grounds| grounds.tried.as_ref());
                let again = tried.is_some_and(|tried| tried.agreed);
                let steps = trail.steps.iter();
                let counted = steps.filter(|step| !again || step.gate == Gate::Effects);
                let traces = counted.flat_map(|step| &step.rules);
                for trace in traces.filter(|trace| trace.won) {
                    self.count_rule_hit(&trace.rule, session, event.at);
                }
            }
            EventBody::CallDecided { decision, .. } => {
                let said = match decision {
                    Decision::Allow { .. } | Decision::InPlace { .. } => "allowed",
                    Decision::Reject { .. } => "rejected",
                    Decision::Answer { .. }
                    | Decision::Skip
                    | Decision::DryRun
                    | Decision::WithNetwork { .. }
                    | Decision::Edit { .. } => return,
                };
                let named = self.call_change_mut(session, entry);
                match named.judged {
                    None => named.answer_before = Some(said),
                    Some(_) => named.answer = Some(said),
                }
            }
            _ => {}
        }
    }

    fn call_change_mut(&mut self, session: i64, entry: i64) -> &mut CallChange<'e> {
        let place = *self.call_index.entry(entry).or_insert(self.calls.len());
        if place == self.calls.len() {
            let named = CallChange {
                session,
                ..CallChange::default()
            };
            self.calls.push((entry, named));
        }
        &mut self.calls[place].1
    }

    fn count_rule_hit(&mut self, rule: &'e Rule, session: i64, at: At) {
        let mut hits = self.hits.iter_mut();
        match hits.find(|hit| hit.session == session && hit.rule == rule) {
            Some(hit) => (hit.count, hit.last) = (hit.count + 1, at),
            None => self.hits.push(RuleHit {
                rule,
                session,
                count: 1,
                last: at,
            }),
        }
    }

    fn store_all(&self, conn: &Connection) -> Result<(), RecordError> {
        let mut judge = conn.prepare_cached(UPSERT_VERDICT)?;
        let mut say = conn.prepare_cached("UPDATE judged SET said = ?2 WHERE entry = ?1")?;
        for (entry, named) in &self.calls {
            if let Some(said) = named.answer_before {
                say.execute(params![entry, said])?;
            }
            if let Some(event) = named.judged {
                store_verdict(&mut judge, event, named.session, *entry)?;
            }
            if let Some(said) = named.answer {
                say.execute(params![entry, said])?;
            }
        }
        let mut add = conn.prepare_cached(UPSERT_RULE_HIT)?;
        for hit in &self.hits {
            add.execute(params![
                rule_key(hit.rule),
                hit.session,
                hit.count,
                hit.last
            ])?;
        }
        Ok(())
    }
}

fn store_verdict(
    statement: &mut CachedStatement<'_>,
    event: &Event,
    session: i64,
    entry: i64,
) -> Result<(), RecordError> {
    let EventBody::CallJudged {
        call,
        tool,
        target,
        mode,
        undo,
        grounds,
        ..
    } = &event.body
    else {
        return Ok(());
    };
    statement.execute(params![
        entry,
        session,
        call.as_str(),
        event.at,
        tool,
        target,
        mode.map(ToolMode::as_str),
        to_json(undo)?,
        grounds.as_ref().map(to_json).transpose()?
    ])?;
    Ok(())
}
