//! Grants that a card offers: patterns made from the parsed call, each evaluated against the call before it is offered.
//!
//! An offer never covers more than the card shows: no wrapper, no interpreter, no word that is only known when it runs.
//! A grant that would not decide the very call on the card is not offered.

mod candidates;
pub mod literal_pattern;

use protocol::rule::grants::{GrantOffer, GrantOffers, GrantScope};
use protocol::{Rule, RuleAction, RuleScope, Verdict};

use crate::evaluate::{Judgement, evaluate};
use crate::path::Os;
use crate::request::EvaluationRequest;
use crate::rules::CompiledRule;
use candidates::GrantCandidate;

/// Every kind of grant, the shortest first.
const GRANT_SCOPES: [GrantScope; 3] = [
    GrantScope::Session,
    GrantScope::Project,
    GrantScope::Everywhere,
];

/// Returns the scope of the rule that a grant becomes.
pub fn grant_rule_scope(lasts: GrantScope) -> RuleScope {
    match lasts {
        GrantScope::Session => RuleScope::Session,
        GrantScope::Project => RuleScope::Project,
        GrantScope::Everywhere => RuleScope::User,
    }
}

/// Lists the grants that the card of a call offers.
pub fn list_offers(request: &EvaluationRequest<'_>) -> GrantOffers {
    let asks = evaluate(request);
    let denies = build_offers(
        request,
        candidates::list_candidates(request, RuleAction::Deny),
        RuleAction::Deny,
    );
    let reads = candidates::outside_read_candidates(request);
    let mut offers = build_offers(request, reads, RuleAction::Allow);
    let refused = match list_call_offers(request) {
        Ok(of_call) => {
            offers.extend(of_call);
            None
        }
        Err(why) => offers.is_empty().then_some(why),
    };
    if let Some(overrides) = find_overridden_rule(&asks) {
        for offer in &mut offers {
            offer.overrides = Some(overrides.clone());
        }
    }
    offers.extend(denies);
    GrantOffers { offers, refused }
}

/// Lists the allows of the call itself; otherwise why there are none, as a sentence.
fn list_call_offers(request: &EvaluationRequest<'_>) -> Result<Vec<GrantOffer>, String> {
    if let Some(why) = refusal_reason(request) {
        return Err(why);
    }
    match allow_candidates(request) {
        none if none.is_empty() => Err(NO_OFFER_REASON.to_owned()),
        found => match build_offers(request, found.clone(), RuleAction::Allow) {
            none if none.is_empty() => Err(explain_remaining_ask(request, &found)),
            offers => Ok(offers),
        },
    }
}

const NO_OFFER_REASON: &str = "Nothing about this call can be named by a rule.";

/// Why no rule may let this call pass from now on.
fn refusal_reason(request: &EvaluationRequest<'_>) -> Option<String> {
    if request.needs_person {
        return Some("It asks you a question, and each is answered anew.".to_owned());
    }
    if request.ask_for_everything {
        return Some("You asked to be asked about everything.".to_owned());
    }
    let lasting = request.facts.exact_digest().is_some();
    let mut alarms = request.alarms.iter();
    if let Some(alarm) = alarms.find(|alarm| alarm.each_time || !lasting) {
        return Some(format!(
            "No rule lifts what a watchdog asks: {}",
            alarm.reason
        ));
    }
    for (_, read) in request.facts.commands() {
        if let Some(why) = read.unsure_reasons.first() {
            return Some(format!("No rule may allow this command: {why}"));
        }
        let Some(plain) = read.plain() else {
            return Some("No rule may allow this command.".to_owned());
        };
        if let Some(runs) = plain
            .iter()
            .find(|words| crate::shell::runs_other_programs(words))
        {
            return Some(format!(
                "`{}` runs what its arguments or a file say, so a rule for it would cover what nobody has seen.",
                runs[0]
            ));
        }
    }
    None
}

/// Returns the permission that a plain *allow* of this call grants for the session (M26): its server's reading verb, if
/// nothing but the unknown mode asks.
pub fn find_verb_grant<'a>(request: &EvaluationRequest<'a>) -> Option<&'a str> {
    let permission = request.tool_class.verb_permission.as_deref()?;
    let mut rules = request.rules.clone();
    let scope = grant_rule_scope(GrantScope::Session);
    rules.add_verb_grant(build_rule(permission, RuleAction::Allow, scope));
    let judgement = evaluate(&EvaluationRequest {
        rules: &rules,
        skips_asks: false,
        ..*request
    });
    (judgement.verdict() == Verdict::Allow).then_some(permission)
}

/// The candidates that would decide this call, with where they are strong enough to.
fn build_offers(
    request: &EvaluationRequest<'_>,
    candidates: Vec<GrantCandidate>,
    action: RuleAction,
) -> Vec<GrantOffer> {
    let mut offers: Vec<GrantOffer> = Vec::new();
    for candidate in candidates {
        let decides = |lasts: &GrantScope| {
            let rule = build_grant_rule(&candidate, action, *lasts);
            rule.is_some_and(|rule| decides_call(request, &rule))
        };
        let lasts: Vec<GrantScope> = GRANT_SCOPES.into_iter().filter(decides).collect();
        let GrantCandidate {
            permission,
            pattern,
            words,
            exact_digest: exactly,
        } = candidate;
        let known = offers
            .iter()
            .any(|offer| (&offer.permission, &offer.pattern) == (&permission, &pattern));
        if !lasts.is_empty() && !known {
            offers.push(GrantOffer {
                permission,
                pattern,
                exactly: exactly.is_some(),
                action,
                words,
                lasts,
                overrides: None,
            });
        }
    }
    offers
}

