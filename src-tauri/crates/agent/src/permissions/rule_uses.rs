//! The use counts of rules that are limited to a number of calls: one file for each use, so that no use is taken twice,
//! whichever processes share the data folder.

use std::path::{Path, PathBuf};

use policy::{Judgement, RuleSet};
use protocol::{Digest, Gate, Rule, UserError, Verdict};

use crate::permissions::grant_ledger;

/// Counts a verdict as a use of the rules that made it; if the call was allowed before and is judged `again`, only of
/// the rules about its effects. Returns the rules that had no use left: they are out of force now, and the call has to
/// be judged again.
pub(crate) fn take_uses(data_dir: &Path, judgement: &Judgement, again: bool) -> Vec<Rule> {
    let mut spent: Vec<Rule> = counted_rules(judgement, again)
        .filter(|rule| match take_use(data_dir, rule) {
            Ok(taken) => !taken,
            // A use that cannot be counted is refused.
            Err(fault) => {
                tracing::warn!(%fault, "a use of a rule could not be counted");
                true
            }
        })
        .collect();
    // Another process may have taken a grant back since the rules were read.
    spent.extend(deciding_grants(judgement).filter(|rule| {
        let stands = |id| grant_ledger::is_in_force(data_dir, id);
        !rule.grant.as_ref().is_some_and(stands)
    }));
    spent
}

/// Takes the rules out of force that have no uses left.
pub(crate) fn remove_used_up(data_dir: &Path, rules: &mut RuleSet) {
    let spent: Vec<Rule> = rules
        .rules()
        .iter()
        .map(|compiled| &compiled.rule)
        .filter(|rule| {
            rule.max_uses.is_some_and(|max| {
                let last = use_dir(data_dir, rule).join(max.to_string());
                !matches!(runtime::read_text(&last), Ok(None))
            })
        })
        .cloned()
        .collect();
    for rule in &spent {
        rules.mark_spent(rule);
    }
}

/// Returns how many uses of a rule have been taken.
pub(crate) fn count_uses(data_dir: &Path, rule: &Rule) -> u32 {
    let names = runtime::list_file_names(&use_dir(data_dir, rule)).unwrap_or_default();
    u32::try_from(names.len()).unwrap_or(u32::MAX)
}

/// Returns the grants that decided a verdict.
fn deciding_grants(judgement: &Judgement) -> impl Iterator<Item = Rule> {
    let traces = judgement.trail().steps.iter().flat_map(|step| &step.rules);
    traces
        .filter(|trace| trace.won && trace.rule.grant.is_some())
        .map(|trace| trace.rule.clone())
}

/// Returns the rules with a limited number of uses that made the verdict.
fn counted_rules(judgement: &Judgement, again: bool) -> impl Iterator<Item = Rule> {
    let verdict = judgement.verdict();
    let steps = judgement.trail().steps.iter();
    let count = steps.filter(move |step| !again || step.gate == Gate::Effects);
    count
        .flat_map(|step| &step.rules)
        .filter(move |trace| {
            trace.won
                && trace.rule.max_uses.is_some()
                && Verdict::from(trace.rule.action) == verdict
        })
        .map(|trace| trace.rule.clone())
}

/// Takes one use; `false` if none is left.
fn take_use(data_dir: &Path, rule: &Rule) -> Result<bool, UserError> {
    let folder = use_dir(data_dir, rule);
    runtime::create_private_folder(&folder)?;
    for use_ in 1..=rule.max_uses.unwrap_or_default() {
        if runtime::create_exclusive(&folder.join(use_.to_string()))? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns the directory in which a rule's uses are counted. A rule with another line or reason is the same rule.
fn use_dir(data_dir: &Path, rule: &Rule) -> PathBuf {
    let same = Rule {
        line: None,
        reason: None,
        ..rule.clone()
    };
    data_dir.join("uses").join(Digest::from_json(&same).0)
}
