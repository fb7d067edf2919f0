//! Agents that each play a script of their own, told apart by what they are told first.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use provider::{ChunkStream, ModelRequest, Provider, ProviderError, ScriptedProvider};
use serde::Serialize;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::script_provider;

/// Plays one script to those whose first words hold a mark, and another to everybody else; keeps what it was asked.
pub struct ScriptedAgents {
    parts: Vec<(&'static str, ScriptedProvider)>,
    others: ScriptedProvider,
    asked: Mutex<Vec<ModelRequest>>,
}

impl ScriptedAgents {
    /// A cast with these parts, each with the mark of its prompt.
    pub fn new<const N: usize>(
        others: impl Serialize,
        parts: [(&'static str, Value); N],
    ) -> Arc<Self> {
        let parts = parts.map(|(mark, turns)| (mark, script_provider(turns)));
        Arc::new(Self {
            parts: parts.into(),
            others: script_provider(others),
            asked: Mutex::default(),
        })
    }

    /// Everything that it was asked so far.
    pub fn requests(&self) -> Vec<ModelRequest> {
        self.asked.lock().unwrap().clone()
    }

    /// The requests in the part of this mark.
    pub fn requests_marked(&self, mark: &str) -> Vec<ModelRequest> {
        let mut asked = self.requests();
        asked.retain(|request| request.system.contains(mark));
        asked
    }
}

#[async_trait]
impl Provider for ScriptedAgents {
    fn id(&self) -> &str {
        "script"
    }

    async fn stream(
        &self,
        request: ModelRequest,
        cancel: CancellationToken,
    ) -> Result<ChunkStream, ProviderError> {
        self.asked.lock().unwrap().push(request.clone());
        let mut parts = self.parts.iter();
        let part = parts.find(|(mark, _)| request.system.contains(mark));
        let player = part.map_or(&self.others, |(_, player)| player);
        player.stream(request, cancel).await
    }

    async fn models(&self) -> Result<Vec<String>, ProviderError> {
        Ok(Vec::new())
    }
}
