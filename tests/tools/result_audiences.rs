//! A tool's own word on its result: whether it worked, whether the run goes on, and the faces that each reader gets.

use std::sync::Arc;

use protocol::interface::EmptyResultPolicy;
use protocol::query::{Answer, Query};
use protocol::{CallState, Content, ToolOutput};
use serde_json::json;
use support::probe::{Probe, RecordingProvider, probe_calls};
use support::{Fixture, expect_variant, say_text};

async fn play(output: ToolOutput) -> (Fixture, Arc<RecordingProvider>) {
    let probe = Probe::new(move |_, _| {
        let output = output.clone();
        async move { Ok(output) }
    });
    let agent = RecordingProvider::new([probe_calls(&[json!({})]), say_text("I see.")]);
    let mut desk = Fixture::with_tools(agent.clone(), probe.into_tools()).await;
    desk.play().await;
    (desk, agent)
}

/// `S000-13`, `S000-40`, M04: a tool that says that it did not work ends the run, unless it asks for a follow-up: then the
/// model gets one more turn and sees the failure.
#[tokio::test]
async fn a_tools_own_failure_ends_the_run_unless_it_asks_for_more() {
    for (needs_followup, turns) in [(false, 1), (true, 2)] {
        let failed = ToolOutput {
            success: false,
            needs_followup,
            ..ToolOutput::new("Invalid date format", "Please retry.")
        };
        let (desk, agent) = play(failed).await;
        let outcome = desk.calls().await.remove(0).outcome.unwrap();
        assert_eq!(outcome.state, CallState::Failed);
        let result = outcome.to_result();
        assert_eq!(result.is_terminal(), !needs_followup);
        assert_eq!(agent.heard.lock().unwrap().len(), turns, "{needs_followup}");
        if needs_followup {
            let results = agent.tool_results();
            assert!(results[0].contains("Invalid date format"), "{results:?}");
        }
    }
}

/// `S003-45`: what the model is told of a result without text is as the tool's record says: a marker, or that a tool which
/// always gives something gave nothing.
#[tokio::test]
async fn nothing_is_told_by_the_policy_of_the_tool() {
    for (policy, words) in [
        (
            EmptyResultPolicy::Marker,
            "It worked and gave nothing back.",
        ),
        (
            EmptyResultPolicy::NeverEmpty,
            "It gave nothing back, although `probe` says that it always gives something. Do not take that for an answer.",
        ),
    ] {
        let probe = Probe::new(|_, _| async { Ok(ToolOutput::new("", "done")) })
            .with_interface(|tool| tool.empty_result_policy(policy));
        let agent = RecordingProvider::new([probe_calls(&[json!({})])]);
        let mut desk = Fixture::with_tools(agent.clone(), probe.into_tools()).await;
        desk.play().await;
        assert_eq!(agent.tool_results(), [words]);
    }
}

/// `S001-17`, `S003-68`, `S003-69`, `S003-70`: a result is a list of items; what a person reads, what is searched, what a listing
/// shows of it and what is kept of it are apart from what the model reads.
#[tokio::test]
async fn each_reader_has_a_face_of_its_own() {
    let whole = "word ".repeat(2_000);
    let mut output = ToolOutput::new(whole.clone(), "2,000 words");
    output.details = Some(json!({ "inner": "for nobody's eyes" }));
    output.content = vec![
        Content::Text {
            text: "one more item".into(),
        },
        Content::Image {
            mime: "image/png".into(),
            base64: "iVBORw0KGgo=".into(),
        },
    ];
    let (desk, agent) = play(output.clone()).await;
    let outcome = desk.calls().await.remove(0).outcome.unwrap();
    assert_eq!(outcome.content, output.content, "S001-17");
    let searched = outcome.search_text();
    assert!(searched.contains("2,000 words") && searched.contains("one more item"));
    assert!(
        !searched.contains("iVBOR") && !searched.contains("nobody"),
        "S003-69"
    );
    let heard = agent.tool_results();
    assert!(
        heard[0].contains("one more item") && !heard[0].contains("2,000 words"),
        "S003-69"
    );
    assert_eq!(outcome.ui_summary(), "2,000 words", "S003-68");
    assert!(heard[0].starts_with(&whole), "S003-68");
    let preview = outcome.preview();
    assert_eq!(preview.bytes, whole.len() as u64, "S003-70");
    assert!(
        preview.head.len() < 3_000 && whole.starts_with(&preview.head),
        "S003-70"
    );
    assert_eq!(outcome.text, whole, "the payload itself is whole");
    let query = Query::Search {
        text: "\"one more item\"".to_owned(),
        offset: 0,
        limit: 10,
    };
    let page = expect_variant!(desk.query(query).await, Answer::Search(page) => page);
    assert_eq!(page.total, 1, "a search finds what its face says");
}

/// `S000-16`: text that is for finding the fault is on record, told in the chat's words and left out of what the model reads;
/// the inspector shows it (`ui/src/features/inspector/inspector.test.ts`). `S001-19`: no session worked for the call.
#[tokio::test]
async fn an_error_is_for_the_log_and_the_person() {
    let output = ToolOutput {
        success: false,
        needs_followup: true,
        error: Some("E_DATE at line 7".to_owned()),
        ..ToolOutput::new("Invalid date format", "Please retry.")
    };
    let (desk, agent) = play(output).await;
    let desk = desk.restart().await;
    let view = desk.calls().await.remove(0);
    let outcome = view.outcome.unwrap();
    assert_eq!(outcome.error.as_deref(), Some("E_DATE at line 7"));
    assert_eq!(outcome.to_result().error, outcome.error);
    assert!(
        !agent.tool_results()[0].contains("E_DATE"),
        "{:?}",
        agent.tool_results()
    );
    let message = outcome.to_tool_message(&view.call.id, "probe");
    let told = serde_json::to_value(&message).unwrap();
    assert_eq!(told["child_loop_id"], json!(null), "S001-19");
}
