//! How often rules decided that may decide so many calls and no more: one file for each use, so that no use is had twice,
//! whichever processes share the data folder.

use std::path::{Path, PathBuf};

use policy::{Judgement, RuleSet};
use protocol::{Digest, Fault, Gate, Rule, Verdict};

use crate::ledger;
use crate::session::Session;

/// Counts a verdict as a use of the rules that made it; of one that was let through before and is judged `again`, only of
/// those that speak of its effects. False if one of them had no use left: it is out of force now, and
/// the call has to be judged anew.
pub(crate) fn take(session: &Session, judgement: &Judgement, again: bool) -> bool {
    let data_dir = &session.shared.config.data_dir;
    let mut spent: Vec<Rule> = counted(judgement, again)
        .filter(|rule| match take_one(data_dir, rule) {
            Ok(taken) => !taken,
            // What cannot be counted cannot be had.
            Err(fault) => {
                tracing::warn!(%fault, "a use of a rule could not be counted");
                true
            }
        })
        .collect();
    // Another process may have taken a grant back since the rules were read.
    spent.extend(granted(judgement).filter(|rule| {
        let stands = |id| ledger::stands(data_dir, id);
        !rule.grant.as_ref().is_some_and(stands)
    }));
    session.spend(&spent);
    spent.is_empty()
}

/// Takes the rules out of force that were used as often as they may.
pub(crate) fn spend(data_dir: &Path, rules: &mut RuleSet) {
    let spent: Vec<Rule> = rules
        .rules()
        .iter()
        .map(|compiled| &compiled.rule)
        .filter(|rule| {
            rule.max_uses.is_some_and(|max| {
                let last = place(data_dir, rule).join(max.to_string());
                !matches!(runtime::read_text(&last), Ok(None))
            })
        })
        .cloned()
        .collect();
    for rule in &spent {
        rules.spend(rule);
    }
}

/// How many of a rule's uses were had.
pub(crate) fn had(data_dir: &Path, rule: &Rule) -> u32 {
    let names = runtime::names_in(&place(data_dir, rule)).unwrap_or_default();
    u32::try_from(names.len()).unwrap_or(u32::MAX)
}

/// The grants that speak in a verdict.
fn granted(judgement: &Judgement) -> impl Iterator<Item = Rule> {
    let traces = judgement.trail().steps.iter().flat_map(|step| &step.rules);
    traces
        .filter(|trace| trace.won && trace.rule.grant.is_some())
        .map(|trace| trace.rule.clone())
}

/// The rules with a number of uses that made the verdict.
fn counted(judgement: &Judgement, again: bool) -> impl Iterator<Item = Rule> {
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

/// Takes one use; false if none is left.
fn take_one(data_dir: &Path, rule: &Rule) -> Result<bool, Fault> {
    let folder = place(data_dir, rule);
    runtime::private_folder(&folder)?;
    for use_ in 1..=rule.max_uses.unwrap_or_default() {
        if runtime::claim(&folder.join(use_.to_string()))? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Where a rule's uses are counted. Another line or reason is the same rule.
fn place(data_dir: &Path, rule: &Rule) -> PathBuf {
    let same = Rule {
        line: None,
        reason: None,
        ..rule.clone()
    };
    data_dir.join("uses").join(Digest::of_json(&same).0)
}
