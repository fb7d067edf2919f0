//! Tools that are schemas, in sessions: what their tests share.

use std::sync::Arc;

use serde_json::{Value, json};
use support::cast::Cast;

mod delegates;
mod outputs;
mod requests;
mod tools;

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
fn cast(others: Value, reviewer: Value) -> Arc<Cast> {
    Cast::new(others, [("You review", reviewer)])
}

fn said(answer: &Value) -> Value {
    json!({ "text": answer.to_string() })
}
