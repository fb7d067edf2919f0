//! A prompt that an editor waits for, from the person's words in the record to the end of the run.

use agent_client_protocol::v1::Responder;
use agent_client_protocol::v1::schema::{PromptResponse, StopReason};
use protocol::event::{MessageChange, SessionEvent};
use protocol::{EventBody, Limit, NoticeLevel, SessionState, UserError};

use super::errors::failed_request;

/// A prompt without an answer.
pub(super) struct PromptTurn {
    responder: Responder<PromptResponse>,
    /// Whether the person's words are on record: a run that ends before is an earlier one.
    has_begun: bool,
    limit: Option<Limit>,
    fault: Option<UserError>,
}

impl PromptTurn {
    pub fn new(responder: Responder<PromptResponse>) -> Self {
        Self {
            responder,
            has_begun: false,
            limit: None,
            fault: None,
        }
    }

    /// Notes an event of the session. Returns how the run ended, if it did.
    pub fn note_event(&mut self, event: &EventBody) -> Option<SessionState> {
        match event {
            EventBody::Message { change, .. } => match change {
                MessageChange::PersonSaid { .. } => self.has_begun = true,
                MessageChange::TurnEnded { error, .. } => self.fault.clone_from(error),
                MessageChange::SubAgentFinished { .. }
                | MessageChange::TurnStarted { .. }
                | MessageChange::AgentSaid { .. }
                | MessageChange::AnswerChecked { .. } => {}
            },
            EventBody::Session(SessionEvent::LimitReached { limit, .. }) => {
                self.limit = Some(*limit);
            }
            EventBody::Session(SessionEvent::NoticeAdded { notice })
                if notice.level == NoticeLevel::Error =>
            {
                self.fault = Some(notice.fault.clone());
            }
            EventBody::Session(SessionEvent::Changed { state })
                if self.has_begun && state.ends_run() =>
            {
                return Some(*state);
            }
            EventBody::Session(_) | EventBody::Proposal(_) | EventBody::Call { .. } => {}
        }
        None
    }

    /// Answers the prompt by how its run ended.
    pub fn finish(self, state: SessionState) -> Result<(), agent_client_protocol::Error> {
        let reason = match (state, self.limit) {
            (SessionState::Interrupted, None) => StopReason::Cancelled,
            (SessionState::Interrupted, Some(Limit::Tokens)) => StopReason::MaxTokens,
            (
                SessionState::Interrupted,
                Some(Limit::Turns | Limit::Calls | Limit::Cost | Limit::Time),
            ) => StopReason::MaxTurnRequests,
            (SessionState::Failed, _) => {
                let failed = || UserError::new("The run failed.", "");
                let fault = failed_request(&self.fault.unwrap_or_else(failed));
                return self.responder.respond_with_error(fault);
            }
            (
                SessionState::Done
                | SessionState::Idle
                | SessionState::Running
                | SessionState::Waiting,
                _,
            ) => StopReason::EndTurn,
        };
        self.responder.respond(PromptResponse::new(reason))
    }

    /// Answers a prompt that could not be sent.
    pub fn refuse(
        self,
        fault: agent_client_protocol::Error,
    ) -> Result<(), agent_client_protocol::Error> {
        self.responder.respond_with_error(fault)
    }
}
