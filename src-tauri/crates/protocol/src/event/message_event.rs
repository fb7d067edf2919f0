//! Events about a message: of the person, of the agent, or of a sub-agent task that ended.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

use crate::session::answer_check::AnswerCheck;
use crate::{Content, SessionId, Usage, UserError};

/// The beginning or a change of a message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum MessageChange {
    /// The person said something.
    PersonSaid {
        /// The text.
        text: String,
        /// Images that were given beside it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[ts(as = "Option<Vec<Content>>", optional)]
        images: Vec<Content>,
        /// Whether the message was sent while a turn ran.
        steering: bool,
    },
    /// A sub-agent task that nobody waited for has ended: the model is told.
    SubAgentFinished {
        /// The session that did the task.
        child: SessionId,
        /// Title of the task.
        title: String,
        /// Last words of the task, its output as JSON, or why it has none.
        text: String,
        /// Whether the task failed.
        failed: bool,
    },
    /// A model turn began, which writes the message.
    TurnStarted {
        /// Number of the turn in the session, from 1.
        turn: u32,
    },
    /// A piece of the agent's message.
    AgentSaid {
        /// The piece.
        text: String,
        /// Whether the piece is reasoning and not part of the answer.
        reasoning: bool,
    },
    /// A model turn's answer was checked against the requested schema. Comes before the turn's end.
    AnswerChecked {
        /// Result of the check.
        #[serde(flatten)]
        answer: AnswerCheck,
    },
    /// A model turn's answer is complete, cut off, or failed.
    TurnEnded {
        /// Number of the turn.
        turn: u32,
        /// Usage of the turn.
        usage: Usage,
        /// Time from request to last byte, in milliseconds.
        duration_ms: u64,
        /// Error with the next step; set when the answer was cut off or failed.
        error: Option<UserError>,
        /// Data that the provider wants back with the message, untouched.
        #[ts(type = "unknown")]
        opaque: Value,
    },
}

super::name_events!(MessageChange {
    PersonSaid: "person_said",
    SubAgentFinished: "sub_agent_finished",
    TurnStarted: "turn_started",
    AgentSaid: "agent_said",
    AnswerChecked: "answer_checked",
    TurnEnded: "turn_ended",
});
