//! Results as they are kept and told: empty outputs, secrets, notes, replay.

use std::sync::Arc;

use async_trait::async_trait;
use protocol::event::CallChange;
use protocol::mappers::{SessionMapper, Vocabulary};
use protocol::query::Answer;
use protocol::{
    CallState, Content, Decision, EventBody, Message, RequirementSet, ToolKind, ToolMode,
    ToolOutput,
};
use provider::{ChunkStream, ModelRequest, Provider, ProviderError, ScriptedProvider};
use serde_json::{Value, json};
use support::probe::{Probe, RecordingProvider, probe_calls};
use support::{
    Fixture, HEADLESS_APPROVED, call_bash, call_read, call_tool, say_text, script_provider,
};
use tokio_util::sync::CancellationToken;

/// Written in two halves, so that no scanner of repositories takes this file for a leak.
const SECRET: &str = concat!("AKIA", "IOSFODNN7EXAMPLE");

/// Nothing that a command printed of a secret is kept or shown: not in the result, not in live output, not in the data
/// folder. It is counted and said (B.000; `S003-46`).
#[tokio::test]
async fn secrets_are_masked_before_anything_is_kept() {
    let print = "head -c 5 notes.txt; sleep 0.2; tail -c +6 notes.txt; seq 1 60000";
    let turns = [
        call_bash(print),
        call_read("notes.txt"),
        call_tool("grep", json!({ "pattern": "id" })),
    ];
    let mut desk = Fixture::with_host(turns, HEADLESS_APPROVED).await;
    desk.write_file("notes.txt", format!("id {SECRET}\n"))
        .play()
        .await;
    let calls = desk.calls().await;
    for view in &calls {
        let outcome = view.outcome.clone().unwrap();
        assert_eq!(outcome.state, CallState::Done);
        assert_eq!(outcome.secrets_masked, 1, "{}: {}", view.tool, outcome.text);
        assert!(outcome.text.contains("id ***"), "{}", outcome.text);
        assert!(outcome.model_text().contains("1 secret was masked"));
        assert!(outcome.ui_summary().ends_with("1 secret masked"));
    }
    let live: String = desk
        .events()
        .await
        .into_iter()
        .filter_map(|event| match event.body {
            EventBody::Call {
                change: CallChange::Output { text },
                ..
            } => Some(text),
            _ => None,
        })
        .collect();
    assert!(live.starts_with("id ***\n1\n2\n"), "split over two pieces");
    let sidecar = calls[0]
        .outcome
        .as_ref()
        .unwrap()
        .truncated
        .clone()
        .unwrap();
    let whole = std::fs::read_to_string(sidecar.output_path.unwrap()).unwrap();
    assert!(whole.starts_with("id ***\n1\n") && whole.ends_with("\n60000\n"));
    for event in desk.events().await {
        let text = serde_json::to_string(&event).unwrap();
        assert!(!text.contains(SECRET), "{text}");
    }
    assert_eq!(
        desk.read_file("notes.txt").unwrap(),
        format!("id {SECRET}\n"),
        "the file is the person's and stays as it is"
    );
}

/// An output that is empty is told in words and kept as empty (B.003: empty is not missing).
#[tokio::test]
async fn nothing_is_told_and_kept_as_nothing() {
    let turns = [
        call_bash("true"),
        call_tool("grep", json!({ "pattern": "nowhere" })),
        call_read("empty.txt"),
    ];
    let mut desk = Fixture::with_host(turns, HEADLESS_APPROVED).await;
    desk.write_file("empty.txt", "").play().await;
    let told: Vec<(String, String)> = desk
        .calls()
        .await
        .into_iter()
        .map(|view| view.outcome.unwrap())
        .map(|outcome| (outcome.text.clone(), outcome.model_text()))
        .collect();
    let nothing = |words: &str| (String::new(), words.to_owned());
    assert_eq!(
        told,
        [
            nothing("Exit code 0. The command printed nothing."),
            nothing("No line matches `nowhere`. Case matters unless case_insensitive is set."),
            nothing("`empty.txt` is empty: it stands there with 0 bytes."),
        ]
    );
}

/// Keeps what a scripted agent was told.
struct ConversationRecorder {
    inner: ScriptedProvider,
    heard: std::sync::Mutex<Vec<Vec<Message>>>,
}

#[async_trait]
impl Provider for ConversationRecorder {
    fn id(&self) -> &str {
        "script"
    }

    async fn stream(
        &self,
        request: ModelRequest,
        stop: CancellationToken,
    ) -> Result<ChunkStream, ProviderError> {
        self.heard.lock().unwrap().push(request.messages.to_vec());
        self.inner.stream(request, stop).await
    }

    async fn models(&self) -> Result<Vec<String>, ProviderError> {
        self.inner.models().await
    }
}

