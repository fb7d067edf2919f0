//! Runs that must come to an output in a schema.

use agent::Host;
use protocol::event::{AnswerCheck, MessageChange, SessionEvent};
use protocol::{EventBody, Message, ModelChoice, Op, SessionState};
use serde_json::{Value, json};
use support::{Fixture, say_text};

use super::{SENTIMENT, answer_turn, scripted_agents};

fn summary_schema() -> Value {
    json!({ "type": "object", "properties": { "summary": { "type": "string" } }, "required": ["summary"] })
}

/// Opens a session that must come to a summary, and waits for its end.
async fn summarize(desk: &mut Fixture) -> SessionState {
    desk.start_session_with("Go.", Some(summary_schema())).await;
    desk.wait_until_ended().await
}

/// The check of each answer.
async fn checked(desk: &Fixture) -> Vec<AnswerCheck> {
    let events = desk.events().await;
    let checked = events.into_iter().filter_map(|event| match event.body {
        EventBody::Message {
            change: MessageChange::AnswerChecked { answer },
            ..
        } => Some(answer),
        _ => None,
    });
    checked.collect()
}

fn output(summary: &str) -> AnswerCheck {
    AnswerCheck {
        output: Some(json!({ "summary": summary })),
        problem: None,
    }
}

/// Calls only, then the output; the model is asked in the one composed schema, and gets results back as JSON (`S004-30`,
/// `S004-37`, `S004-38`, `S004-42`).
#[tokio::test]
async fn a_run_comes_to_an_output_in_its_schema() {
    let first = json!({ "calls": [
        { "_tool": "read", "path": "a.txt", "_reasoningForCall": "To know it." },
        { "_tool": "sentimentAnalysis", "text": "hello", "_output": { "sentiment": "neutral" } },
    ], "output": null });
    let last = json!({ "calls": [], "output": { "summary": "It says hello." } });
    let roles = scripted_agents([answer_turn(&first), answer_turn(&last)], json!([]));
    let mut desk = Fixture::with_provider(roles.clone(), Host::Person).await;
    desk.write_file("a.txt", "hello\n")
        .write_file(".countersign/tools/sentiment.json", SENTIMENT);
    assert_eq!(summarize(&mut desk).await, SessionState::Done);
    assert_eq!(
        checked(&desk).await,
        [AnswerCheck::default(), output("It says hello.")]
    );
    assert_eq!(
        desk.calls().await[0].reasoning.as_deref(),
        Some("To know it.")
    );
    let asked = roles.requests();
    let schema = asked[0].response_schema.as_ref().unwrap();
    assert!(asked[0].tools.is_empty() && asked[0].system.contains(&schema.to_string()));
    assert_eq!(schema["required"], json!(["calls", "output"]));
    let [
        Message::User { .. },
        Message::Assistant { text, calls, .. },
        Message::User { text: results, .. },
    ] = asked[1].messages.as_slice()
    else {
        panic!("{:#?}", asked[1].messages);
    };
    assert_eq!((text, calls.len()), (&first.to_string(), 0));
    let results: Value = serde_json::from_str(results).unwrap();
    assert_eq!(results["results"][0]["_tool"], "read");
    assert!(
        results["results"][0]["_output"]
            .as_str()
            .unwrap()
            .contains("hello")
    );
    assert_eq!(
        results["results"][1]["_output"],
        r#"{"sentiment":"neutral"}"#
    );
}

/// Calls beside an output are carried out, and then the run is over (`S004-39`).
#[tokio::test]
async fn an_output_with_calls_ends_the_run_after_them() {
    let both = json!({ "calls": [{ "_tool": "write", "path": "b.txt", "content": "made\n" }],
                       "output": { "summary": "Made." } });
    let mut desk = Fixture::new([answer_turn(&both), say_text("Never asked.")]).await;
    assert_eq!(summarize(&mut desk).await, SessionState::Done);
    assert_eq!(desk.read_file("b.txt").as_deref(), Some("made\n"));
    assert_eq!(checked(&desk).await, [output("Made.")]);
}

