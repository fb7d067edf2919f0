//! Calls that wait for a person, for display outside the window: a tray, a title, a notification.

use std::collections::{BTreeSet, HashMap};

use protocol::engine_process::{AttentionChange, WaitingCall};
use protocol::event::CallChange;
use protocol::{At, CallId, EventBody, SessionId, UserError};
use record::Record;

use crate::Engine;
use crate::session::engine_state::event_hub::EventStream;

/// Number of waiting calls that are named: those that wait longest.
const OLDEST_NAMED_MAX: usize = 3;

/// Watches the calls that wait for a decision.
pub struct AttentionWatch {
    events: EventStream,
    record: Record,
    /// The calls that are judged and not over.
    calls: HashMap<(SessionId, CallId), WatchedCall>,
}

/// When a call began to wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct WaitStart {
    at: At,
    /// Position of the event that says so, which tells calls of one moment apart.
    seq: u64,
}

/// A call that is judged and not over.
#[derive(Debug, Default)]
struct WatchedCall {
    title: String,
    /// Since when the call waits; none while it does not.
    waits_since: Option<WaitStart>,
}

impl Engine {
    /// Watches the calls that wait for a decision, beginning with those that wait now.
    pub fn watch_attention(&self) -> Result<AttentionWatch, UserError> {
        let record = self.state.record.clone();
        let seq = record.last_seq()?;
        let mut calls = HashMap::new();
        for entry in record.desk()? {
            if let protocol::EntryBody::Call(view) = entry.body {
                let since = view.waiting_since().unwrap_or(entry.at);
                let watched = WatchedCall {
                    title: view.title,
                    waits_since: Some(WaitStart {
                        at: since,
                        seq: entry.seq,
                    }),
                };
                calls.insert((entry.session, view.call.id), watched);
            }
        }
        Ok(AttentionWatch {
            events: self.subscribe(seq),
            record,
            calls,
        })
    }
}

impl AttentionWatch {
    /// Returns the calls that wait for a decision now, none of which just began to.
    pub fn current(&self) -> AttentionChange {
        AttentionChange {
            waiting: self.waiting_calls(),
            oldest: self.oldest_calls(),
            landed: Vec::new(),
        }
    }

    /// Returns the number of calls that wait for a decision now.
    fn waiting_calls(&self) -> usize {
        let waiting = self
            .calls
            .values()
            .filter(|call| call.waits_since.is_some());
        waiting.count()
    }

    fn oldest_calls(&self) -> Vec<WaitingCall> {
        let waiting = self.calls.iter();
        let mut waiting: Vec<_> = waiting
            .filter(|(_, call)| call.waits_since.is_some())
            .collect();
        waiting.sort_by_key(|(_, call)| call.waits_since);
        waiting.truncate(OLDEST_NAMED_MAX);
        waiting
            .into_iter()
            .map(|((session, call), WatchedCall { title, .. })| WaitingCall {
                session: session.clone(),
                call: call.clone(),
                title: title.clone(),
                session_title: self.session_title(session),
            })
            .collect()
    }

    fn session_title(&self, session: &SessionId) -> String {
        let view = self.record.session(session).ok().flatten();
        view.map(|view| view.title).unwrap_or_default()
    }

    /// Returns the next change; none once the engine is closed.
    pub async fn next(&mut self) -> Result<Option<AttentionChange>, UserError> {
        loop {
            let before = self.waiting_keys();
            let Some(events) = self.events.next().await? else {
                return Ok(None);
            };
            let mut landed = Vec::new();
            for event in events.iter() {
                let EventBody::Call { call, change } = &event.body else {
                    continue;
                };
                let key = (event.session.clone(), call.clone());
                let since = WaitStart {
                    at: event.at,
                    seq: event.seq,
                };
                match change {
                    CallChange::Judged { title, .. } => {
                        self.calls.entry(key).or_default().title.clone_from(title);
                    }
                    CallChange::Waiting { .. } => {
                        let call = self.calls.entry(key).or_default();
                        landed.extend(call.begin_wait(since));
                    }
                    CallChange::ServerRequestReceived { request, .. } => {
                        let call = self.calls.entry(key).or_default();
                        if call.title.is_empty() {
                            call.title.push_str(request.server.as_str());
                        }
                        landed.extend(call.begin_wait(since));
                    }
                    CallChange::Started | CallChange::ServerRequestAnswered { .. } => {
                        self.calls.entry(key).or_default().waits_since = None;
                    }
                    CallChange::Ended { .. } => {
                        self.calls.remove(&key);
                    }
                    _ => {}
                }
            }
            if self.waiting_keys() != before || !landed.is_empty() {
                return Ok(Some(AttentionChange {
                    landed,
                    ..self.current()
                }));
            }
        }
    }

    /// Returns the positions at which the waiting calls began to wait.
    fn waiting_keys(&self) -> BTreeSet<WaitStart> {
        let waiting = self.calls.values().filter_map(|call| call.waits_since);
        waiting.collect()
    }
}

impl WatchedCall {
    /// Notes that the call waits. Returns its title if it did not wait before.
    fn begin_wait(&mut self, since: WaitStart) -> Option<String> {
        if self.waits_since.is_some() {
            return None;
        }
        self.waits_since = Some(since);
        Some(self.title.clone())
    }
}
