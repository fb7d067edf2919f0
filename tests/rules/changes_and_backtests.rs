//! Rules looked at, edited, tried out and held against the calls on record.

use agent::Host;
use policy::{CallFacts, shell};
use protocol::event::{CallChange, SessionEvent};
use protocol::query::{Answer, Query};
use protocol::rule::backtest::{Backtest, RecordedDecision, RuleChange};
use protocol::rule::rules_view::{NewRule, RuleText, RulesView};
use protocol::{
    Capability, Decision, EventBody, Op, ResolvedAccess, RuleAction, RuleScope, Verdict,
};
use serde_json::{Value, json};
use support::{Fixture, call_bash, expect_variant, rule_text, say_text};

const SANDBOX: &str = env!("CARGO_BIN_EXE_sandbox_program");

pub fn new_rule(pattern: &str, action: RuleAction) -> NewRule {
    NewRule {
        permission: "bash".to_owned(),
        pattern: Some(pattern.to_owned()),
        action,
        ..NewRule::default()
    }
}

pub fn workspace_path(desk: &Fixture) -> Option<String> {
    Some(desk.workspace_root().display().to_string())
}

pub async fn load_rules(desk: &Fixture) -> RulesView {
    let query = Query::Rules {
        workspace: workspace_path(desk),
        session: None,
    };
    expect_variant!(desk.query(query).await, Answer::Rules(view) => view)
}

pub async fn run_backtest(desk: &Fixture, change: RuleChange) -> Backtest {
    let query = Query::Backtest {
        workspace: workspace_path(desk),
        change,
        calls_max: 0,
    };
    expect_variant!(desk.query(query).await, Answer::Backtest(tested) => tested)
}

/// A desk whose person was asked about five commands and rejected one.
async fn five_answers() -> Fixture {
    let mut desk = Fixture::new([
        call_bash("echo a"),
        call_bash("echo b"),
        call_bash("echo c"),
        call_bash("echo d"),
        call_bash("ls"),
        say_text("Done."),
    ])
    .await;
    desk.start("go").await;
    for number in 0..5 {
        match number {
            3 => desk.reject_next("").await,
            _ => desk.allow_next().await,
        };
    }
    desk.wait_until_ended().await;
    desk
}

/// A backtest tells the verdicts of a rule on recorded calls, those that the person rejected first; a suggestion comes from the
/// same answers.
#[tokio::test]
async fn a_rule_is_held_against_what_happened() {
    let desk = five_answers().await;
    let add = RuleChange::Add {
        rule: new_rule("echo*", RuleAction::Allow),
        scope: RuleScope::User,
    };
    let tested = run_backtest(&desk, add).await;
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
    let allowed = Some(RecordedDecision::Allowed);
    assert_eq!(
        examples,
        [
            ("echo d", Some(RecordedDecision::Rejected)),
            ("echo c", allowed),
            ("echo b", allowed),
            ("echo a", allowed),
        ]
    );
    let none = RuleChange::Add {
        rule: new_rule("cat*", RuleAction::Deny),
        scope: RuleScope::User,
    };
    assert_eq!(run_backtest(&desk, none).await.changed, []);
    let text = "default = \"deny\"\n".to_owned();
    let replace = RuleChange::Replace {
        scope: RuleScope::User,
        text,
    };
    let denied = &run_backtest(&desk, replace).await.changed[0];
    assert_eq!((denied.to, denied.calls), (Verdict::Deny, 5));

    let query = Query::Suggestions {
        workspace: workspace_path(&desk),
    };
    let answer = desk.query(query).await;
    let suggestions = expect_variant!(answer, Answer::Suggestions { suggestions } => suggestions);
    // Each command was allowed once, and the program alone is never offered.
    assert_eq!(suggestions, []);
}

/// Commands that the person allowed again and again are suggested as a rule, with those that they rejected of it.
#[tokio::test]
async fn answers_become_suggestions() {
    let turns = [0, 1, 2, 3].map(|n| call_bash(format!("git log -n {n}")));
    // An allowed command runs in the sandbox, and its effects are judged as well: what was asked before counts all the same.
    let mut desk = Fixture::with_sandbox(turns, Host::Person, Some(SANDBOX)).await;
    desk.start("go").await;
    for number in 0..4 {
        match number {
            2 => desk.reject_next("").await,
            _ => desk.allow_next().await,
        };
    }
    desk.wait_until_ended().await;
    let query = Query::Suggestions {
        workspace: workspace_path(&desk),
    };
    let answer = desk.query(query).await;
    let suggestions = expect_variant!(answer, Answer::Suggestions { suggestions } => suggestions);
    let told: Vec<_> = suggestions
        .iter()
        .map(|one| (one.rule.pattern.as_deref(), one.allowed, one.rejected))
        .collect();
    assert_eq!(told, [(Some("git log*"), 3, 1)]);
    assert_eq!(suggestions[0].counter_examples[0].target, "git log -n 2");
}

