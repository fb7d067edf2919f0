//! Backtests: the verdicts of other rules on the recorded calls, by the same policy evaluation that judges real calls.

use std::collections::HashMap;
use std::path::Path;
use std::time::Instant;

use policy::RuleSet;
use protocol::rule::backtest::{
    Backtest, BacktestCall, BacktestGroup, RecordedDecision, RuleChange, UnclearCalls,
};
use protocol::{At, RuleScope, SessionId, UserError, Verdict};
use record::{CallVerdict, Record};

use super::RulebookScope;
use super::recorded_call::{MissingEvidence, RecordedCall};
use crate::permissions::rules::RuleDraft;

/// Number of calls that are read at a time.
const RECORD_PAGE_LEN: u32 = 10_000;
/// Maximum number of examples in the result.
const EXAMPLES_MAX: usize = 50;
/// Maximum number of threads that judge calls.
const THREADS_MAX: usize = 4;

/// Options of a backtest.
pub struct BacktestOptions<'a> {
    /// Data folder whose rules are in force.
    pub data_dir: &'a Path,
    /// Record that holds the calls.
    pub record: &'a Record,
    /// Whether the person wants to be asked about everything.
    pub ask_for_everything: bool,
    /// Current time, for rules that expire.
    pub now: At,
    /// Maximum number of calls, the newest first; 0 for all.
    pub calls_max: u32,
}

/// The rules of one workspace, before and after a change.
pub(super) struct RuleVersions {
    pub before: RuleSet,
    after: RuleSet,
    /// Rules that the change is about; none if it may be about every call.
    about: Option<RuleSet>,
}

/// Results for some of the calls.
#[derive(Default)]
struct BacktestTally {
    calls: u64,
    groups: HashMap<(Verdict, Verdict), [u64; 3]>,
    rejected: Vec<BacktestCall>,
    others: Vec<BacktestCall>,
    lacks: HashMap<MissingEvidence, u64>,
}

/// Judges the recorded calls by the current rules and by the changed ones.
///
/// # Errors
/// The change is wrong, or the record cannot be read.
pub fn run_backtest(
    tested: &BacktestOptions<'_>,
    place: &RulebookScope,
    change: &RuleChange,
) -> Result<Backtest, UserError> {
    let began = Instant::now();
    let roots = session_roots(tested.record, place)?;
    let versions = load_versions(place, &roots, |place| {
        RuleVersions::load(tested.data_dir, place, change)
    })?;
    let mut tally = BacktestTally::default();
    let mut before = None;
    let mut left = match tested.calls_max {
        0 => u64::MAX,
        max => u64::from(max),
    };
    while left > 0 {
        let limit = u32::try_from(left.min(u64::from(RECORD_PAGE_LEN))).unwrap_or(RECORD_PAGE_LEN);
        let page = tested.record.list_verdicts(before, limit)?;
        left -= page.calls.len() as u64;
        let calls: Vec<(&CallVerdict, &RuleVersions)> = page
            .calls
            .iter()
            .filter_map(|call| Some((call, versions.get(roots.get(&call.session)?)?)))
            .collect();
        for part in judge_all(tested, &calls) {
            tally.merge(part);
        }
        match page.next {
            Some(next) => before = Some(next),
            None => break,
        }
    }
    let mut unclear = tally.unclear_calls();
    let older: u64 = tested
        .record
        .count_calls_without_verdict()?
        .into_iter()
        .filter(|(session, _)| roots.contains_key(session))
        .map(|(_, calls)| calls)
        .sum();
    if older > 0 {
        unclear.push(UnclearCalls {
            reason: "It has no verdict, or one from before verdicts kept what they were made from."
                .to_owned(),
            calls: older,
        });
    }
    Ok(Backtest {
        calls: tally.calls,
        changed: tally.changed_groups(),
        unclear,
        examples: tally.into_examples(),
        took_us: u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX),
    })
}

/// Returns the workspace of each session to count.
pub(super) fn session_roots(
    record: &Record,
    place: &RulebookScope,
) -> Result<HashMap<SessionId, String>, UserError> {
    let only = place.root();
    let sessions = record.sessions()?.into_iter();
    let here = sessions.filter(|one| only.as_ref().is_none_or(|root| one.workspace == *root));
    Ok(here.map(|one| (one.id, one.workspace)).collect())
}

/// Loads the rules of each workspace that has calls.
pub(super) fn load_versions<T>(
    place: &RulebookScope,
    roots: &HashMap<SessionId, String>,
    of: impl Fn(&RulebookScope) -> Result<T, UserError>,
) -> Result<HashMap<String, T>, UserError> {
    // Errors in the change are reported even where there are no calls.
    of(place)?;
    let mut versions = HashMap::new();
    for root in roots.values() {
        if !versions.contains_key(root) {
            // Of a folder that is gone nobody knows the rules that were its own.
            let there = RulebookScope::from_folder(Some(root))
                .or_else(|_| RulebookScope::from_folder(None))?;
            versions.insert(root.clone(), of(&there)?);
        }
    }
    Ok(versions)
}

