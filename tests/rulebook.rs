//! Rules looked at, edited, tried out and held against the calls on record.

use protocol::backtest::{Backtest, PersonSaid, RuleChange};
use protocol::query::{Answer, Query};
use protocol::rules_view::{NewRule, RuleText, RulesView};
use protocol::{Action, Decision, EventBody, Op, RuleScope, Verdict};
use serde_json::{Value, json};
use support::{Fixture, call};

pub fn bash(command: &str) -> Value {
    call("bash", json!({ "command": command }))
}

pub fn rule(pattern: &str, action: Action) -> NewRule {
    NewRule {
        permission: "bash".to_owned(),
        pattern: Some(pattern.to_owned()),
        action,
        ..NewRule::default()
    }
}

pub fn here(desk: &Fixture) -> Option<String> {
    Some(desk.root().display().to_string())
}

pub async fn view(desk: &Fixture) -> RulesView {
    let query = Query::Rules {
        workspace: here(desk),
        session: None,
    };
    match desk.desk.query(query).await.unwrap() {
        Answer::Rules(view) => view,
        other => panic!("{other:?}"),
    }
}

async fn backtest(desk: &Fixture, change: RuleChange) -> Backtest {
    let query = Query::Backtest {
        workspace: here(desk),
        change,
        calls_max: 0,
    };
    match desk.desk.query(query).await.unwrap() {
        Answer::Backtest(tested) => tested,
        other => panic!("{other:?}"),
    }
}

/// A desk whose person was asked about five commands and rejected one.
async fn five_answers() -> Fixture {
    let mut desk = Fixture::new(json!([
        bash("echo a"),
        bash("echo b"),
        bash("echo c"),
        bash("echo d"),
        bash("ls"),
        { "text": "Done." }
    ]))
    .await;
    desk.start("go").await;
    for number in 0..5 {
        let card = desk.until_waiting().await;
        let decision = match number {
            3 => Decision::Reject {
                note: String::new(),
                stop: false,
                always: None,
            },
            _ => Decision::Allow {
                hunks: None,
                note: String::new(),
                always: None,
            },
        };
        desk.decide(&card, decision).await.unwrap();
    }
    desk.until_ended().await;
    desk
}

/// What a rule would have done to recorded calls, those that the person rejected first; a suggestion from the same answers.
#[tokio::test]
async fn a_rule_is_held_against_what_happened() {
    let desk = five_answers().await;
    let add = RuleChange::Add {
        rule: rule("echo*", Action::Allow),
        scope: RuleScope::User,
    };
    let tested = backtest(&desk, add).await;
    assert_eq!((tested.calls, tested.unclear.len()), (5, 0));
    let group = &tested.changed[0];
    assert_eq!(
        (group.from, group.to, group.calls),
        (Verdict::Ask, Verdict::Allow, 4)
    );
    assert_eq!((group.by_person_allowed, group.by_person_rejected), (3, 1));
    let examples: Vec<_> = tested
        .examples
        .iter()
        .map(|one| (one.target.as_str(), one.person))
        .collect();
    let allowed = Some(PersonSaid::Allowed);
    assert_eq!(
        examples,
        [
            ("echo d", Some(PersonSaid::Rejected)),
            ("echo c", allowed),
            ("echo b", allowed),
            ("echo a", allowed),
        ]
    );
    let none = RuleChange::Add {
        rule: rule("cat*", Action::Deny),
        scope: RuleScope::User,
    };
    assert_eq!(backtest(&desk, none).await.changed, []);
    let text = "default = \"deny\"\n".to_owned();
    let replace = RuleChange::Replace {
        scope: RuleScope::User,
        text,
    };
    let denied = &backtest(&desk, replace).await.changed[0];
    assert_eq!((denied.to, denied.calls), (Verdict::Deny, 5));

    let query = Query::Suggestions {
        workspace: here(&desk),
    };
    let Answer::Suggestions { suggestions } = desk.desk.query(query).await.unwrap() else {
        panic!()
    };
    // Each command was allowed once, and the program alone is never offered.
    assert_eq!(suggestions, []);
}

