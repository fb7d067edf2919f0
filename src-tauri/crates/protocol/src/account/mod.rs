//! The account of a call: how the call was validated, authorised, executed, streamed, rendered, persisted and audited
//! (`S003-73`).

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

mod summary;

use crate::call::outcome::Truncation;
use crate::event::{CallChange, StateLocation, fold};
use crate::{
    At, CallId, CallState, Decision, Digest, Event, EventBody, SessionId, ToolKind, ToolMode,
    Trail, UndoId, UndoState, Verdict,
};

/// Account of one call, made from its recorded events alone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct CallAccount {
    /// The call.
    pub call: CallId,
    /// The tool's id; the called name if there is no such tool.
    pub tool: String,
    /// Whether the call was made elsewhere, so that nobody validated or judged it here: it was read from the transcript of
    /// its agent, or belongs to the session that this one was forked from.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[ts(optional, as = "Option<bool>")]
    pub imported: bool,
    /// The session in which the call was made, if this one was forked from it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub forked_from: Option<SessionId>,
    /// Validation of the tool's name and the arguments.
    pub validated: AccountValidation,
    /// Authorisation of the call: the verdict and the person's decision.
    pub authorised: AccountAuthorization,
    /// Execution of the call: whether and how long it ran.
    pub executed: AccountExecution,
    /// Live output and progress reported while the call ran.
    pub streamed: AccountStreaming,
    /// Presentation of the call to the person.
    pub rendered: AccountRendering,
    /// Result, session state and undo entry kept after the call.
    pub persisted: AccountPersistence,
    /// The recorded events that this account is made of, in order; consecutive events of the same kind share one line.
    pub audited: Vec<AuditedEvent>,
}

/// Validation of a call: whether its tool exists and its arguments fit the schema.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, TS)]
pub struct AccountValidation {
    /// Whether the call passed validation; none if it ended before it was validated.
    pub passed: Option<bool>,
    /// The problem found, in the words that the model read.
    pub problem: Option<String>,
    /// Positions of the events with which a person replaced the model's arguments; each replacement was validated
    /// again.
    pub edited: Vec<u64>,
}

/// Authorisation of a call: its verdict, and the person's decision where one was asked for.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, TS)]
pub struct AccountAuthorization {
    /// The mode that the call was judged in.
    pub mode: Option<ToolMode>,
    /// The tool's kind.
    pub kind: Option<ToolKind>,
    /// Trail of the last judgement; none if the call was never judged.
    pub trail: Option<Arc<Trail>>,
    /// How often the call waited for a person's decision.
    pub asked: u32,
    /// The person's last decision, if a person decided.
    pub decision: Option<Decision>,
    /// Digest of the card that the decision was made on.
    pub digest: Option<Digest>,
    /// Position of the event that decided: a person's decision, or the judgement where nobody was asked (`S003-36`).
    pub decision_ref: Option<u64>,
}

/// Execution of a call: whether and how long it ran.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, TS)]
pub struct AccountExecution {
    /// The state of the call.
    pub state: CallState,
    /// When the call began to run; none if it never did.
    pub started_at: Option<At>,
    /// When the call ended.
    pub ended_at: Option<At>,
    /// How long the call ran, in milliseconds.
    pub duration_ms: Option<u64>,
    /// How often the call began: more than once if its preview had changed at the last moment.
    pub starts: u32,
}

/// Live output and progress reported while a call ran; for people, never for the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, TS)]
pub struct AccountStreaming {
    /// Number of pieces of live output, updates and progress messages.
    pub pieces: u32,
    /// Total size of the pieces, in bytes.
    pub bytes: u64,
}

/// Presentation of a call to the person.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, TS)]
pub struct AccountRendering {
    /// Name on the card.
    pub title: String,
    /// The target that the call acts on.
    pub target: String,
    /// The kind of preview: `diff`, `command`, `nothing` and so on; none before the call was judged.
    pub preview: Option<String>,
    /// How often the card was refreshed because something had changed.
    pub refreshed: u32,
    /// The line that says how the call ended.
    pub message: Option<String>,
}

/// Result, session state and undo entry kept after a call.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, TS)]
pub struct AccountPersistence {
    /// Bytes of the text that the model read.
    pub text_bytes: Option<u64>,
    /// Digest of the whole output.
    pub digest: Option<Digest>,
    /// Location of the rest of the output, if the text is only its head.
    pub sidecar: Option<Truncation>,
    /// Locations of the output in the session's state, for later calls to read.
    pub state: Vec<StateLocation>,
    /// The undo entry that can take the effect back.
    pub undo: Option<UndoId>,
    /// State of the undo entry.
    pub undo_state: Option<UndoState>,
}

/// Consecutive recorded events of one kind about a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct AuditedEvent {
    /// Position of the first of the events in the log.
    pub seq: u64,
    /// When the first of the events happened.
    pub at: At,
    /// Name of the event: `call_judged` and so on.
    pub event: String,
    /// How many events of this kind follow each other.
    pub times: u32,
}

/// One line of an account: a part, and a summary of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct AccountLine {
    /// The part: `validated`, `authorised`, `executed`, `streamed`, `rendered`, `persisted` or `audited`.
    pub part: String,
    /// The summary, one or two sentences.
    pub text: String,
}

impl CallAccount {
    /// Builds the account of a call from its events in order; events of other calls are passed over. None if the call
    /// was never proposed.
    pub fn from_events(call: &CallId, events: &[Event]) -> Option<Self> {
        let mut account = None;
        for event in events {
            Self::add_event(&mut account, call, event);
        }
        account
    }

