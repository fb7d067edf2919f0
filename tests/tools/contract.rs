//! The contract of every tool: one trait, one context, one result, for ours and others.

use std::sync::{Arc, Mutex};

use futures::future::BoxFuture;
use policy::Approved;
use protocol::event::CallProposal;
use protocol::mappers::{SessionMapper, SpanMapper, SpanStatus, TraceSpan, Vocabulary};
use protocol::query::{Answer, Query};
use protocol::{
    CallState, EventBody, Message, Op, Outcome, ToolCall, ToolError, ToolKind, ToolMode, ToolOutput,
};
use serde::Serialize;
use serde_json::{Value, json};
use support::probe::{Probe, RecordingProvider, probe_calls};
use support::{Fixture, call_bash, call_tool, expect_variant, say_text};
use tokio_util::sync::CancellationToken;
use tools::{ExecutionContext, Tool, ToolContext};

/// A desk with the probe as one more tool, and its agent.
pub async fn probe_desk(probe: Probe, turns: impl Serialize) -> (Fixture, Arc<RecordingProvider>) {
    let agent = RecordingProvider::new(turns);
    let desk = Fixture::with_tools(agent.clone(), probe.into_tools()).await;
    (desk, agent)
}

/// A probe whose calls give this text.
pub fn text_probe(text: &'static str) -> Probe {
    Probe::new(move |_, _| async move { Ok(ToolOutput::new(text, "done")) })
}

/// The kinds of the events about each call, in order.
async fn steps(desk: &Fixture) -> Vec<Vec<&'static str>> {
    let events = desk.events().await;
    let of = |id: &str| {
        let about = |event: &&protocol::Event| {
            protocol::event::fold::entry_id(event).as_deref() == Some(id)
        };
        events
            .iter()
            .filter(about)
            .map(|event| event.body.name())
            .collect()
    };
    desk.calls()
        .await
        .iter()
        .map(|view| of(view.call.id.as_str()))
        .collect()
}

/// `S001-01`, `S002-01`, `S003-36`: a foreign tool, one of ours and one that is nothing but a schema walk the same page and end
/// in the same envelope.
#[tokio::test]
async fn every_tool_obeys_one_contract() {
    const NOTE: &str = r#"{"note":{"type":"object","properties":{"text":{"type":"string"},
        "_output":{"type":"object","properties":{"mood":{"type":"string"}},"required":["mood"]}},"required":["text"]}}"#;
    let turn = json!({ "calls": [
        { "name": "read", "arguments": { "path": "a.txt" } },
        { "name": "probe", "arguments": {} },
        { "name": "note", "arguments": { "text": "x", "_output": { "mood": "good" } } },
    ]});
    let (mut desk, _) = probe_desk(text_probe("ok"), json!([turn, {}])).await;
    desk.write_file("a.txt", "alpha\n")
        .write_file(".countersign/tools/note.json", NOTE)
        .play()
        .await;
    let page = ["call_proposed", "call_judged", "call_started", "call_ended"];
    assert_eq!(steps(&desk).await, [page, page, page]);
    for view in desk.calls().await {
        let envelope = serde_json::to_value(view.outcome.unwrap().to_envelope()).unwrap();
        let members: Vec<&String> = envelope.as_object().unwrap().keys().collect();
        assert_eq!(
            members,
            ["type", "data", "metadata"],
            "{}: {envelope}",
            view.tool
        );
        assert_eq!(envelope["type"], "output");
        assert!(envelope["metadata"]["duration_ms"].is_u64());
    }
    // The decision on a call stands in an event of that name, about that call.
    let read = desk.calls().await.remove(0).call.id;
    let decision_ref = decision_ref(&desk, "read").await;
    let place = decision_ref.replace("{call}", read.as_str());
    let events = desk.events().await;
    let stands = events.iter().any(|event| {
        let about = protocol::event::fold::entry_id(event).unwrap_or_default();
        format!("{}:{about}", event.body.name()) == place
    });
    assert!(stands && place.ends_with(read.as_str()), "{place}");
}