/// Three like answers bring an offer: the narrowest rule that would have given them, and none once one of them is a
/// rejection.
#[tokio::test]
async fn three_like_answers_bring_an_offer() {
    let turns = [0, 1, 2, 3, 4].map(|n| call_bash(format!("git stash list -n {n}")));
    let mut desk = Fixture::new(turns).await;
    desk.start("go").await;
    let mut offers = Vec::new();
    for number in 0..5 {
        let view = match number {
            3 => desk.reject_next("").await,
            _ => desk.allow_next().await,
        };
        let query = Query::RuleOffer {
            session: desk.session.clone(),
            call: view.call.id,
        };
        let offer = expect_variant!(desk.query(query).await, Answer::RuleOffer { offer } => offer);
        offers.push(offer.map(|one| (one.rule.pattern, one.allowed, one.rejected)));
    }
    desk.wait_until_ended().await;
    let narrowest = Some((Some("git stash list*".to_owned()), 3, 0));
    assert_eq!(offers, [None, None, narrowest, None, None]);
}

/// A rule that denied a call before anything was looked at counts like any other.
#[tokio::test]
async fn a_rule_that_denies_outright_is_counted() {
    let mut desk = Fixture::new([call_bash("git push origin main")]).await;
    let add = Op::AddRules {
        scope: RuleScope::User,
        workspace: None,
        rules: vec![NewRule {
            reason: Some("I push by hand".to_owned()),
            ..new_rule("git push*", RuleAction::Deny)
        }],
    };
    desk.submit(add).await;
    desk.start("go").await;
    desk.wait_until_ended().await;
    let seen = load_rules(&desk).await;
    let mine = seen
        .sources
        .iter()
        .find(|one| one.scope == RuleScope::User)
        .unwrap();
    assert_eq!(mine.rules[0].hits, 1);
}

