//! Questions of servers to the person while one of their tools runs, through the whole desk: asked, answered, recorded.

use agent::Host;
use protocol::event::{CallChange, SessionEvent};
use protocol::text::display_text::join_spans;
use protocol::{
    CallId, CallState, CallView, EventBody, Op, ServerAnswer, ServerRequestKind, ServerRequestView,
    SessionState, UserError,
};
use serde_json::{Map, Value, json};
use support::servers::stdio_server;
use support::{Fixture, HEADLESS, HEADLESS_APPROVED, call_tool, expect_variant, say_text};

const ALLOW: &str = "[[rule]]\npermission = \"one__*\"\naction = \"allow\"\n";

/// A desk whose agent calls one tool of a server, which asks.
async fn calling(tool: &str, host: Host) -> Fixture {
    calling_with(tool, json!({}), None, host).await
}

/// The same, with arguments, and with what the model says beyond that.
async fn calling_with(tool: &str, arguments: Value, more: Option<Value>, host: Host) -> Fixture {
    let mut turns = vec![
        call_tool(&format!("one__{tool}"), arguments),
        say_text("Done."),
    ];
    turns.extend(more);
    let desk = Fixture::with_host(turns, host).await;
    desk.write_rules(ALLOW);
    let transport = stdio_server(env!("CARGO_BIN_EXE_mcp_server"), &["asking"], &[]);
    desk.add_server(transport).await;
    desk
}

/// Waits until a server asks; gives its call as the desk has it.
async fn wait_for_question(desk: &mut Fixture) -> (CallView, ServerRequestView) {
    let asked = desk
        .wait_for_event("asked", |body| {
            matches!(
                body,
                EventBody::Call {
                    change: CallChange::ServerRequestReceived { .. },
                    ..
                }
            )
        })
        .await;
    let call = expect_variant!(asked.body, EventBody::Call { call, .. } => call);
    let view = desk.find_call(call.as_str()).await;
    let ask = view.open_server_request().unwrap().clone();
    (view, ask)
}

async fn answer(
    desk: &Fixture,
    call: &CallId,
    ask: &ServerRequestView,
    answer: ServerAnswer,
) -> Result<(), UserError> {
    let op = Op::AnswerServer {
        session: desk.session.clone(),
        call: call.clone(),
        request_id: ask.id.clone(),
        answer,
    };
    desk.engine.submit(op).await.map(drop)
}

fn filled(values: Value) -> ServerAnswer {
    let values: Map<String, Value> = values.as_object().unwrap().clone();
    ServerAnswer::Filled { values }
}

