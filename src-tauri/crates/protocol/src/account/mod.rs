//! The account of a call: how it was validated, authorised, executed, streamed, rendered, persisted and audited (`S003-73`).

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

mod summary;

use crate::call::outcome::Truncation;
use crate::event::StateLocation;
use crate::event::fold;
use crate::{
    At, CallId, CallState, Decision, Digest, Event, EventBody, ToolKind, ToolMode, Trail, UndoId,
    UndoState, Verdict,
};

/// What the runtime can state about one call, from its recorded events alone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct CallAccount {
    /// The call.
    pub call: CallId,
    /// The tool's id; the called name if there is no such tool.
    pub tool: String,
    /// Whether tool and arguments fit.
    pub validated: AccountValidation,
    /// Who let it run, or did not.
    pub authorised: AccountAuthorization,
    /// Whether and how long it ran.
    pub executed: AccountExecution,
    /// What was told while it ran.
    pub streamed: AccountStreaming,
    /// What a person was shown.
    pub rendered: AccountRendering,
    /// What was kept of it.
    pub persisted: AccountPersistence,
    /// The recorded events that this account is made of, in order; the same many times in a row is one line.
    pub audited: Vec<AuditedEvent>,
}

/// Whether tool and arguments fit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct AccountValidation {
    /// Whether they did; none if the call ended before that was looked at.
    pub passed: Option<bool>,
    /// What was wrong, in the words that the model read.
    pub problem: Option<String>,
    /// The events with which a person put other arguments in the place of the model's; each was checked again.
    pub edited: Vec<u64>,
}

/// Who let a call run, or did not.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct AccountAuthorization {
    /// The mode that it was judged in.
    pub mode: Option<ToolMode>,
    /// Its kind.
    pub kind: Option<ToolKind>,
    /// What the gates said the last time; none if it never came to them.
    pub trail: Option<Arc<Trail>>,
    /// How often it stood on the desk.
    pub asked: u32,
    /// What a person decided last, if a person did.
    pub decision: Option<Decision>,
    /// What the decision was on.
    pub digest: Option<Digest>,
    /// The event that decided: a person's decision, or the judgement where nobody was asked (`S003-36`).
    pub decision_ref: Option<u64>,
}

/// Whether and how long a call ran.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct AccountExecution {
    /// Where it is in its life.
    pub state: CallState,
    /// When it began to run; none if it never did.
    pub started_at: Option<At>,
    /// When it ended.
    pub ended_at: Option<At>,
    /// How long it ran, in milliseconds.
    pub duration_ms: Option<u64>,
    /// How often it began: more than once if what was shown had changed at the last moment.
    pub starts: u32,
}

/// What was told while a call ran; for people, never for the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct AccountStreaming {
    /// Pieces of live output.
    pub pieces: u32,
    /// Their bytes.
    pub bytes: u64,
}

/// What a person was shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct AccountRendering {
    /// Name on the card.
    pub title: String,
    /// What it acts on.
    pub target: String,
    /// The kind of preview: `diff`, `command`, `nothing` and so on; none before it was judged.
    pub preview: Option<String>,
    /// How often it was shown anew because something had changed.
    pub refreshed: u32,
    /// The line that says how it ended.
    pub message: Option<String>,
}

/// What was kept of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct AccountPersistence {
    /// Bytes of the text that the model read.
    pub text_bytes: Option<u64>,
    /// The whole output's digest.
    pub digest: Option<Digest>,
    /// Where the rest is, if that text is only the head.
    pub sidecar: Option<Truncation>,
    /// Where in the session's state the output stands, for later calls to read.
    pub state: Vec<StateLocation>,
    /// The history entry that can take the effect back.
    pub undo: Option<UndoId>,
    /// Where that entry is.
    pub undo_state: Option<UndoState>,
}

/// Recorded events about the call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct AuditedEvent {
    /// The first one's position in the log.
    pub seq: u64,
    /// When it happened.
    pub at: At,
    /// What it is: `call_judged` and so on.
    pub event: String,
    /// How many of it follow each other.
    pub times: u32,
}

/// One line of an account: the part, and what is to be said of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct AccountLine {
    /// `validated`, `authorised`, `executed`, `streamed`, `rendered`, `persisted` or `audited`.
    pub part: String,
    /// One or two sentences.
    pub text: String,
}

impl CallAccount {
    /// The account of a call, from its events in order; events of other calls are passed over. None if the call was never
    /// asked for.
    pub fn from_events(call: &CallId, events: &[Event]) -> Option<Self> {
        let mut account = None;
        for event in events {
            Self::add_event(&mut account, call, event);
        }
        account
    }