/// A verdict that was told is counted in the rules that are asked for then, while the run goes on: it is counted in the
/// transaction that keeps it, before anybody hears of it.
#[tokio::test]
async fn a_verdict_that_was_told_is_counted() {
    const CALLS: usize = 8;
    let turns: Vec<Value> = (0..CALLS)
        .map(|n| call_bash(format!("git push {n}")))
        .collect();
    let mut desk = Fixture::new(turns).await;
    for scope in [RuleScope::User, RuleScope::Project] {
        let add = Op::AddRules {
            scope,
            workspace: workspace_path(&desk),
            rules: vec![new_rule("git push*", RuleAction::Deny)],
        };
        desk.submit(add).await;
    }
    desk.start("go").await;
    let mut told = 0;
    while told < CALLS {
        desk.wait_for_event("an event", |_| true).await;
        let events = desk.events().await.into_iter();
        told = events
            .filter(|event| {
                matches!(
                    event.body,
                    EventBody::Call {
                        change: CallChange::Judged { .. },
                        ..
                    }
                )
            })
            .count();
        let seen = load_rules(&desk).await;
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
    use protocol::rule::grants::{GrantRequest, GrantScope};
    let mut desk = Fixture::new([call_bash("echo a"), call_bash("echo a")]).await;
    desk.start("go").await;
    let grant = GrantRequest {
        lasts: GrantScope::Project,
        permission: "bash".to_owned(),
        pattern: Some("echo a".to_owned()),
        exactly: false,
        until_ms: None,
        max_uses: Some(3),
    };
    let card = desk.decide_next(Decision::allow_always(grant)).await;
    desk.wait_until_ended().await;
    let grant = load_rules(&desk).await.grants.remove(0);
    assert_eq!((grant.words.as_str(), grant.in_force), ("echo a", true));
    assert_eq!((grant.uses, grant.max_uses, grant.hits), (1, Some(3), 1));
    assert_eq!(grant.made_by.call, card.call.id);
    assert_eq!(grant.workspace, workspace_path(&desk));
    desk.submit(Op::RevokeGrant { grant: grant.id }).await;
    let grant = load_rules(&desk).await.grants.remove(0);
    assert!(!grant.in_force && grant.revoked.is_some());
}

/// Rules are checked as they are typed, example by example, and a call is tried without making it.
#[tokio::test]
async fn rules_are_tried_before_they_hold() {
    let desk = Fixture::new(json!([])).await;
    let text = "[[rule]]\npermission = \"bash\"\npattern = \"git log*\"\naction = \"allow\"\nmatch = [\"git log -1\", \"git push\"]\n";
    let check = Query::CheckRules {
        scope: RuleScope::User,
        workspace: None,
        text: text.to_owned(),
    };
    let checked = expect_variant!(desk.query(check).await, Answer::CheckRules(checked) => checked);
    assert!(checked.fault.unwrap().message.contains("git push"));
    let holds: Vec<_> = checked
        .examples
        .iter()
        .map(|one| (one.line, one.holds))
        .collect();
    assert_eq!(holds, [(Some(5), true), (Some(5), false)]);
    assert_eq!(checked.rules.len(), 1);

    let mut wrong = new_rule("git log*", RuleAction::Allow);
    wrong.not_matches = vec!["git log -1".to_owned(), "git push".to_owned()];
    let check = Query::CheckRule {
        rule: wrong,
        instead: None,
    };
    let checked = expect_variant!(desk.query(check).await, Answer::CheckRule(checked) => checked);
    let holds: Vec<_> = checked.examples.iter().map(|one| one.holds).collect();
    assert_eq!((holds, checked.fault.is_some()), (vec![false, true], true));
    assert_eq!(
        checked.meaning,
        "Allows `bash`: `git log`, then the end or more words."
    );

    for (draft, verdict) in [
        (None, Verdict::Ask),
        (Some(RuleAction::Allow), Verdict::Allow),
        (Some(RuleAction::Deny), Verdict::Deny),
    ] {
        let query = Query::EvaluateCall {
            workspace: workspace_path(&desk),
            tool: "bash".to_owned(),
            arguments: json!({ "command": "git log -1" })
                .as_object()
                .unwrap()
                .clone(),
            draft: draft.map(|action| RuleChange::Add {
                rule: new_rule("git log*", action),
                scope: RuleScope::Project,
            }),
        };
        let trail =
            expect_variant!(desk.query(query).await, Answer::EvaluateCall { trail } => trail);
        assert_eq!(trail.verdict, verdict, "{draft:?}");
    }
    let text = |pattern: &str| RuleText {
        scope: RuleScope::User,
        text: Some(rule_text("bash", pattern, "deny")),
    };
    let compare = Query::CompareRules {
        a: text("rm*"),
        b: text("mv*"),
        workspace: None,
    };
    let compared =
        expect_variant!(desk.query(compare).await, Answer::CompareRules(compared) => compared);
    assert_eq!(
        (compared.only_a.len(), compared.only_b.len(), compared.both),
        (1, 1, 0)
    );
}

/// Rules that are tried on calls of the past say the same as when the call is made, whatever became of the files
/// since: every bare word counts that may name one.
#[tokio::test]
async fn rules_are_no_looser_on_past_calls() {
    use Verdict::{Ask, Deny};
    const RULES: &[(&str, &str)] = &[
        ("fs.read", "secret"),
        ("fs.read", "gone"),
        ("fs.read", "keys/**"),
        ("fs.read", "two words"),
        ("fs.write", "Makefile"),
    ];
    const CALLS: &[(&str, Verdict)] = &[
        ("frob secret", Deny),
        ("frob ./secret", Deny),
        ("frob --file=secret", Deny),
        ("frob -fsecret", Deny),
        ("frob a,secret", Deny),
        ("frob 'run secret'", Deny),
        ("frob {secret,b}", Deny),
        ("f=secret; frob $f", Deny),
        ("timeout 5 frob secret", Deny),
        ("bash -c 'frob secret'", Deny),
        ("frob gone", Deny),
        ("frob linked", Deny),
        ("frob 'two words'", Deny),
        ("frob Makefile", Deny),
        ("wc Makefile", Ask),
        ("timeout 5 wc Makefile", Deny),
        ("git commit -m secret", Ask),
        ("echo secret", Ask),
        ("frob other", Ask),
    ];
    let text: String = RULES
        .iter()
        .map(|(permission, pattern)| rule_text(permission, pattern, "deny"))
        .collect();
    let turns = || -> Vec<Value> {
        CALLS
            .iter()
            .map(|(command, _)| call_bash(command))
            .collect()
    };
    let fill = |desk: &mut Fixture| {
        for file in ["secret", "two words", "Makefile", "keys/inner"] {
            desk.write_file(file, "");
        }
        std::fs::hard_link(
            desk.workspace_root().join("keys/inner"),
            desk.workspace_root().join("linked"),
        )
        .unwrap();
    };

    let mut live = Fixture::new(turns()).await;
    fill(&mut live);
    live.write_rules(&text);
    reject_all(&mut live).await;

    let mut past = Fixture::new(turns()).await;
    fill(&mut past);
    reject_all(&mut past).await;
    for entry in std::fs::read_dir(past.workspace_root()).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => std::fs::remove_dir_all(path).unwrap(),
            false => std::fs::remove_file(path).unwrap(),
        }
    }
    let change = RuleChange::Replace {
        scope: RuleScope::User,
        text,
    };
    let tested = run_backtest(&past, change).await;
    assert_eq!(
        (tested.calls, tested.unclear),
        (CALLS.len() as u64, Vec::new())
    );
    let tried: Vec<(&str, Verdict)> = CALLS
        .iter()
        .map(|(command, _)| {
            let mut examples = tested.examples.iter();
            let changed = examples.find(|one| one.target == *command);
            (*command, changed.map_or(Ask, |one| one.to))
        })
        .collect();
    let live = verdicts(&live).await;
    let live: Vec<_> = live
        .iter()
        .map(|(target, verdict)| (target.as_str(), *verdict))
        .collect();
    assert_eq!(live, CALLS);
    assert_eq!(tried, CALLS);
}