/// What the person allowed again and again is suggested as a rule, with what they rejected of it.
#[tokio::test]
async fn answers_become_suggestions() {
    let mut turns: Vec<Value> = (0..4).map(|n| bash(&format!("git log -n {n}"))).collect();
    turns.push(json!({}));
    let mut desk = Fixture::new(Value::Array(turns)).await;
    desk.start("go").await;
    for number in 0..4 {
        let card = desk.until_waiting().await;
        let (note, always) = (String::new(), None);
        let decision = match number {
            2 => Decision::Reject {
                note,
                stop: false,
                always,
            },
            _ => Decision::Allow {
                hunks: None,
                note,
                always,
            },
        };
        desk.decide(&card, decision).await.unwrap();
    }
    desk.until_ended().await;
    let query = Query::Suggestions {
        workspace: here(&desk),
    };
    let Answer::Suggestions { suggestions } = desk.desk.query(query).await.unwrap() else {
        panic!()
    };
    let told: Vec<_> = suggestions
        .iter()
        .map(|one| (one.rule.pattern.as_deref(), one.allowed, one.rejected))
        .collect();
    assert_eq!(told, [(Some("git log*"), 3, 1)]);
    assert_eq!(suggestions[0].counter_examples[0].target, "git log -n 2");
}

/// A rule that denied a call before anything was looked at counts like any other.
#[tokio::test]
async fn a_rule_that_denies_outright_is_counted() {
    let mut desk = Fixture::new(json!([bash("git push origin main"), {}])).await;
    let add = Op::AddRules {
        scope: RuleScope::User,
        workspace: None,
        rules: vec![NewRule {
            reason: Some("I push by hand".to_owned()),
            ..rule("git push*", Action::Deny)
        }],
    };
    desk.desk.submit(add).await.unwrap();
    desk.start("go").await;
    desk.until_ended().await;
    let seen = view(&desk).await;
    let mine = seen
        .sources
        .iter()
        .find(|one| one.scope == RuleScope::User)
        .unwrap();
    assert_eq!(mine.rules[0].hits, 1);
}

/// Whoever hears of a verdict and asks for the rules sees it counted, while the run goes on: it is counted in the
/// transaction that keeps it, before anybody hears of it.
#[tokio::test]
async fn a_verdict_that_was_told_is_counted() {
    const CALLS: usize = 8;
    let mut turns: Vec<Value> = (0..CALLS).map(|n| bash(&format!("git push {n}"))).collect();
    turns.push(json!({}));
    let mut desk = Fixture::new(Value::Array(turns)).await;
    for scope in [RuleScope::User, RuleScope::Project] {
        let add = Op::AddRules {
            scope,
            workspace: here(&desk),
            rules: vec![rule("git push*", Action::Deny)],
        };
        desk.desk.submit(add).await.unwrap();
    }
    desk.start("go").await;
    let mut told = 0;
    while told < CALLS {
        desk.until("an event", |_| true).await;
        let events = desk.events().await.into_iter();
        told = events
            .filter(|event| matches!(event.body, EventBody::CallJudged { .. }))
            .count();
        let seen = view(&desk).await;
        let hits = |scope| {
            let source = seen.sources.iter().find(|one| one.scope == scope).unwrap();
            source.rules[0].hits
        };
        let counted = hits(RuleScope::Project);
        assert!(counted >= told as u64, "{counted} after {told}");
        assert_eq!(hits(RuleScope::User), 0, "it spoke for none");
    }
}

