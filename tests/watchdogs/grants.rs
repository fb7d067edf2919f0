//! Grants that answer a watchdog: for exactly the call that was shown and what the watchdog said of it.

use std::fs;

use agent::Host;
use protocol::event::CallChange;
use protocol::query::{Answer, Query};
use protocol::rule::grants::{GrantOffer, GrantRequest, GrantScope, GrantView};
use protocol::{CallState, CallView, Decision, EventBody, Op, RuleAction, Verdict};
use serde_json::json;
use support::{Fixture, call_read, expect_variant, say_text};

use crate::watchdogs::checks::desk_with_watchdog;

/// The watchdog answers what stands in the file that the desk was made with.
const SCRIPT: &str = "cat HEARD";
const ASK: &str = "{\"verdict\":\"ask\",\"reason\":\"Look closely.\"}";
const WORDS: &str = "exactly this call, although: The watchdog `sundays` says: Look closely.";

fn exactly() -> GrantRequest {
    GrantRequest {
        lasts: GrantScope::Session,
        permission: "read".to_owned(),
        pattern: None,
        exactly: true,
        until_ms: None,
        max_uses: None,
    }
}

async fn allowable(desk: &Fixture, card: &CallView) -> (Vec<GrantOffer>, Option<String>) {
    let query = Query::Offers {
        session: desk.session.clone(),
        call: card.call.id.clone(),
    };
    let mut told = expect_variant!(desk.query(query).await, Answer::Offers(told) => told);
    told.offers
        .retain(|offer| offer.action == RuleAction::Allow);
    (told.offers, told.refused)
}

async fn grant(desk: &Fixture) -> GrantView {
    let query = Query::Rules {
        workspace: None,
        session: None,
    };
    let mut view = expect_variant!(desk.query(query).await, Answer::Rules(view) => view);
    assert_eq!(view.grants.len(), 1);
    view.grants.remove(0)
}

/// The verdicts on the session's calls, each as it came.
async fn verdicts(desk: &Fixture) -> Vec<Verdict> {
    let events = desk.events().await;
    let verdicts = events.iter().filter_map(|event| match &event.body {
        EventBody::Call {
            change: CallChange::Judged { trail, .. },
            ..
        } => Some(trail.verdict),
        _ => None,
    });
    verdicts.collect()
}

/// `S002-90`: *always* answers for exactly this call and what the watchdog says of it, in this session, until it is taken
/// back. Another call, another reason and a deny are not what was answered.
#[tokio::test]
async fn always_answers_for_exactly_this_call() {
    let [a, b, end] = [call_read("a"), call_read("b"), say_text("")];
    let turns = json!([a, a, b, end, a, end, a, end, a]);
    let (mut desk, said) = desk_with_watchdog(SCRIPT, turns, Host::Person).await;
    desk.write_file("b", "text\n");
    fs::write(&said, ASK).unwrap();
    desk.start("go").await;
    let card = desk.wait_for_call().await;
    let (offers, refused) = allowable(&desk, &card).await;
    assert_eq!(
        (offers, refused),
        (
            vec![GrantOffer {
                permission: "read".to_owned(),
                pattern: None,
                exactly: true,
                action: RuleAction::Allow,
                words: WORDS.to_owned(),
                lasts: vec![GrantScope::Session],
                overrides: None,
            }],
            None
        )
    );
    desk.decide_call(&card, Decision::allow_always(exactly()))
        .await
        .unwrap();
    // The same call passes, another one does not.
    let card = desk.wait_for_call().await;
    assert_eq!(
        card.call.arguments,
        json!({ "path": "b" }).as_object().unwrap().clone()
    );
    let told = [Verdict::Ask, Verdict::Allow, Verdict::Ask];
    assert_eq!(verdicts(&desk).await, told);
    let made = grant(&desk).await;
    assert_eq!(made.words, format!("read a ({WORDS})"));
    assert_eq!(
        (made.lasts, made.hits, made.in_force),
        (GrantScope::Session, 1, true)
    );
    desk.allow_call(&card).await;
    desk.wait_until_ended().await;
    // Another reason is another question.
    fs::write(&said, ASK.replace("closely", "twice")).unwrap();
    desk.send_message("go on").await;
    desk.allow_next().await;
    desk.wait_until_ended().await;
    // A deny is final.
    fs::write(&said, ASK.replace("ask", "deny")).unwrap();
    desk.send_message("go on").await;
    desk.wait_until_ended().await;
    assert_eq!(desk.calls().await[4].state, CallState::Denied);
    // Taken back, it asks again.
    fs::write(&said, ASK).unwrap();
    desk.submit(Op::RevokeGrant { grant: made.id }).await;
    desk.send_message("go on").await;
    desk.wait_for_call().await;
    assert_eq!(grant(&desk).await.hits, 1);
}

/// A grant that is more than that is refused: no rule for the tool, no longer, no deny in the guise of one, nothing for a
/// watchdog that gave no answer.
#[tokio::test]
async fn nothing_more_is_granted_where_a_watchdog_asks() {
    let (mut desk, said) = desk_with_watchdog(SCRIPT, [call_read("a")], Host::Person).await;
    fs::write(&said, ASK).unwrap();
    desk.start("go").await;
    let card = desk.wait_for_call().await;
    let wider = [
        GrantRequest {
            exactly: false,
            ..exactly()
        },
        GrantRequest {
            pattern: Some("a".to_owned()),
            ..exactly()
        },
        GrantRequest {
            lasts: GrantScope::Project,
            ..exactly()
        },
        GrantRequest {
            permission: "*".to_owned(),
            ..exactly()
        },
    ];
    for always in wider {
        let fault = desk
            .decide_call(&card, Decision::allow_always(always))
            .await
            .unwrap_err();
        assert!(!fault.hint.is_empty(), "{fault}");
    }
    let never = Decision::Reject {
        note: String::new(),
        stop: false,
        always: Some(exactly()),
    };
    desk.decide_call(&card, never).await.unwrap_err();
    desk.allow_call(&card).await;
    desk.wait_until_ended().await;

    let (mut desk, said) = desk_with_watchdog(SCRIPT, [call_read("a")], Host::Person).await;
    fs::write(&said, "no answer").unwrap();
    desk.start("go").await;
    let card = desk.wait_for_call().await;
    let (offers, refused) = allowable(&desk, &card).await;
    assert_eq!(offers, []);
    assert!(
        refused
            .unwrap()
            .starts_with("No rule lifts what a watchdog asks")
    );
    desk.decide_call(&card, Decision::allow_always(exactly()))
        .await
        .unwrap_err();
}
