//! What an agent asks the person beside its calls: on a card as a server's question, answered once, and recorded.

use agent::Host;
use protocol::event::CallChange;
use protocol::{
    CallState, CallView, EntryBody, EventBody, Op, ServerAnswer, ServerRequestKind,
    ServerRequestView, SessionState,
};
use serde_json::{Value, json};
use support::rule_text;

use super::acp_agents::AgentDesk;

/// An agent that has begun its turn.
const BEGUN: &str = r#"-> {"id": 1, "method": "initialize"}
<- {"id": 1, "result": {"protocolVersion": 1}}
-> {"id": 2, "method": "session/new"}
<- {"id": 2, "result": {"sessionId": "s"}}
-> {"id": 3, "method": "session/prompt"}
"#;
const ENDED: &str = r#"<- {"id": 3, "result": {"stopReason": "end_turn"}}
"#;
const FORM: &str = r#""mode": "form", "message": "Which branch?", "requestedSchema": {"type": "object", "properties": {"branch": {"type": "string", "title": "Branch"}, "times": {"type": "integer"}}, "required": ["branch"]}"#;
const ADDRESS: &str = r#""mode": "url", "message": "Sign in.", "elicitationId": "e", "url": "https://sign-in.example/a?b=c""#;

fn question(id: u32, asked: &str) -> String {
    format!(
        r#"<- {{"id": {id}, "method": "elicitation/create", "params": {{"sessionId": "s", {asked}}}}}
"#
    )
}

/// Waits until the agent has asked so many questions, all still open; gives them with their calls.
async fn wait_for_questions(
    place: &mut AgentDesk,
    questions: usize,
) -> Vec<(CallView, ServerRequestView)> {
    let seen = std::cell::Cell::new(0);
    let is_asked = |body: &EventBody| {
        let is_question = matches!(
            body,
            EventBody::Call {
                change: CallChange::ServerRequestReceived { .. },
                ..
            }
        );
        seen.set(seen.get() + usize::from(is_question));
        seen.get() == questions
    };
    place.desk.wait_for_event("questions", is_asked).await;
    let entries = place.desk.snapshot().await.desk;
    let views = entries.into_iter().filter_map(|entry| match entry.body {
        EntryBody::Call(view) => Some(*view),
        _ => None,
    });
    let asked = views.map(|view| {
        let question = view.open_server_request().unwrap().clone();
        (view, question)
    });
    asked.collect()
}

/// Waits until the agent asks; gives the question with its call.
async fn wait_for_question(place: &mut AgentDesk) -> (CallView, ServerRequestView) {
    wait_for_questions(place, 1).await.remove(0)
}

async fn answer(place: &AgentDesk, asked: &(CallView, ServerRequestView), answer: ServerAnswer) {
    let op = Op::AnswerServer {
        session: place.desk.session.clone(),
        call: asked.0.call.id.clone(),
        request_id: asked.1.id.clone(),
        answer,
    };
    place.desk.submit(op).await;
}

fn filled(values: &Value) -> ServerAnswer {
    ServerAnswer::Filled {
        values: values.as_object().unwrap().clone(),
    }
}

impl AgentDesk {
    /// What the client answered to the agent's request with this id.
    fn answer_to(&self, id: u32) -> Value {
        let answers = self.answers();
        let mut messages = answers
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap());
        let answer = messages.find(|one| one.get("method").is_none() && one["id"] == id);
        answer.unwrap()
    }
}

#[tokio::test]
async fn a_form_is_asked_answered_and_recorded() {
    let wire = format!("{BEGUN}{}-> {{\"id\": 7}}\n{ENDED}", question(7, FORM));
    let mut place = AgentDesk::new("unknown", &wire).await;
    place.start("Go.").await;
    let asked = wait_for_question(&mut place).await;
    assert_eq!(asked.0.state, CallState::Waiting);
    assert_eq!(asked.1.request.server.to_string(), "acp_agent");
    let ServerRequestKind::Form { fields } = &asked.1.request.wants else {
        panic!("{asked:?}");
    };
    let names: Vec<(&str, bool)> = fields
        .iter()
        .map(|field| (field.name.as_str(), field.required))
        .collect();
    assert_eq!(names, [("branch", true), ("times", false)]);
    let values = json!({ "branch": "main", "times": 3 });
    answer(&place, &asked, filled(&values)).await;
    assert_eq!(place.desk.wait_until_ended().await, SessionState::Done);
    assert_eq!(
        place.answer_to(7)["result"],
        json!({ "action": "accept", "content": values })
    );
    let view = place.desk.find_call(asked.0.call.id.as_str()).await;
    assert_eq!(view.state, CallState::Done);
    let answered = view.server_requests[0].answered.as_ref();
    assert_eq!(answered.unwrap().answer, filled(&values));
}

