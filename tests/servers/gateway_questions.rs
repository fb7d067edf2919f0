//! Questions of a server behind a gateway where nobody is asked: passed on to the client only if whoever started the gateway
//! said so, and recorded.

#![allow(
    deprecated,
    reason = "sampling is being removed from the protocol; clients of today answer it"
)]

use std::collections::BTreeMap;

use gateway::mcp::{PassedQuestions, ServedTools};
use protocol::event::{CallChange, SessionEvent};
use protocol::{CallState, EventBody, ServerAnswer};
use rmcp::ClientHandler;
use rmcp::ErrorData;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ClientCapabilities, ClientConfig,
    CreateMessageRequestParams, CreateMessageResult, ElicitRequestParams, ElicitResult,
    ElicitationAction, ElicitationCapability, Implementation, JsonObject, SamplingCapability,
    SamplingMessage,
};
use rmcp::service::{
    ClientLifecycleMode, RequestContext, RoleClient, RunningService, ServiceError,
    serve_client_with_lifecycle,
};
use serde_json::{Value, json};
use support::{Fixture, expect_variant};
use tokio::io::{duplex, split};

use super::gateway_client::{ALLOW, given, modern, open_headless};

/// A client that answers every question in this way.
struct Answering(Value);

impl ClientHandler for Answering {
    fn get_info(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::default();
        capabilities.elicitation = Some(ElicitationCapability::default());
        capabilities.sampling = Some(SamplingCapability::default());
        ClientConfig::new(capabilities, Implementation::new("answering", "1"))
    }

    async fn create_elicitation(
        &self,
        asked: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let asked = serde_json::to_value(asked).unwrap();
        assert!(
            asked["message"].as_str().unwrap().starts_with("given: "),
            "{asked}"
        );
        let mut answer = ElicitResult::new(ElicitationAction::Accept);
        answer.content = Some(self.0.clone());
        Ok(answer)
    }

    async fn create_message(
        &self,
        _: CreateMessageRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        let message = SamplingMessage::assistant_text("It is a fixture.");
        Ok(CreateMessageResult::new(message, "their-model".to_owned()))
    }
}

type Connected<T> = RunningService<RoleClient, T>;

/// A client of a gateway that passes these questions on, in front of a server with these traits.
async fn connect<T: ClientHandler>(
    desk: &Fixture,
    traits: &[&str],
    passed: PassedQuestions,
    client: (T, ClientLifecycleMode),
) -> Connected<T> {
    let request = given(desk, traits);
    let served = ServedTools::open(&desk.engine, &request).await.unwrap();
    let (ours, theirs) = duplex(1 << 20);
    let (from, to) = split(ours);
    tokio::spawn(gateway::mcp::serve(
        served.passing_questions(passed),
        from,
        to,
        std::future::pending(),
    ));
    let (client, lifecycle) = client;
    serve_client_with_lifecycle(client, split(theirs), lifecycle)
        .await
        .unwrap()
}

/// Calls a tool that asks, in every pairing of the eras of server and client; returns what the server was answered, with the
/// answer on record.
async fn asked(tool: &str, passed: PassedQuestions, content: Value) -> Vec<(String, ServerAnswer)> {
    let call = CallToolRequestParams::new(tool.to_owned());
    answers_to(call, passed, || Answering(content.clone())).await
}

/// Makes a call that asks something as such a client, in every pairing of the eras of server and client; returns what the server
/// was answered, with the answer on record.
async fn answers_to<T: ClientHandler>(
    call: CallToolRequestParams,
    passed: PassedQuestions,
    new_client: impl Fn() -> T,
) -> Vec<(String, ServerAnswer)> {
    let mut answers = Vec::new();
    for traits in [&["asking"][..], &["modern", "asking"]] {
        for lifecycle in [ClientLifecycleMode::Initialize, modern()] {
            let mut desk = open_headless(ALLOW).await;
            let client = connect(&desk, traits, passed, (new_client(), lifecycle)).await;
            let text = match client.call_tool(call.clone()).await {
                Ok(called) => called.content[0].as_text().unwrap().text.clone(),
                Err(error) => error.to_string(),
            };
            answers.push((text, recorded_answer(&mut desk).await));
        }
    }
    answers
}

async fn recorded_answer(desk: &mut Fixture) -> ServerAnswer {
    let opened = desk
        .wait_for_event("a session of a client", |body| {
            matches!(body, EventBody::Session(SessionEvent::Opened { .. }))
        })
        .await;
    desk.session = opened.session;
    let events = desk.events().await.into_iter();
    let mut answers = events.filter_map(|event| match event.body {
        EventBody::Call {
            change: CallChange::ServerRequestAnswered { answer, .. },
            ..
        } => Some(answer),
        _ => None,
    });
    answers.next().unwrap()
}