/// The place at which the record of a tool says that the decision on a call of it stands.
async fn decision_ref(desk: &Fixture, id: &str) -> String {
    let query = Query::Tools { workspace: None };
    let tools = expect_variant!(desk.query(query).await, Answer::Tools { tools } => tools);
    let tool = tools.into_iter().find(|tool| tool.record.id() == id);
    tool.unwrap().record.permission.decision_ref
}

/// `S001-03`, `S001-04`, `S001-05`, `S001-06`, `S001-69`, `S002-02`: the model is told of id, description and schema, the person of the title; the
/// definition and the tool are joined by the name alone, which is the same in every session.
#[tokio::test]
async fn a_definition_is_apart_from_its_tool() {
    let schema = json!({ "type": "object", "properties": { "name": { "type": "string" } } });
    let told = schema.clone();
    let probe = text_probe("ok").with_interface(|it| {
        it.user_facing_name("The probe")
            .description("Probes.")
            .model_input_schema(told)
    });
    let (mut desk, agent) = probe_desk(probe, [probe_calls(&[json!({})])]).await;
    desk.play().await;
    desk.play().await;
    let offered = agent.offered.lock().unwrap().clone();
    assert!(offered.iter().all(|tools| *tools == offered[0]) && offered.len() >= 3);
    let mine = offered[0].iter().find(|tool| tool.name == "probe").unwrap();
    assert_eq!(mine.description, "Probes.");
    assert_eq!(
        mine.parameters["properties"]["name"],
        schema["properties"]["name"]
    );
    let sent = serde_json::to_string(mine).unwrap();
    assert!(!sent.contains("The probe"), "S001-04: {sent}");
    let members = serde_json::to_value(mine).unwrap();
    let members: Vec<&String> = members.as_object().unwrap().keys().collect();
    assert_eq!(members, ["name", "description", "parameters", "strict"]);
    let view = desk.calls().await.remove(0);
    assert_eq!(
        (view.tool.as_str(), view.title.as_str()),
        ("probe", "The probe")
    );
}

/// `S001-07`, `S001-08`, `S001-10`, `S002-08`: a tool gets checked arguments, and beside them a context of one shape
/// in which each thing has its name; it answers with an output or an error.
#[tokio::test]
async fn arguments_and_context_are_apart() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let kept = seen.clone();
    let probe = Probe::new(move |arguments, cx| {
        let ran = (arguments.clone(), cx.tool_call_id.0, cx.tool_name);
        kept.lock().unwrap().push(ran);
        async move {
            match arguments.contains_key("fail") {
                true => Err(ToolError::Failed("It was told to.".to_owned())),
                false => Ok(ToolOutput::new("ok", "done")),
            }
        }
    })
    .with_interface(|it| {
        it.model_input_schema(json!({
            "type": "object",
            "properties": { "name": { "type": "string" }, "fail": { "type": "boolean" } },
            "required": ["name"],
            "additionalProperties": false,
        }))
    });
    let calls = [
        json!({ "name": "a", "_reasoningForCall": "to see it" }),
        json!({ "name": "b", "fail": true }),
        json!({ "name": 3 }),
        json!({}),
    ];
    let (mut desk, _) = probe_desk(probe, [probe_calls(&calls)]).await;
    desk.play().await;
    let views = desk.calls().await;
    let ids: Vec<String> = views.iter().map(|view| view.call.id.0.clone()).collect();
    let mut ran = seen.lock().unwrap().clone();
    ran.sort_by(|a, b| a.1.cmp(&b.1));
    let gets = |arguments: Value, id: &String| {
        (
            arguments.as_object().unwrap().clone(),
            id.clone(),
            "probe".to_owned(),
        )
    };
    let expected = [
        gets(json!({ "name": "a" }), &ids[0]),
        gets(json!({ "name": "b", "fail": true }), &ids[1]),
    ];
    assert_eq!(*ran, expected, "what does not fit never reaches the tool");
    let told: Vec<_> = desk.call_outcomes().await;
    assert_eq!(told[0], (CallState::Done, "ok".to_owned()));
    assert_eq!(told[1], (CallState::Failed, "It was told to.".to_owned()));
    assert!(told[2].1.contains("`name` must be a string"), "{told:?}");
    assert!(
        told[3].1.contains("`name` is missing"),
        "S004-16, S004-17: {told:?}"
    );
}

