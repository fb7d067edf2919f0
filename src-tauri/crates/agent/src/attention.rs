//! What needs a person, for whoever shows it outside the window: a tray, a title, a notification.

use protocol::{CallId, EventBody, Fault, SessionId};
use std::collections::HashMap;

use crate::Desk;
use crate::hub::Events;

/// How many calls wait, and which came to wait just now.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Attention {
    /// Calls on the desk.
    pub waiting: usize,
    /// Titles of those that landed since the last time: the tool's name, never its arguments.
    pub landed: Vec<String>,
}

/// Follows what stands on the desk.
pub struct Watch {
    events: Events,
    /// Title of each call that is judged and not over; none waits unless it is marked.
    calls: HashMap<(SessionId, CallId), (String, bool)>,
}

impl Desk {
    /// Follows what stands on the desk, beginning with what stands there now.
    pub fn attention(&self) -> Result<Watch, Fault> {
        let seq = self.shared.record.last_seq()?;
        let mut calls = HashMap::new();
        for entry in self.shared.record.desk()? {
            if let protocol::EntryBody::Call(view) = entry.body {
                calls.insert((entry.session, view.call.id), (view.title, true));
            }
        }
        Ok(Watch {
            events: self.subscribe(seq),
            calls,
        })
    }
}

impl Watch {
    /// What stands on the desk now.
    pub fn waiting(&self) -> usize {
        self.calls.values().filter(|(_, waits)| *waits).count()
    }

    /// The next change; none once the desk is gone.
    pub async fn next(&mut self) -> Result<Option<Attention>, Fault> {
        loop {
            let before = self.waiting();
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
            let waiting = self.waiting();
            if waiting != before || !landed.is_empty() {
                return Ok(Some(Attention { waiting, landed }));
            }
        }
    }
}
