//! Folding events into entries: the pure fold that record, command line and interface share.
//!
//! The interface has the same fold in TypeScript (`ui/src/state/reduce.ts`); the golden streams in `tests/golden` keep
//! both in step.

use std::borrow::Cow;

use crate::event::{CallChange, CallProposal, MessageChange, SessionEvent};
use crate::server::elicitation::{SamplingResult, ServerAnswerRecord};
use crate::session::list_place::ListPlace;
use crate::session::skipped_asks::SkippedAsks;
use crate::text::cut;
use crate::view::entry::{PendingDecision, PersonDecision, SessionView};
use crate::view::preview::UndoAvailability;
use crate::{
    At, CallState, CallView, Entry, EntryBody, Event, EventBody, Outcome, Preview, ServerRequest,
    ServerRequestView, SessionState, ToolKind, UndoState, Usage,
};

/// Returns the id of the entry that an event begins or changes; none for events about the session as a whole.
pub fn entry_id(event: &Event) -> Option<Cow<'_, str>> {
    match &event.body {
        EventBody::Session(SessionEvent::NoticeAdded { .. }) => {
            Some(Cow::Owned(format!("note_{}", event.seq)))
        }
        EventBody::Session(_) => None,
        EventBody::Message { message, .. } => Some(Cow::Borrowed(message.as_str())),
        EventBody::Proposal(proposal) => Some(Cow::Borrowed(proposal.call.id.as_str())),
        EventBody::Call { call, .. } => Some(Cow::Borrowed(call.as_str())),
    }
}

/// Returns the entry after an event, given the entry before it. An event about an entry that was never begun changes
/// nothing.
pub fn fold_entry(before: Option<Entry>, event: &Event) -> Option<Entry> {
    entry_id(event)?;
    begin_entry(event).or_else(|| {
        let mut entry = before?;
        apply_event(&mut entry, event);
        Some(entry)
    })
}

/// Returns whether an event begins an entry, so that [`begin_entry`] returns one.
pub fn begins_entry(event: &Event) -> bool {
    use MessageChange::{PersonSaid, SubAgentFinished, TurnStarted};
    match &event.body {
        EventBody::Session(event) => matches!(event, SessionEvent::NoticeAdded { .. }),
        EventBody::Message { change, .. } => matches!(
            change,
            PersonSaid { .. } | SubAgentFinished { .. } | TurnStarted { .. }
        ),
        EventBody::Proposal(_) => true,
        EventBody::Call { .. } => false,
    }
}

/// Returns the entry that an event begins; none if the event changes an entry, or is about the session as a whole.
pub fn begin_entry(event: &Event) -> Option<Entry> {
    let body = match &event.body {
        EventBody::Session(SessionEvent::NoticeAdded { notice }) => {
            EntryBody::Notice(notice.clone())
        }
        EventBody::Message { change, .. } => begin_message(change)?,
        EventBody::Proposal(proposal) => EntryBody::Call(Box::new(new_call_view(proposal))),
        EventBody::Session(_) | EventBody::Call { .. } => return None,
    };
    Some(Entry {
        id: entry_id(event)?.into_owned(),
        session: event.session.clone(),
        seq: event.seq,
        at: event.at,
        body,
    })
}

fn begin_message(change: &MessageChange) -> Option<EntryBody> {
    match change {
        MessageChange::PersonSaid {
            text,
            images,
            steering,
        } => Some(EntryBody::Person {
            text: text.clone(),
            images: u32::try_from(images.len()).unwrap_or(u32::MAX),
            steering: *steering,
        }),
        MessageChange::SubAgentFinished {
            child,
            title,
            text,
            failed,
        } => Some(EntryBody::SubAgentTask {
            child: child.clone(),
            title: title.clone(),
            text: text.clone(),
            failed: *failed,
        }),
        MessageChange::TurnStarted { turn } => Some(EntryBody::Agent {
            turn: *turn,
            text: String::new(),
            reasoning: String::new(),
            writing: true,
            usage: None,
            error: None,
            checked: None,
        }),
        MessageChange::AgentSaid { .. }
        | MessageChange::AnswerChecked { .. }
        | MessageChange::TurnEnded { .. } => None,
    }
}

/// Changes an entry by an event about it.
pub fn apply_event(entry: &mut Entry, event: &Event) {
    match (&mut entry.body, &event.body) {
        (EntryBody::Agent { .. }, EventBody::Message { change, .. }) => {
            apply_to_message(&mut entry.body, change);
        }
        (EntryBody::Call(view), EventBody::Call { change, .. }) => {
            apply_to_call(view, change, event.at);
        }
        _ => {}
    }
}