/// A result is told to the model in the same way in the run and rebuilt from the record, and carries its call, its
/// tool, whether it failed and when it ended (`S001-20`, `S002-66`, `S002-67`).
#[tokio::test]
async fn a_recorded_result_is_told_again_as_it_was() {
    let turns = [
        call_read("a.txt"),
        call_read("missing.txt"),
        call_bash("true"),
        say_text("Done."),
        say_text("Again."),
    ];
    let agent = Arc::new(ConversationRecorder {
        inner: script_provider(turns),
        heard: std::sync::Mutex::default(),
    });
    let mut desk = Fixture::with_provider(agent.clone(), HEADLESS_APPROVED).await;
    desk.write_file("a.txt", "one\n").play().await;
    let before = desk.calls().await;
    let mut desk = desk.restart().await;
    desk.send_message("And?").await;
    desk.wait_until_ended().await;
    assert_eq!(
        desk.calls().await,
        before,
        "S002-67: the record reads the same"
    );

    let heard = agent.heard.lock().unwrap();
    let (live, again) = (&heard[3], &heard[4]);
    assert_eq!(again[..live.len()], live[..], "S002-67: so does the model");
    let results: Vec<&Message> = live
        .iter()
        .filter(|message| matches!(message, Message::Tool { .. }))
        .collect();
    assert_eq!(results.len(), 3);
    for (message, view) in results.iter().zip(&before) {
        let Message::Tool {
            call,
            name,
            is_error,
            at,
            ..
        } = message
        else {
            unreachable!()
        };
        assert_eq!((call, name), (&view.call.id, &view.call.name), "S001-20");
        assert_eq!(
            *is_error,
            view.state == CallState::Failed,
            "S001-20, S000-11"
        );
        assert!(*at > 0 && *at <= view.ended_at.unwrap(), "S001-20");
        let outcome = view.outcome.as_ref().unwrap();
        let envelope = serde_json::to_value(outcome.to_envelope()).unwrap();
        assert!(envelope["metadata"]["duration_ms"].is_u64(), "S002-64");
    }
}

/// `S002-61`, `S002-62`, `S002-63`, `S002-64`: however a call ends, whoever reads the chunks is given the uniform envelope.
#[tokio::test]
async fn every_end_is_told_in_the_uniform_envelope() {
    let turns = [
        call_bash("echo ran"),
        call_read("missing"),
        call_read("../outside"),
        call_tool("reed", json!({})),
    ];
    let mut desk = Fixture::with_host(turns, HEADLESS_APPROVED).await;
    desk.play().await;
    let mut teller = SessionMapper::new(Vocabulary::Chunks, desk.session.clone());
    let events = desk.events().await;
    let words: Vec<Value> = events.iter().flat_map(|event| teller.map(event)).collect();
    for view in desk.calls().await {
        let outcome = view.outcome.unwrap();
        let of_call = |word: &&Value| {
            let id = word.get("toolCallId").or(word["data"].get("toolCallId"));
            id.is_some_and(|id| *id == view.call.id.as_str())
        };
        let told: Vec<&Value> = words.iter().filter(of_call).collect();
        let metadata = json!({ "duration_ms": outcome.duration_ms });
        let last = told.len() - 1;
        match view.state {
            CallState::Done => {
                let data = outcome.data.unwrap();
                let output = json!({ "type": "output", "data": data, "metadata": metadata });
                assert_eq!(told[last]["type"], "tool-output-available");
                assert_eq!(told[last]["output"], output);
            }
            _ => {
                let text = outcome.text;
                let output = json!({ "type": "error", "error_text": text, "metadata": metadata });
                assert_eq!(told[last - 1]["type"], "data-envelope");
                assert_eq!(told[last - 1]["data"]["output"], output);
                assert_eq!(told[last]["type"], "tool-output-error");
                assert_eq!(told[last]["errorText"], text);
            }
        }
    }
    let states = [
        CallState::Done,
        CallState::Failed,
        CallState::Denied,
        CallState::Failed,
    ];
    assert_eq!(desk.call_states().await, states);
}