impl RuleVersions {
    fn load(
        data_dir: &Path,
        place: &RulebookScope,
        change: &RuleChange,
    ) -> Result<Self, UserError> {
        let before = place.load_draft(data_dir, &RuleDraft::Unchanged).rules;
        let after = place.load_changed(data_dir, change)?.rules;
        let is_about = |rule: &protocol::Rule| match change {
            RuleChange::Add { .. } => false,
            RuleChange::Replace { scope, .. } | RuleChange::Change { scope, .. } => {
                rule.scope == *scope && rule.grant.is_none()
            }
            RuleChange::Remove { scope, line } => {
                rule.scope == *scope && rule.line == Some(*line) && rule.grant.is_none()
            }
        };
        let added = match change {
            RuleChange::Add { .. } => after.rules().len().min(before.rules().len()),
            RuleChange::Replace { .. } | RuleChange::Change { .. } | RuleChange::Remove { .. } => {
                after.rules().len()
            }
        };
        let is_whole = before.default_action() != after.default_action()
            || before.broken.is_some()
            || after.broken.is_some();
        let about = (!is_whole).then(|| {
            let mut about = RuleSet::default();
            if let Some(root) = place.root() {
                about = about.with_root(root);
            }
            let rules = before.rules().iter().chain(after.rules());
            about.extend(rules.filter(|one| is_about(&one.rule)).cloned());
            about.extend(after.rules()[added..].iter().cloned());
            about
        });
        Ok(Self {
            before,
            after,
            about,
        })
    }
}

/// Judges calls on several threads, and returns the results in the order of the calls.
fn judge_all(
    tested: &BacktestOptions<'_>,
    calls: &[(&CallVerdict, &RuleVersions)],
) -> Vec<BacktestTally> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let size = calls.len().div_ceil(threads.min(THREADS_MAX)).max(1);
    std::thread::scope(|scope| {
        let parts: Vec<_> = calls
            .chunks(size)
            .map(|part| scope.spawn(move || judge_chunk(tested, part)))
            .collect();
        parts
            .into_iter()
            .filter_map(|part| part.join().ok())
            .collect()
    })
}

fn judge_chunk(
    tested: &BacktestOptions<'_>,
    calls: &[(&CallVerdict, &RuleVersions)],
) -> BacktestTally {
    let mut tally = BacktestTally::default();
    for (call, versions) in calls {
        let recorded = match RecordedCall::from_call(call) {
            Ok(recorded) => recorded,
            Err(lack) => {
                *tally.lacks.entry(lack).or_default() += 1;
                continue;
            }
        };
        tally.calls += 1;
        let concerns = |about: &RuleSet| recorded.is_matched_by(about, tested.now);
        if !versions.about.as_ref().is_none_or(concerns) {
            continue;
        }
        let verdict =
            |rules: &RuleSet| recorded.evaluate(rules, tested.ask_for_everything, tested.now);
        let (from, to) = (verdict(&versions.before), verdict(&versions.after));
        if from != to {
            tally.count_call(&recorded, from, to);
        }
    }
    tally
}

impl BacktestTally {
    fn count_call(&mut self, recorded: &RecordedCall<'_>, from: Verdict, to: Verdict) {
        let group = self.groups.entry((from, to)).or_default();
        group[0] += 1;
        match recorded.call.answer {
            Some(RecordedDecision::Allowed) => group[1] += 1,
            Some(RecordedDecision::Rejected) => group[2] += 1,
            None => {}
        }
        let examples = match recorded.was_rejected() {
            true => &mut self.rejected,
            false => &mut self.others,
        };
        if examples.len() < EXAMPLES_MAX {
            examples.push(recorded.to_example(from, to));
        }
    }

    fn merge(&mut self, other: Self) {
        self.calls += other.calls;
        for (key, counts) in other.groups {
            let group = self.groups.entry(key).or_default();
            for (mine, more) in group.iter_mut().zip(counts) {
                *mine += more;
            }
        }
        for (lack, calls) in other.lacks {
            *self.lacks.entry(lack).or_default() += calls;
        }
        self.rejected.extend(other.rejected);
        self.rejected.truncate(EXAMPLES_MAX);
        self.others.extend(other.others);
        self.others.truncate(EXAMPLES_MAX);
    }

    fn changed_groups(&self) -> Vec<BacktestGroup> {
        let groups = self.groups.iter();
        let mut changed: Vec<BacktestGroup> = groups
            .map(|((from, to), counts)| BacktestGroup {
                from: *from,
                to: *to,
                calls: counts[0],
                by_person_allowed: counts[1],
                by_person_rejected: counts[2],
            })
            .collect();
        changed.sort_by_key(|group| (group.to, group.from));
        changed
    }

    fn unclear_calls(&self) -> Vec<UnclearCalls> {
        let mut unclear: Vec<UnclearCalls> = self
            .lacks
            .iter()
            .map(|(lack, calls)| UnclearCalls {
                reason: lack.as_sentence().to_owned(),
                calls: *calls,
            })
            .collect();
        unclear.sort_by(|a, b| a.reason.cmp(&b.reason));
        unclear
    }

    fn into_examples(self) -> Vec<BacktestCall> {
        let mut examples = self.rejected;
        examples.extend(self.others);
        examples.truncate(EXAMPLES_MAX);
        examples
    }
}

/// Scope of the rules that are suggested.
pub(super) const SUGGESTED_SCOPE: RuleScope = RuleScope::User;
