//! A running call: what it says while it runs, what ends it, and what the model hears of that.

use std::sync::Arc;
use std::time::Duration;

use protocol::event::CallChange;
use protocol::interface::InterruptBehavior;
use protocol::mappers::{SessionMapper, Vocabulary};
use protocol::{
    CallId, CallState, Content, Decision, EventBody, Message, PartialResult, SessionState,
    ToolError, ToolOutput,
};
use serde::Serialize;
use serde_json::{Value, json};
use support::probe::{Probe, RecordingProvider, lifecycle_events, name, probe_calls, probe_turn};
use support::{Fixture, call_bash, say_text};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tools::ExecutionContext;

async fn open_desk(turns: impl Serialize, probe: Probe) -> Fixture {
    Fixture::with_tools(RecordingProvider::new(turns), probe.into_tools()).await
}

/// `S003-40`: progress that the tool's own schema does not know is not told; a schema of an object takes JSON.
#[tokio::test]
async fn progress_is_what_the_tool_publishes() {
    let steps = json!({ "type": "string", "pattern": "^[0-9]+ of [0-9]+$" });
    let object = json!({ "type": "object", "properties": { "at": { "type": "integer" } }, "required": ["at"] });
    for (schema, told) in [
        (Some(steps), vec!["1 of 2"]),
        (Some(object), vec![r#"{"at":1}"#]),
        (None, vec!["1 of 2", "soon", r#"{"at":1}"#]),
    ] {
        let probe = Probe::new(|arguments, cx| async move {
            cx.on_progress.unwrap()(&name(&arguments));
            Ok(ToolOutput::new("ok", "ok"))
        })
        .with_interface(|tool| tool.progress_schema(schema));
        let says = ["1 of 2", "soon", r#"{"at":1}"#].map(|words| json!({ "name": words }));
        let mut desk = open_desk([probe_calls(&says), say_text("On.")], probe).await;
        desk.play().await;
        let events = desk.events().await;
        let mut words: Vec<String> = events
            .into_iter()
            .filter_map(|event| match event.body {
                EventBody::Call {
                    change: CallChange::Progress { text, .. },
                    ..
                } => Some(text),
                _ => None,
            })
            .collect();
        words.sort_by_key(|word| says.iter().position(|said| said["name"] == *word.as_str()));
        assert_eq!(words, told);
    }
}

/// `S001-09`, `S001-10`, `S001-12`, `S001-13`, `S001-15`: updates and progress are events of the call between its start and its
/// end, progress with the tool's name; the model reads neither.
#[tokio::test]
async fn updates_and_progress_are_events_of_the_call() {
    let agent = RecordingProvider::new([probe_turn(json!({})), say_text("On.")]);
    let probe = Probe::new(|_, cx| async move {
        assert_eq!(
            (cx.tool_call_id.as_str(), cx.tool_name.as_str()),
            ("call_4", "probe")
        );
        cx.on_output.unwrap()("half of it");
        cx.on_progress.unwrap()("50 %");
        Ok(ToolOutput::new("the result", "ok"))
    });
    let mut desk = Fixture::with_tools(agent.clone(), probe.into_tools()).await;
    desk.play().await;
    assert_eq!(
        lifecycle_events(&desk.events().await),
        [
            "start call_4",
            "output call_4 half of it",
            "progress call_4 probe 50 %",
            "end call_4"
        ]
    );
    assert_eq!(agent.tool_results(), ["the result"]);
    assert_eq!(
        desk.calls().await[0].progress,
        None,
        "what is over has no progress"
    );
}

/// `S001-12`, `S001-15`: pieces of a result with items and details are events of the call, in the order in which they were
/// said, with their secrets masked; a person reads their items in words, and the model reads nothing of them.
#[tokio::test]
async fn pieces_of_a_result_are_for_people_and_the_log() {
    let agent = RecordingProvider::new([probe_turn(json!({})), say_text("On.")]);
    let image = Content::Image {
        mime: "image/png".to_owned(),
        base64: "aGFsZg==".to_owned(),
    };
    let piece = PartialResult {
        content: vec![
            Content::text("aws_secret_access_key=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
            image.clone(),
        ],
        details: Some(json!({ "step": 1, "token": "hunter22" })),
    };
    let said = piece.clone();
    let probe = Probe::new(move |_, cx| {
        let said = said.clone();
        async move {
            let (output, update) = (cx.on_output.unwrap(), cx.on_update.unwrap());
            output("before");
            update(said);
            output("after");
            // There is no room for this.
            update(PartialResult {
                content: vec![Content::text("x".repeat(1_000_000))],
                details: None,
            });
            Ok(ToolOutput::new("the result", "ok"))
        }
    });
    let mut desk = Fixture::with_tools(agent.clone(), probe.into_tools()).await;
    desk.play().await;
    let events = desk.events().await;
    let told: Vec<EventBody> = events
        .iter()
        .map(|event| event.body.clone())
        .filter(|body| {
            matches!(
                body,
                EventBody::Call {
                    change: CallChange::Output { .. } | CallChange::Update { .. },
                    ..
                }
            )
        })
        .collect();
    let call = CallId::from("call_4");
    let output = |text: &str| EventBody::Call {
        call: call.clone(),
        change: CallChange::Output {
            text: text.to_owned(),
        },
    };
    let partial = PartialResult {
        content: vec![Content::text("aws_secret_access_key=***"), image],
        details: Some(json!({ "step": 1, "token": "***" })),
    };
    let update = EventBody::Call {
        call: call.clone(),
        change: CallChange::Update { partial },
    };
    assert_eq!(told, [output("before"), update, output("after")]);
    assert_eq!(
        desk.calls().await[0].output,
        "beforeaws_secret_access_key=***\n[An image (image/png, 6 bytes).]\nafter"
    );
    assert_eq!(agent.tool_results(), ["the result"]);

    let mut teller = SessionMapper::new(Vocabulary::Agent, desk.session.clone());
    let words: Vec<Value> = events.iter().flat_map(|event| teller.map(event)).collect();
    let updates: Vec<&Value> = words
        .iter()
        .filter(|word| word["type"] == "ToolExecutionUpdate")
        .map(|word| &word["partial_result"])
        .collect();
    assert_eq!(
        updates[1],
        &json!({
            "content": [
                { "type": "text", "text": "aws_secret_access_key=***" },
                { "type": "image", "data": "aGFsZg==", "mimeType": "image/png" },
            ],
            "details": { "step": 1, "token": "***" },
        })
    );
}

/// `S001-11`: stopping the run cancels the tool's token; a tool that cancels its own token stops nothing else.
#[tokio::test]
async fn cancelling_goes_down_and_never_up() {
    let probe = Probe::new(|arguments, cx| async move {
        if name(&arguments) == "a" {
            cx.cancel.cancel();
            return Ok(ToolOutput::new("went on", "ok"));
        }
        cx.cancel.cancelled().await;
        Err(ToolError::Cancelled)
    });
    let waits = probe_calls(&[json!({ "name": "b" })]);
    let mut desk = open_desk([probe_turn(json!({})), waits, say_text("Never.")], probe).await;
    desk.start("Go.").await;
    desk.wait_for_event("the second call", |body| match body {
        EventBody::Call {
            call,
            change: CallChange::Started,
        } => call.as_str() != "call_4",
        _ => false,
    })
    .await;
    desk.interrupt_run().await;
    assert_eq!(desk.wait_until_ended().await, SessionState::Interrupted);
    let outcomes = desk.call_outcomes().await;
    assert_eq!(outcomes[0], (CallState::Done, "went on".into()));
    assert_eq!(
        outcomes[1],
        (CallState::Interrupted, "Cancelled".into()),
        "S002-101"
    );
}

/// Lets the clock run while nothing else does.
async fn advance_seconds(seconds: u64) {
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(seconds)).await;
    tokio::time::resume();
}

/// `S003-38`: a tool that works for longer than its interface says is told to stop, and ended for good if it does not hear
/// that, with nothing of it left; the model reads how long it was given, and the run goes on.
#[tokio::test]
async fn a_tool_that_takes_too_long_is_ended() {
    for hears in [true, false] {
        let told = Arc::new(Notify::new());
        let teller = told.clone();
        let over = CancellationToken::new();
        let ending = over.clone();
        let probe = Probe::new(move |_, cx| {
            let (teller, ending) = (teller.clone(), ending.clone().drop_guard());
            async move {
                let _ending = ending;
                cx.cancel.cancelled().await;
                teller.notify_one();
                if !hears {
                    std::future::pending::<()>().await;
                }
                Ok(ToolOutput::new("too late", "ok"))
            }
        })
        .with_interface(|interface| interface.timeout_ms(7_000_u64));
        let mut desk = open_desk([probe_turn(json!({})), say_text("On.")], probe).await;
        desk.start("Go.").await;
        desk.wait_until_running().await;
        advance_seconds(60).await;
        told.notified().await;
        advance_seconds(60).await;
        assert_eq!(desk.wait_until_ended().await, SessionState::Done, "{hears}");
        let expected = (CallState::Failed, "Timed out after 7 s.".to_owned());
        assert_eq!(desk.call_outcomes().await, [expected], "{hears}");
        over.cancelled().await;
    }
}

/// M09: steering lets a running tool come to its end, unless the tool says that it gives way.
#[tokio::test]
async fn steering_ends_only_what_gives_way() {
    for (behavior, expected) in [
        (InterruptBehavior::Block, CallState::Done),
        (InterruptBehavior::Cancel, CallState::Interrupted),
    ] {
        let go = Arc::new(Notify::new());
        let gate = go.clone();
        let probe = Probe::new(move |_, cx| {
            let gate = gate.clone();
            async move {
                tokio::select! {
                    () = gate.notified() => Ok(ToolOutput::new("whole", "ok")),
                    () = cx.cancel.cancelled() => Err(ToolError::Cancelled),
                }
            }
        })
        .with_interface(|interface| interface.interrupt_behavior(behavior));
        let mut desk = open_desk([probe_turn(json!({})), say_text("I heard.")], probe).await;
        desk.start("Go.").await;
        desk.wait_until_running().await;
        desk.send_message("Otherwise.").await;
        if expected == CallState::Done {
            go.notify_one();
        }
        assert_eq!(desk.wait_until_ended().await, SessionState::Done);
        assert_eq!(desk.call_outcomes().await[0].0, expected, "{behavior:?}");
    }
}

/// `S001-37`: an instruction, a cancellation and a correction each become the model's next input.
#[tokio::test]
async fn steering_is_the_next_input() {
    let gate = Arc::new(tokio::sync::Semaphore::new(0));
    let go = gate.clone();
    let probe = Probe::new(move |_, cx| {
        let gate = gate.clone();
        async move {
            tokio::select! {
                permit = gate.acquire() => permit.unwrap().forget(),
                () = cx.cancel.cancelled() => return Err(ToolError::Cancelled),
            }
            Ok(ToolOutput::new("ran", "ok"))
        }
    });
    let agent = RecordingProvider::new([
        probe_turn(json!({})),
        probe_turn(json!({ "n": 2 })),
        call_bash("echo no"),
        say_text("Yes."),
    ]);
    let mut desk = Fixture::with_tools(agent.clone(), probe.into_tools()).await;
    desk.start("Go.").await;
    desk.wait_until_running().await;
    desk.send_message("An instruction.").await;
    go.add_permits(1);
    desk.wait_until_running().await;
    let told = Message::user("An instruction.");
    assert_eq!(agent.last_messages().last(), Some(&told));
    desk.interrupt_run().await;
    desk.wait_until_ended().await;
    desk.send_message("Go on.").await;
    let view = desk.wait_for_call().await;
    assert_eq!(agent.tool_results(), ["ran", "Cancelled"]);
    desk.decide_call(&view, Decision::reject("not like that"))
        .await
        .unwrap();
    desk.wait_until_ended().await;
    assert_eq!(
        agent.tool_results()[2],
        "The person rejected this call: not like that"
    );
}

/// `S001-14`: a tool that says nothing while it runs comes to the same, and so does one that nobody listens to.
#[tokio::test]
async fn updates_are_optional_on_both_sides() {
    let speaks = |cx: ExecutionContext| async move {
        if let (Some(output), Some(progress)) = (&cx.on_output, &cx.on_progress) {
            output("half");
            progress("50 %");
        }
        Ok(ToolOutput::new("the result", "ok"))
    };
    let unheard = ExecutionContext::new(CallId("call_1".into()), "probe", CancellationToken::new());
    assert_eq!(speaks(unheard).await.unwrap().text, "the result");
    let silent = Probe::new(|_, _| async { Ok(ToolOutput::new("the result", "ok")) });
    for probe in [Probe::new(move |_, cx| speaks(cx)), silent] {
        let mut desk = open_desk([probe_turn(json!({}))], probe).await;
        desk.play().await;
        let expected = [(CallState::Done, "the result".to_owned())];
        assert_eq!(desk.call_outcomes().await, expected);
    }
}
