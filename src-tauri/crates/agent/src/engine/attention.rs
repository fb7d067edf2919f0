//! Calls that wait for a person, for display outside the window: a tray, a title, a notification.

use protocol::event::CallChange;
use protocol::{CallId, EventBody, SessionId, UserError};
use std::collections::HashMap;

use crate::Engine;
use crate::session::engine_state::event_hub::EventStream;

/// Number of waiting calls, and those that began to wait since the last change.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AttentionChange {
    /// Number of calls that wait for a decision.
    pub waiting: usize,
    /// Titles of the calls that began to wait since the last change: the tool's name, never its arguments.
    pub landed: Vec<String>,
}

/// Watches the calls that wait for a decision.
pub struct AttentionWatch {
    events: EventStream,
    /// Title of each call that is judged and not over, and whether the call waits.
    calls: HashMap<(SessionId, CallId), (String, bool)>,
}

impl Engine {
    /// Watches the calls that wait for a decision, beginning with those that wait now.
    pub fn watch_attention(&self) -> Result<AttentionWatch, UserError> {
        let seq = self.state.record.last_seq()?;
        let mut calls = HashMap::new();
        for entry in self.state.record.desk()? {
            if let protocol::EntryBody::Call(view) = entry.body {
                calls.insert((entry.session, view.call.id), (view.title, true));
            }
        }
        Ok(AttentionWatch {
            events: self.subscribe(seq),
            calls,
        })
    }
}

impl AttentionWatch {
    /// Returns the number of calls that wait for a decision now.
    pub fn waiting_calls(&self) -> usize {
        self.calls.values().filter(|(_, waits)| *waits).count()
    }

    /// Returns the next change; none once the engine is closed.
    pub async fn next(&mut self) -> Result<Option<AttentionChange>, UserError> {
        loop {
            let before = self.waiting_calls();
            let Some(events) = self.events.next().await? else {
                return Ok(None);
            };
            let mut landed = Vec::new();
            for event in events.iter() {
                let EventBody::Call { call, change } = &event.body else {
                    continue;
                };
                let key = (event.session.clone(), call.clone());
                match change {
                    CallChange::Judged { title, .. } => {
                        self.calls.entry(key).or_default().0.clone_from(title);
                    }
                    CallChange::Waiting { .. } => {
                        let (title, waits) = self.calls.entry(key).or_default();
                        if !std::mem::replace(waits, true) {
                            landed.push(title.clone());
                        }
                    }
                    CallChange::ServerRequestReceived { request, .. } => {
                        let (title, waits) = self.calls.entry(key).or_default();
                        if title.is_empty() {
                            title.push_str(request.server.as_str());
                        }
                        if !std::mem::replace(waits, true) {
                            landed.push(title.clone());
                        }
                    }
                    CallChange::Started | CallChange::ServerRequestAnswered { .. } => {
                        self.calls.entry(key).or_default().1 = false;
                    }
                    CallChange::Ended { .. } => {
                        self.calls.remove(&key);
                    }
                    _ => {}
                }
            }
            let waiting = self.waiting_calls();
            if waiting != before || !landed.is_empty() {
                return Ok(Some(AttentionChange { waiting, landed }));
            }
        }
    }
}
