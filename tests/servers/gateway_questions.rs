//! Questions of a server behind a gateway where nobody is asked: passed on to the client only if whoever started the gateway
//! said so, and recorded.

#![allow(
    deprecated,
    reason = "sampling is being removed from the protocol; clients of today answer it"
)]

use gateway::mcp::{PassedQuestions, ServedTools};
use protocol::event::{CallChange, SessionEvent};
use protocol::{EventBody, ServerAnswer};
use rmcp::ClientHandler;
use rmcp::ErrorData;
use rmcp::model::{
    CallToolRequestParams, ClientCapabilities, ClientConfig, CreateMessageRequestParams,
    CreateMessageResult, ElicitRequestParams, ElicitResult, ElicitationAction,
    ElicitationCapability, Implementation, SamplingCapability, SamplingMessage,
};
use rmcp::service::{RequestContext, RoleClient, serve_client};
use serde_json::{Value, json};
use support::{Fixture, expect_variant};
use tokio::io::{duplex, split};

use super::gateway_client::{ALLOW, given, open_headless};

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

/// Calls a tool that asks, and returns what the server was answered, with the answer on record.
async fn asked(tool: &str, passed: PassedQuestions, content: Value) -> (String, ServerAnswer) {
    let mut desk = open_headless(ALLOW).await;
    let request = given(&desk, &["asking"]);
    let served = ServedTools::open(&desk.engine, &request).await.unwrap();
    let (ours, theirs) = duplex(1 << 20);
    let (from, to) = split(ours);
    tokio::spawn(gateway::mcp::serve(
        served.passing_questions(passed),
        from,
        to,
        std::future::pending(),
    ));
    let client = serve_client(Answering(content), split(theirs))
        .await
        .unwrap();
    let called = client
        .call_tool(CallToolRequestParams::new(tool.to_owned()))
        .await;
    let text = called.unwrap().content[0].as_text().unwrap().text.clone();
    (text, recorded_answer(&mut desk).await)
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
    let (told, answer) = asked("form", ALL, json!({ "name": "Ada" })).await;
    assert!(told.contains("accept") && told.contains("Ada"), "{told}");
    let values = expect_variant!(answer, ServerAnswer::Filled { values } => values);
    assert_eq!(values["name"], "Ada");
}

#[tokio::test]
async fn an_answer_that_does_not_fit_is_none() {
    let (told, answer) = asked("form", ALL, json!({ "name": 7, "other": true })).await;
    assert!(told.contains("decline"), "{told}");
    assert_eq!(answer, ServerAnswer::Declined);
}

#[tokio::test]
async fn a_clients_model_answers_where_the_gateway_passes_that_on() {
    let (told, answer) = asked("ask", ALL, Value::Null).await;
    assert!(
        told.contains("It is a fixture.") && told.contains("their-model"),
        "{told}"
    );
    assert_eq!(answer, ServerAnswer::Allowed);
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
        let (told, answer) = asked(tool, passed, json!({ "name": "Ada" })).await;
        assert!(told.contains("decline"), "{told}");
        assert_eq!(answer, ServerAnswer::Declined);
    }
}
