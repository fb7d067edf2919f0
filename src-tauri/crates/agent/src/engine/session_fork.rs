//! A session that goes on from a message of another one.
//!
//! **The fork has the conversation, and nothing else.** What the calls of the other session did stays in that session: there
//! they were judged, there they are counted, and there they are undone. The folder is as it is now.

use std::collections::HashSet;
use std::sync::Arc;

use protocol::event::{CallChange, CallProposal, MessageChange, SessionEvent};
use protocol::op::OpReceipt;
use protocol::view::preview::UndoAvailability;
use protocol::{
    At, CallState, Event, EventBody, MessageId, NoticeLevel, SessionId, ToolCall, ToolKind, Usage,
    UserError,
};

use crate::engine::commands::own_session;
use crate::engine::session_import::append_events;
use crate::pipeline::outcome::stopped_outcome;
use crate::session::Session;
use crate::session::agent_runner::AGENT_PROVIDER;
use crate::session::engine_state::EngineState;
use crate::session::manual_calls;

/// Opens a session with the conversation of another one, up to a message of the person or as a whole.
///
/// # Errors
/// The session cannot be forked, it has no such message, or the fork cannot be recorded.
pub(super) async fn fork_session(
    engine: &Arc<EngineState>,
    id: &SessionId,
    before: Option<MessageId>,
) -> Result<OpReceipt, UserError> {
    let source = own_session(engine, id)?;
    check_can_fork(&source)?;
    let (engine, source) = (Arc::clone(engine), source.id.clone());
    let forked = tokio::task::spawn_blocking(move || {
        let view = engine.record.session(&source)?;
        let events = engine.session_events(&source)?;
        let end = find_end(&events, before.as_ref())?;
        let fork = SessionId(engine.config.ids.next_id("ses"));
        let mut copy = ConversationCopy {
            source: &source,
            fork: &fork,
            now: engine.now(),
            title: view.map_or_else(String::new, |view| view.title),
            events: Vec::new(),
            messages: HashSet::new(),
            open: Vec::new(),
        };
        for (at, event) in events.iter().enumerate() {
            copy.add_event(event, at < end);
        }
        append_events(&engine.record, copy.finish())?;
        Ok(fork)
    });
    let session = forked
        .await
        .map_err(|_| UserError::new("The session could not be forked.", "Try again."))?;
    session.map(|session| OpReceipt {
        session: Some(session),
        ..OpReceipt::default()
    })
}

fn check_can_fork(source: &Session) -> Result<(), UserError> {
    if source.model().provider == AGENT_PROVIDER {
        return Err(UserError::new(
            "The agent in this session keeps the conversation itself, so it cannot be forked here.",
            "Start a new session with the agent.",
        ));
    }
    if manual_calls::is_manual(&source.model().provider) {
        return Err(manual_calls::no_model_error());
    }
    if source.is_running() {
        return Err(UserError::new(
            "This session is at work or waits for you.",
            "Stop it first, then fork it.",
        ));
    }
    Ok(())
}

/// Returns the index of the event with which the conversation ends: that of a message of the person, or the number of
/// events.
fn find_end(events: &[Event], before: Option<&MessageId>) -> Result<usize, UserError> {
    let Some(before) = before else {
        return Ok(events.len());
    };
    let is_end = |event: &Event| match &event.body {
        EventBody::Message { message, change } => {
            message == before && matches!(change, MessageChange::PersonSaid { .. })
        }
        _ => false,
    };
    events.iter().position(is_end).ok_or_else(|| {
        UserError::new(
            format!("The session has no message {before} of yours."),
            "Name one of your messages in it.",
        )
    })
}

/// Events of a fork, made from those of the session that it was forked from.
struct ConversationCopy<'a> {
    source: &'a SessionId,
    fork: &'a SessionId,
    /// When the session is forked.
    now: At,
    /// Title of the session that is forked.
    title: String,
    events: Vec<Event>,
    /// Messages that began before the conversation's end. All of them is taken over, with their calls.
    messages: HashSet<&'a MessageId>,
    /// Calls of these messages that have not ended.
    open: Vec<&'a ToolCall>,
}

