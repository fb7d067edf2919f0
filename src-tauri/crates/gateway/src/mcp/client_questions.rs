//! Questions of a server that are passed on to a client of 2025 while its request runs: only where nobody of ours is asked, of the
//! kinds that whoever started the gateway named, and to a client that says that it answers them.

#![allow(
    deprecated,
    reason = "sampling is being removed from the protocol; servers and clients of today use it"
)]

use async_trait::async_trait;
use rmcp::service::{Peer, RoleServer, ServiceError};
use serde_json::Value;
use tools::elicitation::{ElicitationChannel, ElicitationReply, ElicitationRequest};

use super::protocol_questions::{PassedQuestions, ProtocolQuestion, QuestionKind};

/// The client, as the one who answers.
pub(super) struct ClientQuestions {
    peer: Peer<RoleServer>,
    passed: PassedQuestions,
}

impl ClientQuestions {
    /// Returns the client; none if no question is passed on.
    pub fn new(peer: &Peer<RoleServer>, passed: PassedQuestions) -> Option<Self> {
        passed.is_any().then(|| Self {
            peer: peer.clone(),
            passed,
        })
    }

    async fn send(&self, question: &ProtocolQuestion) -> Option<Value> {
        let params = question.params.clone();
        let answer: Result<_, ServiceError> = match question.kind {
            QuestionKind::Form | QuestionKind::Url => {
                let asked = self
                    .peer
                    .create_elicitation(serde_json::from_value(params).ok()?);
                asked.await.map(serde_json::to_value)
            }
            QuestionKind::Sampling { .. } => {
                let asked = self
                    .peer
                    .create_message(serde_json::from_value(params).ok()?);
                asked.await.map(serde_json::to_value)
            }
        };
        let answer =
            answer.inspect_err(|error| tracing::info!(%error, "a client answered no question"));
        answer.ok()?.ok()
    }
}

#[async_trait]
impl ElicitationChannel for ClientQuestions {
    async fn ask(&self, asked: ElicitationRequest) -> ElicitationReply {
        let question = ProtocolQuestion::new(&asked);
        let client = self.peer.peer_info();
        let capabilities = client.as_ref().map(|client| &client.capabilities);
        if !question.can_be_passed_on(self.passed, capabilities) {
            return ElicitationReply::Declined;
        }
        let answer = self.send(&question).await;
        let reply = answer.and_then(|answer| question.read_answer(answer));
        reply.unwrap_or(ElicitationReply::Declined)
    }
}
