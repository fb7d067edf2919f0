//! Tools that are schemas, in sessions: what their tests share.

use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;
use support::say_text;
use support::scripted_agents::ScriptedAgents;

mod final_outputs;
mod latent_tools;
mod requests;
mod sub_agents;

const SENTIMENT: &str = r#"{"sentimentAnalysis": {
    "type": "object",
    "description": "Analyzes text sentiment",
    "properties": {
        "_tool": {"type": "string", "const": "sentimentAnalysis"},
        "text": {"type": "string", "description": "Text to analyze"},
        "_output": {"type": "object", "properties": {"sentiment": {"type": "string"}, "confidence": {"type": "number"}}}
    }
}}"#;

/// Those who are told to review play one script, everybody else another.
fn scripted_agents(others: impl Serialize, reviewer: Value) -> Arc<ScriptedAgents> {
    ScriptedAgents::new(others, [("You review", reviewer)])
}

fn answer_turn(answer: &Value) -> Value {
    say_text(&answer.to_string())
}