/// The evidence of a verdict gives back every use that it was made from, and of bare words no others.
#[test]
fn what_a_verdict_keeps_names_every_use() {
    for command in [
        "frob secret",
        "frob secret other.txt --file=more -fx 'two words' \"$a\" {b,c} ~/d",
        "timeout 5 wc Makefile",
        "cd sub && frob secret",
        "git -C sub show HEAD:secret",
        "find . -name x -exec frob secret {} ';'",
        "bash -c 'frob secret' && sort -o out in",
        "f=secret; frob $f",
        "for name in a b; do frob $name other; done",
        "cat secret | tee copy > log",
        "echo secret",
        "git commit -m secret",
    ] {
        let mut facts = CallFacts::default();
        facts.add(ResolvedAccess::new_inside(Capability::ShellRun, command));
        for touch in shell::parse_command(command).accesses() {
            let fact = ResolvedAccess {
                derived: true,
                ..ResolvedAccess::new_inside(touch.capability, touch.target.clone())
            };
            match touch.is_possible_use {
                true => facts.add_use(fact),
                false => facts.add(fact),
            }
        }
        let kept = CallFacts::from_evidence(facts.to_evidence());
        let sorted = |facts: &CallFacts| {
            let uses = facts.uses().iter();
            let mut uses: Vec<String> = uses
                .map(|fact| format!("{} {}", fact.capability.as_str(), fact.target))
                .collect();
            uses.sort();
            uses
        };
        assert_eq!(sorted(&kept), sorted(&facts), "{command}");
    }
}

/// Lets an agent make its calls, and rejects every one that waits.
async fn reject_all(desk: &mut Fixture) {
    desk.start("go").await;
    loop {
        let waits_or_ends = |body: &EventBody| {
            matches!(
                body,
                EventBody::Call {
                    change: CallChange::Waiting { .. },
                    ..
                } | EventBody::Session(SessionEvent::Changed {
                    state: protocol::SessionState::Done
                })
            )
        };
        let event = desk
            .wait_for_event("a waiting call or the end", waits_or_ends)
            .await;
        let EventBody::Call {
            call,
            change: CallChange::Waiting { .. },
        } = event.body
        else {
            return;
        };
        let card = desk.find_call(call.as_str()).await;
        desk.decide_call(&card, Decision::reject("")).await.unwrap();
    }
}

/// The verdict on each command that was judged, in its order.
async fn verdicts(desk: &Fixture) -> Vec<(String, Verdict)> {
    let events = desk.events().await.into_iter();
    let judged = events.filter_map(|event| match event.body {
        EventBody::Call {
            change: CallChange::Judged { target, trail, .. },
            ..
        } => Some((target, trail.verdict)),
        _ => None,
    });
    judged.collect()
}