/// `S003-71`, `S003-72`: what is on record as the output is what the tool gave, to the byte: no title, line for the person,
/// note or address of ours stands in it, and what it points to is a pointer beside it, with nothing of what stands there.
#[tokio::test]
async fn what_is_stored_is_what_the_tool_gave() {
    let beside = vec![
        Content::text("some more"),
        Content::Resource {
            uri: "file:///srv/report.pdf".to_owned(),
            title: "The report".to_owned(),
            mime: Some("application/pdf".to_owned()),
        },
    ];
    let given = beside.clone();
    let probe = Probe::new(move |_, _| {
        let content = given.clone();
        let details = Some(json!({ "note": "for the log" }));
        let line = "A line for the person";
        async move {
            Ok(ToolOutput {
                content,
                details,
                ..ToolOutput::new("x".repeat(5_000), line)
            })
        }
    });
    let probe = probe.with_interface(|it| {
        let it = it.max_inline_chars(1_000_u64).kind(ToolKind::Execute);
        let it = it
            .requires(RequirementSet::empty().with_command("ls"))
            .classifier_input("x");
        it.user_facing_name("A title")
            .ui_summary("A view")
            .mode(ToolMode::Local)
    });
    let agent = RecordingProvider::new([probe_calls(&[json!({})])]);
    let mut desk = Fixture::with_tools(agent.clone(), probe.into_tools()).await;
    desk.start("Go.").await;
    let note = "A word of the person".to_owned();
    desk.decide_next(Decision::Allow {
        hunks: None,
        note: note.clone(),
        always: None,
    })
    .await;
    desk.wait_until_ended().await;
    let desk = desk.restart().await;
    let events = desk.events().await;
    let stored = events.iter().find_map(|event| match &event.body {
        EventBody::Call {
            change: CallChange::Ended { outcome, .. },
            ..
        } => Some(json!(outcome)),
        _ => None,
    });
    let stored = stored.unwrap();
    let head = stored["text"].as_str().unwrap();
    assert!(
        head.len() > 500 && head.bytes().all(|byte| byte == b'x'),
        "{head}"
    );
    assert_eq!(stored["content"], json!(beside));
    let path = stored["truncated"]["output_path"].as_str().unwrap();
    assert_eq!(std::fs::read_to_string(path).unwrap(), "x".repeat(5_000));
    assert_eq!(stored["message"], "A line for the person");
    // The model is told all of it in one text, which is made for it and stored nowhere.
    let told = agent.tool_results().remove(0);
    for part in [
        "some more",
        "[See The report: file:///srv/report.pdf]",
        path,
        &note,
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
    assert!(!told.contains("A line for the person") && !told.contains("for the log"));
}

/// `S002-65`: a head is said to be one also where no file holds the rest, because its tool gives it when it is asked again.
#[tokio::test]
async fn what_is_cut_says_so_without_a_file_too() {
    let probe = Probe::new(|_, _| async { Ok(ToolOutput::new("x".repeat(5_000), "done")) });
    let probe = probe.with_interface(|it| {
        it.max_inline_chars(1_000_u64)
            .persistence_policy_ref("never")
    });
    let agent = RecordingProvider::new([probe_calls(&[json!({})])]);
    let mut desk = Fixture::with_tools(agent.clone(), probe.into_tools()).await;
    desk.play().await;
    let view = desk.only_call().await;
    let outcome = view.outcome.unwrap();
    let head = outcome.text.clone();
    assert!(head.len() < 5_000, "{head}");
    let envelope = serde_json::to_value(outcome.to_envelope()).unwrap();
    let metadata = json!({ "duration_ms": outcome.duration_ms, "truncated": true });
    let expected = json!({ "type": "output", "data": { "head": head }, "metadata": metadata });
    assert_eq!(envelope, expected);
    let note = format!(
        "[Cut after {} of 5000 bytes. Ask for the rest in ranges.]",
        head.len()
    );
    assert_eq!(agent.tool_results(), [format!("{head}\n\n{note}")]);
    // A query for the whole is answered with what there is.
    let query = protocol::query::Query::Output {
        session: desk.session.clone(),
        call: view.call.id,
        offset: 0,
    };
    let whole = desk.query(query).await;
    assert!(matches!(whole, Answer::Output { text, next: None, .. } if text == head));
}

/// Closing a session removes its long outputs and keeps its record (`S002-71`); saying something opens it again.
#[tokio::test]
async fn long_outputs_go_when_the_session_closes() {
    let turns = [
        call_bash("seq 1 100000"),
        say_text(""),
        call_bash("seq 1 100001"),
    ];
    let mut desk = Fixture::with_host(turns, HEADLESS_APPROVED).await;
    desk.play().await;
    let before = desk.calls().await;
    let sidecar = |view: &protocol::CallView| {
        let truncated = view.outcome.clone().unwrap().truncated.unwrap();
        std::path::PathBuf::from(truncated.output_path.unwrap())
    };
    assert!(sidecar(&before[0]).exists());
    let close = protocol::Op::CloseSession {
        session: desk.session.clone(),
    };
    desk.submit(close).await;
    assert!(!sidecar(&before[0]).exists(), "S002-71");
    assert_eq!(desk.calls().await, before, "the record stays");
    let output = protocol::query::Query::Output {
        session: desk.session.clone(),
        call: before[0].call.id.clone(),
        offset: 0,
    };
    let fault = desk.engine.query(output).await.unwrap_err();
    assert!(fault.message.contains("the session was closed"), "{fault}");

    desk.send_message("Again.").await;
    desk.wait_until_ended().await;
    assert!(sidecar(&desk.calls().await[1]).exists());
}
