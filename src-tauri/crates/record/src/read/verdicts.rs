//! Recorded verdicts: the evidence of each, the person's answer, and how often each rule made one.

use std::collections::HashMap;

use protocol::rule::backtest::RecordedDecision;
use protocol::rule::evidence::Evidence;
use protocol::view::preview::UndoAvailability;
use protocol::{At, CallId, SessionId, ToolMode};
use rusqlite::params;

use crate::RecordError;
use crate::projections::columns;
use crate::projections::load::load_rows;
use crate::projections::statements::{from_json, seq_from_sql, seq_to_sql};
use crate::record::Record;

/// A recorded call with the evidence of its last verdict.
#[derive(Debug, Clone, PartialEq)]
pub struct CallVerdict {
    /// Its position.
    pub seq: u64,
    /// Its session.
    pub session: SessionId,
    /// The call.
    pub call: CallId,
    /// When it was verdicts.
    pub at: At,
    /// The tool's id.
    pub tool: String,
    /// Target of the call.
    pub target: String,
    /// The mode that the verdict knew.
    pub mode: Option<ToolMode>,
    /// Whether the call could be undone, as JSON.
    undo: String,
    /// The rest of the evidence, as JSON; none if it was not kept.
    evidence: Option<String>,
    /// Decision of the person, if they were asked.
    pub answer: Option<RecordedDecision>,
}

impl CallVerdict {
    /// Parses the evidence of the verdict; none if it was not kept. Apart from reading the row, so that several threads
    /// can parse.
    pub fn evidence(&self) -> Result<Option<(Evidence, UndoAvailability)>, RecordError> {
        let Some(text) = &self.evidence else {
            return Ok(None);
        };
        let evidence = from_json("evidence of a verdict", text)?;
        Ok(Some((
            evidence,
            from_json("undo availability", &self.undo)?,
        )))
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

const PAGE_VERDICTS_MAX: u32 = 10_000;
const SELECT_VERDICTS: &str = "SELECT verdicts.entry, sessions.id, verdicts.call, verdicts.at, verdicts.tool, verdicts.target, verdicts.mode, \
     verdicts.undo, verdicts.evidence, verdicts.answer FROM verdicts CROSS JOIN sessions ON sessions.key = verdicts.session \
     WHERE verdicts.entry < ?1 ORDER BY verdicts.entry DESC LIMIT ?2";

impl Record {
    /// At most `limit` recorded calls before a position (from the end if none), the newest first.
    pub fn list_verdicts(
        &self,
        before: Option<u64>,
        limit: u32,
    ) -> Result<CallVerdictPage, RecordError> {
        let limit = limit.min(PAGE_VERDICTS_MAX);
        self.query_projections(|tx| {
            let page = params![before.map_or(i64::MAX, seq_to_sql), limit];
            let calls = load_rows(tx, SELECT_VERDICTS, page, call_verdict_from_row)?;
            let next = calls.last().map(|call| call.seq);
            let is_full = calls.len() == limit as usize;
            Ok(CallVerdictPage {
                calls,
                next: next.filter(|_| is_full),
            })
        })
    }

    /// How many calls each session has whose verdict stands in no row here: from an older version, or not verdicts.
    pub fn count_calls_without_verdict(&self) -> Result<Vec<(SessionId, u64)>, RecordError> {
        self.query_projections(|tx| {
            let sql = "SELECT sessions.id, count(*) FROM entries JOIN sessions ON sessions.key = entries.session \
                 LEFT JOIN verdicts ON verdicts.entry = entries.seq \
                 WHERE entries.body = 'call' AND verdicts.entry IS NULL GROUP BY sessions.id";
            load_rows(tx, sql, [], |row| {
                Ok((SessionId(row.get(0)?), seq_from_sql(row.get(1)?)))
            })
        })
    }

    /// How often each rule made a verdict, by [`crate::rule_key`] and session.
    pub fn rule_hits(&self) -> Result<RuleHits, RecordError> {
        self.query_projections(|tx| {
            let sql = "SELECT rule_hits.rule, sessions.id, rule_hits.hits, rule_hits.last FROM rule_hits \
                 JOIN sessions ON sessions.key = rule_hits.session";
            let hits = load_rows(tx, sql, [], |row| {
                let rule = (row.get(0)?, SessionId(row.get(1)?));
                Ok((rule, (seq_from_sql(row.get(2)?), row.get(3)?)))
            })?;
            Ok(hits.into_iter().collect())
        })
    }
}

fn call_verdict_from_row(row: &rusqlite::Row<'_>) -> Result<CallVerdict, RecordError> {
    let mode: Option<String> = row.get(6)?;
    let answer: Option<String> = row.get(9)?;
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
        answer: answer.map(|answer| match answer.as_str() {
            "allowed" => RecordedDecision::Allowed,
            _ => RecordedDecision::Rejected,
        }),
    })
}