#[tokio::test]
async fn an_address_is_opened_by_the_person_or_declined() {
    for (given, action) in [
        (ServerAnswer::Opened, "accept"),
        (ServerAnswer::Declined, "decline"),
    ] {
        let wire = format!("{BEGUN}{}-> {{\"id\": 7}}\n{ENDED}", question(7, ADDRESS));
        let mut place = AgentDesk::new("unknown", &wire).await;
        place.start("Go.").await;
        let asked = wait_for_question(&mut place).await;
        let ServerRequestKind::Address { url, host, .. } = &asked.1.request.wants else {
            panic!("{asked:?}");
        };
        assert_eq!(
            (url.as_str(), host.as_str()),
            ("https://sign-in.example/a?b=c", "sign-in.example")
        );
        answer(&place, &asked, given).await;
        assert_eq!(place.desk.wait_until_ended().await, SessionState::Done);
        assert_eq!(place.answer_to(7)["result"], json!({ "action": action }));
    }
}

#[tokio::test]
async fn two_questions_at_once_are_two_cards() {
    let wire = format!(
        "{BEGUN}{}{}-> {{\"id\": 7}}\n-> {{\"id\": 8}}\n{ENDED}",
        question(7, FORM),
        question(8, ADDRESS)
    );
    let mut place = AgentDesk::new("unknown", &wire).await;
    place.start("Go.").await;
    let questions = wait_for_questions(&mut place, 2).await;
    assert_eq!(questions.len(), 2);
    for asked in questions.iter().rev() {
        let given = match asked.1.request.wants {
            ServerRequestKind::Form { .. } => filled(&json!({ "branch": "main" })),
            _ => ServerAnswer::Opened,
        };
        answer(&place, asked, given).await;
    }
    assert_eq!(place.desk.wait_until_ended().await, SessionState::Done);
    assert_eq!(
        place.answer_to(7)["result"],
        json!({ "action": "accept", "content": { "branch": "main" } })
    );
    assert_eq!(place.answer_to(8)["result"], json!({ "action": "accept" }));
}

#[tokio::test]
async fn a_question_ends_with_its_turn_and_one_after_it_is_cancelled() {
    let wire = format!(
        "{BEGUN}{}-> {{\"id\": null, \"method\": \"session/cancel\"}}\n-> {{\"id\": 7}}\n{}-> {{\"id\": 8}}\n<- {{\"id\": 3, \"result\": {{\"stopReason\": \"cancelled\"}}}}\n",
        question(7, FORM),
        question(8, FORM)
    );
    let mut place = AgentDesk::new("unknown", &wire).await;
    place.start("Go.").await;
    wait_for_question(&mut place).await;
    place.desk.interrupt_run().await;
    assert_eq!(
        place.desk.wait_until_ended().await,
        SessionState::Interrupted
    );
    assert_eq!(place.desk.snapshot().await.desk.len(), 0);
    for id in [7, 8] {
        assert_eq!(place.answer_to(id)["result"], json!({ "action": "cancel" }));
    }
}

#[tokio::test]
async fn where_nobody_is_and_where_a_rule_denies_it_a_question_is_declined() {
    for (host, rule) in [
        (Host::Headless { approve_all: false }, ""),
        (Host::Headless { approve_all: true }, ""),
        (Host::Person, "acp_agent__elicitation"),
    ] {
        let wire = format!("{BEGUN}{}-> {{\"id\": 7}}\n{ENDED}", question(7, FORM));
        let mut place = AgentDesk::with_host("unknown", &wire, host).await;
        if !rule.is_empty() {
            place.desk.write_rules(rule_text(rule, "*", "deny"));
        }
        place.start("Go.").await;
        assert_eq!(place.desk.wait_until_ended().await, SessionState::Done);
        assert_eq!(place.answer_to(7)["result"], json!({ "action": "decline" }));
    }
}

#[tokio::test]
async fn what_a_person_cannot_be_asked_is_an_error_for_the_agent() {
    for (asked, why) in [
        (
            r#""mode": "url", "message": "m", "elicitationId": "e", "url": "file:///etc/passwd""#,
            "Addresses of the kind `file` are not opened.",
        ),
        (
            r#""mode": "_telepathy", "message": "m""#,
            "Nobody can be asked in the way `_telepathy` here.",
        ),
    ] {
        let wire = format!("{BEGUN}{}-> {{\"id\": 7}}\n{ENDED}", question(7, asked));
        let mut place = AgentDesk::new("unknown", &wire).await;
        place.start("Go.").await;
        assert_eq!(place.desk.wait_until_ended().await, SessionState::Done);
        let data = place.answer_to(7)["error"]["data"].clone();
        assert_eq!(data, format!("The person cannot be asked this: {why}"));
    }
}