/// A form stands on the desk with its call, is answered once, and what looks like a secret is sent and not recorded.
#[tokio::test]
async fn a_form_is_asked_answered_and_recorded() {
    let mut desk = calling("form", Host::Person).await;
    desk.start("Go.").await;
    let (view, ask) = wait_for_question(&mut desk).await;
    assert_eq!(view.state, CallState::Waiting);
    assert_eq!(join_spans(&ask.request.message), "Who are you?");
    let fields = expect_variant!(&ask.request.wants, ServerRequestKind::Form { fields } => fields);
    let told: Vec<_> = fields
        .iter()
        .map(|field| {
            (
                join_spans(&field.title),
                field.required,
                field.warning.is_some(),
            )
        })
        .collect();
    assert_eq!(
        told,
        [
            ("Your name".to_owned(), true, false),
            ("age".to_owned(), false, false),
            ("password".to_owned(), false, true)
        ]
    );
    let on_desk = desk.snapshot().await.desk;
    assert_eq!(on_desk.len(), 1, "it is on the desk");

    let id = &view.call.id;
    for (wrong, why) in [
        (filled(json!({})), "has to be filled in"),
        (filled(json!({ "name": "A" })), "at least 2 characters"),
        (filled(json!({ "name": "Ada", "x": 1 })), "not a field"),
        (ServerAnswer::Opened, "not an answer to what was asked"),
        (ServerAnswer::Allowed, "not an answer to what was asked"),
    ] {
        let fault = answer(&desk, id, &ask, wrong).await.unwrap_err();
        assert!(fault.message.contains(why), "{fault}");
    }
    let given = filled(json!({ "name": "Ada", "password": "opensesame" }));
    answer(&desk, id, &ask, given.clone()).await.unwrap();
    let late = answer(&desk, id, &ask, given).await.unwrap_err();
    assert!(late.message.contains("no longer waits"), "{late}");

    assert_eq!(desk.wait_until_ended().await, SessionState::Done);
    let view = desk.calls().await.remove(0);
    let text = view.outcome.as_ref().unwrap().text.clone();
    assert!(
        text.contains(r#""name":"Ada","password":"***""#),
        "the server got it, and what it says of it is masked: {text}"
    );
    let answered = view.server_requests[0].answered.clone().unwrap();
    let kept = filled(json!({ "name": "Ada", "password": "***" }));
    assert_eq!((answered.answer, answered.why), (kept, None));
    let answers = desk.events().await.into_iter().filter_map(|event| {
        matches!(
            event.body,
            EventBody::Call {
                change: CallChange::ServerRequestAnswered { .. },
                ..
            }
        )
        .then(|| format!("{event:?}"))
    });
    let answers: Vec<String> = answers.collect();
    assert_eq!(answers.len(), 1);
    assert!(!answers[0].contains("opensesame"));
}

/// The session waits for its person while a question stands, and works on after it.
#[tokio::test]
async fn an_address_is_told_whole_and_the_session_waits() {
    let mut desk = calling("address", Host::Person).await;
    desk.start("Go.").await;
    let (view, ask) = wait_for_question(&mut desk).await;
    let ServerRequestKind::Address { url, host, .. } = &ask.request.wants else {
        panic!("{ask:?}")
    };
    assert_eq!(
        (url.as_str(), host.as_str()),
        ("https://example.org/sign-in", "example.org")
    );
    answer(&desk, &view.call.id, &ask, ServerAnswer::Opened)
        .await
        .unwrap();
    assert_eq!(desk.wait_until_ended().await, SessionState::Done);
    let states = desk
        .events()
        .await
        .into_iter()
        .filter_map(|event| match event.body {
            EventBody::Session(SessionEvent::Changed { state }) => Some(state),
            _ => None,
        });
    assert_eq!(
        states.collect::<Vec<_>>(),
        [
            SessionState::Running,
            SessionState::Waiting,
            SessionState::Running,
            SessionState::Done
        ]
    );
    let told = desk.call_outcomes().await;
    assert_eq!(
        told,
        [(CallState::Done, r#"{"action":"accept"}"#.to_owned())]
    );
}

/// No, and neither yes nor no, are answers like others.
#[tokio::test]
async fn a_person_may_decline_or_put_it_away() {
    for (said, told) in [
        (ServerAnswer::Declined, r#"{"action":"decline"}"#),
        (ServerAnswer::Dismissed, r#"{"action":"cancel"}"#),
    ] {
        let mut desk = calling("form", Host::Person).await;
        desk.start("Go.").await;
        let (view, ask) = wait_for_question(&mut desk).await;
        answer(&desk, &view.call.id, &ask, said).await.unwrap();
        desk.wait_until_ended().await;
        assert_eq!(
            desk.call_outcomes().await,
            [(CallState::Done, told.to_owned())]
        );
    }
}

/// Headless, a server gets a no, whatever was approved beforehand; question and answer are on record.
#[tokio::test]
async fn headless_a_server_gets_a_no() {
    for host in [HEADLESS, HEADLESS_APPROVED] {
        let mut desk = calling("form", host).await;
        desk.play().await;
        let told = r#"{"action":"decline"}"#.to_owned();
        assert_eq!(desk.call_outcomes().await, [(CallState::Done, told)]);
        let view = desk.calls().await.remove(0);
        let answered = view.server_requests[0].answered.clone().unwrap();
        assert_eq!(answered.answer, ServerAnswer::Declined);
        assert!(answered.why.unwrap().contains("without a person"));
    }
}

/// A question goes with its run, and cannot be answered any more.
#[tokio::test]
async fn a_question_goes_with_its_run() {
    let mut desk = calling("form", Host::Person).await;
    desk.start("Go.").await;
    let (view, ask) = wait_for_question(&mut desk).await;
    desk.interrupt_run().await;
    assert_eq!(desk.wait_until_ended().await, SessionState::Interrupted);
    let late = answer(&desk, &view.call.id, &ask, ServerAnswer::Declined).await;
    assert!(late.unwrap_err().message.contains("no longer waits"));
    let view = desk.calls().await.remove(0);
    assert_eq!(
        (view.state, view.open_server_request()),
        (CallState::Interrupted, None)
    );
    let answered = view.server_requests[0].answered.clone().unwrap();
    assert_eq!(answered.answer, ServerAnswer::Dismissed);
    assert!(desk.snapshot().await.desk.is_empty());
}

/// The app ends while a question stands: its call is over, and nobody is asked any more.
#[tokio::test]
async fn a_question_is_over_after_a_new_start() {
    let mut desk = calling("form", Host::Person).await;
    desk.start("Go.").await;
    wait_for_question(&mut desk).await;
    let desk = desk.restart().await;
    let view = desk.calls().await.remove(0);
    assert_eq!(
        (view.state, view.open_server_request()),
        (CallState::Interrupted, None)
    );
    assert!(desk.snapshot().await.desk.is_empty());
}

/// A request of a server that a model be asked: two words of the model's stand in it, so the script's third turn answers.
fn wants_model(first: &str) -> Value {
    let line = |role: &str, text: &str| json!({ "role": role, "content": { "type": "text", "text": text } });
    json!({ "ask": { "systemPrompt": "Be short.", "maxTokens": 1_000_000,
        "messages": [line("user", first), line("assistant", "A."), line("assistant", "B."), line("user", "Now?")] } })
}

/// A model answers for a server once the person allowed what it is sent: masked, limited, recorded.
#[tokio::test]
async fn a_model_is_lent_as_the_person_allows() {
    let more = Some(say_text("Four."));
    let key = format!("The key is sk-ant-api03-{}.", "a".repeat(40));
    let mut desk = calling_with("ask", wants_model(&key), more, Host::Person).await;
    desk.start("Go.").await;
    // A key is in what it sends.
    desk.allow_next().await;
    let (view, ask) = wait_for_question(&mut desk).await;
    let ServerRequestKind::Model {
        system,
        messages,
        tokens_max,
        ..
    } = &ask.request.wants
    else {
        panic!("{ask:?}")
    };
    assert_eq!(
        (join_spans(system).as_str(), *tokens_max),
        ("Be short.", 8_192)
    );
    let first = join_spans(&messages[0].text);
    assert!(first.contains("***") && !first.contains("aaaa"), "{first}");
    assert_eq!(
        messages
            .iter()
            .map(|line| line.by_model)
            .collect::<Vec<_>>(),
        [false, true, true, false]
    );
    let id = &view.call.id;
    assert!(answer(&desk, id, &ask, ServerAnswer::Opened).await.is_err());
    answer(&desk, id, &ask, ServerAnswer::Allowed)
        .await
        .unwrap();
    assert_eq!(desk.wait_until_ended().await, SessionState::Done);
    let view = desk.calls().await.remove(0);
    let told = view.outcome.as_ref().unwrap().text.clone();
    assert!(told.contains("Four."), "the server got it: {told}");
    let answered = view.server_requests[0].answered.clone().unwrap();
    assert_eq!(answered.answer, ServerAnswer::Allowed);
    assert_eq!(answered.sampled.unwrap().text, "Four.");
}

/// A request that a model be asked which has called a tool of the server before, and may call it again.
fn wants_model_with_tool() -> Value {
    let key = format!("sk-ant-api03-{}", "a".repeat(40));
    let text = |text: &str| json!({ "type": "text", "text": text });
    let call =
        json!({ "type": "tool_use", "id": "use_0", "name": "count", "input": { "of": "words" } });
    let result = json!({ "type": "tool_result", "toolUseId": "use_0", "content": [text(&format!("The key is {key}."))] });
    let tool = json!({ "name": "count", "description": "Counts.", "inputSchema": { "type": "object", "properties": { "of": { "type": "string" } } } });
    json!({ "ask": { "maxTokens": 100, "tools": [tool], "messages": [
        { "role": "user", "content": text("How many lines?") },
        { "role": "assistant", "content": call },
        { "role": "user", "content": result },
        { "role": "assistant", "content": text("Those are words.") },
        { "role": "user", "content": text("Lines, please.") } ] } })
}

/// The calls of a lent model go to the server, masked like the rest, and run nothing here.
#[tokio::test]
async fn a_lent_model_calls_tools_of_the_server() {
    let more = Some(call_tool("count", json!({ "of": "lines" })));
    let mut desk = calling_with("ask", wants_model_with_tool(), more, Host::Person).await;
    desk.start("Go.").await;
    // A key is in what it sends.
    desk.allow_next().await;
    let (view, ask) = wait_for_question(&mut desk).await;
    let ServerRequestKind::Model {
        messages, tools, ..
    } = &ask.request.wants
    else {
        panic!("{ask:?}")
    };
    assert_eq!(tools[0].name, "count");
    assert!(join_spans(&tools[0].parameters).contains("properties"));
    assert_eq!(join_spans(&messages[1].calls[0].name), "count");
    let result = &messages[2];
    assert_eq!(
        result.result_of.as_deref().map(join_spans).as_deref(),
        Some("count")
    );
    let told = join_spans(&result.text);
    assert!(told.contains("***") && !told.contains("aaaa"), "{told}");
    answer(&desk, &view.call.id, &ask, ServerAnswer::Allowed)
        .await
        .unwrap();
    assert_eq!(desk.wait_until_ended().await, SessionState::Done);
    let calls = desk.calls().await;
    let [view] = calls.as_slice() else {
        panic!("the call of the lent model is none of ours: {calls:?}")
    };
    let told = view.outcome.as_ref().unwrap().text.clone();
    assert!(
        told.contains("tool_use") && told.contains("\"of\":\"lines\""),
        "the server got it: {told}"
    );
    let sampled = view.server_requests[0]
        .answered
        .clone()
        .unwrap()
        .sampled
        .unwrap();
    assert_eq!(join_spans(&sampled.calls[0].name), "count");
    assert_eq!(join_spans(&sampled.calls[0].arguments), r#"{"of":"lines"}"#);
}

/// Bad input: a model that calls what it was not given, or nothing although it had to, gives the server no answer.
#[tokio::test]
async fn a_lent_model_that_calls_what_it_was_not_given_is_no_answer() {
    let mut has_to_call = wants_model_with_tool();
    has_to_call["ask"]["toolChoice"] = json!({ "mode": "required" });
    for (arguments, said, why) in [
        (
            wants_model_with_tool(),
            call_tool("delete", json!({})),
            "`delete`, which is none of the tools",
        ),
        (has_to_call, say_text("Four."), "called no tool"),
    ] {
        let mut desk = calling_with("ask", arguments, Some(said), Host::Person).await;
        desk.start("Go.").await;
        desk.allow_next().await;
        let (view, ask) = wait_for_question(&mut desk).await;
        answer(&desk, &view.call.id, &ask, ServerAnswer::Allowed)
            .await
            .unwrap();
        desk.wait_until_ended().await;
        let view = desk.calls().await.remove(0);
        let told = view.outcome.as_ref().unwrap().text.clone();
        assert!(told.contains(why), "{told}");
        let sampled = view.server_requests[0].answered.clone().unwrap().sampled;
        assert!(sampled.unwrap().error.unwrap().contains(why));
    }
}

/// Refused, and headless, no model is asked.
#[tokio::test]
async fn without_a_yes_no_model_is_asked() {
    let mut desk = calling_with("ask", wants_model("What now?"), None, Host::Person).await;
    desk.start("Go.").await;
    let (view, ask) = wait_for_question(&mut desk).await;
    answer(&desk, &view.call.id, &ask, ServerAnswer::Declined)
        .await
        .unwrap();
    desk.wait_until_ended().await;
    let mut alone = calling_with("ask", wants_model("What now?"), None, HEADLESS_APPROVED).await;
    alone.play().await;
    for desk in [&desk, &alone] {
        let told = desk.call_outcomes().await.remove(0).1;
        assert!(told.contains("did not allow it"), "{told}");
        let lent = desk.events().await.into_iter();
        let mut lent = lent.filter(|event| {
            matches!(
                event.body,
                EventBody::Call {
                    change: CallChange::SamplingFinished { .. },
                    ..
                }
            )
        });
        assert_eq!(lent.next(), None);
    }
}
