//! Queue of the items that wait for the person in a run: calls of its session and of sub-agent sessions, in order of
//! arrival.

use std::collections::HashMap;

use protocol::event::{CallChange, SessionEvent, fold};
use protocol::{CallView, Digest, Entry, EntryBody, Event, EventBody, ServerRequestId, SessionId};

/// A waiting item: a call to decide on, or a request of a running call's server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct WaitingItem {
    pub session: SessionId,
    /// Id of the call in its entries.
    pub call: String,
    pub kind: WaitingKind,
}

/// Kind of answer that an item waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum WaitingKind {
    /// A decision on exactly the plan with this digest.
    Decision(Digest),
    /// An answer to a server's request.
    Answer(ServerRequestId),
}

/// The waiting items, with their calls and sessions.
pub(super) struct WaitingQueue {
    /// The sessions of this run, with their titles.
    sessions: HashMap<SessionId, String>,
    calls: HashMap<(SessionId, String), Entry>,
    waiting: Vec<WaitingItem>,
}

impl WaitingQueue {
    /// Creates the queue for the run of one session.
    pub fn new(session: SessionId) -> Self {
        Self {
            sessions: HashMap::from([(session, String::new())]),
            calls: HashMap::new(),
            waiting: Vec::new(),
        }
    }

    /// Handles an event. Events of other runs are ignored.
    pub fn handle_event(&mut self, event: &Event) {
        if let EventBody::Session(SessionEvent::Opened {
            parent: Some(parent),
            title,
            ..
        }) = &event.body
            && self.sessions.contains_key(&parent.session)
        {
            let session = event.session.clone();
            self.sessions.insert(session, title.clone());
        }
        if !self.sessions.contains_key(&event.session) {
            return;
        }
        let Some(id) = fold::entry_id(event) else {
            return;
        };
        let key = (event.session.clone(), id.into_owned());
        let before = self.calls.remove(&key);
        if let Some(entry) = fold::fold_entry(before, event)
            && let EntryBody::Call(view) = &entry.body
            && !view.state.is_settled()
        {
            self.calls.insert(key, entry);
        }
        if let EventBody::Call { call, change } = &event.body {
            self.apply_change(&event.session, call.as_str(), change);
        }
    }

    fn apply_change(&mut self, session: &SessionId, call: &str, change: &CallChange) {
        let item = |kind| WaitingItem {
            session: session.clone(),
            call: call.to_owned(),
            kind,
        };
        match change {
            CallChange::Waiting { digest, .. } => {
                self.drop_call(session, call);
                self.waiting
                    .push(item(WaitingKind::Decision(digest.clone())));
            }
            CallChange::ServerRequestReceived { request_id, .. } => {
                self.waiting
                    .push(item(WaitingKind::Answer(request_id.clone())));
            }
            CallChange::ServerRequestAnswered { request_id, .. } => {
                let answered = item(WaitingKind::Answer(request_id.clone()));
                self.waiting.retain(|one| *one != answered);
            }
            CallChange::Judged { .. }
            | CallChange::Decided { .. }
            | CallChange::Edited { .. }
            | CallChange::Started
            | CallChange::Ended { .. } => self.drop_call(session, call),
            CallChange::Imported { .. }
            | CallChange::HookAnswered { .. }
            | CallChange::UndoPrepared { .. }
            | CallChange::Output { .. }
            | CallChange::Update { .. }
            | CallChange::Progress { .. }
            | CallChange::SamplingFinished { .. }
            | CallChange::StateWritten { .. }
            | CallChange::UndoApplied { .. }
            | CallChange::RedoApplied { .. } => {}
        }
    }

    fn drop_call(&mut self, session: &SessionId, call: &str) {
        self.waiting
            .retain(|item| !(item.session == *session && item.call == call));
    }

    /// Returns the first item; none if nothing waits.
    pub fn first(&self) -> Option<&WaitingItem> {
        self.waiting.first()
    }

    /// Returns the number of waiting items.
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Whether an item still waits.
    pub fn contains(&self, item: &WaitingItem) -> bool {
        self.waiting.contains(item)
    }

    /// Removes an item that was answered.
    pub fn remove(&mut self, item: &WaitingItem) {
        self.waiting.retain(|one| one != item);
    }

    /// Moves the first item behind all others.
    pub fn rotate(&mut self) {
        if !self.waiting.is_empty() {
            self.waiting.rotate_left(1);
        }
    }

    /// Returns the call of an item.
    pub fn call_view(&self, item: &WaitingItem) -> Option<&CallView> {
        let entry = self.calls.get(&(item.session.clone(), item.call.clone()))?;
        match &entry.body {
            EntryBody::Call(view) => Some(view),
            _ => None,
        }
    }

    /// Returns the title of a session; empty for the run's own.
    pub fn session_title(&self, session: &SessionId) -> &str {
        self.sessions.get(session).map_or("", String::as_str)
    }
}
