//! Questions and their answers.

use agent::Host;
use protocol::{CallState, Decision, Preview};
use serde_json::{Value, json};
use support::{Fixture, call};

fn asked() -> Value {
    json!([
        call("question", json!({ "questions": [
            { "question": "Which?", "options": [{ "label": "this" }, { "label": "that", "description": "the other" }] },
            { "question": "What else?", "multi_select": true, "options": [{ "label": "a" }, { "label": "b" }] },
        ] })),
        { "text": "Thank you." }
    ])
}

/// `S002-34`, `S002-35`, `S002-36`: the run waits for the form; the answers come back in order.
#[tokio::test]
async fn answers_come_back_in_order() {
    let mut desk = Fixture::new(asked()).await;
    desk.start("Go.").await;
    let view = desk.until_waiting().await;
    let Preview::Form { questions } = &view.preview else {
        panic!("{:?}", view.preview)
    };
    assert_eq!(questions.len(), 2);
    let answers = vec![
        vec!["something of my own".to_owned()],
        vec!["a".into(), "b".into()],
    ];
    desk.decide(
        &view,
        Decision::Answer {
            answers: answers.clone(),
        },
    )
    .await
    .unwrap();
    desk.until_ended().await;
    let outcome = desk.calls().await.remove(0).outcome.unwrap();
    assert_eq!(outcome.state, CallState::Done);
    assert_eq!(outcome.data.unwrap(), json!({ "answers": answers }));
    assert!(
        outcome.text.contains("something of my own"),
        "{}",
        outcome.text
    );
}

/// Skipping is an answer of its own, and not a rejection.
#[tokio::test]
async fn skipping_is_told_as_skipping() {
    let mut desk = Fixture::new(asked()).await;
    desk.start("Go.").await;
    let view = desk.until_waiting().await;
    desk.decide(&view, Decision::Skip).await.unwrap();
    desk.until_ended().await;
    let (state, text) = desk.outcomes().await.remove(0);
    assert_eq!(state, CallState::Done, "{text}");
    assert!(text.contains("chose not to answer"), "{text}");
}

/// What is no answer to this form is refused, and the card still waits.
#[tokio::test]
async fn an_incomplete_answer_is_refused() {
    let mut desk = Fixture::new(asked()).await;
    desk.start("Go.").await;
    let view = desk.until_waiting().await;
    for wrong in [
        Decision::Answer {
            answers: vec![vec!["this".into()]],
        },
        Decision::Answer {
            answers: vec![vec!["this".into(), "that".into()], vec!["a".into()]],
        },
        Decision::Answer {
            answers: vec![vec![], vec!["a".into()]],
        },
        Decision::Allow {
            hunks: None,
            note: String::new(),
            always: None,
        },
    ] {
        assert!(
            desk.decide(&view, wrong.clone()).await.is_err(),
            "{wrong:?}"
        );
        assert_eq!(
            desk.call(view.call.id.as_str()).await.state,
            CallState::Waiting
        );
    }
    desk.decide(&view, Decision::Skip).await.unwrap();
    desk.until_ended().await;
}

/// `S002-37`: headless, one fixed refusal; the run goes on. Nobody invents answers, not even where all is
/// approved.
#[tokio::test]
async fn headless_a_question_is_refused() {
    let mut told = Vec::new();
    for approve_all in [false, true] {
        let mut desk = Fixture::with_host(asked(), Host::Headless { approve_all }).await;
        desk.play().await;
        told.push(desk.outcomes().await.remove(0));
        assert_eq!(desk.transcript().await.len(), 4, "the agent went on");
    }
    assert_eq!(told[0].0, CallState::Denied);
    assert_eq!(told[0], told[1]);
}
