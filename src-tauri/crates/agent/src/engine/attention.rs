//! What needs a person, for whoever shows it outside the window: a tray, a title, a notification.

use protocol::{CallId, EventBody, SessionId, UserError};
use std::collections::HashMap;

use crate::Engine;
use crate::session::engine_state::event_hub::EventStream;

/// How many calls wait, and which came to wait just now.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AttentionChange {
    /// Calls on the desk.
    pub waiting: usize,
    /// Titles of those that landed since the last time: the tool's name, never its arguments.
    pub landed: Vec<String>,
}

/// Follows what stands on the desk.
pub struct AttentionWatch {
    events: EventStream,
    /// Title of each call that is judged and not over; none waits unless it is marked.
    calls: HashMap<(SessionId, CallId), (String, bool)>,
}

impl Engine {
    /// Follows what stands on the desk, beginning with what stands there now.
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
    /// What stands on the desk now.
    pub fn waiting_calls(&self) -> usize {
        self.calls.values().filter(|(_, waits)| *waits).count()
    }

    /// The next change; none once the desk is gone.
    pub async fn next(&mut self) -> Result<Option<AttentionChange>, UserError> {
        loop {
            let before = self.waiting_calls();
            let Some(events) = self.events.next().await? else {
                return Ok(None);
            };
            let mut landed = Vec::new();
            for event in events.iter() {
                let key = |call: &CallId| (event.session.clone(), call.clone());
                match &event.body {
                    EventBody::CallJudged { call, title, .. } => {
                        self.calls.entry(key(call)).or_default().0.clone_from(title);
                    }
                    EventBody::CallWaits { call, .. } => {
                        let (title, waits) = self.calls.entry(key(call)).or_default();
                        if !std::mem::replace(waits, true) {
                            landed.push(title.clone());
                        }
                    }
                    EventBody::CallAsked { call, asked, .. } => {
                        let (title, waits) = self.calls.entry(key(call)).or_default();
                        if title.is_empty() {
                            title.push_str(asked.server.as_str());
                        }
                        if !std::mem::replace(waits, true) {
                            landed.push(title.clone());
                        }
                    }
                    EventBody::CallStarted { call } | EventBody::CallAnswered { call, .. } => {
                        self.calls.entry(key(call)).or_default().1 = false;
                    }
                    EventBody::CallEnded { call, .. } => {
                        self.calls.remove(&key(call));
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
