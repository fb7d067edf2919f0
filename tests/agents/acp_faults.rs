//! Agents that do not keep to their protocol: the turn ends with a reason, nothing waits for ever, and the next message
//! starts the agent anew.

use protocol::{CallState, SessionState, Settings};
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

fn permission(id: u32, call: &str) -> String {
    format!(
        r#"<- {{"id": {id}, "method": "session/request_permission", "params": {{"sessionId": "s", "toolCall": {{"toolCallId": "{call}", "title": "{call}", "kind": "execute", "rawInput": {{"command": "echo {call}"}}}}, "options": [{{"optionId": "yes", "name": "Yes", "kind": "allow_once"}}, {{"optionId": "no", "name": "No", "kind": "reject_once"}}]}}}}
"#
    )
}

#[tokio::test]
async fn a_turn_that_breaks_off_says_why_and_the_next_message_starts_the_agent_anew() {
    for (fault, why) in [
        ("#exit 3", "unknown broke off its turn: it ended"),
        ("#error out of memory\n#exit 1", "it said: out of memory"),
        (
            r#"<- {"id": 3, "error": {"code": -32603, "message": "the model is gone"}}"#,
            "the model is gone",
        ),
        (
            r#"<- {"id": 3, "result": {"stopReason": "max_tokens"}}"#,
            "cut at the model's limit",
        ),
        (
            r#"<- {"id": 3, "result": {"stopReason": "refusal"}}"#,
            "refused to go on",
        ),
    ] {
        let mut place = AgentDesk::new("unknown", &format!("{BEGUN}{fault}\n")).await;
        place.start("Go.").await;
        assert_eq!(
            place.desk.wait_until_ended().await,
            SessionState::Failed,
            "{fault}"
        );
        let errors = place.turn_errors().await;
        let why = why.replace("unknown", "acp_agent");
        assert!(errors[0].contains(&why), "{fault}: {errors:?}");
        place.desk.send_message("Again.").await;
        assert_eq!(
            place.desk.wait_until_ended().await,
            SessionState::Failed,
            "{fault}"
        );
    }
}

#[tokio::test]
async fn what_is_no_message_is_passed_over() {
    for noise in [
        "#raw this is no message\n",
        "<- {\"method\": \"session/teleport\", \"params\": {}}\n",
        "<- {\"id\": 77, \"method\": \"client/unknown\", \"params\": {}}\n-> {\"id\": 77}\n",
        "<- {\"method\": \"session/update\", \"params\": {\"sessionId\": \"s\", \"update\": {\"sessionUpdate\": \"dance\"}}}\n",
        "<- {\"method\": \"session/update\", \"params\": {\"sessionId\": \"s\", \"update\": {\"sessionUpdate\": \"tool_call_update\", \"toolCallId\": \"never\"}}}\n",
        "<- {\"id\": 999, \"result\": {}}\n",
    ] {
        // An answer to a request that nobody made has no id to be replaced.
        let noise = noise.replace(
            "<- {\"id\": 999, \"result\": {}}",
            "#raw {\"jsonrpc\": \"2.0\", \"id\": 999, \"result\": {}}",
        );
        let mut place = AgentDesk::new("unknown", &format!("{BEGUN}{noise}{ENDED}")).await;
        place.start("Go.").await;
        let state = place.desk.wait_until_ended().await;
        assert_eq!(
            state,
            SessionState::Done,
            "{noise}: {:?}",
            place.turn_errors().await
        );
    }
}

#[tokio::test]
async fn a_message_without_end_ends_the_agent() {
    let mut place = AgentDesk::new("unknown", &format!("{BEGUN}#long 40000000\n{ENDED}")).await;
    place.start("Go.").await;
    assert_eq!(place.desk.wait_until_ended().await, SessionState::Failed);
}

#[tokio::test]
async fn an_agent_that_does_not_start_says_why() {
    for (wire, why) in [
        ("#error no key\n#exit 1\n".to_owned(), "no key"),
        (
            "-> {\"id\": 1, \"method\": \"initialize\"}\n<- {\"id\": 1, \"result\": {\"protocolVersion\": 7}}\n".to_owned(),
            "protocol version 7",
        ),
        (
            BEGUN.replace(
                r#"{"id": 2, "result": {"sessionId": "s"}}"#,
                r#"{"id": 2, "error": {"code": -32000, "message": "Authentication required"}}"#,
            ),
            "wants you to sign in first",
        ),
    ] {
        let mut place = AgentDesk::new("unknown", &wire).await;
        place.start("Go.").await;
        assert_eq!(place.desk.wait_until_ended().await, SessionState::Failed, "{why}");
        let errors = place.turn_errors().await;
        assert!(errors[0].contains(why), "{errors:?}");
    }
}

#[tokio::test]
async fn two_questions_at_once_are_two_cards_and_one_id_twice_is_asked_twice() {
    let (first, second) = (permission(10, "a"), permission(11, "b"));
    let wire = format!(
        "{BEGUN}{first}{second}-> {{\"id\": 10}}\n-> {{\"id\": 11}}\n{first}-> {{\"id\": 10}}\n{ENDED}"
    );
    let mut place = AgentDesk::new("unknown", &wire).await;
    place.desk.write_rules(rule_text("*", "*", "ask"));
    place.start("Go.").await;
    let cards = place.desk.wait_for_calls(2).await;
    for card in &cards {
        place.desk.allow_call(card).await;
    }
    place.desk.reject_next("").await;
    // The refusal has no further words, so no other prompt follows.
    assert_eq!(place.desk.wait_until_ended().await, SessionState::Done);
    let yes = place.answers().matches("\"optionId\":\"yes\"").count();
    assert_eq!(yes, 2, "{}", place.answers());
}

#[tokio::test]
async fn a_turn_that_ends_with_an_open_question_takes_it_along() {
    let wire = format!("{BEGUN}{}{ENDED}", permission(10, "a"));
    let mut place = AgentDesk::new("unknown", &wire).await;
    place.desk.write_rules(rule_text("*", "*", "ask"));
    place.start("Go.").await;
    assert_eq!(place.desk.wait_until_ended().await, SessionState::Done);
    assert_eq!(place.desk.snapshot().await.desk.len(), 0);
    let states = place.desk.call_states().await;
    assert!(!states.contains(&CallState::Done), "{states:?}");
}

#[tokio::test]
async fn a_limit_of_calls_holds_for_an_agent() {
    let (first, second) = (permission(10, "a"), permission(11, "b"));
    let over = "-> {\"id\": 10}\n-> {\"id\": null, \"method\": \"session/cancel\"}\n<- {\"id\": 3, \"result\": {\"stopReason\": \"cancelled\"}}\n";
    let wire = format!("{BEGUN}{first}{second}-> {{\"id\": 11}}\n{over}");
    let mut place = AgentDesk::new("unknown", &wire).await;
    let mut settings = Settings::default();
    settings.limits.calls = 1;
    place.desk.set_settings(settings).await;
    place.desk.write_rules(rule_text("*", "*", "allow"));
    place.start("Go.").await;
    assert_eq!(
        place.desk.wait_until_ended().await,
        SessionState::Interrupted
    );
    assert_eq!(place.desk.calls().await.len(), 1);
    let (_, notices) = place.texts().await;
    assert!(
        notices.iter().any(|text| text.contains("limit of 1 call")),
        "{notices:?}"
    );
}