    /// Adds the next event to the account of a call; the event that asked for it begins the account.
    pub fn add_event(account: &mut Option<Self>, call: &CallId, event: &Event) {
        match (&event.body, account) {
            (EventBody::CallProposed { call: proposed, .. }, account @ None)
                if proposed.id == *call =>
            {
                let mut begun = Self::new(call.clone(), proposed.name.clone());
                begun.record_event(event);
                *account = Some(begun);
            }
            (_, Some(account)) => account.apply_event(event),
            (_, None) => {}
        }
    }

    fn new(call: CallId, tool: String) -> Self {
        Self {
            call,
            validated: AccountValidation {
                passed: None,
                problem: None,
                edited: Vec::new(),
            },
            authorised: AccountAuthorization {
                mode: None,
                kind: None,
                trail: None,
                asked: 0,
                decision: None,
                digest: None,
                decision_ref: None,
            },
            executed: AccountExecution {
                state: CallState::Proposed,
                started_at: None,
                ended_at: None,
                duration_ms: None,
                starts: 0,
            },
            streamed: AccountStreaming {
                pieces: 0,
                bytes: 0,
            },
            rendered: AccountRendering {
                title: tool.clone(),
                target: String::new(),
                preview: None,
                refreshed: 0,
                message: None,
            },
            persisted: AccountPersistence {
                text_bytes: None,
                digest: None,
                sidecar: None,
                state: Vec::new(),
                undo: None,
                undo_state: None,
            },
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

    fn apply_event(&mut self, event: &Event) {
        if fold::entry_id(event).as_deref() != Some(self.call.as_str()) {
            return;
        }
        self.record_event(event);
        match &event.body {
            EventBody::CallJudged {
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
            EventBody::CallWaits { refreshed, .. } => {
                self.executed.state = CallState::Waiting;
                self.authorised.asked += 1;
                self.rendered.refreshed += u32::from(refreshed.is_some());
            }
            EventBody::CallDecided {
                decision, digest, ..
            } => {
                self.authorised.decision = Some(decision.clone());
                self.authorised.digest = Some(digest.clone());
                self.authorised.decision_ref = Some(event.seq);
            }
            EventBody::CallEdited { .. } => self.validated.edited.push(event.seq),
            EventBody::UndoPrepared { entry, .. } => {
                self.persisted.undo = Some(entry.id.clone());
                self.persisted.undo_state = Some(entry.state);
            }
            EventBody::CallStarted { .. } => {
                self.executed.state = CallState::Running;
                self.executed.starts += 1;
                self.executed.started_at = Some(event.at);
            }
            EventBody::CallOutput { text, .. } => {
                self.streamed.pieces += 1;
                self.streamed.bytes += text.len() as u64;
            }
            EventBody::CallUpdate { partial, .. } => {
                self.streamed.pieces += 1;
                self.streamed.bytes += partial.byte_len() as u64;
            }
            EventBody::CallProgress { message, .. } => {
                self.streamed.pieces += 1;
                self.streamed.bytes += message.len() as u64;
            }
            EventBody::CallAsked { .. } => self.executed.state = CallState::Waiting,
            EventBody::CallAnswered { .. } => self.executed.state = CallState::Running,
            EventBody::StateWritten { place, .. } => self.persisted.state.push(place.clone()),
            EventBody::CallEnded { outcome, .. } => self.apply_outcome(outcome, event.at),
            EventBody::UndoApplied { .. } => {
                self.executed.state = CallState::Undone;
                self.persisted.undo_state = Some(UndoState::Undone);
            }
            EventBody::RedoApplied { .. } => {
                self.executed.state = CallState::Done;
                self.persisted.undo_state = Some(UndoState::Applied);
            }
            EventBody::SessionOpened { .. }
            | EventBody::SessionRenamed { .. }
            | EventBody::SessionChanged { .. }
            | EventBody::PersonSaid { .. }
            | EventBody::ErrandEnded { .. }
            | EventBody::PlanningSet { .. }
            | EventBody::TurnStarted { .. }
            | EventBody::AgentSaid { .. }
            | EventBody::AnswerChecked { .. }
            | EventBody::TurnEnded { .. }
            | EventBody::CallProposed { .. }
            | EventBody::CallHooked { .. }
            | EventBody::CallLent { .. }
            | EventBody::LimitReached { .. }
            | EventBody::Noted { .. } => {}
        }
    }

    fn apply_outcome(&mut self, outcome: &crate::Outcome, at: At) {
        // What fails before the gates, fails for what it is: no such tool, or arguments that do not fit.
        if self.validated.passed.is_none() && outcome.state == CallState::Failed {
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