fn new_call_view(proposal: &CallProposal) -> CallView {
    let call = &proposal.call;
    CallView {
        call: call.clone(),
        edited: None,
        reasoning: proposal.reasoning.clone(),
        tool: call.name.clone(),
        title: call.name.clone(),
        target: String::new(),
        mode: None,
        kind: ToolKind::Other,
        state: CallState::Proposed,
        trail: None,
        preview: Preview::Nothing,
        undo_availability: UndoAvailability::NotNeeded,
        pending: None,
        decision: None,
        undo: None,
        undone_at: None,
        output: String::new(),
        progress: None,
        server_requests: Vec::new(),
        outcome: None,
        stored_at: None,
        forked_from: None,
        started_at: None,
        ended_at: None,
    }
}

fn apply_to_message(body: &mut EntryBody, change: &MessageChange) {
    let EntryBody::Agent {
        text,
        reasoning,
        writing,
        usage,
        error,
        checked,
        ..
    } = body
    else {
        return;
    };
    match change {
        MessageChange::AgentSaid {
            text: piece,
            reasoning: false,
        } => text.push_str(piece),
        MessageChange::AgentSaid {
            text: piece,
            reasoning: true,
        } => reasoning.push_str(piece),
        MessageChange::AnswerChecked { answer } => *checked = Some(answer.clone()),
        MessageChange::TurnEnded {
            usage: used,
            error: failed,
            ..
        } => {
            *writing = false;
            *usage = Some(*used);
            error.clone_from(failed);
        }
        MessageChange::PersonSaid { .. }
        | MessageChange::SubAgentFinished { .. }
        | MessageChange::TurnStarted { .. } => {}
    }
}

fn apply_to_call(view: &mut CallView, change: &CallChange, at: At) {
    match change {
        CallChange::Judged {
            tool,
            title,
            target,
            mode,
            kind,
            trail,
            preview,
            undo,
            ..
        } => {
            view.tool.clone_from(tool);
            view.title.clone_from(title);
            view.target.clone_from(target);
            view.mode = *mode;
            view.kind = *kind;
            view.trail = Some(trail.clone());
            view.preview = preview.clone();
            view.undo_availability = undo.clone();
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
            view.forked_from.clone_from(forked_from);
            view.tool.clone_from(tool);
            view.title.clone_from(title);
            view.target.clone_from(target);
            view.mode = *mode;
            view.kind = *kind;
        }
        CallChange::Waiting {
            digest,
            grants,
            refreshed,
            expires_at,
        } => {
            let since = view.pending.as_ref().map_or(at, |pending| pending.since);
            view.state = CallState::Waiting;
            view.pending = Some(PendingDecision {
                digest: digest.clone(),
                since,
                grants: grants.clone(),
                refreshed: refreshed.clone(),
                expires_at: *expires_at,
            });
        }
        CallChange::Decided { decision, .. } => {
            view.decision = Some(PersonDecision {
                decision: decision.clone(),
                at,
            });
        }
        CallChange::Edited { arguments, .. } => view.edited = Some(arguments.clone()),
        CallChange::UndoPrepared { entry } => view.undo = Some(entry.clone()),
        CallChange::Started => {
            view.state = CallState::Running;
            view.pending = None;
            view.started_at = Some(at);
        }
        CallChange::Output { text } => {
            view.output.push_str(text);
            truncate_start(&mut view.output, CallView::OUTPUT_BYTES_MAX);
        }
        CallChange::Update { partial } => {
            view.output.push_str(&partial.to_text());
            truncate_start(&mut view.output, CallView::OUTPUT_BYTES_MAX);
        }
        CallChange::StateWritten { place, .. } => view.stored_at = Some(place.clone()),
        CallChange::Progress { text, .. } => view.progress = Some(text.clone()),
        CallChange::ServerRequestReceived { .. }
        | CallChange::ServerRequestAnswered { .. }
        | CallChange::SamplingFinished { .. } => apply_to_server_requests(view, change, at),
        CallChange::Ended { outcome, masked } => {
            view.state = outcome.state;
            view.progress = None;
            view.pending = None;
            view.ended_at = Some(at);
            view.outcome = Some(Outcome::clone(outcome));
            if let Some(masked) = masked {
                masked.apply(view);
            }
            match (&mut view.undo, outcome.state) {
                (Some(undo), CallState::Done) => undo.state = UndoState::Applied,
                // Whether it took effect is not known: the copy stays on offer.
                (_, CallState::Interrupted) => {}
                // An undo that was recorded after the work was done stands, or was taken back, however the call ended.
                (Some(undo), _) if undo.state != UndoState::Prepared => {}
                // A call that failed changed nothing, so there is nothing to take back.
                _ => view.undo = None,
            }
        }
        CallChange::UndoApplied { .. } => {
            view.state = CallState::Undone;
            view.undone_at = Some(at);
            if let Some(undo) = &mut view.undo {
                undo.state = UndoState::Undone;
            }
        }
        CallChange::RedoApplied { .. } => {
            view.state = view
                .outcome
                .as_ref()
                .map_or(CallState::Done, |outcome| outcome.state);
            view.undone_at = None;
            if let Some(undo) = &mut view.undo {
                undo.state = UndoState::Applied;
            }
        }
        CallChange::HookAnswered { .. } => {}
    }
}

