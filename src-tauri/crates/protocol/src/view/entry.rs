//! A session as a person reads it: events folded into entries.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use ts_rs::TS;

use crate::session::answer_check::AnswerCheck;
use crate::session::grant::Grant;
use crate::session::parent_call::ParentCall;
use crate::session::state_location::StateLocation;
use crate::view::preview::UndoAvailability;
use crate::{
    At, CallState, Decision, Digest, ModelChoice, Notice, Outcome, Preview, ServerRequestView,
    SessionId, SessionState, ToolCall, ToolKind, ToolMode, Trail, UndoEntry, Usage, UserError,
};

/// One entry of a transcript.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct Entry {
    /// The message's, the call's or the notice's id; unique within the session.
    pub id: String,
    /// The session.
    pub session: SessionId,
    /// Position: the `seq` of the event that began it.
    pub seq: u64,
    /// When it began.
    pub at: At,
    /// What it is.
    pub body: EntryBody,
}

/// What an entry is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum EntryBody {
    /// The person said something.
    Person {
        /// The text.
        text: String,
        /// How many images were given beside it.
        #[serde(default, skip_serializing_if = "is_zero")]
        #[ts(as = "Option<u32>", optional)]
        images: u32,
        /// Whether it was said while a turn ran.
        steering: bool,
    },
    /// Work that the agent gave away and did not wait for came to its end.
    Errand {
        /// The session that did it.
        child: SessionId,
        /// What it is called.
        title: String,
        /// What came of it, or why nothing did.
        text: String,
        /// Whether it came to nothing.
        failed: bool,
    },
    /// The agent said something.
    Agent {
        /// The turn's number.
        turn: u32,
        /// The answer's text so far.
        text: String,
        /// The reasoning so far.
        reasoning: String,
        /// Whether more may come.
        writing: bool,
        /// What the turn used; none until it ended.
        usage: Option<Usage>,
        /// Set when the answer was cut off or failed.
        error: Option<UserError>,
        /// What came of the answer, if it was asked for in a schema.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        checked: Option<AnswerCheck>,
    },
    /// The agent asked for a call.
    Call(Box<CallView>),
    /// Something to know.
    Notice(Notice),
}

impl EntryBody {
    /// The call that it is, if it is one.
    pub fn call(&self) -> Option<&CallView> {
        match self {
            Self::Call(view) => Some(view),
            Self::Person { .. } | Self::Errand { .. } | Self::Agent { .. } | Self::Notice(_) => {
                None
            }
        }
    }
}

/// One call with all that is known of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct CallView {
    /// The call as the model made it.
    pub call: ToolCall,
    /// The arguments as the person changed them.
    #[ts(type = "Record<string, unknown> | null")]
    pub edited: Option<Map<String, Value>>,
    /// The agent's own reason.
    pub reasoning: Option<String>,
    /// The tool's id.
    pub tool: String,
    /// Name on the card.
    pub title: String,
    /// What it acts on.
    pub target: String,
    /// Its mode; none before it was judged, or if nothing says which.
    pub mode: Option<ToolMode>,
    /// Its kind.
    pub kind: ToolKind,
    /// Where it is in its life.
    pub state: CallState,
    /// The gates and what they said; none before it was judged.
    pub trail: Option<Arc<Trail>>,
    /// What it would do.
    pub preview: Preview,
    /// Whether it could be taken back.
    pub outlook: UndoAvailability,
    /// What a decision needs; set while the call waits.
    pub waits: Option<PendingDecision>,
    /// What the person said.
    pub decision: Option<PersonDecision>,
    /// The history entry, once a copy was taken.
    pub undo: Option<UndoEntry>,
    /// When the effect was last taken back.
    pub undone_at: Option<At>,
    /// The end of the live output, at most [`CallView::OUTPUT_BYTES_MAX`].
    pub output: String,
    /// How far it says that it is, while it runs.
    pub progress: Option<String>,
    /// What its server asked the person, in order. The last one stands on the desk if it has no answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(optional, as = "Option<Vec<ServerRequestView>>")]
    pub asks: Vec<ServerRequestView>,
    /// How it ended.
    pub outcome: Option<Outcome>,
    /// Where in the session's state its output stands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub kept: Option<StateLocation>,
    /// When it began to run.
    pub started_at: Option<At>,
    /// When it ended.
    pub ended_at: Option<At>,
}

impl CallView {
    /// How much live output the folded call keeps, in bytes; the outcome has the head.
    pub const OUTPUT_BYTES_MAX: usize = 64 * 1024;

    /// What its server asks the person now, if it does.
    pub fn open_server_request(&self) -> Option<&ServerRequestView> {
        let last = self.asks.last();
        last.filter(|ask| ask.answered.is_none() && self.state == CallState::Waiting)
    }

    /// Since when it stands on the desk; none if it does not.
    pub fn waiting_since(&self) -> Option<At> {
        let asked = self.open_server_request().map(|ask| ask.at);
        asked.or_else(|| self.waits.as_ref().map(|waits| waits.since))
    }
}

/// A call on the desk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct PendingDecision {
    /// What a decision must name.
    pub digest: Digest,
    /// Since when.
    pub since: At,
    /// What each answer would grant.
    pub grants: Vec<Grant>,
    /// What changed since it was first shown, if something did.
    pub refreshed: Option<String>,
    /// When it expires.
    pub expires_at: Option<At>,
}

/// What a person said, and when.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct PersonDecision {
    /// What was said.
    pub decision: Decision,
    /// When.
    pub at: At,
}

/// One line of the session list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct SessionView {
    /// The session.
    pub id: SessionId,
    /// Its title.
    pub title: String,
    /// The workspace root, absolute.
    pub workspace: String,
    /// Who answers.
    pub model: ModelChoice,
    /// The call that opened it, if a call did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub parent: Option<ParentCall>,
    /// What it does.
    pub state: SessionState,
    /// When it began.
    pub opened_at: At,
    /// When something last happened.
    pub changed_at: At,
    /// How many calls wait.
    pub waiting: u32,
    /// How many turns the model had.
    pub turns: u32,
    /// What all turns used together.
    pub usage: Usage,
    /// Whether it plans first: nothing that could change anything is in reach.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[ts(optional, as = "Option<bool>")]
    pub planning: bool,
}

fn is_zero(count: &u32) -> bool {
    *count == 0
}
