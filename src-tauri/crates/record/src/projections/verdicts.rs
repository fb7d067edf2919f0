//! Verdicts beside the log: the evidence of each, the person's answer, and how often each rule made one.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use protocol::event::CallChange;
use protocol::{At, Decision, Event, EventBody, Gate, Rule, ToolMode};
use rusqlite::{CachedStatement, Connection, params};

use crate::RecordError;
use crate::projections::statements::{seq_to_sql, to_json};

/// A verdict takes the place of the call's last one; the person's answer to the call stays.
const UPSERT_VERDICT: &str = "INSERT INTO verdicts VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, NULL) ON CONFLICT DO UPDATE SET \
     session = excluded.session, call = excluded.call, at = excluded.at, tool = excluded.tool, target = excluded.target, \
     mode = excluded.mode, undo = excluded.undo, evidence = excluded.evidence";

const UPSERT_RULE_HIT: &str = "INSERT INTO rule_hits VALUES (?1, ?2, ?3, ?4) \
     ON CONFLICT DO UPDATE SET hits = hits + excluded.hits, last = excluded.last";

/// Returns the key of a rule: rules that differ only in line or reason have the same key.
pub fn rule_key(rule: &Rule) -> String {
    let same = Rule {
        line: None,
        reason: None,
        ..rule.clone()
    };
    protocol::Digest::from_json(&same).0
}

/// Updates the tables from the events of a batch: one row for each call and one for each rule, however often the events
/// name it. `places` are the keys of each event's session and entry.
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

/// The verdicts, answers and rule hits in a batch of events.
#[derive(Default)]
struct VerdictBatch<'e> {
    /// The calls that the batch names, in its order, by the keys of their entries.
    calls: Vec<(i64, VerdictChange<'e>)>,
    /// Index into `calls` of each call, by its entry's key.
    call_index: HashMap<i64, usize, RandomState>,
    hits: Vec<RuleHit<'e>>,
}

/// The change that a batch makes to the verdict of one call.
#[derive(Default)]
struct VerdictChange<'e> {
    session: i64,
    /// The event of the call's last verdict, if the call was judged, or the one by which it was imported.
    judged: Option<&'e Event>,
    /// The person's answer before that verdict, which is an answer to an earlier verdict, if there is one.
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
        let EventBody::Call { change, .. } = &event.body else {
            return;
        };
        match change {
            CallChange::Judged {
                trail, evidence, ..
            } => {
                self.verdict_change_mut(session, entry).judged = Some(event);
                // A call that was let through before is judged again by its effects: its other rules were counted then.
                let dry_run = evidence
                    .as_ref()
                    .and_then(|evidence| evidence.dry_run.as_ref());
                let again = dry_run.is_some_and(|dry_run| dry_run.agreed);
                let steps = trail.steps.iter();
                let counted = steps.filter(|step| !again || step.gate == Gate::Effects);
                let traces = counted.flat_map(|step| &step.rules);
                for trace in traces.filter(|trace| trace.won) {
                    self.count_rule_hit(&trace.rule, session, event.at);
                }
            }
            CallChange::Imported { .. } => {
                self.verdict_change_mut(session, entry).judged = Some(event);
            }
            CallChange::Decided { decision, .. } => {
                let answer = match decision {
                    Decision::Allow { .. } | Decision::InPlace { .. } => "allowed",
                    Decision::Reject { .. } => "rejected",
                    Decision::Answer { .. }
                    | Decision::Skip
                    | Decision::DryRun
                    | Decision::WithNetwork { .. }
                    | Decision::Edit { .. } => return,
                };
                let named = self.verdict_change_mut(session, entry);
                match named.judged {
                    None => named.answer_before = Some(answer),
                    Some(_) => named.answer = Some(answer),
                }
            }
            _ => {}
        }
    }

    fn verdict_change_mut(&mut self, session: i64, entry: i64) -> &mut VerdictChange<'e> {
        let place = *self.call_index.entry(entry).or_insert(self.calls.len());
        if place == self.calls.len() {
            let named = VerdictChange {
                session,
                ..VerdictChange::default()
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
        let mut set_answer =
            conn.prepare_cached("UPDATE verdicts SET answer = ?2 WHERE entry = ?1")?;
        for (entry, named) in &self.calls {
            if let Some(answer) = named.answer_before {
                set_answer.execute(params![entry, answer])?;
            }
            if let Some(event) = named.judged {
                store_verdict(&mut judge, event, named.session, *entry)?;
            }
            if let Some(answer) = named.answer {
                set_answer.execute(params![entry, answer])?;
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
    let EventBody::Call { call, change } = &event.body else {
        return Ok(());
    };
    let (tool, target, mode, undo, evidence) = match change {
        CallChange::Judged {
            tool,
            target,
            mode,
            undo,
            evidence,
            ..
        } => (tool, target, mode, undo, evidence),
        CallChange::Imported {
            tool,
            target,
            mode,
            undo,
            evidence,
            ..
        } => (tool, target, mode, undo, evidence),
        _ => return Ok(()),
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
        evidence.as_ref().map(to_json).transpose()?
    ])?;
    Ok(())
}