    /// Adds the next event to the account of a call; the event that proposes the call begins the account.
    pub fn add_event(account: &mut Option<Self>, call: &CallId, event: &Event) {
        match (&event.body, account) {
            (EventBody::Proposal(proposal), account @ None) if proposal.call.id == *call => {
                let mut begun = Self::new(call.clone(), proposal.call.name.clone());
                begun.record_event(event);
                *account = Some(begun);
            }
            (_, Some(account)) if fold::entry_id(event).as_deref() == Some(call.as_str()) => {
                account.record_event(event);
                if let EventBody::Call { change, .. } = &event.body {
                    account.apply_change(change, event);
                }
            }
            _ => {}
        }
    }

    fn new(call: CallId, tool: String) -> Self {
        Self {
            call,
            imported: false,
            forked_from: None,
            validated: AccountValidation::default(),
            authorised: AccountAuthorization::default(),
            executed: AccountExecution::default(),
            streamed: AccountStreaming::default(),
            rendered: AccountRendering {
                title: tool.clone(),
                ..AccountRendering::default()
            },
            persisted: AccountPersistence::default(),
            audited: Vec::new(),
            tool,
        }
    }

    fn record_event(&mut self, event: &Event) {
        let name = event.body.name();
        match self.audited.last_mut() {
            Some(last) if last.event == name => last.times += 1,
            _ => self.audited.push(AuditedEvent {
                seq: event.seq,
                at: event.at,
                event: name.to_owned(),
                times: 1,
            }),
        }
    }

    fn apply_change(&mut self, change: &CallChange, event: &Event) {
        match change {
            CallChange::Judged {
                tool,
                title,
                target,
                mode,
                kind,
                trail,
                preview,
                ..
            } => {
                self.tool.clone_from(tool);
                self.validated.passed = Some(true);
                (self.rendered.title, self.rendered.target) = (title.clone(), target.clone());
                self.rendered.preview = Some(preview.name().to_owned());
                (self.authorised.mode, self.authorised.kind) = (*mode, Some(*kind));
                let alone = trail.verdict != Verdict::Ask;
                self.authorised.decision_ref = alone.then_some(event.seq);
                self.authorised.trail = Some(trail.clone());
            }
            CallChange::Imported {
                forked_from,
                tool,
                title,
                target,
                mode,
                kind,
                ..
            } => {
                self.imported = true;
                self.forked_from.clone_from(forked_from);
                self.tool.clone_from(tool);
                (self.rendered.title, self.rendered.target) = (title.clone(), target.clone());
                (self.authorised.mode, self.authorised.kind) = (*mode, Some(*kind));
            }
            CallChange::Waiting { refreshed, .. } => {
                self.executed.state = CallState::Waiting;
                self.authorised.asked += 1;
                self.rendered.refreshed += u32::from(refreshed.is_some());
            }
            CallChange::Decided { decision, digest } => {
                self.authorised.decision = Some(decision.clone());
                self.authorised.digest = Some(digest.clone());
                self.authorised.decision_ref = Some(event.seq);
            }
            CallChange::Edited { .. } => self.validated.edited.push(event.seq),
            CallChange::UndoPrepared { entry } => {
                self.persisted.undo = Some(entry.id.clone());
                self.persisted.undo_state = Some(entry.state);
            }
            CallChange::Started => {
                self.executed.state = CallState::Running;
                self.executed.starts += 1;
                self.executed.started_at = Some(event.at);
            }
            CallChange::Output { text } => {
                self.streamed.pieces += 1;
                self.streamed.bytes += text.len() as u64;
            }
            CallChange::Update { partial } => {
                self.streamed.pieces += 1;
                self.streamed.bytes += partial.byte_len() as u64;
            }
            CallChange::Progress { text, .. } => {
                self.streamed.pieces += 1;
                self.streamed.bytes += text.len() as u64;
            }
            CallChange::ServerRequestReceived { .. } => self.executed.state = CallState::Waiting,
            CallChange::ServerRequestAnswered { .. } => self.executed.state = CallState::Running,
            CallChange::StateWritten { place, .. } => self.persisted.state.push(place.clone()),
            CallChange::Ended { outcome, .. } => self.apply_outcome(outcome, event.at),
            CallChange::UndoApplied { .. } => {
                self.executed.state = CallState::Undone;
                self.persisted.undo_state = Some(UndoState::Undone);
            }
            CallChange::RedoApplied { .. } => {
                self.executed.state = CallState::Done;
                self.persisted.undo_state = Some(UndoState::Applied);
            }
            CallChange::HookAnswered { .. } | CallChange::SamplingFinished { .. } => {}
        }
    }

    fn apply_outcome(&mut self, outcome: &crate::Outcome, at: At) {
        // A call that fails before the gates is invalid: there is no such tool, or the arguments do not fit.
        let unvalidated = self.validated.passed.is_none() && !self.imported;
        if unvalidated && outcome.state == CallState::Failed {
            self.validated.passed = Some(false);
            self.validated.problem = Some(outcome.text.clone());
        }
        self.executed.state = outcome.state;
        self.executed.ended_at = Some(at);
        self.executed.duration_ms = self.executed.started_at.map(|_| outcome.duration_ms);
        self.rendered.message = Some(outcome.message.clone());
        self.persisted.text_bytes = Some(outcome.text.len() as u64);
        self.persisted.digest = Some(outcome.digest.clone());
        self.persisted.sidecar.clone_from(&outcome.truncated);
        match (outcome.state, self.persisted.undo.is_some()) {
            (CallState::Done, true) => self.persisted.undo_state = Some(UndoState::Applied),
            (CallState::Interrupted, _) => {}
            // A call that failed changed nothing, so there is nothing to take back.
            _ => (self.persisted.undo, self.persisted.undo_state) = (None, None),
        }
    }
}