/// Applies a server's requests to the person, and their answers. A request waits for the person together with its call;
/// an answer counts once, and only while the call goes on.
fn apply_to_server_requests(view: &mut CallView, change: &CallChange, at: At) {
    match change {
        CallChange::ServerRequestReceived {
            request_id,
            request,
            expires_at,
        } => {
            view.state = CallState::Waiting;
            view.server_requests.push(ServerRequestView {
                id: request_id.clone(),
                request: ServerRequest::clone(request),
                at,
                expires_at: *expires_at,
                answered: None,
            });
        }
        CallChange::ServerRequestAnswered {
            request_id,
            answer,
            why,
        } => {
            let mut open = view.server_requests.iter_mut();
            let open = open.find(|one| one.id == *request_id && one.answered.is_none());
            if let Some(one) = open {
                one.answered = Some(ServerAnswerRecord {
                    answer: answer.clone(),
                    at,
                    why: why.clone(),
                    sampled: None,
                });
                if view.state == CallState::Waiting {
                    view.state = CallState::Running;
                }
            }
        }
        CallChange::SamplingFinished { request_id, result } => {
            let mut answered = view
                .server_requests
                .iter_mut()
                .filter(|one| one.id == *request_id);
            if let Some(answered) = answered.find_map(|one| one.answered.as_mut()) {
                answered.sampled = Some(SamplingResult::clone(result));
            }
        }
        _ => {}
    }
}

/// Cuts a text at its start so that at most `bytes_max` bytes are left, never inside a character.
fn truncate_start(text: &mut String, bytes_max: usize) {
    let kept = cut::take_tail(text, bytes_max).len();
    text.drain(..text.len() - kept);
}

/// Returns the session's view after an event; none if the session was deleted. `waiting` is the number of calls that wait
/// for the person.
pub fn fold_session(
    before: Option<SessionView>,
    event: &Event,
    waiting: u32,
) -> Option<SessionView> {
    let mut view = match (&event.body, before) {
        (
            EventBody::Session(SessionEvent::Opened {
                title,
                workspace,
                model,
                parent,
                options,
            }),
            None,
        ) => SessionView {
            id: event.session.clone(),
            title: title.clone(),
            workspace: workspace.clone(),
            model: model.clone(),
            parent: parent.clone(),
            state: SessionState::Idle,
            opened_at: event.at,
            changed_at: event.at,
            waiting: 0,
            turns: 0,
            usage: Usage::default(),
            planning: false,
            place: ListPlace::default(),
            effort: options.as_deref().and_then(|options| options.effort),
            skipped_asks: None,
            agent_options: None,
            context: None,
        },
        (EventBody::Session(SessionEvent::Deleted { .. }), _) => return None,
        (_, before) => before?,
    };
    match &event.body {
        EventBody::Session(SessionEvent::Renamed { title }) => view.title.clone_from(title),
        EventBody::Session(SessionEvent::Placed { place }) => {
            view.place = *place;
            // Nothing happened in the session.
            return Some(view);
        }
        EventBody::Session(SessionEvent::Changed { state }) => view.state = *state,
        EventBody::Session(SessionEvent::PlanningSet { on, .. }) => view.planning = *on,
        EventBody::Session(SessionEvent::ModelChanged { model, effort }) => {
            view.model.clone_from(model);
            view.effort = *effort;
            // What was told of the use is about the model before.
            view.context = None;
        }
        EventBody::Session(SessionEvent::AsksSkipped { until }) => {
            view.skipped_asks = Some(SkippedAsks {
                seq: event.seq,
                since: event.at,
                until: *until,
            });
        }
        EventBody::Session(SessionEvent::AsksResumed { .. }) => view.skipped_asks = None,
        EventBody::Session(SessionEvent::AgentOptionsChanged { .. }) => {
            view.agent_options = Some(event.seq);
        }
        EventBody::Session(SessionEvent::AgentContextChanged { context }) => {
            view.context = Some(*context);
        }
        EventBody::Message {
            change: MessageChange::PersonSaid { .. },
            ..
        } if view.place == ListPlace::Archived => view.place = ListPlace::Recent,
        EventBody::Message {
            change: MessageChange::TurnEnded { usage, .. },
            ..
        } => {
            view.turns += 1;
            view.usage = view.usage.plus(*usage);
        }
        EventBody::Call {
            change: CallChange::SamplingFinished { result, .. },
            ..
        } => view.usage = view.usage.plus(result.usage),
        _ => {}
    }
    view.changed_at = event.at;
    view.waiting = waiting;
    Some(view)
}
