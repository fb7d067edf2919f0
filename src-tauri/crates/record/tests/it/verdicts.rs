//! Tables that hold verdicts beside the log.

use std::sync::Arc;

use protocol::event::CallChange;
use protocol::rule::backtest::RecordedDecision;
use protocol::rule::evidence::{DryRunEvidence, Evidence};
use protocol::rule::verdict::RuleTrace;
use protocol::{
    EventBody, Gate, Rule, RuleAction, RuleScope, SessionId, Trail, TrailStep, Verdict,
};
use record::rule_key;
use serde_json::json;

use crate::sample_events;
use crate::support::Desk;

#[test]
fn a_call_that_is_judged_again_keeps_what_the_person_said_of_it() {
    let mut desk = Desk::new();
    desk.tell(
        "ses_1",
        sample_events::proposed("c1", "bash", json!({ "command": "make" })),
    );
    desk.tell("ses_1", sample_events::judged("c1", "bash", "make"));
    desk.tell("ses_1", sample_events::waits("c1"));
    desk.tell("ses_1", sample_events::decided("c1", ""));
    let dry_run = DryRunEvidence {
        refused: 2,
        agreed: true,
        ..DryRunEvidence::default()
    };
    let mut again = sample_events::judged("c1", "bash", "make");
    if let EventBody::Call {
        change: CallChange::Judged { evidence, .. },
        ..
    } = &mut again
    {
        *evidence = Some(Box::new(Evidence {
            dry_run: Some(dry_run.clone()),
            ..Evidence::default()
        }));
    }
    desk.tell("ses_1", again);

    let page = desk.record.list_verdicts(None, 10).unwrap();
    assert_eq!(page.calls.len(), 1, "one call, judged twice");
    assert_eq!(page.calls[0].answer, Some(RecordedDecision::Allowed));
    let (evidence, _) = page.calls[0].evidence().unwrap().unwrap();
    assert_eq!(evidence.dry_run, Some(dry_run), "the last verdict counts");
}

/// A rule of the person's, and the verdict that it made of a call.
fn judged_by(rule: &Rule, call: &str) -> EventBody {
    let mut body = sample_events::judged(call, "bash", "make");
    if let EventBody::Call {
        change: CallChange::Judged { trail, .. },
        ..
    } = &mut body
    {
        let traces = [(rule.clone(), true), (rule_about("*"), false)];
        *trail = Arc::new(Trail {
            steps: vec![TrailStep {
                gate: Gate::Rules,
                verdict: Some(Verdict::Allow),
                text: String::new(),
                rules: traces
                    .map(|(rule, won)| RuleTrace {
                        rule,
                        won,
                        why: String::new(),
                    })
                    .into(),
            }],
            ..Trail::clone(trail)
        });
    }
    body
}

fn rule_about(pattern: &str) -> Rule {
    Rule {
        permission: "bash".into(),
        pattern: Some(pattern.into()),
        action: RuleAction::Allow,
        reason: None,
        scope: RuleScope::User,
        file: None,
        line: Some(3),
        expires_ms: None,
        max_uses: None,
        grant: None,
    }
}

/// Many calls in one transaction leave the same rows as each by itself.
#[test]
fn a_batch_counts_each_rule_and_keeps_the_last_verdict_of_each_call() {
    let mut desk = Desk::new();
    let (make, test) = (rule_about("make *"), rule_about("cargo test"));
    for (session, calls) in [("ses_1", 40), ("ses_2", 3)] {
        let call = |n: u32| {
            let id = format!("c{n}");
            let rule = if n.is_multiple_of(2) { &make } else { &test };
            [
                sample_events::proposed(&id, "bash", json!({ "command": "make" })),
                judged_by(rule, &id),
                sample_events::waits(&id),
                sample_events::decided(&id, ""),
                judged_by(&make, &id),
            ]
        };
        desk.tell_all(session, (0..calls).flat_map(call));
    }

    let hits = desk.record.rule_hits().unwrap();
    let count = |rule: &Rule, session: &str| {
        let key = (rule_key(rule), SessionId::from(session));
        hits.get(&key).map(|(count, _)| *count)
    };
    assert_eq!(
        (count(&make, "ses_1"), count(&test, "ses_1")),
        (Some(60), Some(20))
    );
    assert_eq!(
        (count(&make, "ses_2"), count(&test, "ses_2")),
        (Some(5), Some(1))
    );
    assert_eq!(hits.len(), 4, "a rule that did not win counts nothing");
    let last = hits[&(rule_key(&make), "ses_1".into())].1;
    assert_eq!(last, 200_000, "the last event of that session");

    let page = desk.record.list_verdicts(None, 100).unwrap();
    assert_eq!(page.calls.len(), 43);
    for call in page.calls {
        assert_eq!(
            call.answer,
            Some(RecordedDecision::Allowed),
            "{}",
            call.call
        );
    }
}
