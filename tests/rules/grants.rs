//! Grants: what a person allows or refuses from now on, how far it reaches, and how it ends.

use agent::{Engine, EngineConfig, Host};
use protocol::event::CallChange;
use protocol::query::{Answer, Query};
use protocol::rule::grants::{GrantOffers, GrantRequest, GrantScope};
use protocol::{
    CallState, CallView, Decision, EventBody, Op, RuleAction, RuleScope, SessionState, Verdict,
};
use serde_json::{Value, json};
use support::{Fixture, call_bash, call_read, expect_variant, join_calls, rule_text, say_text};

fn echo(word: &str) -> Value {
    call_bash(format!("echo {word}"))
}

/// So many turns that each run `echo one`.
fn echoes(count: usize) -> Vec<Value> {
    vec![echo("one"); count]
}

fn always(lasts: GrantScope, pattern: &str) -> GrantRequest {
    GrantRequest {
        lasts,
        permission: "bash".to_owned(),
        pattern: Some(pattern.to_owned()),
        exactly: false,
        until_ms: None,
        max_uses: None,
    }
}

async fn offers(desk: &Fixture, view: &CallView) -> GrantOffers {
    let query = Query::Offers {
        session: desk.session.clone(),
        call: view.call.id.clone(),
    };
    expect_variant!(desk.query(query).await, Answer::Offers(offers) => offers)
}

/// The ids in the ledger, as they stand on disk.
fn ledger(desk: &Fixture) -> Vec<String> {
    let Ok(folder) = std::fs::read_dir(desk.data_dir().join("grants")) else {
        return Vec::new();
    };
    let names = folder.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut ids: Vec<String> = names
        .map(|name| name.strip_suffix(".json").unwrap().to_owned())
        .collect();
    ids.sort();
    ids
}

/// The number of calls of the session that waited for a person.
async fn asked(desk: &Fixture) -> usize {
    let events = desk.events().await;
    let waits = events.iter().filter(|event| {
        event.session == desk.session
            && matches!(
                event.body,
                EventBody::Call {
                    change: CallChange::Waiting { .. },
                    ..
                }
            )
    });
    waits.count()
}

/// A card offers what was parsed, and says that it can be granted.
#[tokio::test]
async fn a_card_offers_what_it_shows() {
    let mut desk = Fixture::new([echo("'*' b")]).await;
    desk.start("go").await;
    let card = desk.wait_for_call().await;
    let offers = offers(&desk, &card).await;
    let told: Vec<_> = offers
        .offers
        .iter()
        .map(|offer| (offer.action, offer.pattern.as_deref().unwrap_or_default()))
        .collect();
    assert_eq!(
        told,
        [
            (RuleAction::Allow, r"echo \* b"),
            (RuleAction::Allow, r"echo \* b*"),
            (RuleAction::Deny, r"echo \* b"),
            (RuleAction::Deny, r"echo \* b *"),
        ]
    );
    let waits = card.pending.as_ref().unwrap();
    let buttons: Vec<_> = waits.grants.iter().map(|one| one.button.as_str()).collect();
    assert_eq!(buttons, ["Allow", "Always…", "Reject"]);
}

/// A grant for the session spares the next question, survives a restart, and ends when the session is closed. The other
/// session asks.
#[tokio::test]
async fn a_grant_for_the_session_ends_with_it() {
    let [one, end] = [echo("one"), say_text("")];
    let turns = json!([one, one, end, one, end, one]);
    let mut desk = Fixture::new(turns).await;
    desk.start("go").await;
    let granted = always(GrantScope::Session, "echo one");
    desk.decide_next(Decision::allow_always(granted)).await;
    assert_eq!(desk.wait_until_ended().await, SessionState::Done);
    let states = desk.call_states().await;
    assert_eq!((states, asked(&desk).await), (vec![CallState::Done; 2], 1));
    let trail = desk.calls().await[1].trail.clone().unwrap();
    let won = trail.steps.iter().flat_map(|step| &step.rules);
    let won = won.clone().find(|trace| trace.won).unwrap();
    assert_eq!(won.rule.scope, RuleScope::Session);
    assert_eq!(won.rule.grant.as_ref().unwrap().as_str(), ledger(&desk)[0]);

    let mut desk = desk.restart().await;
    desk.send_message("Again.").await;
    desk.wait_until_ended().await;
    assert_eq!(asked(&desk).await, 1, "it holds after a restart");

    let session = desk.session.clone();
    desk.submit(Op::CloseSession { session }).await;
    desk.send_message("Once more.").await;
    desk.wait_for_call().await;
    assert_eq!(asked(&desk).await, 2, "it ended with the session");

    desk.start("Another one.").await;
    desk.wait_for_call().await;
}