/// `S001-16`: all that a tool gets beside its arguments and what it may touch is one context with named members, and whoever
/// makes one names three of them. So a further member changes no tool, which the compiler holds: this stops to compile where
/// a parameter is added, or a context cannot be made without the new member.
#[test]
fn a_context_is_one_parameter() {
    type Ended<'a> = BoxFuture<'a, Result<ToolOutput, ToolError>>;
    type Execute<'a> =
        fn(&'a Probe, &'a Approved, &'a ToolContext, &'a ExecutionContext) -> Ended<'a>;
    let _: Execute<'_> = <Probe as Tool>::execute;
    let made = ExecutionContext::new("call_1".into(), "probe", CancellationToken::new());
    let ExecutionContext {
        tool_call_id,
        tool_name,
        on_output,
        on_progress,
        ..
    } = made;
    assert_eq!(
        (tool_call_id.as_str(), tool_name.as_str()),
        ("call_1", "probe")
    );
    assert!(on_output.is_none() && on_progress.is_none(), "S001-14");
}

/// `S002-18`: each session has a list of its own, which nobody else's calls change, and which is there after a new start.
#[tokio::test]
async fn a_list_of_things_to_do_is_its_sessions() {
    let probe = Probe::with_tool_context(|_, hands, _| async move {
        let items = hands.todo_list.items();
        let items: Vec<&str> = items.iter().map(|item| item.content.as_str()).collect();
        Ok(ToolOutput::new(format!("[{}]", items.join(" ")), "done"))
    });
    let look = || probe_calls(&[json!({})]);
    let write = call_tool(
        "todo",
        json!({ "items": [{ "content": "mine", "status": "pending" }] }),
    );
    let (mut desk, _) = probe_desk(probe, json!([look(), write, look(), {}, look(), {}])).await;
    let looks = async |desk: &Fixture| {
        let calls = desk.calls().await.into_iter();
        let looks = calls.filter(|view| view.tool == "probe");
        looks
            .map(|view| view.outcome.unwrap().text)
            .collect::<Vec<_>>()
    };
    desk.play().await;
    let first = desk.session.clone();
    assert_eq!(looks(&desk).await, ["[]", "[mine]"]);
    desk.play().await;
    assert_ne!(desk.session, first);
    assert_eq!(
        looks(&desk).await,
        ["[]", "[mine]"],
        "the other's is not this one's"
    );
    let mut desk = desk.restart().await;
    desk.session = first.clone();
    let say = Op::say(first, "Again.");
    desk.submit(say).await;
    desk.wait_until_ended().await;
    assert_eq!(looks(&desk).await, ["[]", "[mine]", "[mine]"]);
}

/// `S001-21`, `S001-22`, `S001-23`, `S001-24`: each error shows its text. Two more are kinds of failure that the engine tells
/// apart: that something changed underneath, and that it took too long. They show just their message as well, and whoever reads
/// the specification's events cannot tell them from any other failure.
#[test]
fn errors_say_what_they_are() {
    for (error, text) in [
        (ToolError::Failed("It is full.".into()), "It is full."),
        (ToolError::NotFound("reed".into()), "Tool not found: reed"),
        (
            ToolError::InvalidArgs("`path` is missing".into()),
            "Invalid arguments: `path` is missing",
        ),
        (ToolError::Cancelled, "Cancelled"),
        (ToolError::Stale("It changed.".into()), "It changed."),
        (ToolError::TimedOut("It is late.".into()), "It is late."),
    ] {
        assert_eq!(error.to_string(), text);
    }
    let told = |error: ToolError| {
        let outcome = Outcome::from_tool_error(&error);
        let told = (
            outcome.to_result(),
            outcome.to_envelope(),
            outcome.to_output(),
        );
        serde_json::to_value(told).unwrap()
    };
    let failed = told(ToolError::Failed("It broke.".into()));
    for kind in [ToolError::Stale, ToolError::TimedOut] {
        assert_eq!(told(kind("It broke.".into())), failed);
    }
}