/// An answer that breaks the schema is reported, nothing of it is done, and the model may mend it (`S004-17`, `S004-18`,
/// `S004-41`).
#[tokio::test]
async fn a_broken_answer_is_reported_and_mended() {
    let unknown = json!({ "calls": [
        { "_tool": "write", "path": "b.txt", "content": "made" }, { "_tool": "reed", "path": "a" },
    ], "output": null });
    let missing = json!({ "calls": [{ "_tool": "write", "path": "b.txt" }], "output": null });
    let good = json!({ "calls": [], "output": { "summary": "Mended." } });
    let roles = scripted_agents([&unknown, &missing, &good].map(answer_turn), json!([]));
    let mut desk = Fixture::with_provider(roles.clone(), Host::Person).await;
    assert_eq!(summarize(&mut desk).await, SessionState::Done);
    let problems: Vec<String> = checked(&desk)
        .await
        .into_iter()
        .filter_map(|answer| answer.problem)
        .collect();
    assert!(
        problems[0].contains("there is no tool `reed`. Did you mean `read`?"),
        "{problems:?}"
    );
    assert!(problems[1].contains("`content` is missing"), "{problems:?}");
    assert_eq!(
        (desk.read_file("b.txt"), desk.calls().await.len()),
        (None, 0)
    );
    let heard = roles.requests()[1].messages.last().cloned().unwrap();
    assert!(matches!(heard, Message::User { text, .. } if text.contains("reed")));
}

/// Neither calls nor output: one repair turn, then an error (`S004-40`, M18). A model that never answers in the schema
/// ends the run as well.
#[tokio::test]
async fn a_model_that_does_not_come_to_anything_ends_the_run() {
    let nothing = answer_turn(&json!({ "calls": [], "output": null }));
    let words = say_text("I would rather talk.");
    for (turn, asked, told) in [
        (nothing, 2, "neither calls nor an output"),
        (words, 3, "it is not JSON"),
    ] {
        let roles = scripted_agents(vec![turn; 8], json!([]));
        let mut desk = Fixture::with_provider(roles.clone(), Host::Person).await;
        assert_eq!(summarize(&mut desk).await, SessionState::Failed);
        assert_eq!(roles.requests().len(), asked, "{told}");
        let events = desk.events().await;
        let notice = events.iter().find_map(|event| match &event.body {
            EventBody::Session(SessionEvent::NoticeAdded { notice }) => {
                Some(notice.fault.message.clone())
            }
            _ => None,
        });
        assert!(notice.unwrap().contains(told), "{told}");
    }
}

/// The schema is on record: a run that waited when the app ended goes on to its output after a restart.
#[tokio::test]
async fn a_restart_goes_on_to_the_output() {
    let first = json!({ "calls": [{ "_tool": "bash", "command": "true" }], "output": null });
    let last = json!({ "calls": [], "output": { "summary": "After all." } });
    let roles = scripted_agents([answer_turn(&first), answer_turn(&last)], json!([]));
    let mut desk = Fixture::with_provider(roles.clone(), Host::Person).await;
    desk.start_session_with("Go.", Some(summary_schema())).await;
    desk.wait_for_call().await;
    let mut desk = desk.restart().await;
    desk.allow_next().await;
    assert_eq!(desk.wait_until_ended().await, SessionState::Done);
    assert_eq!(checked(&desk).await.last(), Some(&output("After all.")));
    assert!(roles.requests().last().unwrap().response_schema.is_some());
}

/// An output schema that is none is refused before anything begins.
#[tokio::test]
async fn an_output_schema_that_is_none_is_refused() {
    let desk = Fixture::new(json!([])).await;
    for schema in [
        json!({ "type": "array" }),
        json!(7),
        json!({ "type": "object", "properties": { "a": { "type": "x" } } }),
        json!({ "type": "object", "default": (0..100).fold(json!(1), |inner, _| json!([inner])) }),
    ] {
        let opened = desk
            .engine
            .submit(Op::OpenSession {
                workspace: desk.workspace_root().display().to_string(),
                model: ModelChoice {
                    provider: "script".into(),
                    model: String::new(),
                },
                prompt: Some("Go.".into()),
                output_schema: Some(schema.clone()),
                temperature: None,
                agent: None,
                planning: false,
                enclosure: None,
                servers: None,
                former: None,
            })
            .await;
        assert!(
            opened.unwrap_err().message.contains("output schema"),
            "{schema}"
        );
    }
    assert_eq!(desk.snapshot().await.sessions, []);
}