/// A grant for the project or for everywhere holds in later sessions, until it is taken back: at once in this process, and
/// from another one too.
#[tokio::test]
async fn grants_reach_as_far_as_they_say_and_end_at_once() {
    for lasts in [GrantScope::Project, GrantScope::Everywhere] {
        for elsewhere in [false, true] {
            let mut desk = Fixture::new([echo("one"), say_text(""), echo("one")]).await;
            desk.start("go").await;
            let granted = always(lasts, "echo*");
            desk.decide_next(Decision::allow_always(granted)).await;
            desk.wait_until_ended().await;
            desk.start("Another session.").await;
            assert_eq!(
                desk.wait_until_ended().await,
                SessionState::Done,
                "{lasts:?}"
            );
            assert_eq!(asked(&desk).await, 0, "{lasts:?}");

            let grant = ledger(&desk).remove(0).into();
            let revoke = Op::RevokeGrant { grant };
            match elsewhere {
                false => desk.submit(revoke).await,
                true => {
                    let mut config = EngineConfig::new(desk.data_dir().to_owned(), Host::Person);
                    config.recovers = false;
                    let other = Engine::open(config).await.unwrap();
                    other.submit(revoke).await.unwrap()
                }
            };
            desk.send_message("Again.").await;
            desk.wait_for_call().await;
            assert_eq!(asked(&desk).await, 1, "{lasts:?} {elsewhere}");
        }
    }
}

/// Taken back by another process in the middle of a run, it decides no further call of that run.
#[tokio::test]
async fn a_grant_that_is_taken_back_elsewhere_ends_within_a_run() {
    let mut desk = Fixture::new([echo("one"), echo("two"), echo("one")]).await;
    desk.start("go").await;
    let granted = always(GrantScope::Everywhere, "echo one");
    desk.decide_next(Decision::allow_always(granted)).await;
    let card = desk.wait_for_call().await;
    let file = desk
        .data_dir()
        .join("grants")
        .join(&ledger(&desk)[0])
        .with_extension("json");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replace("\"revoked\": null", "\"revoked\": 5")).unwrap();
    desk.allow_call(&card).await;
    desk.wait_for_call().await;
    assert_eq!(asked(&desk).await, 3);
}

/// For so many uses after the one on the card, and not one more.
#[tokio::test]
async fn a_grant_for_two_uses_is_used_twice() {
    let mut desk = Fixture::new(echoes(4)).await;
    desk.start("go").await;
    let twice = GrantRequest {
        max_uses: Some(2),
        ..always(GrantScope::Everywhere, "echo one")
    };
    desk.decide_next(Decision::allow_always(twice)).await;
    desk.wait_for_call().await;
    let ended = desk.calls().await;
    let done = ended.iter().filter(|view| view.state == CallState::Done);
    assert_eq!((done.count(), asked(&desk).await), (3, 2));
}

/// A grant whose time is over is none, and cannot be made.
#[tokio::test]
async fn a_grant_ends_with_its_time() {
    let mut desk = Fixture::new(echoes(2)).await;
    desk.start("go").await;
    let card = desk.wait_for_call().await;
    let over = GrantRequest {
        until_ms: Some(1),
        ..always(GrantScope::Everywhere, "echo one")
    };
    let fault = desk
        .decide_call(&card, Decision::allow_always(over))
        .await
        .unwrap_err();
    assert!(fault.message.contains("would not decide"), "{fault}");
    assert!(ledger(&desk).is_empty());
    let view = desk.find_call(card.call.id.as_str()).await;
    assert_eq!(view.state, CallState::Waiting, "the card stays");
}

/// "Never" is a rule as well: the next call is denied without a question.
#[tokio::test]
async fn rejecting_always_denies_from_then_on() {
    let mut desk = Fixture::new(echoes(2)).await;
    desk.start("go").await;
    desk.decide_next(Decision::Reject {
        note: String::new(),
        stop: false,
        always: Some(always(GrantScope::Project, "echo one")),
    })
    .await;
    desk.wait_until_ended().await;
    let states = desk.call_states().await;
    assert_eq!(states, [CallState::Rejected, CallState::Denied]);
}

/// One turn that reads these files side by side, each asked about.
async fn reading(paths: &[&str]) -> (Fixture, Vec<CallView>) {
    let mut desk = Fixture::new([join_calls(paths.iter().map(call_read))]).await;
    let asks = "[[rule]]\npermission = \"mode:read\"\naction = \"ask\"\n";
    desk.write_file(".countersign/rules.toml", asks);
    for path in paths {
        desk.write_file(path, "text\n");
    }
    desk.start("go").await;
    let mut cards = desk.wait_for_calls(paths.len()).await;
    cards.sort_by_key(|view| view.target.clone());
    (desk, cards)
}

fn always_read(lasts: GrantScope, pattern: &str) -> Decision {
    let mut always = always(lasts, pattern);
    always.permission = "read".to_owned();
    Decision::allow_always(always)
}

