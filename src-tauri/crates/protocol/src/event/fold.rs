//! Folding events into entries: the pure fold that record, command line and interface share.
//!
//! The interface has the same fold in TypeScript (`ui/src/state/reduce.ts`); the golden streams in `tests/golden` keep
//! both in step.

use std::borrow::Cow;

use crate::server::elicitation::{SamplingResult, ServerAnswerRecord};
use crate::text::cut;
use crate::view::entry::{PendingDecision, PersonDecision, SessionView};
use crate::view::preview::UndoAvailability;
use crate::{
    CallState, CallView, Entry, EntryBody, Event, EventBody, Outcome, Preview, ServerRequest,
    ServerRequestView, SessionState, ToolKind, UndoState, Usage,
};

/// Returns the id of the entry that an event begins or changes; none for events about the session as a whole.
pub fn entry_id(event: &Event) -> Option<Cow<'_, str>> {
    match &event.body {
        EventBody::SessionOpened { .. }
        | EventBody::SessionRenamed { .. }
        | EventBody::SessionChanged { .. }
        | EventBody::PlanningSet { .. }
        | EventBody::LimitReached { .. } => None,
        EventBody::PersonSaid { message, .. }
        | EventBody::ErrandEnded { message, .. }
        | EventBody::TurnStarted { message, .. }
        | EventBody::AgentSaid { message, .. }
        | EventBody::AnswerChecked { message, .. }
        | EventBody::TurnEnded { message, .. } => Some(Cow::Borrowed(message.as_str())),
        EventBody::CallProposed { call, .. } => Some(Cow::Borrowed(call.id.as_str())),
        EventBody::CallJudged { call, .. }
        | EventBody::CallWaits { call, .. }
        | EventBody::CallDecided { call, .. }
        | EventBody::CallEdited { call, .. }
        | EventBody::CallHooked { call, .. }
        | EventBody::UndoPrepared { call, .. }
        | EventBody::CallStarted { call }
        | EventBody::CallOutput { call, .. }
        | EventBody::CallUpdate { call, .. }
        | EventBody::CallAsked { call, .. }
        | EventBody::CallAnswered { call, .. }
        | EventBody::CallLent { call, .. }
        | EventBody::StateWritten { call, .. }
        | EventBody::CallProgress { call, .. }
        | EventBody::CallEnded { call, .. }
        | EventBody::UndoApplied { call, .. }
        | EventBody::RedoApplied { call, .. } => Some(Cow::Borrowed(call.as_str())),
        EventBody::Noted { .. } => Some(Cow::Owned(format!("note_{}", event.seq))),
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
    matches!(
        event.body,
        EventBody::PersonSaid { .. }
            | EventBody::ErrandEnded { .. }
            | EventBody::TurnStarted { .. }
            | EventBody::CallProposed { .. }
            | EventBody::Noted { .. }
    )
}

/// Returns the entry that an event begins; none if the event changes an entry, or is about the session as a whole.
pub fn begin_entry(event: &Event) -> Option<Entry> {
    let body = match &event.body {
        EventBody::PersonSaid {
            text,
            images,
            steering,
            ..
        } => EntryBody::Person {
            text: text.clone(),
            images: u32::try_from(images.len()).unwrap_or(u32::MAX),
            steering: *steering,
        },
        EventBody::ErrandEnded {
            child,
            title,
            text,
            failed,
            ..
        } => EntryBody::Errand {
            child: child.clone(),
            title: title.clone(),
            text: text.clone(),
            failed: *failed,
        },
        EventBody::TurnStarted { turn, .. } => EntryBody::Agent {
            turn: *turn,
            text: String::new(),
            reasoning: String::new(),
            writing: true,
            usage: None,
            error: None,
            checked: None,
        },
        EventBody::CallProposed {
            call, reasoning, ..
        } => EntryBody::Call(Box::new(new_call_view(call, reasoning.clone()))),
        EventBody::Noted { notice } => EntryBody::Notice(notice.clone()),
        _ => return None,
    };
    Some(Entry {
        id: entry_id(event)?.into_owned(),
        session: event.session.clone(),
        seq: event.seq,
        at: event.at,
        body,
    })
}

/// Changes an entry by an event about it.
pub fn apply_event(entry: &mut Entry, event: &Event) {
    match &mut entry.body {
        EntryBody::Agent { .. } => apply_to_message(&mut entry.body, &event.body),
        EntryBody::Call(view) => apply_to_call(view, event),
        EntryBody::Person { .. } | EntryBody::Errand { .. } | EntryBody::Notice(_) => {}
    }
}

fn new_call_view(call: &crate::ToolCall, reasoning: Option<String>) -> CallView {
    CallView {
        call: call.clone(),
        edited: None,
        reasoning,
        tool: call.name.clone(),
        title: call.name.clone(),
        target: String::new(),
        mode: None,
        kind: ToolKind::Other,
        state: CallState::Proposed,
        trail: None,
        preview: Preview::Nothing,
        outlook: UndoAvailability::NotNeeded,
        waits: None,
        decision: None,
        undo: None,
        undone_at: None,
        output: String::new(),
        progress: None,
        asks: Vec::new(),
        outcome: None,
        kept: None,
        started_at: None,
        ended_at: None,
    }
}

fn apply_to_message(body: &mut EntryBody, event: &EventBody) {
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
    match event {
        EventBody::AgentSaid {
            text: piece,
            reasoning: false,
            ..
        } => text.push_str(piece),
        EventBody::AgentSaid {
            text: piece,
            reasoning: true,
            ..
        } => reasoning.push_str(piece),
        EventBody::AnswerChecked { answer, .. } => *checked = Some(answer.clone()),
        EventBody::TurnEnded {
            usage: used,
            error: failed,
            ..
        } => {
            *writing = false;
            *usage = Some(*used);
            error.clone_from(failed);
        }
        _ => {}
    }
}

