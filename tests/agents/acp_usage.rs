//! Tokens, cost, and the use of the context, as far as an agent tells them.

use protocol::{ContextUse, SessionState, Usage};

use super::acp_agents::AgentDesk;

const BEGUN: &str = r#"-> {"id": 1, "method": "initialize"}
<- {"id": 1, "result": {"protocolVersion": 1}}
-> {"id": 2, "method": "session/new"}
<- {"id": 2, "result": {"sessionId": "s"}}
"#;

/// A turn that tells how much of the context is in use, what the session cost so far, and the tokens of the turn.
fn turn(id: u32, used: u64, cost: f64) -> String {
    format!(
        r#"-> {{"id": {id}, "method": "session/prompt"}}
<- {{"method": "session/update", "params": {{"sessionId": "s", "update": {{"sessionUpdate": "usage_update", "used": {used}, "size": 1000, "cost": {{"amount": {cost}, "currency": "USD"}}}}}}}}
<- {{"id": {id}, "result": {{"stopReason": "end_turn", "usage": {{"totalTokens": 111, "inputTokens": 1, "outputTokens": 10, "cachedReadTokens": 100}}}}}}
"#
    )
}

#[tokio::test]
async fn tokens_and_cost_of_every_turn_add_up_and_the_context_is_as_it_was_told_last() {
    let wire = format!("{BEGUN}{}{}", turn(3, 250, 0.5), turn(4, 400, 0.75));
    let mut place = AgentDesk::new("unknown", &wire).await;
    place.start("Go.").await;
    assert_eq!(place.desk.wait_until_ended().await, SessionState::Done);
    let once = Usage {
        input_tokens: 101,
        cached_tokens: 100,
        output_tokens: 10,
        cost_usd: Some(0.5),
    };
    let view = place.desk.snapshot().await.sessions.remove(0);
    let context = |used| Some(ContextUse { used, size: 1_000 });
    assert_eq!((view.usage, view.context), (once, context(250)));
    place.desk.send_message("Again.").await;
    assert_eq!(place.desk.wait_until_ended().await, SessionState::Done);
    let twice = once.plus(Usage {
        cost_usd: Some(0.25),
        ..once
    });
    let view = place.desk.snapshot().await.sessions.remove(0);
    assert_eq!((view.usage, view.context), (twice, context(400)));
}
