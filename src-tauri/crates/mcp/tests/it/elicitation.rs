//! Questions of servers to the person while one of their tools runs.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use protocol::model::ToolChoice;
use protocol::{ToolCall, ToolError};
use serde_json::{Value, json};
use tokio::sync::Notify;
use tools::ElicitationChannel;
use tools::elicitation::{ElicitationKind, ElicitationReply, ElicitationRequest};

use crate::support::*;

/// Somebody who says what they were told to say, and then nothing.
#[derive(Default)]
pub struct Person {
    says: Mutex<VecDeque<ElicitationReply>>,
    asked: Mutex<Vec<ElicitationRequest>>,
    /// Told whenever something is asked.
    hears: Notify,
}

impl Person {
    pub fn who_says(replies: impl IntoIterator<Item = ElicitationReply>) -> Arc<Self> {
        Arc::new(Self {
            says: Mutex::new(replies.into_iter().collect()),
            ..Self::default()
        })
    }

    pub fn asked(&self) -> Vec<ElicitationRequest> {
        self.asked.lock().unwrap().clone()
    }
}

#[async_trait]
impl ElicitationChannel for Person {
    async fn ask(&self, asking: ElicitationRequest) -> ElicitationReply {
        self.asked.lock().unwrap().push(asking);
        self.hears.notify_one();
        let reply = self.says.lock().unwrap().pop_front();
        match reply {
            Some(reply) => reply,
            None => std::future::pending().await,
        }
    }
}

fn filled(values: Value) -> ElicitationReply {
    ElicitationReply::Filled(values.as_object().unwrap().clone())
}

/// Both eras: what the person says of a form or an address is what the server gets.
#[tokio::test]
async fn a_server_gets_what_the_person_says() {
    for (tool, reply, told) in [
        (
            "form",
            filled(json!({ "name": "Ada" })),
            json!({ "action": "accept", "content": { "name": "Ada" } }),
        ),
        (
            "form",
            ElicitationReply::Declined,
            json!({ "action": "decline" }),
        ),
        (
            "form",
            ElicitationReply::Dismissed,
            json!({ "action": "cancel" }),
        ),
        (
            "address",
            ElicitationReply::Opened,
            json!({ "action": "accept" }),
        ),
        (
            "address",
            ElicitationReply::Declined,
            json!({ "action": "decline" }),
        ),
    ] {
        for (traits, state) in [(&[][..], ""), (&["modern"], " \"kept\"")] {
            let server = fixture(traits).await;
            let person = Person::who_says([reply.clone()]);
            let answer = call_asking(&server, tool, json!({}), person.clone()).await;
            let answer = answer.unwrap().text;
            let said = answer.strip_suffix(state).unwrap();
            assert_eq!(
                serde_json::from_str::<Value>(said).unwrap(),
                told,
                "{tool} {traits:?}"
            );
            let [asked] = &person.asked()[..] else {
                panic!()
            };
            assert_eq!(asked.server.as_str(), "one");
            match &asked.kind {
                ElicitationKind::Form(fields) => assert_eq!(fields.len(), 3),
                ElicitationKind::Url { host, .. } => assert_eq!(host, "example.org"),
                ElicitationKind::Sampling(_) => panic!(),
            }
        }
    }
}