fn apply_to_call(view: &mut CallView, event: &Event) {
    match &event.body {
        EventBody::CallJudged {
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
            view.outlook = undo.clone();
        }
        EventBody::CallWaits {
            digest,
            grants,
            refreshed,
            expires_at,
            ..
        } => {
            let since = view.waits.as_ref().map_or(event.at, |waits| waits.since);
            view.state = CallState::Waiting;
            view.waits = Some(PendingDecision {
                digest: digest.clone(),
                since,
                grants: grants.clone(),
                refreshed: refreshed.clone(),
                expires_at: *expires_at,
            });
        }
        EventBody::CallDecided { decision, .. } => {
            view.decision = Some(PersonDecision {
                decision: decision.clone(),
                at: event.at,
            });
        }
        EventBody::CallEdited { arguments, .. } => view.edited = Some(arguments.clone()),
        EventBody::UndoPrepared { entry, .. } => view.undo = Some(entry.clone()),
        EventBody::CallStarted { .. } => {
            view.state = CallState::Running;
            view.waits = None;
            view.started_at = Some(event.at);
        }
        EventBody::CallOutput { text, .. } => {
            view.output.push_str(text);
            truncate_start(&mut view.output, CallView::OUTPUT_BYTES_MAX);
        }
        EventBody::CallUpdate { partial, .. } => {
            view.output.push_str(&partial.to_text());
            truncate_start(&mut view.output, CallView::OUTPUT_BYTES_MAX);
        }
        EventBody::StateWritten { place, .. } => view.kept = Some(place.clone()),
        EventBody::CallProgress { message, .. } => view.progress = Some(message.clone()),
        EventBody::CallAsked { .. }
        | EventBody::CallAnswered { .. }
        | EventBody::CallLent { .. } => apply_to_server_requests(view, event),
        EventBody::CallEnded {
            outcome, masked, ..
        } => {
            view.state = outcome.state;
            view.progress = None;
            view.waits = None;
            view.ended_at = Some(event.at);
            view.outcome = Some(Outcome::clone(outcome));
            if let Some(masked) = masked {
                masked.apply(view);
            }
            match (&mut view.undo, outcome.state) {
                (Some(undo), CallState::Done) => undo.state = UndoState::Applied,
                // Whether it took effect is not known: the copy stays on offer.
                (_, CallState::Interrupted) => {}
                // What was recorded after it was done stands, or was taken back, however the call ended.
                (Some(undo), _) if undo.state != UndoState::Prepared => {}
                // A call that failed changed nothing, so there is nothing to take back.
                _ => view.undo = None,
            }
        }
        EventBody::UndoApplied { .. } => {
            view.state = CallState::Undone;
            view.undone_at = Some(event.at);
            if let Some(undo) = &mut view.undo {
                undo.state = UndoState::Undone;
            }
        }
        EventBody::RedoApplied { .. } => {
            view.state = view
                .outcome
                .as_ref()
                .map_or(CallState::Done, |outcome| outcome.state);
            view.undone_at = None;
            if let Some(undo) = &mut view.undo {
                undo.state = UndoState::Applied;
            }
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
        | EventBody::LimitReached { .. }
        | EventBody::Noted { .. } => {}
    }
}

/// Applies a server's requests to the person, and their answers. A request waits for the person together with its call;
/// an answer counts once, and only while the call goes on.
fn apply_to_server_requests(view: &mut CallView, event: &Event) {
    match &event.body {
        EventBody::CallAsked {
            ask,
            asked,
            expires_at,
            ..
        } => {
            view.state = CallState::Waiting;
            view.asks.push(ServerRequestView {
                id: ask.clone(),
                asked: ServerRequest::clone(asked),
                at: event.at,
                expires_at: *expires_at,
                answered: None,
            });
        }
        EventBody::CallAnswered {
            ask, answer, why, ..
        } => {
            let mut open = view.asks.iter_mut();
            let open = open.find(|one| one.id == *ask && one.answered.is_none());
            if let Some(one) = open {
                one.answered = Some(ServerAnswerRecord {
                    answer: answer.clone(),
                    at: event.at,
                    why: why.clone(),
                    said: None,
                });
                if view.state == CallState::Waiting {
                    view.state = CallState::Running;
                }
            }
        }
        EventBody::CallLent { ask, said, .. } => {
            let mut answered = view.asks.iter_mut().filter(|one| one.id == *ask);
            if let Some(answered) = answered.find_map(|one| one.answered.as_mut()) {
                answered.said = Some(SamplingResult::clone(said));
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

/// Returns the session's view after an event. `waiting` is the number of calls that wait for the person.
pub fn fold_session(
    before: Option<SessionView>,
    event: &Event,
    waiting: u32,
) -> Option<SessionView> {
    let mut view = match (&event.body, before) {
        (
            EventBody::SessionOpened {
                title,
                workspace,
                model,
                parent,
                ..
            },
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
        },
        (_, before) => before?,
    };
    match &event.body {
        EventBody::SessionRenamed { title } => view.title.clone_from(title),
        EventBody::SessionChanged { state } => view.state = *state,
        EventBody::PlanningSet { on, .. } => view.planning = *on,
        EventBody::TurnEnded { usage, .. } => {
            view.turns += 1;
            view.usage = view.usage.plus(*usage);
        }
        EventBody::CallLent { said, .. } => view.usage = view.usage.plus(said.usage),
        _ => {}
    }
    view.changed_at = event.at;
    view.waiting = waiting;
    Some(view)
}