/// `S001-14`, `S001-71`: what a tool tells while it runs reaches people and log, never the model; one that tells nothing has the
/// same result.
#[tokio::test]
async fn what_is_told_meanwhile_never_reaches_the_model() {
    let probe = Probe::new(|arguments, cx| async move {
        if arguments.contains_key("tells") {
            cx.on_output.as_ref().unwrap()("a piece of live output\n");
        }
        Ok(ToolOutput::new("the result", "done"))
    });
    let calls = [json!({ "tells": true }), json!({})];
    let (mut desk, agent) = probe_desk(probe, [probe_calls(&calls)]).await;
    desk.play().await;
    let views = desk.calls().await;
    assert_eq!(views[0].output, "a piece of live output\n");
    assert_eq!(views[1].output, "");
    assert_eq!(agent.tool_results(), ["the result", "the result"]);
    let heard = agent.heard.lock().unwrap();
    let text = |message: &Message| serde_json::to_string(message).unwrap();
    assert!(
        !heard
            .iter()
            .flatten()
            .any(|message| text(message).contains("live output"))
    );
}

/// `S000-01`, `S000-07`: whatever becomes known of a call stands in the attributes of its span; the call itself keeps its
/// three members as the model wrote them.
#[tokio::test]
async fn a_call_keeps_its_three_members() {
    let mut desk = Fixture::new([call_bash("echo one")]).await;
    desk.start("Go.").await;
    desk.edit_next(json!({ "command": "echo two" })).await;
    desk.allow_next().await;
    desk.wait_until_ended().await;
    let events = desk.events().await;
    let proposed = events.iter().find_map(|event| match &event.body {
        EventBody::Proposal(CallProposal { call, .. }) => Some(call.clone()),
        _ => None,
    });
    let after = desk.only_call().await.call;
    assert_eq!(proposed, Some(after.clone()));
    let written = serde_json::to_value(&after).unwrap();
    let id = after.id.0.as_str();
    assert_eq!(
        written,
        json!({ "id": id, "name": "bash", "arguments": { "command": "echo one" } })
    );
    assert_eq!(ToolCall::from_json(&written.to_string()), Ok(after.clone()));

    let mut spans = SpanMapper::default();
    let spans: Vec<TraceSpan> = events.iter().flat_map(|event| spans.map(event)).collect();
    let [span] = spans.as_slice() else {
        panic!("one span: {spans:#?}");
    };
    assert_eq!(
        (&span.trace_id, &span.span_id, span.status),
        (&desk.session, &after.id, SpanStatus::Ok)
    );
    assert_eq!(span.name, "execute_tool bash");
    for (name, value) in [
        ("authorised.mode", json!("local")),
        ("authorised.verdict", json!("ask")),
        ("authorised.asked", json!(2)),
        ("authorised.decision", json!("allow")),
        ("executed.state", json!("done")),
        ("rendered.target", json!("echo two")),
        ("validated.passed", json!(true)),
    ] {
        assert_eq!(span.attrs.get(name), Some(&value), "{name}: {span:#?}");
    }
    assert_eq!(span.attrs["validated.edited"].as_array().unwrap().len(), 1);
    let members = ["id", "name", "arguments"];
    assert!(
        members
            .iter()
            .all(|member| !span.attrs.contains_key(*member))
    );
}