const ALL: PassedQuestions = PassedQuestions {
    elicitation: true,
    sampling: true,
};

#[tokio::test]
async fn a_client_answers_a_form_where_the_gateway_passes_it_on() {
    for (told, answer) in asked("form", ALL, json!({ "name": "Ada" })).await {
        assert!(told.contains("accept") && told.contains("Ada"), "{told}");
        let values = expect_variant!(answer, ServerAnswer::Filled { values } => values);
        assert_eq!(values["name"], "Ada");
    }
}

#[tokio::test]
async fn an_answer_that_does_not_fit_is_none() {
    for (told, answer) in asked("form", ALL, json!({ "name": 7, "other": true })).await {
        assert!(told.contains("decline"), "{told}");
        assert_eq!(answer, ServerAnswer::Declined);
    }
}

#[tokio::test]
async fn a_clients_model_answers_where_the_gateway_passes_that_on() {
    for (told, answer) in asked("ask", ALL, Value::Null).await {
        assert!(
            told.contains("It is a fixture.") && told.contains("their-model"),
            "{told}"
        );
        assert_eq!(answer, ServerAnswer::Allowed);
    }
}

/// A client whose model calls the first tool that it is given.
struct CallingTools;

impl ClientHandler for CallingTools {
    fn get_info(&self) -> ClientConfig {
        let mut sampling = SamplingCapability::default();
        sampling.tools = Some(JsonObject::new());
        let mut capabilities = ClientCapabilities::default();
        capabilities.sampling = Some(sampling);
        ClientConfig::new(capabilities, Implementation::new("calling", "1"))
    }

    async fn create_message(
        &self,
        asked: CreateMessageRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        let tool = asked.tools.unwrap().remove(0);
        let message = SamplingMessage::assistant_tool_use("use_1", tool.name, JsonObject::new());
        let answer = CreateMessageResult::new(message, "their-model".to_owned());
        Ok(answer.with_stop_reason(CreateMessageResult::STOP_REASON_TOOL_USE))
    }
}

/// A call whose server gives a model a tool.
fn call_with_tool() -> CallToolRequestParams {
    let content = json!({ "type": "text", "text": "How many?" });
    let tool = json!({ "name": "count", "inputSchema": { "type": "object" } });
    let ask = json!({ "messages": [{ "role": "user", "content": content }], "maxTokens": 9, "tools": [tool] });
    let arguments = json!({ "ask": ask }).as_object().unwrap().clone();
    CallToolRequestParams::new("ask").with_arguments(arguments)
}

#[tokio::test]
async fn a_clients_model_calls_tools_of_the_server() {
    for (told, answer) in answers_to(call_with_tool(), ALL, || CallingTools).await {
        for part in ["tool_use", "use_1", "count", "toolUse"] {
            assert!(told.contains(part), "{part}: {told}");
        }
        assert_eq!(answer, ServerAnswer::Allowed);
    }
}

#[tokio::test]
async fn tools_are_not_passed_on_to_a_client_that_does_not_take_them() {
    for (told, answer) in answers_to(call_with_tool(), ALL, || Answering(Value::Null)).await {
        assert!(told.contains("did not allow it"), "{told}");
        assert_eq!(answer, ServerAnswer::Declined);
    }
}

#[tokio::test]
async fn nothing_is_passed_on_unless_the_gateway_was_told_to() {
    for (tool, passed) in [
        ("form", PassedQuestions::default()),
        (
            "form",
            PassedQuestions {
                elicitation: false,
                sampling: true,
            },
        ),
    ] {
        for (told, answer) in asked(tool, passed, json!({ "name": "Ada" })).await {
            assert!(told.contains("decline"), "{told}");
            assert_eq!(answer, ServerAnswer::Declined);
        }
    }
}

/// Makes a call as a client of 2026 that answers by itself what it is asked in between.
async fn call_once<T: ClientHandler>(
    client: &Connected<T>,
    tool: &str,
    state: Option<&str>,
    answer: Option<Value>,
) -> Result<CallToolResponse, ServiceError> {
    let mut call = CallToolRequestParams::new(tool.to_owned());
    call.request_state = state.map(str::to_owned);
    call.input_responses = answer.map(|answer| BTreeMap::from([("question".to_owned(), answer)]));
    client.call_tool_once(call).await
}

