//! Events in the order in which they happened: the one log from which everything else is made.

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

/// One recorded fact. The event is in the record before anybody is notified of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct Event {
    /// Position in the log of this data folder, from 1, without gaps.
    pub seq: u64,
    /// The session that the event belongs to.
    pub session: SessionId,
    /// When the event happened.
    pub at: At,
    /// The fact itself.
    pub body: EventBody,
}

/// The facts that an event can record. Matched without a wildcard where they are stored and where they are shown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum EventBody {
    /// A session began.
    SessionOpened {
        /// A short title; the first message's first line, until renamed.
        title: String,
        /// The workspace root, absolute.
        workspace: String,
        /// The model that answers.
        model: ModelChoice,
        /// The call that opened the session, if a call did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        parent: Option<ParentCall>,
        /// Options of the session beyond the person's messages.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        asked: Option<Box<SessionOptions>>,
    },
    /// A session got another title.
    SessionRenamed {
        /// The title.
        title: String,
    },
    /// The state of a session changed.
    SessionChanged {
        /// The new state.
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
        /// Whether the message was sent while a turn ran.
        steering: bool,
    },
    /// A sub-agent task that nobody waited for has ended: the model is told.
    ErrandEnded {
        /// The message.
        message: MessageId,
        /// The session that did the task.
        child: SessionId,
        /// Title of the task.
        title: String,
        /// Last words of the task, its output as JSON, or why it has none.
        text: String,
        /// Whether the task failed.
        failed: bool,
    },
    /// Planning was switched on or off. While it is on, nothing that could change anything is in reach.
    PlanningSet {
        /// Whether the session plans from now on.
        on: bool,
        /// The actor that switched planning on or off.
        by: PlanningActor,
    },
    /// A model turn began.
    TurnStarted {
        /// Number of the turn in the session, from 1.
        turn: u32,
        /// The message that the turn writes.
        message: MessageId,
    },
    /// A piece of the agent's message.
    AgentSaid {
        /// The message.
        message: MessageId,
        /// The piece.
        text: String,
        /// Whether the piece is reasoning and not part of the answer.
        reasoning: bool,
    },
    /// A model turn's answer was checked against the requested schema. Comes before the turn's end.
    AnswerChecked {
        /// The message.
        message: MessageId,
        /// Result of the check.
        #[serde(flatten)]
        answer: AnswerCheck,
    },
    /// A model turn's answer is complete, cut off, or failed.
    TurnEnded {
        /// Number of the turn.
        turn: u32,
        /// The message that the turn wrote.
        message: MessageId,
        /// Usage of the turn.
        usage: Usage,
        /// Time from request to last byte, in milliseconds.
        duration_ms: u64,
        /// Error with the next step; set when the answer was cut off or failed.
        error: Option<crate::UserError>,
        /// Data that the provider wants back with the message, untouched.
        #[ts(type = "unknown")]
        opaque: Value,
    },
    /// The model asked for a call.
    CallProposed {
        /// The call.
        call: ToolCall,
        /// The message that asked for the call.
        message: MessageId,
        /// The agent's own reason for the call, if it gave one.
        reasoning: Option<String>,
    },
    /// The gates gave their verdict on a call. Comes again when arguments or files changed while the call waited.
    CallJudged {
        /// The call.
        call: CallId,
        /// The tool's id; the called name if there is no such tool.
        tool: String,
        /// Name on the card.
        title: String,
        /// Target of the call: a path, a command, a host.
        target: String,
        /// Mode of the call; none if nothing defines it (M21).
        mode: Option<ToolMode>,
        /// Kind of the call.
        kind: ToolKind,
        /// The gates and their results.
        trail: Arc<Trail>,
        /// Preview shown on the card.
        preview: Preview,
        /// Whether the call's effects could be undone.
        undo: UndoAvailability,
        /// Evidence for the verdict, apart from the rules; none if the call was not examined, or if the evidence is too
        /// long.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        grounds: Option<Box<Evidence>>,
    },
    /// A call waits for a decision.
    CallWaits {
        /// The call.
        call: CallId,
        /// Digest that a decision must name.
        digest: Digest,
        /// Grants offered, one for each answer.
        grants: Vec<Grant>,
        /// Description of the change; set when the card's content changed after the person may have looked at it.
        refreshed: Option<String>,
        /// When the wait expires, if it does.
        expires_at: Option<At>,
    },
    /// A person decided on a call.
    CallDecided {
        /// The call.
        call: CallId,
        /// The decision.
        decision: Decision,
        /// Digest of the content that was decided on.
        digest: Digest,
    },
    /// The person changed the call's arguments.
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
        /// Name of the hook: "the audit log".
        hook: String,
        /// Why the call does not run, as the model reads it; none if the hook allowed the call (`S001-61`).
        refused: Option<String>,
    },
    /// A copy for undo was taken before the call changes anything.
    UndoPrepared {
        /// The call.
        call: CallId,
        /// The undo entry.
        entry: UndoEntry,
    },
    /// A call began to run.
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
    /// The server of a running call sent a request to the person: the call waits until the request is answered.
    CallAsked {
        /// The call.
        call: CallId,
        /// Id that an answer must name.
        ask: AskId,
        /// The request.
        asked: Box<ServerRequest>,
        /// When the request expires, if it does.
        expires_at: Option<At>,
    },
    /// A server's request was answered, and the call goes on.
    CallAnswered {
        /// The call.
        call: CallId,
        /// The request.
        ask: AskId,
        /// The answer, with everything that looks like a secret removed.
        answer: ServerAnswer,
        /// Why the answer was given without the person; none if the person gave it.
        why: Option<String>,
    },
    /// A model sampled a completion for a server, as the person allowed, or failed to.
    CallLent {
        /// The call.
        call: CallId,
        /// The request.
        ask: AskId,
        /// Result of the sampling.
        said: Box<SamplingResult>,
    },
    /// A call's output was written to the session's state, for later calls to read (`S004-12`, `S004-48`).
    StateWritten {
        /// The call.
        call: CallId,
        /// Location of the output.
        #[serde(flatten)]
        place: StateLocation,
        /// The output.
        #[ts(type = "unknown")]
        value: Value,
    },
    /// A progress message of a running call; for people, never for the model (`S001-13`).
    CallProgress {
        /// The call.
        call: CallId,
        /// The tool's id.
        tool: String,
        /// The message.
        message: String,
    },
    /// A call ended.
    CallEnded {
        /// The call.
        call: CallId,
        /// Outcome of the call.
        outcome: Box<Outcome>,
        /// View of the call from now on; set if the call's arguments hold a secret.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        masked: Option<Box<MaskedCall>>,
    },
    /// A call's effects were undone.
    UndoApplied {
        /// The undo entry.
        entry: UndoId,
        /// The call whose effects were undone.
        call: CallId,
        /// Number of paths restored.
        paths: u64,
        /// The undo entry that records the person's undo.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        act: Option<UndoId>,
    },
    /// A call's effects were redone.
    RedoApplied {
        /// The undo entry.
        entry: UndoId,
        /// The call whose effects were redone.
        call: CallId,
        /// Number of paths written.
        paths: u64,
        /// The undo entry that records the person's redo.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        act: Option<UndoId>,
    },
    /// The run reached one of its limits and stops; a notice states the consequences.
    LimitReached {
        /// The limit.
        limit: Limit,
        /// Amount used, in the limit's unit.
        used: f64,
        /// Amount allowed, in the limit's unit.
        max: f64,
    },
    /// Something that a person should know was noted.
    Noted {
        /// The notice.
        notice: Notice,
    },
}

impl EventBody {
    /// Returns the name under which the event is stored: the `type` of its JSON.
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
