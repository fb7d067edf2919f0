//! What happened, in order: the one log from which everything else is made.

pub mod fold;
pub(crate) mod notice;
pub mod session_options;
pub(crate) mod session_state;

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use ts_rs::TS;

pub use crate::event::notice::{Notice, NoticeLevel};
pub use crate::event::session_options::{
    AgentManifestFile, ClientInfo, PlanningActor, SessionOptions,
};
pub use crate::event::session_state::SessionState;
use crate::rule::evidence::Evidence;
use crate::server::elicitation::{SamplingResult, ServerAnswer, ServerRequest};
pub use crate::session::answer_check::AnswerCheck;
pub use crate::session::grant::{Grant, GrantReach};
pub use crate::session::parent_call::ParentCall;
pub use crate::session::state_location::StateLocation;
use crate::view::masked_call::MaskedCall;
use crate::view::preview::UndoAvailability;
use crate::{
    AskId, At, CallId, Content, Decision, Digest, Limit, MessageId, ModelChoice, Outcome,
    PartialResult, Preview, SessionId, ToolCall, ToolKind, ToolMode, Trail, UndoEntry, UndoId,
    Usage,
};

/// One recorded fact. It is on record before anybody hears of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct Event {
    /// Position in the log of this data folder, from 1, without gaps.
    pub seq: u64,
    /// The session that it belongs to.
    pub session: SessionId,
    /// When it happened.
    pub at: At,
    /// What happened.
    pub body: EventBody,
}

/// What can happen. Matched without a wildcard where it is stored and where it is shown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum EventBody {
    /// A session began.
    SessionOpened {
        /// A short title; the first message's first line, until renamed.
        title: String,
        /// The workspace root, absolute.
        workspace: String,
        /// Who answers.
        model: ModelChoice,
        /// The call that opened it, if a call did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        parent: Option<ParentCall>,
        /// What is asked of the model beyond the person's words.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        asked: Option<Box<SessionOptions>>,
    },
    /// A session got another title.
    SessionRenamed {
        /// The title.
        title: String,
    },
    /// What the session does now.
    SessionChanged {
        /// Its state.
        state: SessionState,
    },
    /// The person said something.
    PersonSaid {
        /// The message.
        message: MessageId,
        /// The text.
        text: String,
        /// Images that were given beside it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[ts(as = "Option<Vec<Content>>", optional)]
        images: Vec<Content>,
        /// Whether it was said while a turn ran.
        steering: bool,
    },
    /// Work that was given away and not waited for came to its end: the model hears of it.
    ErrandEnded {
        /// The message.
        message: MessageId,
        /// The session that did it.
        child: SessionId,
        /// What it is called.
        title: String,
        /// Its last words, its output as JSON, or why it came to none.
        text: String,
        /// Whether it came to nothing.
        failed: bool,
    },
    /// From now on the session plans first, and nothing that could change anything is in reach; or it does no more.
    PlanningSet {
        /// Whether it plans.
        on: bool,
        /// By whom.
        by: PlanningActor,
    },
    /// A model turn began.
    TurnStarted {
        /// Its number in the session, from 1.
        turn: u32,
        /// The message that it writes.
        message: MessageId,
    },
    /// A piece of the agent's message.
    AgentSaid {
        /// The message.
        message: MessageId,
        /// The piece.
        text: String,
        /// Whether this is reasoning and not the answer.
        reasoning: bool,
    },
    /// A model turn's answer was held against the schema that it was asked in. Comes before the turn's end.
    AnswerChecked {
        /// The message.
        message: MessageId,
        /// What came of it.
        #[serde(flatten)]
        answer: AnswerCheck,
    },
    /// A model turn's answer is complete, cut off, or failed.
    TurnEnded {
        /// Its number.
        turn: u32,
        /// The message that it wrote.
        message: MessageId,
        /// What it used.
        usage: Usage,
        /// From request to last byte, in milliseconds.
        duration_ms: u64,
        /// Set when the answer was cut off or failed: what happened, and what to do.
        error: Option<crate::UserError>,
        /// What the provider wants back with the message, untouched.
        #[ts(type = "unknown")]
        opaque: Value,
    },
    /// The model asked for a call.
    CallProposed {
        /// The call.
        call: ToolCall,
        /// The message that asked for it.
        message: MessageId,
        /// The agent's own reason, if it gave one.
        reasoning: Option<String>,
    },
    /// The gates were passed. Comes again when arguments or files changed while the call waited.
    CallJudged {
        /// The call.
        call: CallId,
        /// The tool's id; the called name if there is no such tool.
        tool: String,
        /// Name on the card.
        title: String,
        /// What it acts on: a path, a command, a host.
        target: String,
        /// Its mode; none if nothing says which (M21).
        mode: Option<ToolMode>,
        /// Its kind.
        kind: ToolKind,
        /// The gates and what they said.
        trail: Arc<Trail>,
        /// What it would do.
        preview: Preview,
        /// Whether it could be taken back.
        undo: UndoAvailability,
        /// What the verdict was made from, apart from the rules; none if the call was not looked at, or is too long.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        grounds: Option<Box<Evidence>>,
    },
    /// The call is on the desk.
    CallWaits {
        /// The call.
        call: CallId,
        /// What a decision must name.
        digest: Digest,
        /// What each answer would grant.
        grants: Vec<Grant>,
        /// Set when what is shown changed since the person may have looked: says what changed.
        refreshed: Option<String>,
        /// When it expires, if it does.
        expires_at: Option<At>,
    },
    /// A person decided.
    CallDecided {
        /// The call.
        call: CallId,
        /// What was said.
        decision: Decision,
        /// What was decided on.
        digest: Digest,
    },
    /// The call's arguments are no longer the model's.
    CallEdited {
        /// The call.
        call: CallId,
        /// The person's arguments.
        #[ts(type = "Record<string, unknown>")]
        arguments: Map<String, Value>,
    },
    /// A host's hook was asked whether the call may begin, and answered (`S001-60`).
    CallHooked {
        /// The call.
        call: CallId,
        /// Whose hook: "the audit log".
        hook: String,
        /// Why the call does not run, as the model reads it; none if the hook let it go (`S001-61`).
        refused: Option<String>,
    },
    /// A copy was taken before the call changes anything.
    UndoPrepared {
        /// The call.
        call: CallId,
        /// The history entry.
        entry: UndoEntry,
    },
    /// The call runs.
    CallStarted {
        /// The call.
        call: CallId,
    },
    /// A piece of live output; for people, never for the model (`S001-12`).
    CallOutput {
        /// The call.
        call: CallId,
        /// The piece.
        text: String,
    },
    /// A piece of the result of a running call; for people, never for the model (`S001-12`).
    CallUpdate {
        /// The call.
        call: CallId,
        /// The piece.
        #[serde(flatten)]
        partial: PartialResult,
    },
    /// The server of a running call asks the person something: the call is on the desk until that is answered.
    CallAsked {
        /// The call.
        call: CallId,
        /// What an answer must name.
        ask: AskId,
        /// What is asked.
        asked: Box<ServerRequest>,
        /// When it is put away by itself, if it is.
        expires_at: Option<At>,
    },
    /// A server got its answer, and the call goes on.
    CallAnswered {
        /// The call.
        call: CallId,
        /// Which question.
        ask: AskId,
        /// The answer, without what looks like a secret.
        answer: ServerAnswer,
        /// Why it was given without the person; none if they gave it.
        why: Option<String>,
    },
    /// A model answered for a server, as the person allowed it to, or could not.
    CallLent {
        /// The call.
        call: CallId,
        /// Which question.
        ask: AskId,
        /// What it said.
        said: Box<SamplingResult>,
    },
    /// The call's output stands in the session's state, for later calls to read (`S004-12`, `S004-48`).
    StateWritten {
        /// The call.
        call: CallId,
        /// Where.
        #[serde(flatten)]
        place: StateLocation,
        /// What.
        #[ts(type = "unknown")]
        value: Value,
    },
    /// A word on how far the call is; for people, never for the model (`S001-13`).
    CallProgress {
        /// The call.
        call: CallId,
        /// The tool's id.
        tool: String,
        /// The word.
        message: String,
    },
    /// The call is over.
    CallEnded {
        /// The call.
        call: CallId,
        /// How.
        outcome: Box<Outcome>,
        /// How the call is shown from now on, if its arguments hold a secret.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        masked: Option<Box<MaskedCall>>,
    },
    /// An effect was taken back.
    UndoApplied {
        /// The history entry.
        entry: UndoId,
        /// The call whose effect it was.
        call: CallId,
        /// Paths restored.
        paths: u64,
        /// The person's act in the history.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        act: Option<UndoId>,
    },
    /// An undone effect was brought again.
    RedoApplied {
        /// The history entry.
        entry: UndoId,
        /// The call whose effect it is.
        call: CallId,
        /// Paths written.
        paths: u64,
        /// The person's act in the history.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        act: Option<UndoId>,
    },
    /// The run came to one of its limits and stops; a notice says what follows from it.
    LimitReached {
        /// Which limit.
        limit: Limit,
        /// How much was used, in the limit's unit.
        used: f64,
        /// How much was allowed.
        max: f64,
    },
    /// Something that a person should know.
    Noted {
        /// The notice.
        notice: Notice,
    },
}