/// The state of a call that asks something first.
fn asked_state(response: CallToolResponse) -> String {
    let asked = expect_variant!(response, CallToolResponse::InputRequired(asked) => asked);
    let asked = serde_json::to_value(asked).unwrap();
    let question = &asked["inputRequests"]["question"];
    assert_eq!(question["method"], "elicitation/create");
    assert_eq!(question["params"]["message"], "given: Who are you?");
    asked["requestState"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_held_call_goes_on_with_the_answer_to_its_question_and_nothing_else() {
    for traits in [&["asking"][..], &["modern", "asking"]] {
        let mut desk = open_headless(ALLOW).await;
        let client = (Answering(Value::Null), modern());
        let client = connect(&desk, traits, ALL, client).await;
        let state = asked_state(call_once(&client, "form", None, None).await.unwrap());
        let answer = json!({ "action": "accept", "content": { "name": "Ada" } });
        // Without an answer it asks again.
        let again = call_once(&client, "form", Some(&state), None)
            .await
            .unwrap();
        assert_eq!(asked_state(again), state);
        // Neither another state, nor another call, nor what is no answer goes on with it.
        let wrong = [
            ("form", "0000", answer.clone(), "No such call waits"),
            (
                "address",
                state.as_str(),
                answer.clone(),
                "No such call waits",
            ),
            (
                "form",
                state.as_str(),
                json!({ "action": 7 }),
                "cannot be read",
            ),
        ];
        for (tool, state, answer, why) in wrong {
            let refused = call_once(&client, tool, Some(state), Some(answer)).await;
            let refused = refused.err().unwrap().to_string();
            assert!(refused.contains(why), "{refused}");
        }
        let answered = call_once(&client, "form", Some(&state), Some(answer.clone())).await;
        let result =
            expect_variant!(answered.unwrap(), CallToolResponse::Complete(result) => result);
        let text = &result.content[0].as_text().unwrap().text;
        assert!(text.contains("Ada"), "{text}");
        // It is over.
        let over = call_once(&client, "form", Some(&state), Some(answer)).await;
        assert!(
            over.err()
                .unwrap()
                .to_string()
                .contains("No such call waits")
        );
        let recorded = recorded_answer(&mut desk).await;
        assert!(
            matches!(recorded, ServerAnswer::Filled { .. }),
            "{recorded:?}"
        );
        assert_eq!(desk.call_states().await, [CallState::Done], "one call");
    }
}

#[tokio::test]
async fn a_held_call_is_given_up_with_the_next_call_of_its_client() {
    for traits in [&["asking"][..], &["modern", "asking"]] {
        let desk = open_headless(ALLOW).await;
        let client = (Answering(Value::Null), modern());
        let client = connect(&desk, traits, ALL, client).await;
        let given_up = asked_state(call_once(&client, "form", None, None).await.unwrap());
        let state = asked_state(call_once(&client, "form", None, None).await.unwrap());
        let answer = json!({ "action": "accept", "content": { "name": "Ada" } });
        let over = call_once(&client, "form", Some(&given_up), Some(answer.clone())).await;
        let over = over.err().unwrap().to_string();
        assert!(over.contains("Make the call again"), "{over}");
        let answered = call_once(&client, "form", Some(&state), Some(answer)).await;
        let result =
            expect_variant!(answered.unwrap(), CallToolResponse::Complete(result) => result);
        let text = &result.content[0].as_text().unwrap().text;
        assert!(text.contains("Ada"), "{text}");
    }
}

#[tokio::test]
async fn a_client_of_2026_is_asked_nothing_that_it_does_not_answer() {
    for traits in [&["asking"][..], &["modern", "asking"]] {
        let mut desk = open_headless(ALLOW).await;
        // Its capabilities are none.
        let client = connect(&desk, traits, ALL, ((), modern())).await;
        let answered = call_once(&client, "form", None, None).await.unwrap();
        let result = expect_variant!(answered, CallToolResponse::Complete(result) => result);
        let text = &result.content[0].as_text().unwrap().text;
        assert!(text.contains("decline"), "{text}");
        assert_eq!(recorded_answer(&mut desk).await, ServerAnswer::Declined);
    }
}

#[tokio::test]
async fn a_call_that_waits_for_an_answer_ends_with_its_client() {
    let mut desk = open_headless(ALLOW).await;
    let client = (Answering(Value::Null), modern());
    let client = connect(&desk, &["asking"], ALL, client).await;
    asked_state(call_once(&client, "form", None, None).await.unwrap());
    client.cancel().await.unwrap();
    let opened = desk
        .wait_for_event("a session of a client", |body| {
            matches!(body, EventBody::Session(SessionEvent::Opened { .. }))
        })
        .await;
    desk.session = opened.session;
    desk.wait_until_ended().await;
    assert_ne!(desk.call_states().await, [CallState::Done]);
}