/// Calls that wait meanwhile, and that the grant covers, go ahead: by the rule, and on record so. The others stay.
#[tokio::test]
async fn calls_that_wait_are_judged_by_the_new_grant() {
    let (mut desk, cards) = reading(&["a/one", "a/two", "b/one"]).await;
    let granted = always_read(GrantScope::Session, "a/**");
    desk.decide_call(&cards[0], granted).await.unwrap();
    let ended = std::cell::Cell::new(0);
    desk.wait_for_event("the end of two calls", |body| {
        ended.set(
            ended.get()
                + usize::from(matches!(
                    body,
                    EventBody::Call {
                        change: CallChange::Ended { .. },
                        ..
                    }
                )),
        );
        ended.get() == 2
    })
    .await;
    let calls = desk.calls().await;
    let states: Vec<_> = calls.iter().map(|view| view.state).collect();
    assert_eq!(
        states,
        [CallState::Done, CallState::Done, CallState::Waiting]
    );
    assert_eq!(calls[1].decision, None);
    assert_eq!(calls[1].trail.as_ref().unwrap().verdict, Verdict::Allow);
}

/// Two approvals at the same time both stand.
#[tokio::test]
async fn two_approvals_at_once_lose_nothing() {
    let (mut desk, cards) = reading(&["a", "b"]).await;
    let (one, two) = tokio::join!(
        desk.decide_call(&cards[0], always_read(GrantScope::Everywhere, "a")),
        desk.decide_call(&cards[1], always_read(GrantScope::Everywhere, "b")),
    );
    one.unwrap();
    two.unwrap();
    desk.wait_until_ended().await;
    assert_eq!(ledger(&desk).len(), 2);
}

/// A grant that would cover more than was shown, that does not decide the card's own call, or that names another tool is
/// refused.
#[tokio::test]
async fn what_a_card_does_not_show_cannot_be_granted_on_it() {
    let mut desk = Fixture::new([echo("one"), call_bash("sudo true")]).await;
    desk.start("go").await;
    let card = desk.wait_for_call().await;
    for (permission, pattern, told) in [
        ("bash", Some("*"), "names its program"),
        ("bash", None, "names its program"),
        ("bash", Some("e*o one"), "names its program"),
        ("bash", Some("echo two"), "would not decide"),
        ("*", Some("echo one"), "is for `bash`"),
        ("bash", Some("echo {"), "would not decide"),
    ] {
        let grant = GrantRequest {
            permission: permission.to_owned(),
            pattern: pattern.map(str::to_owned),
            ..always(GrantScope::Everywhere, "")
        };
        let fault = desk
            .decide_call(&card, Decision::allow_always(grant))
            .await
            .unwrap_err();
        assert!(fault.message.contains(told), "{pattern:?}: {fault}");
    }
    desk.allow_call(&card).await;
    let card = desk.wait_for_call().await;
    let offered = offers(&desk, &card).await;
    assert!(offered.refused.unwrap().contains("sudo"), "{card:?}");
    let grant = Decision::allow_always(always(GrantScope::Session, "sudo true"));
    assert!(desk.decide_call(&card, grant).await.is_err());
    assert_eq!(ledger(&desk), Vec::<String>::new());
}

/// A manifest's deny and a more specific deny of the project stand above any grant.
#[tokio::test]
async fn a_grant_lifts_no_deny_that_is_more_specific() {
    let mut desk = Fixture::new([echo("one"), echo("one two")]).await;
    let rules = rule_text("bash", "echo one two*", "deny");
    desk.write_file(".countersign/rules.toml", rules)
        .start("go")
        .await;
    let granted = always(GrantScope::Everywhere, "echo*");
    desk.decide_next(Decision::allow_always(granted)).await;
    desk.wait_until_ended().await;
    let states = desk.call_states().await;
    assert_eq!(states, [CallState::Done, CallState::Denied]);
}

/// A grant that cannot be read may be a deny: every call asks until it is gone.
#[tokio::test]
async fn a_broken_grant_makes_every_call_ask() {
    let mut desk = Fixture::new([call_read("a")]).await;
    desk.write_file("a", "text\n");
    std::fs::create_dir_all(desk.data_dir().join("grants")).unwrap();
    std::fs::write(desk.data_dir().join("grants/grt_x.json"), "{").unwrap();
    desk.start("go").await;
    desk.wait_for_call().await;
    let faults = desk.snapshot().await.faults;
    assert!(faults[0].message.contains("grt_x.json"), "{faults:?}");
}

/// A decision that cannot be recorded leaves no grant in force.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_on_record_is_not_granted() {
    let mut desk = Fixture::new(echoes(2)).await;
    desk.start("go").await;
    let card = desk.wait_for_call().await;
    let limit = |pages| tokio::task::block_in_place(|| desk.engine.limit_record_pages(pages));
    limit(1);
    let long = Decision::Allow {
        hunks: None,
        note: "x".repeat(64 * 1024),
        always: Some(always(GrantScope::Everywhere, "echo one")),
    };
    desk.decide_call(&card, long).await.unwrap_err();
    limit(0xffff_fffe);
    desk.allow_call(&card).await;
    desk.wait_for_call().await;
    assert_eq!(asked(&desk).await, 2);
}
