//! A session as a person reads it: events folded into entries.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use ts_rs::TS;

use crate::model::Effort;
use crate::session::answer_check::AnswerCheck;
use crate::session::grant::Grant;
use crate::session::list_place::ListPlace;
use crate::session::parent_call::ParentCall;
use crate::session::skipped_asks::SkippedAsks;
use crate::session::state_location::StateLocation;
use crate::view::preview::UndoAvailability;
use crate::{
    At, CallState, ContextUse, Decision, Digest, ModelChoice, Notice, Outcome, Preview,
    ServerRequestView, SessionId, SessionState, ToolCall, ToolKind, ToolMode, Trail, UndoEntry,
    Usage, UserError,
};

/// One entry of a transcript.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct Entry {
    /// Id of the message, call or notice; unique within the session.
    pub id: String,
    /// The session.
    pub session: SessionId,
    /// Position: the `seq` of the event that began the entry.
    pub seq: u64,
    /// When the entry began.
    pub at: At,
    /// Content of the entry.
    pub body: EntryBody,
}

/// Content of an entry, by its type.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum EntryBody {
    /// The person said something.
    Person {
        /// The text.
        text: String,
        /// Number of images attached to the text.
        #[serde(default, skip_serializing_if = "crate::call::outcome::is_default")]
        #[ts(as = "Option<u32>", optional)]
        images: u32,
        /// Whether the message was sent while a turn ran.
        steering: bool,
    },
    /// A sub-agent task that the agent started without waiting for it has ended.
    SubAgentTask {
        /// The session that did the task.
        child: SessionId,
        /// Title of the task.
        title: String,
        /// Result of the task, or why it has none.
        text: String,
        /// Whether the task failed.
        failed: bool,
    },
    /// The agent said something.
    Agent {
        /// The turn's number.
        turn: u32,
        /// Text of the answer so far.
        text: String,
        /// The reasoning so far.
        reasoning: String,
        /// Whether more text may follow.
        writing: bool,
        /// Usage of the turn; none until the turn ended.
        usage: Option<Usage>,
        /// Set when the answer was cut off or failed.
        error: Option<UserError>,
        /// Result of the schema check of the answer, if one was requested.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        checked: Option<AnswerCheck>,
    },
    /// The agent asked for a call.
    Call(Box<CallView>),
    /// A notice for the person.
    Notice(Notice),
}

impl EntryBody {
    /// Returns the call, if the entry is one.
    pub fn call(&self) -> Option<&CallView> {
        match self {
            Self::Call(view) => Some(view),
            Self::Person { .. }
            | Self::SubAgentTask { .. }
            | Self::Agent { .. }
            | Self::Notice(_) => None,
        }
    }
}

/// One call with everything known about it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct CallView {
    /// The call as the model made it.
    pub call: ToolCall,
    /// The arguments as the person changed them; none if unchanged.
    #[ts(type = "Record<string, unknown> | null")]
    pub edited: Option<Map<String, Value>>,
    /// The agent's own reason for the call.
    pub reasoning: Option<String>,
    /// The tool's id.
    pub tool: String,
    /// Name on the card.
    pub title: String,
    /// Target of the call.
    pub target: String,
    /// Mode of the call; none before the verdict, or if nothing defines it.
    pub mode: Option<ToolMode>,
    /// Kind of the call.
    pub kind: ToolKind,
    /// Current state of the call.
    pub state: CallState,
    /// The gates and their results; none before the verdict.
    pub trail: Option<Arc<Trail>>,
    /// Preview shown on the card.
    pub preview: Preview,
    /// Whether the call's effects could be undone.
    #[serde(alias = "outlook")]
    pub undo_availability: UndoAvailability,
    /// Facts needed for a decision; set while the call waits.
    pub pending: Option<PendingDecision>,
    /// The person's decision.
    pub decision: Option<PersonDecision>,
    /// The undo entry, once a copy was taken.
    pub undo: Option<UndoEntry>,
    /// When the effects were last undone.
    pub undone_at: Option<At>,
    /// The end of the live output, at most [`CallView::OUTPUT_BYTES_MAX`].
    pub output: String,
    /// Last progress message of the call, while it runs.
    pub progress: Option<String>,
    /// Requests of the call's server to the person, in order. The last one is pending if it has no answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(optional, as = "Option<Vec<ServerRequestView>>")]
    pub server_requests: Vec<ServerRequestView>,
    /// Outcome of the call; none until it ended.
    pub outcome: Option<Outcome>,
    /// Where the call's output is kept in the session's state.
    #[serde(default, alias = "kept", skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub stored_at: Option<StateLocation>,
    /// The session in which the call was made, if this one was forked from it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub forked_from: Option<SessionId>,
    /// When the call began to run.
    pub started_at: Option<At>,
    /// When the call ended.
    pub ended_at: Option<At>,
}

impl CallView {
    /// Maximum length of the live output that the folded call keeps, in bytes; the outcome has the head.
    pub const OUTPUT_BYTES_MAX: usize = 64 * 1024;

    /// Returns the pending request of the call's server to the person, if there is one.
    pub fn open_server_request(&self) -> Option<&ServerRequestView> {
        let last = self.server_requests.last();
        last.filter(|ask| ask.answered.is_none() && self.state == CallState::Waiting)
    }

    /// Returns since when the call waits for the person; none if it does not.
    pub fn waiting_since(&self) -> Option<At> {
        let asked = self.open_server_request().map(|ask| ask.at);
        asked.or_else(|| self.pending.as_ref().map(|pending| pending.since))
    }
}

/// A call that waits for a decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct PendingDecision {
    /// Digest that a decision must name.
    pub digest: Digest,
    /// Since when the call waits.
    pub since: At,
    /// Grants offered, one for each answer.
    pub grants: Vec<Grant>,
    /// Description of the changes since the card was first shown, if there are any.
    pub refreshed: Option<String>,
    /// When the wait expires.
    pub expires_at: Option<At>,
}

/// A person's decision and its time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct PersonDecision {
    /// The decision.
    pub decision: Decision,
    /// When the person decided.
    pub at: At,
}

/// One line of the session list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct SessionView {
    /// The session.
    pub id: SessionId,
    /// Title of the session.
    pub title: String,
    /// The workspace root, absolute.
    pub workspace: String,
    /// The model that answers.
    pub model: ModelChoice,
    /// The call that opened the session, if a call did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub parent: Option<ParentCall>,
    /// Current state of the session.
    pub state: SessionState,
    /// When the session began.
    pub opened_at: At,
    /// When the session last changed.
    pub changed_at: At,
    /// Number of calls that wait for the person.
    pub waiting: u32,
    /// Number of turns that ended.
    pub turns: u32,
    /// Usage of all turns together.
    pub usage: Usage,
    /// Whether the session plans first, with nothing in reach that could change anything.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[ts(optional, as = "Option<bool>")]
    pub planning: bool,
    /// Where the session stands in the list.
    #[serde(default, skip_serializing_if = "ListPlace::is_default")]
    #[ts(optional, as = "Option<ListPlace>")]
    pub place: ListPlace,
    /// Reasoning effort of the model; none for the default of the model's name or provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub effort: Option<Effort>,
    /// Since when and until when the session skips asks; none if it asks. A time that is over counts as none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub skipped_asks: Option<SkippedAsks>,
    /// The event that last changed what the session's agent lets a person choose; none if it never offered anything. The
    /// options themselves are asked for by `agent_options`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub agent_options: Option<u64>,
    /// How much of its model's context the session's agent uses, as it told last; none if it did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub context: Option<ContextUse>,
}
