//! Suggested rules that would have spared the person answers, derived from earlier answers, each with its
//! counter-examples.

use std::collections::{BTreeMap, HashMap};

use policy::path::Os;
use policy::rules::CompiledRule;
use policy::{RuleSet, grants};
use protocol::rule::backtest::{RecordedDecision, RuleSuggestion};
use protocol::rule::grants::{GrantOffer, GrantScope};
use protocol::rule::rules_view::NewRule;
use protocol::{At, CallId, Rule, RuleAction, SessionId, UserError, Verdict};
use record::CallVerdict;

use super::RulebookScope;
use super::backtest::{SUGGESTED_SCOPE, session_roots};
use super::recorded_call::RecordedCall;
use crate::permissions::rules::RuleDraft;
use crate::session::engine_state::EngineState;

/// Maximum number of answers to examine, the newest first.
const ANSWERS_MAX: usize = 2_000;
/// Maximum number of calls to search for answers.
const CALLS_MAX: usize = 100_000;
/// Number of calls that are read at a time.
const RECORD_PAGE_LEN: u32 = 1_000;
/// Minimum number of calls that a rule would cover and the person allowed.
const ALLOWED_MIN: u64 = 3;
/// How long before an answer the answers like it are searched for an offer, in milliseconds: a week.
const OFFER_SINCE_MS: At = 7 * 24 * 3_600_000;
const SUGGESTIONS_MAX: usize = 10;
const EXAMPLES_MAX: usize = 5;

/// Returns the rules that the person's own answers since a time suggest.
pub(super) fn suggest_rules(
    engine: &EngineState,
    place: &RulebookScope,
    since: At,
) -> Result<Vec<RuleSuggestion>, UserError> {
    let now = engine.now();
    let answered = answered_calls(engine, place, since)?;
    let rules = place
        .load_draft(&engine.config.data_dir, &RuleDraft::Unchanged)
        .rules;
    let recorded = read_calls(&answered);
    let mut counts: BTreeMap<(String, Option<String>), u64> = BTreeMap::new();
    for one in &recorded {
        if one.was_rejected() {
            continue;
        }
        for offer in list_allow_offers(one, &rules, now) {
            let rule = (offer.permission, offer.pattern);
            *counts.entry(rule).or_default() += 1;
        }
    }
    counts.retain(|_, times| *times >= ALLOWED_MIN);
    let mut suggestions: Vec<RuleSuggestion> = counts
        .into_keys()
        .filter_map(|(permission, pattern)| {
            build_suggestion(&recorded, &rules, now, permission, pattern)
        })
        .collect();
    suggestions.sort_by_key(|one| (one.rejected, std::cmp::Reverse(one.allowed)));
    // Of rules that cover the same answers the narrowest is enough.
    let mut seen: HashMap<(u64, u64, String), ()> = HashMap::new();
    suggestions.retain(|one| {
        let first = one.examples.first().map(|call| call.call.to_string());
        seen.insert((one.allowed, one.rejected, first.unwrap_or_default()), ())
            .is_none()
    });
    suggestions.truncate(SUGGESTIONS_MAX);
    Ok(suggestions)
}

/// Returns the narrowest rule that would have given the person's answers to calls like this one, if it would have given
/// at least three of the last week, all of which allowed the call.
pub(super) fn offer_rule(
    engine: &EngineState,
    session: &SessionId,
    call: &CallId,
) -> Result<Option<RuleSuggestion>, UserError> {
    let now = engine.now();
    let Some(session) = engine.record.session(session)? else {
        return Ok(None);
    };
    let place = RulebookScope::from_folder(Some(&session.workspace))?;
    let answered = answered_calls(engine, &place, now.saturating_sub(OFFER_SINCE_MS))?;
    let rules = place
        .load_draft(&engine.config.data_dir, &RuleDraft::Unchanged)
        .rules;
    let recorded = read_calls(&answered);
    let Some(allowed) = recorded.iter().find(|one| {
        (&one.call.session, &one.call.call) == (&session.id, call) && !one.was_rejected()
    }) else {
        return Ok(None);
    };
    // The narrowest offer comes first.
    let offers = list_allow_offers(allowed, &rules, now).into_iter();
    let mut suggestions = offers.filter_map(|offer| {
        build_suggestion(&recorded, &rules, now, offer.permission, offer.pattern)
    });
    Ok(suggestions.find(|one| one.rejected == 0))
}

