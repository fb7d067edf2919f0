//! What the person's attention was spent on: questions, waits, quick answers, and what passed without a question.

use std::sync::Arc;

use agent::Host;
use protocol::query::{Answer, Query};
use protocol::rule::backtest::RecordedDecision;
use protocol::view::attention::{AttentionReport, QuestionCause};
use protocol::{CallState, Decision};
use runtime::clock::FrozenClock;
use serde_json::json;
use support::{
    Fixture, call_bash, call_read, call_tool, call_write, expect_variant, rule_text, say_text,
    script_provider,
};

async fn load_report(desk: &Fixture, since: Option<&str>) -> AttentionReport {
    let query = Query::Attention {
        since: since.map(str::to_owned),
    };
    *expect_variant!(desk.query(query).await, Answer::Attention(report) => report)
}

/// A desk that asked five times: it was answered at leisure, in a moment, and with a form; two calls passed.
async fn answered_desk(clock: &Arc<FrozenClock>) -> Fixture {
    let turns = [
        call_write("notes.md", "One.\n"),
        call_read("notes.md"),
        call_bash("git log -n 0"),
        call_bash("git log -n 1"),
        call_bash("git log -n 2"),
        call_write("src/a.txt", "A\n"),
        call_tool(
            "question",
            json!({ "questions": [{ "question": "Which?" }] }),
        ),
        say_text("Done."),
    ];
    let provider = Arc::new(script_provider(turns));
    let mut desk = Fixture::with_config(provider, Host::Person, |config| {
        config.clock = clock.clone();
    })
    .await;
    desk.write_rules(rule_text("fs.write", "src/**", "ask"));
    desk.start("Go.").await;
    for wait_ms in [30_000, 10, 4_000] {
        let view = desk.wait_for_call().await;
        clock.advance(wait_ms);
        desk.allow_call(&view).await;
    }
    desk.reject_next("").await;
    let view = desk.wait_for_call().await;
    clock.advance(60_000);
    desk.decide_call(&view, Decision::Skip).await.unwrap();
    desk.wait_until_ended().await;
    desk
}

#[tokio::test]
async fn a_report_tells_what_attention_was_spent_on() {
    let clock = Arc::new(FrozenClock::default());
    let desk = answered_desk(&clock).await;
    let report = load_report(&desk, None).await;
    let questions = &report.questions;
    assert_eq!((report.calls, report.hours), (7, 1));
    assert_eq!((questions.total, questions.answered), (5, 5));
    assert_eq!((questions.waiting, questions.unknown_waits), (0, 0));
    // The clock of the tests moves on by a millisecond whenever it is read.
    assert_eq!(questions.median_ms / 1_000, 4);
    assert_eq!(questions.longest_ms / 1_000, 60);
    assert_eq!(questions.waited_ms / 1_000, 94);

    let causes: Vec<_> = questions
        .by_cause
        .iter()
        .map(|group| (group.cause, group.questions))
        .collect();
    assert_eq!(
        causes,
        [
            (QuestionCause::Mode, 3),
            (QuestionCause::Rule, 1),
            (QuestionCause::Interaction, 1)
        ]
    );
    let tools: Vec<_> = questions
        .by_tool
        .iter()
        .map(|group| {
            (
                group.tool.as_deref(),
                group.program.as_deref(),
                group.questions,
            )
        })
        .collect();
    assert_eq!(
        tools,
        [
            (Some("bash"), Some("git"), 3),
            (Some("question"), None, 1),
            (Some("write"), None, 1)
        ]
    );

    let quick: Vec<_> = report
        .quick
        .latest
        .iter()
        .map(|answer| (answer.target.as_str(), answer.person))
        .collect();
    assert_eq!(report.quick.total, 2);
    assert_eq!(
        quick,
        [
            ("src/a.txt", Some(RecordedDecision::Rejected)),
            ("git log -n 1", Some(RecordedDecision::Allowed)),
        ]
    );
    let calls = desk.calls().await;
    assert_eq!(report.quick.latest[1].call, calls[3].call.id);
    assert_eq!(report.quick.latest[1].session, desk.session);

    let rule = report.rule.clone().unwrap();
    assert_eq!(rule.rule.pattern.as_deref(), Some("git log*"));
    assert_eq!((rule.allowed, rule.rejected), (3, 0));

    // Undone, the change is no longer among those that can be.
    assert_eq!((report.unasked.total, report.unasked.undoable), (2, 1));
    assert_eq!((report.unasked.not_needed, report.unasked.secured), (1, 1));
    assert_eq!(report.unasked.latest[0].shown, ["notes.md"]);
    desk.undo_call(&calls[0]).await;
    assert_eq!(desk.calls().await[0].state, CallState::Undone);
    let report = load_report(&desk, None).await;
    assert_eq!((report.unasked.total, report.unasked.undoable), (2, 0));
}

#[tokio::test]
async fn a_report_covers_only_its_time() {
    let clock = Arc::new(FrozenClock::default());
    let desk = answered_desk(&clock).await;
    assert_eq!(load_report(&desk, Some("1h")).await.questions.total, 5);
    clock.advance(2 * 3_600_000);
    let later = load_report(&desk, Some("1h")).await;
    assert_eq!((later.calls, later.questions.total), (0, 0));
    assert_eq!((later.rule.clone(), later.unasked.total), (None, 0));
    assert_eq!(later.until - later.since, 3_600_000);

    let query = Query::Attention {
        since: Some("yesterday".to_owned()),
    };
    let fault = desk.engine.query(query).await.unwrap_err();
    assert_eq!(fault.message, "`yesterday` is no point in time.");
}

#[tokio::test]
async fn a_value_that_runs_later_is_a_cause_of_its_own() {
    let package = r#"{"scripts": {"postinstall": "node setup.js"}}"#;
    let turns = [call_write("package.json", package), say_text("Done.")];
    let mut desk = Fixture::new(turns).await;
    desk.write_rules(rule_text("write", "**", "allow"));
    desk.start("Go.").await;
    desk.reject_next("").await;
    desk.wait_until_ended().await;
    let report = load_report(&desk, None).await;
    let causes = report.questions.by_cause.iter();
    let causes: Vec<QuestionCause> = causes.map(|group| group.cause).collect();
    assert_eq!(causes, [QuestionCause::RunsLater]);
}
