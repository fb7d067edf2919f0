//! A folder that is read with everything below it: denied files below must not be read unseen.

use protocol::rule::verdict::RuleTrace;
use protocol::{At, Rule, RuleAction, Verdict};

use super::precedence::Precedence;
use super::{RuleDecision, RuleSet, Subject, is_out_of_force};

/// Asks where a path that a rule denies may lie below the folder, unless the verdict is as strict already.
pub(super) fn ask_for_denied_below(
    rules: &RuleSet,
    subject: &Subject<'_>,
    now: At,
    mut decision: RuleDecision,
) -> RuleDecision {
    if decision.verdict >= Some(Verdict::Ask) {
        return decision;
    }
    let denies = rules
        .index
        .find_for_subject(subject)
        .into_iter()
        .map(|at| &rules.rules[at])
        .filter(|rule| {
            !is_out_of_force(rule, now) && rule.may_match_below(subject, rules.root.as_deref())
        })
        .filter_map(|rule| {
            rule.permission_rank(subject)
                .map(|rank| (Precedence::new(rank, rule), rule))
        });
    let Some((_, strongest)) = denies.max_by_key(|(key, _)| *key) else {
        return decision;
    };
    for trace in decision.traces.iter_mut().filter(|trace| trace.won) {
        trace.won = false;
        trace.why = "lost: what another rule denies may lie below that folder".to_owned();
    }
    let pattern = strongest.rule.pattern.as_deref().unwrap_or_default();
    let rule = Rule {
        action: RuleAction::Ask,
        reason: Some(format!(
            "it denies `{pattern}`, which may lie below {}.",
            subject.display_text().trim_start_matches("reading ")
        )),
        ..strongest.rule.clone()
    };
    let why = "what it denies may lie below that folder, which is read whole".to_owned();
    decision.traces.insert(
        0,
        RuleTrace {
            rule,
            won: true,
            why,
        },
    );
    RuleDecision {
        verdict: Some(Verdict::Ask),
        silent: false,
        ..decision
    }
}