impl EventBody {
    /// The name under which it is stored: its JSON's `type`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::SessionOpened { .. } => "session_opened",
            Self::SessionRenamed { .. } => "session_renamed",
            Self::SessionChanged { .. } => "session_changed",
            Self::PersonSaid { .. } => "person_said",
            Self::ErrandEnded { .. } => "errand_ended",
            Self::PlanningSet { .. } => "planning_set",
            Self::TurnStarted { .. } => "turn_started",
            Self::AgentSaid { .. } => "agent_said",
            Self::AnswerChecked { .. } => "answer_checked",
            Self::TurnEnded { .. } => "turn_ended",
            Self::CallProposed { .. } => "call_proposed",
            Self::CallJudged { .. } => "call_judged",
            Self::CallWaits { .. } => "call_waits",
            Self::CallDecided { .. } => "call_decided",
            Self::CallEdited { .. } => "call_edited",
            Self::CallHooked { .. } => "call_hooked",
            Self::UndoPrepared { .. } => "undo_prepared",
            Self::CallStarted { .. } => "call_started",
            Self::CallOutput { .. } => "call_output",
            Self::CallUpdate { .. } => "call_update",
            Self::CallProgress { .. } => "call_progress",
            Self::CallAsked { .. } => "call_asked",
            Self::CallAnswered { .. } => "call_answered",
            Self::CallLent { .. } => "call_lent",
            Self::StateWritten { .. } => "state_written",
            Self::CallEnded { .. } => "call_ended",
            Self::UndoApplied { .. } => "undo_applied",
            Self::RedoApplied { .. } => "redo_applied",
            Self::LimitReached { .. } => "limit_reached",
            Self::Noted { .. } => "noted",
        }
    }
}
