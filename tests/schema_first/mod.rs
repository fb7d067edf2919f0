//! Tools that are schemas, in sessions: what their tests share.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use provider::{ChunkStream, ModelRequest, Provider, ProviderError, Script, Scripted};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

mod delegates;
mod outputs;
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

/// Plays one script to those who are told to review, and another to everybody else; keeps what it was asked.
struct Roles {
    reviewer: Scripted,
    others: Scripted,
    asked: Mutex<Vec<ModelRequest>>,
}

impl Roles {
    fn new(others: Value, reviewer: Value) -> Arc<Self> {
        let player = |turns: Value| {
            let script = Script::parse(&json!({ "turns": turns }).to_string()).unwrap();
            Scripted::new(script)
        };
        Arc::new(Self {
            reviewer: player(reviewer),
            others: player(others),
            asked: Mutex::default(),
        })
    }

    fn asked(&self) -> Vec<ModelRequest> {
        self.asked.lock().unwrap().clone()
    }
}

#[async_trait]
impl Provider for Roles {
    fn id(&self) -> &str {
        "script"
    }

    async fn stream(
        &self,
        request: ModelRequest,
        cancel: CancellationToken,
    ) -> Result<ChunkStream, ProviderError> {
        self.asked.lock().unwrap().push(request.clone());
        match request.system.starts_with("You review") {
            true => self.reviewer.stream(request, cancel).await,
            false => self.others.stream(request, cancel).await,
        }
    }

    async fn models(&self) -> Result<Vec<String>, ProviderError> {
        Ok(Vec::new())
    }
}

fn said(answer: &Value) -> Value {
    json!({ "text": answer.to_string() })
}
