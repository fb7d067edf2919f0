//! M32: asks that a person skips for a while, where what a call does can be taken back.

use std::sync::Arc;

use agent::Host;
use protocol::event::SessionEvent;
use protocol::query::{Answer, Query};
use protocol::session::skipped_asks::{AsksResumption, SkippedAsk};
use protocol::settings::Posture;
use protocol::{CallState, Decision, EventBody, Op, SessionState};
use runtime::clock::FrozenClock;
use support::{Fixture, HEADLESS, expect_variant, rule_text};

use super::postures::open_in;

/// More files than a command may change without a question.
const MANY_FILES: &str = "for n in $(seq 201); do echo $n > n$n; done";

async fn skip_asks(desk: &Fixture, minutes: Option<u32>) {
    let session = Some(desk.session.clone());
    desk.submit(Op::SkipAsks { session, minutes }).await;
}

/// The calls that passed without a question.
async fn list_passed(desk: &Fixture) -> Vec<SkippedAsk> {
    let session = desk.session.clone();
    let answer = desk.query(Query::SkippedAsks { session }).await;
    expect_variant!(answer, Answer::SkippedAsks { calls, .. } => calls)
}

async fn list_resumptions(desk: &Fixture) -> Vec<AsksResumption> {
    let events = desk.events().await;
    let causes = events.into_iter().filter_map(|event| match event.body {
        EventBody::Session(SessionEvent::AsksResumed { cause }) => Some(cause),
        _ => None,
    });
    causes.collect()
}

/// A call that waits runs in a dry run first, passes by its effects, is listed, and can be undone.
#[tokio::test]
async fn a_waiting_command_goes_on_once_asks_are_skipped_and_is_listed() {
    let mut desk = open_in(Posture::AskFirst, MANY_FILES, Host::Person).await;
    desk.start("Go.").await;
    desk.wait_for_call().await;
    skip_asks(&desk, Some(15)).await;
    assert_eq!(desk.wait_until_ended().await, SessionState::Done);
    assert_eq!(desk.call_states().await, [CallState::Done]);
    assert_eq!(desk.read_file("n201").unwrap(), "201\n");
    let call = desk.only_call().await;
    let trail = call.trail.clone().unwrap();
    assert_eq!(trail.lead, "Allowed: you skip asks for a while.");
    let passed = list_passed(&desk).await;
    assert_eq!(passed.len(), 1, "{passed:?}");
    assert_eq!(passed[0].call, call.call.id);
    let view = desk.snapshot().await.sessions.remove(0);
    let skipped = view.skipped_asks.unwrap();
    assert!(skipped.until.is_some());

    desk.submit(Op::ResumeAsks {
        session: Some(desk.session.clone()),
    })
    .await;
    assert_eq!(list_resumptions(&desk).await, [AsksResumption::Person]);
    assert_eq!(desk.snapshot().await.sessions[0].skipped_asks, None);
    assert!(list_passed(&desk).await.is_empty());
    desk.undo_call(&call).await;
    assert_eq!(desk.read_file("n201"), None);
}

#[tokio::test]
async fn what_a_rule_asks_about_and_what_is_lost_still_ask() {
    let protected = "echo KEY=1 > .env";
    let loses = "rm a";
    for (rules, command) in [
        (rule_text("bash", "echo*", "ask"), "echo more >> a"),
        (String::new(), protected),
        (String::new(), loses),
    ] {
        let mut desk = open_in(Posture::AskFirst, command, Host::Person).await;
        desk.write_rules(&rules);
        desk.submit(Op::SkipAsks {
            session: None,
            minutes: Some(5),
        })
        .await;
        desk.start("Go.").await;
        let shown = desk.wait_for_call().await;
        assert_eq!(desk.read_file("a").unwrap(), "first\n", "{command}");
        let view = desk.snapshot().await.sessions.remove(0);
        assert!(view.skipped_asks.is_some(), "every session joins");
        desk.decide_call(&shown, Decision::reject("No."))
            .await
            .unwrap();
        assert_eq!(desk.wait_until_ended().await, SessionState::Done);
        assert!(list_passed(&desk).await.is_empty(), "{command}");
    }
}

#[tokio::test]
async fn a_skip_ends_when_its_time_is_up() {
    let clock = Arc::new(FrozenClock::default());
    let set = clock.clone();
    let provider = Arc::new(support::script_provider([support::say_text("Done.")]));
    let mut desk = Fixture::with_config(provider, Host::Person, |config| config.clock = set).await;
    desk.start("Go.").await;
    desk.wait_until_ended().await;
    skip_asks(&desk, Some(5)).await;
    clock.advance(5 * 60_000);
    let is_over =
        |body: &EventBody| matches!(body, EventBody::Session(SessionEvent::AsksResumed { .. }));
    desk.wait_for_event("the end of the skip", is_over).await;
    assert_eq!(list_resumptions(&desk).await, [AsksResumption::Time]);
}

#[tokio::test]
async fn a_restart_ends_a_skip_and_says_so() {
    let mut desk = open_in(Posture::AskFirst, MANY_FILES, Host::Person).await;
    desk.start("Go.").await;
    let shown = desk.wait_for_call().await;
    desk.decide_call(&shown, Decision::reject("No."))
        .await
        .unwrap();
    desk.wait_until_ended().await;
    skip_asks(&desk, None).await;
    let desk = desk.restart().await;
    assert_eq!(list_resumptions(&desk).await, [AsksResumption::Restart]);
    assert_eq!(desk.snapshot().await.sessions[0].skipped_asks, None);
}

#[tokio::test]
async fn nobody_skips_asks_where_nobody_is_asked_or_for_too_long() {
    let desk = open_in(Posture::AskFirst, "true", HEADLESS).await;
    let skip = |minutes| Op::SkipAsks {
        session: None,
        minutes,
    };
    let fault = desk.engine.submit(skip(Some(5))).await.unwrap_err();
    assert_eq!(
        fault.message,
        "Nobody is asked here, so there is nothing to skip."
    );
    let desk = open_in(Posture::AskFirst, "true", Host::Person).await;
    for minutes in [0, 481] {
        let fault = desk.engine.submit(skip(Some(minutes))).await.unwrap_err();
        assert_eq!(fault.hint, "Choose from 1 to 480 minutes.");
    }
}
