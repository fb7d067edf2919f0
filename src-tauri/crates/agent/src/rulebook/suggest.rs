//! Rules that would have spared the person answers, from those that they gave, each with its counter-examples.

use std::collections::{BTreeMap, HashMap};

use policy::path::Os;
use policy::rules::CompiledRule;
use policy::{RuleSet, offers};
use protocol::backtest::{PersonSaid, Suggestion};
use protocol::ledger::GrantScope;
use protocol::rules_view::NewRule;
use protocol::{Action, At, Fault, Rule, Verdict};
use record::JudgedCall;

use super::Place;
use super::backtest::{SUGGESTED, roots};
use super::recorded::Recorded;
use crate::desk::Shared;
use crate::rules::Draft;

/// Answers that are looked at, the newest.
const ANSWERS_MAX: usize = 2_000;
/// Calls that are looked through for them.
const CALLS_MAX: usize = 100_000;
/// How often a person must have allowed what a rule would cover.
const ALLOWED_MIN: u64 = 3;
const SUGGESTIONS_MAX: usize = 10;
const EXAMPLES_MAX: usize = 5;

/// The rules that the person's own answers speak for.
pub(super) fn rules(shared: &Shared, place: &Place) -> Result<Vec<Suggestion>, Fault> {
    let now = shared.config.clock.now();
    let answered = answered(shared, place)?;
    let rules = place.load(&shared.config.data_dir, &Draft::Nothing).rules;
    let recorded: Vec<Recorded<'_>> = answered
        .iter()
        .filter_map(|call| Recorded::of(call).ok())
        .collect();
    let mut wanted: BTreeMap<(String, Option<String>), u64> = BTreeMap::new();
    for one in &recorded {
        if one.was_rejected() {
            continue;
        }
        let request = one.request(&rules, false, now);
        for offer in offers::of(&request).offers {
            let lasts = offer.lasts.contains(&GrantScope::Everywhere);
            if offer.action == Action::Allow && lasts {
                *wanted.entry((offer.permission, offer.pattern)).or_default() += 1;
            }
        }
    }
    wanted.retain(|_, times| *times >= ALLOWED_MIN);
    let mut suggestions: Vec<Suggestion> = wanted
        .into_keys()
        .filter_map(|(permission, pattern)| suggestion(&recorded, &rules, now, permission, pattern))
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

/// The calls that the person was asked about, the newest first.
fn answered(shared: &Shared, place: &Place) -> Result<Vec<JudgedCall>, Fault> {
    let roots = roots(&shared.record, place)?;
    let (mut answered, mut before, mut seen) = (Vec::new(), None, 0);
    while answered.len() < ANSWERS_MAX && seen < CALLS_MAX {
        let page = shared.record.judged(before, 10_000)?;
        seen += page.calls.len();
        let said = |call: &JudgedCall| call.said.is_some() && roots.contains_key(&call.session);
        answered.extend(page.calls.into_iter().filter(said));
        match page.next {
            Some(next) => before = Some(next),
            None => break,
        }
    }
    answered.truncate(ANSWERS_MAX);
    Ok(answered)
}

fn suggestion(
    recorded: &[Recorded<'_>],
    rules: &RuleSet,
    now: At,
    permission: String,
    pattern: Option<String>,
) -> Option<Suggestion> {
    let rule = NewRule {
        permission,
        pattern,
        action: Action::Allow,
        ..NewRule::default()
    };
    let written = Rule {
        permission: rule.permission.clone(),
        pattern: rule.pattern.clone(),
        action: rule.action,
        reason: None,
        scope: SUGGESTED,
        file: None,
        line: None,
        expires_ms: None,
        max_uses: None,
        grant: None,
    };
    let mut with = rules.clone();
    with.extend([CompiledRule::new(written, Os::HERE, true).ok()?]);
    let mut suggestion = Suggestion {
        rule,
        allowed: 0,
        rejected: 0,
        examples: Vec::new(),
        counter_examples: Vec::new(),
    };
    for one in recorded {
        let verdict = |rules| policy::judge(&one.request(rules, false, now)).verdict();
        let (from, to) = (verdict(rules), verdict(&with));
        if (from, to) != (Verdict::Ask, Verdict::Allow) {
            continue;
        }
        let (count, examples) = match one.call.said {
            Some(PersonSaid::Rejected) => {
                (&mut suggestion.rejected, &mut suggestion.counter_examples)
            }
            Some(PersonSaid::Allowed) | None => (&mut suggestion.allowed, &mut suggestion.examples),
        };
        *count += 1;
        if examples.len() < EXAMPLES_MAX {
            examples.push(one.example(from, to));
        }
    }
    (suggestion.allowed >= ALLOWED_MIN && suggestion.rejected < suggestion.allowed)
        .then_some(suggestion)
}
