//! 000: the events of a chat; an event about a call has the call's id.

use std::collections::HashSet;

use serde::Serialize;

use crate::event::{CallChange, CallProposal, MessageChange, SessionEvent};
use crate::{CallId, Event, EventBody, MessageId, NoticeLevel, SessionState, ToolCall, ToolResult};

/// One event of a chat: `{"type", "payload"}`, and `callId` if the event is about a call.
///
/// `keepalive` belongs to the transport and `orchestration` to a host of many agents: the log has neither.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ChatEvent {
    /// The model that answers, and the workspace.
    Agent {
        /// The agent.
        payload: ChatAgent,
    },
    /// A piece of the agent's answer. The agent's reasoning is not content and is not reported.
    Content {
        /// The piece.
        payload: ChatContent,
    },
    /// The model asks for a call.
    ToolCall {
        /// The call, with its three members and no more (`S000-05`).
        payload: ToolCall,
    },
    /// A call begins to run: the call's row shows an activity indicator.
    #[serde(rename = "loader-hint", rename_all = "camelCase")]
    LoaderHint {
        /// The call.
        call_id: CallId,
        /// The hint to show.
        payload: ChatHint,
    },
    /// The result of a call.
    #[serde(rename_all = "camelCase")]
    ToolResult {
        /// The call; the corresponding event of the original specification lacks the id, so that two simultaneous calls
        /// cannot be told apart there.
        call_id: CallId,
        /// The result.
        payload: Box<ToolResult>,
    },
    /// An answer was cut off, or the run stopped.
    Error {
        /// The error.
        payload: ChatError,
    },
    /// The run reached one of its limits.
    BudgetExhausted {
        /// The limit.
        payload: ChatBudget,
    },
    /// The run has ended.
    Done {
        /// How the run ended.
        payload: ChatDone,
    },
}

/// The model that answers, and the session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ChatAgent {
    /// The provider's id.
    pub provider: String,
    /// The model; empty where the provider has only one.
    pub model: String,
    /// The session's title.
    pub title: String,
    /// The workspace root.
    pub workspace: String,
}

/// A piece of an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ChatContent {
    /// The message that the piece belongs to.
    pub message_id: MessageId,
    /// The piece.
    pub text: String,
}

/// Text that a row shows while its call runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ChatHint {
    /// The text.
    pub text: String,
}

/// An error.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ChatError {
    /// Description of the error.
    pub message: String,
    /// Advice on the next step; may be empty.
    pub hint: String,
}

/// The limit that a run reached.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ChatBudget {
    /// Description of the limit that was used up.
    pub message: String,
    /// The limit's name: `E_BUDGET_TOOL_CALLS`.
    pub code: String,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ChatDone {
    /// `done`, `failed` or `interrupted`.
    pub state: SessionState,
}

/// Maps a session's events to chat events.
#[derive(Debug, Clone, Default)]
pub struct ChatMapper {
    /// Calls without a result.
    open: HashSet<CallId>,
}

impl ChatMapper {
    /// Maps an event to chat events.
    pub fn map(&mut self, event: &Event) -> Vec<ChatEvent> {
        self.map_one(event).into_iter().collect()
    }

    fn map_one(&mut self, event: &Event) -> Option<ChatEvent> {
        match &event.body {
            EventBody::Session(event) => map_session_event(event),
            EventBody::Message { change, message } => map_message_change(change, message),
            EventBody::Proposal(CallProposal { call, .. }) => {
                let first = self.open.insert(call.id.clone());
                first.then(|| ChatEvent::ToolCall {
                    payload: call.clone(),
                })
            }
            EventBody::Call {
                change: CallChange::Started,
                call,
            } if self.open.contains(call) => Some(ChatEvent::LoaderHint {
                call_id: call.clone(),
                payload: ChatHint {
                    text: "Running".to_owned(),
                },
            }),
            EventBody::Call {
                change: CallChange::Ended { outcome, .. },
                call,
            } => self.open.remove(call).then(|| ChatEvent::ToolResult {
                call_id: call.clone(),
                payload: Box::new(outcome.to_result()),
            }),
            EventBody::Call { .. } => None,
        }
    }
}

fn map_session_event(event: &SessionEvent) -> Option<ChatEvent> {
    match event {
        SessionEvent::Opened {
            title,
            workspace,
            model,
            ..
        } => Some(ChatEvent::Agent {
            payload: ChatAgent {
                provider: model.provider.clone(),
                model: model.model.clone(),
                title: title.clone(),
                workspace: workspace.clone(),
            },
        }),
        SessionEvent::NoticeAdded { notice } => {
            (notice.level == NoticeLevel::Error).then(|| new_error_event(&notice.fault))
        }
        SessionEvent::LimitReached { limit, used, max } => Some(ChatEvent::BudgetExhausted {
            payload: ChatBudget {
                message: format!("{used} of {max} {} used", limit.unit()),
                code: limit.code().to_owned(),
            },
        }),
        SessionEvent::Changed { state } => state.ends_run().then_some(ChatEvent::Done {
            payload: ChatDone { state: *state },
        }),
        SessionEvent::Renamed { .. }
        | SessionEvent::Placed { .. }
        | SessionEvent::Deleted { .. }
        | SessionEvent::PlanningSet { .. }
        | SessionEvent::ModelChanged { .. }
        | SessionEvent::AsksSkipped { .. }
        | SessionEvent::AsksResumed { .. }
        | SessionEvent::AgentOptionsChanged { .. }
        | SessionEvent::AgentContextChanged { .. } => None,
    }
}

fn map_message_change(change: &MessageChange, message: &MessageId) -> Option<ChatEvent> {
    match change {
        MessageChange::AgentSaid {
            text,
            reasoning: false,
        } => Some(ChatEvent::Content {
            payload: ChatContent {
                message_id: message.clone(),
                text: text.clone(),
            },
        }),
        MessageChange::TurnEnded { error, .. } => error.as_ref().map(new_error_event),
        MessageChange::PersonSaid { .. }
        | MessageChange::SubAgentFinished { .. }
        | MessageChange::TurnStarted { .. }
        | MessageChange::AgentSaid {
            reasoning: true, ..
        }
        | MessageChange::AnswerChecked { .. } => None,
    }
}

fn new_error_event(fault: &crate::UserError) -> ChatEvent {
    ChatEvent::Error {
        payload: ChatError {
            message: fault.message.clone(),
            hint: fault.hint.clone(),
        },
    }
}