impl<'a> ConversationCopy<'a> {
    /// Takes over an event if it belongs to the conversation. `is_before_end` tells whether it came before the message
    /// with which the conversation ends.
    fn add_event(&mut self, event: &'a Event, is_before_end: bool) {
        match &event.body {
            EventBody::Session(change) if is_before_end => self.add_session_event(event.at, change),
            EventBody::Session(_) => {}
            EventBody::Message { message, change } => {
                if is_before_end {
                    self.messages.insert(message);
                }
                if self.messages.contains(message) {
                    let change = without_usage(change);
                    self.push(event.at, EventBody::for_message(message, change));
                }
            }
            EventBody::Proposal(proposal) => {
                if self.messages.contains(&proposal.message) {
                    self.add_proposal(event.at, proposal);
                }
            }
            EventBody::Call { call, change } => {
                let is_open = self.open.iter().any(|open| open.id == *call);
                if let Some(change) = self.convert_change(change).filter(|_| is_open) {
                    if matches!(change, CallChange::Ended { .. }) {
                        self.open.retain(|open| open.id != *call);
                    }
                    self.push(event.at, EventBody::for_call(call, change));
                }
            }
        }
    }

    /// Returns the events, with an end for each call that has none.
    fn finish(mut self) -> Vec<Event> {
        for call in std::mem::take(&mut self.open) {
            let ended = CallChange::Ended {
                outcome: Box::new(stopped_outcome(CallState::Interrupted)),
                masked: None,
            };
            self.push(self.now, EventBody::for_call(&call.id, ended));
        }
        let fault = UserError::new(
            format!("Forked here from “{}”.", self.title),
            "What stands above happened in that session, and is undone there. Files are as they are now.",
        );
        self.push(self.now, EventBody::notice(NoticeLevel::Note, fault));
        self.events
    }

    fn add_session_event(&mut self, at: At, change: &SessionEvent) {
        match change {
            SessionEvent::Opened {
                workspace,
                model,
                options,
                ..
            } => {
                let opened = SessionEvent::Opened {
                    title: format!("Fork of {}", self.title),
                    workspace: workspace.clone(),
                    model: model.clone(),
                    parent: None,
                    options: options.clone(),
                };
                self.push(self.now, opened.into());
            }
            SessionEvent::PlanningSet { .. } | SessionEvent::ModelChanged { .. } => {
                self.push(at, change.clone().into());
            }
            _ => {}
        }
    }

    /// Takes over a call. Until the gates' verdict on it follows, it is described by its name alone.
    fn add_proposal(&mut self, at: At, proposal: &'a CallProposal) {
        let call = &proposal.call;
        self.open.push(call);
        self.push(at, EventBody::Proposal(proposal.clone()));
        let unknown = CallChange::Imported {
            forked_from: Some(self.source.clone()),
            tool: call.name.clone(),
            title: call.name.clone(),
            target: String::new(),
            mode: None,
            kind: ToolKind::Other,
            undo: UndoAvailability::NotNeeded,
            evidence: None,
        };
        self.push(at, EventBody::for_call(&call.id, unknown));
    }

    /// Returns a change of a call as the fork has it; none if it is of no matter to the conversation.
    fn convert_change(&self, change: &CallChange) -> Option<CallChange> {
        match change {
            CallChange::Judged {
                tool,
                title,
                target,
                mode,
                kind,
                undo,
                ..
            } => Some(CallChange::Imported {
                forked_from: Some(self.source.clone()),
                tool: tool.clone(),
                title: title.clone(),
                target: target.clone(),
                mode: *mode,
                kind: *kind,
                undo: undo.clone(),
                evidence: None,
            }),
            CallChange::Imported { .. }
            | CallChange::Edited { .. }
            | CallChange::StateWritten { .. }
            | CallChange::Ended { .. } => Some(change.clone()),
            _ => None,
        }
    }

    fn push(&mut self, at: At, body: EventBody) {
        self.events.push(Event {
            seq: 0,
            session: self.fork.clone(),
            at,
            body,
        });
    }
}

/// Returns a change of a message without the tokens that it took: they count for the session that used them.
fn without_usage(change: &MessageChange) -> MessageChange {
    let mut change = change.clone();
    if let MessageChange::TurnEnded { usage, .. } = &mut change {
        *usage = Usage::default();
    }
    change
}