/// Candidates for an allow. Where a watchdog asks, that is a grant for exactly this call and nothing like it.
fn allow_candidates(request: &EvaluationRequest<'_>) -> Vec<GrantCandidate> {
    match request.alarms {
        [] => candidates::list_candidates(request, RuleAction::Allow),
        _ => candidates::exact_call_candidate(request)
            .into_iter()
            .collect(),
    }
}

/// Whether a rule on top of those in force decides a call as the rule says.
fn decides_call(request: &EvaluationRequest<'_>, rule: &CompiledRule) -> bool {
    let action = rule.rule.action;
    let decides = |request: &EvaluationRequest<'_>| {
        let judgement = evaluate_with_rule(request, rule.clone());
        judgement.verdict() == Verdict::from(action)
    };
    // A deny of the call itself stands whatever its effects are, of which there may be many.
    let without_effects = EvaluationRequest {
        dry_run: None,
        ..*request
    };
    action == RuleAction::Deny && decides(&without_effects) || decides(request)
}

/// The verdict on a call if a rule came on top of those in force.
fn evaluate_with_rule(request: &EvaluationRequest<'_>, rule: CompiledRule) -> Judgement {
    let mut rules = request.rules.clone();
    rules.extend([rule]);
    evaluate(&EvaluationRequest {
        rules: &rules,
        skips_asks: false,
        ..*request
    })
}

/// Checks that a person may make this grant on the card of this call.
///
/// # Errors The grant would cover more than the card shows, or not decide this very call; a sentence.
pub fn check_grant(request: &EvaluationRequest<'_>, rule: &CompiledRule) -> Result<(), String> {
    let action = rule.rule.action;
    if action == RuleAction::Allow && !allows_outside_read(request, &rule.rule) {
        if let Some(why) = refusal_reason(request) {
            return Err(why);
        }
        let pattern = rule.rule.pattern.as_deref();
        let names = rule.exact_digest().is_some()
            || rule.remote_address().is_some()
            || pattern.is_some_and(names_program);
        if request.facts.commands().next().is_some() && !names {
            return Err("Only a pattern that names its program is granted on a card.".to_owned());
        }
    }
    match decides_call(request, rule) {
        true => Ok(()),
        false => Err("This rule would not decide the call on this card.".to_owned()),
    }
}

/// Whether a rule allows what the card offers to read outside of the workspace, whatever command reads it.
fn allows_outside_read(request: &EvaluationRequest<'_>, rule: &Rule) -> bool {
    let offered = candidates::outside_read_candidates(request);
    let mut offered = offered.iter();
    offered.any(|one| (&one.permission, &one.pattern) == (&rule.permission, &rule.pattern))
}

/// Whether a pattern for commands begins with one certain program.
fn names_program(pattern: &str) -> bool {
    let first = pattern.split_whitespace().next().unwrap_or_default();
    let name = first.trim_end_matches('*');
    !name.is_empty() && !name.contains(['*', '?', '{'])
}

/// Builds the rule of a candidate; none if such a rule cannot last that long.
fn build_grant_rule(
    candidate: &GrantCandidate,
    action: RuleAction,
    lasts: GrantScope,
) -> Option<CompiledRule> {
    let rule = Rule {
        pattern: candidate.pattern.clone(),
        ..build_rule(&candidate.permission, action, grant_rule_scope(lasts))
    };
    match (&candidate.exact_digest, lasts) {
        (None, _) => CompiledRule::new(rule, Os::CURRENT, true).ok(),
        (Some(call), GrantScope::Session) => Some(CompiledRule::for_exact_call(rule, call.clone())),
        (Some(_), GrantScope::Project | GrantScope::Everywhere) => None,
    }
}

/// Builds a rule about everything that a permission names.
fn build_rule(permission: &str, action: RuleAction, scope: RuleScope) -> Rule {
    Rule {
        permission: permission.to_owned(),
        pattern: None,
        action,
        reason: None,
        scope,
        file: None,
        line: None,
        expires_ms: None,
        max_uses: None,
        grant: None,
    }
}

/// Why even the narrowest candidate in the closest scope would not let the call pass.
fn explain_remaining_ask(request: &EvaluationRequest<'_>, candidates: &[GrantCandidate]) -> String {
    let best = candidates.first().and_then(|one| {
        let rule = build_grant_rule(one, RuleAction::Allow, GrantScope::Session)?;
        Some(evaluate_with_rule(request, rule))
    });
    match best {
        Some(judgement) => format!(
            "A rule for this call would not be enough: {}",
            judgement.trail().lead
        ),
        None => NO_OFFER_REASON.to_owned(),
    }
}

/// The configured rule that asks about this call.
fn find_overridden_rule(asks: &Judgement) -> Option<Rule> {
    let mut traces = asks.trail().steps.iter().flat_map(|step| &step.rules);
    traces
        .find(|trace| {
            trace.won
                && trace.rule.action == RuleAction::Ask
                && trace.rule.scope != RuleScope::Builtin
        })
        .map(|trace| trace.rule.clone())
}

#[cfg(test)]
mod tests;