/// Where nobody can be asked, the answer is no.
#[tokio::test]
async fn without_anybody_to_ask_a_server_gets_a_no() {
    for traits in [&[][..], &["modern"]] {
        let server = fixture(traits).await;
        let answer = said(&server, "form", json!({})).await;
        assert!(answer.starts_with(r#"{"action":"decline"}"#), "{answer}");
        logged(&server, "It asked the person something: decline.").await;
    }
}

/// Bad input: a schema that is none is refused with a sentence, and nobody sees it.
#[tokio::test]
async fn what_is_no_form_is_not_shown() {
    for schema in [
        json!({ "type": "object", "properties": { "x": { "type": "object" } } }),
        json!({ "type": "object", "properties": { "x": { "type": "string", "minLength": 9, "maxLength": 1 } } }),
        json!("none"),
    ] {
        let person = Person::who_says([]);
        let arguments = json!({ "schema": schema });
        let server = fixture(&[]).await;
        let answer = call_asking(&server, "form", arguments.clone(), person.clone()).await;
        let answer = answer.unwrap().text;
        assert!(
            answer.contains("-32602") && answer.contains("form"),
            "{answer}"
        );

        let server = fixture(&["modern"]).await;
        let answer = call_asking(&server, "form", arguments, person.clone()).await;
        let error = answer.unwrap_err().to_string();
        assert!(error.contains("gave no answer that can be used"), "{error}");
        assert_eq!(person.asked(), []);
    }
}

/// Two questions at once: the second is declined, the first stands.
#[tokio::test]
async fn a_second_question_at_once_is_declined() {
    let server = fixture(&[]).await;
    let person = Person::who_says([]);
    let asked = person.clone();
    let calling = tokio::spawn({
        let server = server.clone();
        async move { call_asking(&server, "asks", json!({}), asked).await }
    });
    let answer = calling.await.unwrap().unwrap().text;
    assert_eq!(answer, r#"{"action":"decline"}"#);
    assert_eq!(person.asked().len(), 1);
}

/// A question goes with its call, and one that comes after it is declined.
#[tokio::test]
async fn a_question_without_its_call_is_declined() {
    let server = fixture(&[]).await;
    let person = Person::who_says([]);
    let answer = call_asking(&server, "gone", json!({}), person.clone()).await;
    assert_eq!(answer.unwrap().text, "without you");
    logged(&server, r#"told {"action":"decline"}"#).await;
    assert!(person.asked().len() <= 1);
    assert_eq!(echo(&server, "on").await, "on");
}

/// Of two calls nobody can say which one asks: so neither does.
#[tokio::test]
async fn a_question_that_may_be_anothers_is_declined() {
    let server = fixture(&[]).await;
    let person = Person::who_says([]);
    let other = tokio::spawn({
        let server = server.clone();
        async move { call(&server, "hang", json!({})).await }
    });
    logged(&server, "holds hang").await;
    let answer = call_asking(&server, "form", json!({}), person.clone()).await;
    assert_eq!(answer.unwrap().text, r#"{"action":"decline"}"#);
    assert_eq!(person.asked(), []);
    other.abort();
}

/// A server that wants the person elsewhere first is asked again once they were there.
#[tokio::test]
async fn a_call_is_made_again_once_the_person_was_there() {
    for (reply, told) in [
        (ElicitationReply::Opened, Ok("was there")),
        (ElicitationReply::Declined, Err("did not go to the address")),
    ] {
        let server = fixture(&[]).await;
        let answer = call_asking(&server, "first", json!({}), Person::who_says([reply])).await;
        match (answer, told) {
            (Ok(output), Ok(told)) => assert_eq!(output.text, told),
            (Err(ToolError::Failed(why)), Err(told)) => assert!(why.contains(told), "{why}"),
            (is, told) => panic!("{is:?}, not {told:?}"),
        }
    }
}

/// Both eras: a model's words are what the server gets; a no is the protocol's own error, or the end of the call.
#[tokio::test]
async fn a_server_gets_what_the_model_says() {
    let said = ElicitationReply::Sampled {
        model: "m".to_owned(),
        text: "Four.".to_owned(),
        calls: Vec::new(),
        is_cut: true,
    };
    for (reply, told) in [
        (said, Ok("Four.")),
        (
            ElicitationReply::Declined,
            Err("The person did not allow it"),
        ),
        (
            ElicitationReply::Failed("It broke off.".to_owned()),
            Err("It broke off"),
        ),
    ] {
        for traits in [&[][..], &["modern"]] {
            let server = fixture(traits).await;
            let person = Person::who_says([reply.clone()]);
            let answer = call_asking(&server, "ask", json!({}), person.clone()).await;
            let answer = answer
                .map(|output| output.text)
                .unwrap_or_else(|error| error.to_string());
            match told {
                Ok(told) => assert!(
                    answer.contains(told) && answer.contains("maxTokens"),
                    "{answer}"
                ),
                Err(told) => assert!(answer.contains(told), "{answer}"),
            }
            if traits.is_empty() && told.is_err() {
                assert!(answer.contains("\"code\":-1"), "{answer}");
            }
            let [
                ElicitationRequest {
                    kind: ElicitationKind::Sampling(wanted),
                    ..
                },
            ] = &person.asked()[..]
            else {
                panic!()
            };
            assert_eq!(
                (wanted.system.as_str(), wanted.tokens_max),
                ("Be short.", 100)
            );
        }
    }
    // Nobody to ask, no model.
    let answer = self::said(&fixture(&[]).await, "ask", json!({})).await;
    assert!(answer.contains("No model was asked"), "{answer}");
}

/// Both eras: tools of a server reach whoever asks the model, and its calls reach the server.
#[tokio::test]
async fn a_server_gets_the_calls_of_its_tools() {
    let content = json!({ "type": "text", "text": "How many lines?" });
    let tool = json!({ "name": "count", "inputSchema": { "type": "object" } });
    let ask = json!({ "messages": [{ "role": "user", "content": content }], "maxTokens": 100,
        "tools": [tool], "toolChoice": { "mode": "required" } });
    let arguments = json!({ "of": "lines" });
    let said = ElicitationReply::Sampled {
        model: "m".to_owned(),
        text: String::new(),
        calls: vec![ToolCall {
            id: "use_1".into(),
            name: "count".to_owned(),
            arguments: arguments.as_object().unwrap().clone(),
        }],
        is_cut: false,
    };
    for traits in [&[][..], &["modern"]] {
        let server = fixture(traits).await;
        let person = Person::who_says([said.clone()]);
        let answer = call_asking(&server, "ask", json!({ "ask": ask }), person.clone()).await;
        let answer = answer.unwrap().text;
        for part in ["tool_use", "use_1", "\"of\":\"lines\"", "toolUse"] {
            assert!(answer.contains(part), "{part}: {answer}");
        }
        let ElicitationKind::Sampling(asked) = person.asked().remove(0).kind else {
            panic!()
        };
        assert_eq!(asked.tools[0].name, "count");
        assert_eq!(asked.tool_choice, ToolChoice::Required);
    }
}