/// The ledger says what was granted, where, by which card, and how often it was used.
#[tokio::test]
async fn the_ledger_tells_each_grant() {
    use protocol::ledger::{Always, GrantScope};
    let mut desk = Fixture::new(json!([bash("echo a"), bash("echo a"), {}])).await;
    desk.start("go").await;
    let card = desk.until_waiting().await;
    let always = Always {
        lasts: GrantScope::Project,
        permission: "bash".to_owned(),
        pattern: Some("echo a".to_owned()),
        exactly: false,
        until_ms: None,
        max_uses: Some(3),
    };
    let allow = Decision::Allow {
        hunks: None,
        note: String::new(),
        always: Some(always),
    };
    desk.decide(&card, allow).await.unwrap();
    desk.until_ended().await;
    let grant = view(&desk).await.grants.remove(0);
    assert_eq!((grant.words.as_str(), grant.in_force), ("echo a", true));
    assert_eq!((grant.uses, grant.max_uses, grant.hits), (1, Some(3), 1));
    assert_eq!(grant.made_by.call, card.call.id);
    assert_eq!(grant.workspace, here(&desk));
    let revoke = Op::RevokeGrant { grant: grant.id };
    desk.desk.submit(revoke).await.unwrap();
    let grant = view(&desk).await.grants.remove(0);
    assert!(!grant.in_force && grant.revoked.is_some());
}

/// Rules are checked as they are typed, example by example, and a call is tried without making it.
#[tokio::test]
async fn rules_are_tried_before_they_hold() {
    let desk = Fixture::new(json!([{}])).await;
    let text = "[[rule]]\npermission = \"bash\"\npattern = \"git log*\"\naction = \"allow\"\nmatch = [\"git log -1\", \"git push\"]\n";
    let check = Query::CheckRules {
        scope: RuleScope::User,
        workspace: None,
        text: text.to_owned(),
    };
    let Answer::CheckRules(checked) = desk.desk.query(check).await.unwrap() else {
        panic!()
    };
    assert!(checked.fault.unwrap().message.contains("git push"));
    let holds: Vec<_> = checked
        .examples
        .iter()
        .map(|one| (one.line, one.holds))
        .collect();
    assert_eq!(holds, [(Some(5), true), (Some(5), false)]);
    assert_eq!(checked.rules.len(), 1);

    let mut wrong = rule("git log*", Action::Allow);
    wrong.not_matches = vec!["git log -1".to_owned(), "git push".to_owned()];
    let Answer::CheckRule(checked) = desk
        .desk
        .query(Query::CheckRule {
            rule: wrong,
            instead: None,
        })
        .await
        .unwrap()
    else {
        panic!()
    };
    let holds: Vec<_> = checked.examples.iter().map(|one| one.holds).collect();
    assert_eq!((holds, checked.fault.is_some()), (vec![false, true], true));
    assert_eq!(
        checked.meaning,
        "Allows `bash`: `git log`, then the end or more words."
    );

    for (draft, verdict) in [
        (None, Verdict::Ask),
        (Some(Action::Allow), Verdict::Allow),
        (Some(Action::Deny), Verdict::Deny),
    ] {
        let query = Query::TryCall {
            workspace: here(&desk),
            tool: "bash".to_owned(),
            arguments: json!({ "command": "git log -1" })
                .as_object()
                .unwrap()
                .clone(),
            draft: draft.map(|action| RuleChange::Add {
                rule: rule("git log*", action),
                scope: RuleScope::Project,
            }),
        };
        let Answer::TryCall { trail } = desk.desk.query(query).await.unwrap() else {
            panic!()
        };
        assert_eq!(trail.verdict, verdict, "{draft:?}");
    }
    let text = |pattern: &str| RuleText {
        scope: RuleScope::User,
        text: Some(format!(
            "[[rule]]\npermission = \"bash\"\npattern = \"{pattern}\"\naction = \"deny\"\n"
        )),
    };
    let compare = Query::CompareRules {
        a: text("rm*"),
        b: text("mv*"),
        workspace: None,
    };
    let Answer::CompareRules(compared) = desk.desk.query(compare).await.unwrap() else {
        panic!()
    };
    assert_eq!(
        (compared.only_a.len(), compared.only_b.len(), compared.both),
        (1, 1, 0)
    );
}
