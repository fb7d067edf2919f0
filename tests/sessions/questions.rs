//! Questions and their answers.

use agent::Host;
use protocol::event::CallChange;
use protocol::{CallState, Decision, Event, EventBody, Preview};
use serde_json::{Value, json};
use support::scripted_agents::ScriptedAgents;
use support::test_site::{TestSite, page_response};
use support::{
    Fixture, HEADLESS, HEADLESS_APPROVED, call_tool, expect_variant, rule_text, say_text,
};
use tools::LOCKED_TOOL_IDS;

fn asked() -> [Value; 2] {
    let questions = json!({ "questions": [
        { "question": "Which?", "options": [{ "label": "this" }, { "label": "that", "description": "the other" }] },
        { "question": "What else?", "multi_select": true, "options": [{ "label": "a" }, { "label": "b" }] },
    ] });
    [call_tool("question", questions), say_text("Thank you.")]
}

/// `S002-34`, `S002-35`, `S002-36`: the run waits for the form; the answers come back in order.
#[tokio::test]
async fn answers_come_back_in_order() {
    let mut desk = Fixture::new(asked()).await;
    desk.start("Go.").await;
    let view = desk.wait_for_call().await;
    let questions = expect_variant!(&view.preview, Preview::Form { questions } => questions);
    assert_eq!(questions.len(), 2);
    let answers = vec![
        vec!["something of my own".to_owned()],
        vec!["a".into(), "b".into()],
    ];
    desk.decide_call(
        &view,
        Decision::Answer {
            answers: answers.clone(),
        },
    )
    .await
    .unwrap();
    desk.wait_until_ended().await;
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
    desk.decide_next(Decision::Skip).await;
    desk.wait_until_ended().await;
    let (state, text) = desk.call_outcomes().await.remove(0);
    assert_eq!(state, CallState::Done, "{text}");
    assert!(text.contains("chose not to answer"), "{text}");
}

/// An answer that does not fit this form is refused, and the card still waits.
#[tokio::test]
async fn an_incomplete_answer_is_refused() {
    let mut desk = Fixture::new(asked()).await;
    desk.start("Go.").await;
    let view = desk.wait_for_call().await;
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
        Decision::allow(),
    ] {
        assert!(
            desk.decide_call(&view, wrong.clone()).await.is_err(),
            "{wrong:?}"
        );
        assert_eq!(
            desk.find_call(view.call.id.as_str()).await.state,
            CallState::Waiting
        );
    }
    desk.decide_call(&view, Decision::Skip).await.unwrap();
    desk.wait_until_ended().await;
}

/// `S002-37`: headless, one fixed refusal; the run goes on. Nobody invents answers, not even where all is
/// approved.
#[tokio::test]
async fn headless_a_question_is_refused() {
    let mut told = Vec::new();
    for host in [HEADLESS, HEADLESS_APPROVED] {
        let mut desk = Fixture::with_host(asked(), host).await;
        desk.play().await;
        told.push(desk.call_outcomes().await.remove(0));
        assert_eq!(desk.transcript().await.len(), 4, "the agent went on");
    }
    assert_eq!(told[0].0, CallState::Denied);
    assert_eq!(told[0], told[1]);
}

/// `S002-38`: of the locked tools only the question stops the run for a person: with everything allowed all others come to
/// their end by themselves.
#[tokio::test]
async fn no_other_locked_tool_waits_for_a_person() {
    let skill = "---\nname: pdf\ndescription: Reads them.\n---\nUse the script.\n";
    let agent = "---\nname: reviewer\ndescription: Reads.\n---\nYou review.\n";
    let site = TestSite::start().await;
    site.add_response("/", page_response("text/plain", "A page."));
    let question = json!({ "questions": [{ "question": "Which?" }] });
    let calls = [
        ("read", json!({ "path": "a.txt" })),
        ("write", json!({ "path": "b.txt", "content": "b" })),
        (
            "edit",
            json!({ "path": "a.txt", "old_string": "alpha", "new_string": "beta" }),
        ),
        ("glob", json!({ "pattern": "*" })),
        ("grep", json!({ "pattern": "a" })),
        ("bash", json!({ "command": "echo ran" })),
        ("question", question),
        ("todo", json!({ "items": [] })),
        (
            "task",
            json!({ "subagent_type": "reviewer", "prompt": "Look." }),
        ),
        ("web_search", json!({ "query": "x" })),
        ("web_fetch", json!({ "url": site.url("/") })),
        ("skill", json!({ "name": "pdf" })),
        ("tool_search", json!({ "query": "issues" })),
    ];
    assert_eq!(calls.len(), LOCKED_TOOL_IDS.len());
    let turns: Vec<Value> = calls
        .iter()
        .map(|(name, arguments)| call_tool(name, arguments.clone()))
        .collect();
    let cast = ScriptedAgents::new(turns, [("You review.", json!([say_text("Good.")]))]);
    let mut desk = Fixture::with_provider(cast, Host::Person).await;
    desk.write_file("a.txt", "alpha\n")
        .write_file(".agents/skills/pdf/SKILL.md", skill)
        .write_file(".countersign/agents/reviewer.md", agent);
    let all = "[[rule]]\npermission = \"*\"\naction = \"allow\"\n";
    let host = rule_text("net.fetch", &site.host(), "allow");
    desk.write_rules(format!("{all}{host}"));
    desk.start("Go.").await;
    let view = desk.decide_next(Decision::Skip).await;
    assert_eq!(view.tool, "question");
    desk.wait_until_session_ended().await;
    let waited = |event: &Event| {
        matches!(
            event.body,
            EventBody::Call {
                change: CallChange::Waiting { .. },
                ..
            }
        )
    };
    let waits = desk
        .events()
        .await
        .iter()
        .filter(|event| waited(event))
        .count();
    assert_eq!(waits, 1, "the question alone");
    for view in desk.calls().await {
        // Nobody who searches the web is set up.
        let state = match view.tool.as_str() {
            "web_search" => CallState::Failed,
            _ => CallState::Done,
        };
        assert_eq!(view.state, state, "{}: {:?}", view.tool, view.outcome);
    }
}