/// `S000-15`: the message is for the person: the card, the story and the chat show it, and the model reads the text.
#[tokio::test]
async fn the_message_is_what_the_bubble_shows() {
    let (mut desk, agent) = probe_desk(
        text_probe("text for the model"),
        [probe_calls(&[json!({})])],
    )
    .await;
    desk.play().await;
    let view = desk.calls().await.remove(0);
    assert_eq!(view.outcome.as_ref().unwrap().message, "done");
    let mut teller = SessionMapper::new(Vocabulary::Chat, desk.session.clone());
    let words: Vec<Value> = desk
        .events()
        .await
        .iter()
        .flat_map(|event| teller.map(event))
        .collect();
    let result = words
        .iter()
        .find(|word| word["type"] == "tool_result")
        .unwrap();
    assert_eq!(result["payload"]["message"], "done");
    assert_eq!(agent.tool_results(), ["text for the model"]);
}

/// `S002-77`, `S002-103`: a tool without a listed size has one; whatever the size is, what is too long becomes a head and a path.
#[tokio::test]
async fn no_output_is_without_end() {
    for (size, expected) in [
        (None, 200 * 1024),
        (Some(1_000_u64), 1_000),
        (Some(50_000), 50_000),
    ] {
        let probe = Probe::new(|_, _| async { Ok(ToolOutput::new("x".repeat(1_000_000), "done")) })
            .with_interface(|it| match size {
                Some(size) => it.max_inline_chars(size),
                None => it,
            });
        let (mut desk, _) = probe_desk(probe, [probe_calls(&[json!({})])]).await;
        desk.play().await;
        let outcome = desk.calls().await.remove(0).outcome.unwrap();
        let head = outcome
            .text
            .bytes()
            .take_while(|byte| *byte == b'x')
            .count();
        assert!(head <= expected && head > expected / 2, "{size:?}: {head}");
        let envelope = serde_json::to_value(outcome.to_envelope()).unwrap();
        assert_eq!(envelope["metadata"]["truncated"], true);
        assert!(envelope["data"]["head"].is_string());
        let path = envelope["metadata"]["output_path"].as_str().unwrap();
        assert_eq!(
            std::fs::metadata(path).unwrap().len(),
            1_000_000,
            "{size:?}"
        );
    }
}

/// `S000-12`: a result that is marked as the last one ends the run, although it worked; what was asked for after it is skipped.
#[tokio::test]
async fn a_terminal_result_is_the_last() {
    let probe = Probe::new(|_, _| async {
        let terminal = true;
        Ok(ToolOutput {
            terminal,
            ..ToolOutput::new("that was all", "done")
        })
    });
    let calls = [json!({ "alone": true }), json!({ "alone": true })];
    let (mut desk, agent) = probe_desk(probe, [probe_calls(&calls), say_text("More.")]).await;
    desk.play().await;
    let states = desk.call_states().await;
    assert_eq!(states, [CallState::Done, CallState::Skipped]);
    assert_eq!(
        agent.heard.lock().unwrap().len(),
        1,
        "the model is not asked again"
    );
    let result = desk.calls().await.remove(0).outcome.unwrap().to_result();
    assert_eq!((result.terminal, result.is_terminal()), (Some(true), true));
}

/// `S000-26`: a call of an outside service runs without asking, and every step of it is on record.
#[tokio::test]
async fn an_external_call_is_logged() {
    let probe =
        text_probe("ok").with_interface(|it| it.mode(ToolMode::External).kind(ToolKind::Other));
    let (mut desk, _) = probe_desk(probe, [probe_calls(&[json!({ "name": "there" })])]).await;
    desk.play().await;
    let page = ["call_proposed", "call_judged", "call_started", "call_ended"];
    assert_eq!(steps(&desk).await, [page]);
    let desk = desk.restart().await;
    let view = desk.calls().await.remove(0);
    assert_eq!(
        (view.mode, view.state),
        (Some(ToolMode::External), CallState::Done)
    );
    assert_eq!(view.call.arguments["name"], "there");
}