fn read_calls(answered: &[CallVerdict]) -> Vec<RecordedCall<'_>> {
    let calls = answered.iter();
    calls
        .filter_map(|call| RecordedCall::from_call(call).ok())
        .collect()
}

/// Lists the offers of rules that would allow a call wherever it is made, the narrowest first.
fn list_allow_offers(call: &RecordedCall<'_>, rules: &RuleSet, now: At) -> Vec<GrantOffer> {
    let mut offers = grants::list_offers(&call.to_run_request(rules, false, now)).offers;
    offers.retain(|offer| {
        offer.action == RuleAction::Allow && offer.lasts.contains(&GrantScope::Everywhere)
    });
    offers
}

/// Returns the calls that the person was asked about since a time, the newest first.
fn answered_calls(
    engine: &EngineState,
    place: &RulebookScope,
    since: At,
) -> Result<Vec<CallVerdict>, UserError> {
    let roots = session_roots(&engine.record, place)?;
    let (mut answered, mut before, mut seen) = (Vec::new(), None, 0);
    while answered.len() < ANSWERS_MAX && seen < CALLS_MAX {
        let page = engine.record.list_verdicts(before, RECORD_PAGE_LEN)?;
        seen += page.calls.len();
        // Calls that were imported have no answer, and times of their own, which say nothing of the calls before them.
        let mut with_answer = page.calls.iter().filter(|call| call.answer.is_some());
        let is_earlier = with_answer.next().is_some_and(|call| call.at < since);
        let said = |call: &CallVerdict| {
            call.answer.is_some() && call.at >= since && roots.contains_key(&call.session)
        };
        answered.extend(page.calls.into_iter().filter(said));
        match page.next {
            Some(next) if !is_earlier => before = Some(next),
            Some(_) | None => break,
        }
    }
    answered.truncate(ANSWERS_MAX);
    Ok(answered)
}

fn build_suggestion(
    recorded: &[RecordedCall<'_>],
    rules: &RuleSet,
    now: At,
    permission: String,
    pattern: Option<String>,
) -> Option<RuleSuggestion> {
    let rule = NewRule {
        permission,
        pattern,
        action: RuleAction::Allow,
        ..NewRule::default()
    };
    let written = Rule {
        permission: rule.permission.clone(),
        pattern: rule.pattern.clone(),
        action: rule.action,
        reason: None,
        scope: SUGGESTED_SCOPE,
        file: None,
        line: None,
        expires_ms: None,
        max_uses: None,
        grant: None,
    };
    let mut with = rules.clone();
    with.extend([CompiledRule::new(written, Os::CURRENT, true).ok()?]);
    let mut suggestion = RuleSuggestion {
        rule,
        allowed: 0,
        rejected: 0,
        examples: Vec::new(),
        counter_examples: Vec::new(),
    };
    for one in recorded {
        let verdict = |rules| one.evaluate(rules, false, now);
        let (from, to) = (verdict(rules), verdict(&with));
        if (from, to) != (Verdict::Ask, Verdict::Allow) {
            continue;
        }
        let (count, examples) = match one.call.answer {
            Some(RecordedDecision::Rejected) => {
                (&mut suggestion.rejected, &mut suggestion.counter_examples)
            }
            Some(RecordedDecision::Allowed) | None => {
                (&mut suggestion.allowed, &mut suggestion.examples)
            }
        };
        *count += 1;
        if examples.len() < EXAMPLES_MAX {
            examples.push(one.to_example(from, to));
        }
    }
    (suggestion.allowed >= ALLOWED_MIN && suggestion.rejected < suggestion.allowed)
        .then_some(suggestion)
}
