//! What is on record of an imported session.

use std::collections::{HashMap, HashSet};

use protocol::event::{CallChange, MessageChange, fold};
use protocol::{CallState, Event, EventBody};

/// The events that an import need not record again.
pub(super) struct RecordedEvents {
    is_empty: bool,
    /// Ids of the entries that began.
    begun: HashSet<String>,
    /// Events about these, each with the id of its entry and its name.
    events: HashSet<(String, &'static str)>,
    /// Calls whose result was missing when they were recorded.
    without_result: HashSet<String>,
    /// Number of the turn of each message of the agent.
    turns: HashMap<String, u32>,
}

impl RecordedEvents {
    /// Collects the events of a session. As where they are folded, one about an entry that never began counts for nothing.
    pub fn new(events: &[Event]) -> Self {
        let mut recorded = Self {
            is_empty: events.is_empty(),
            begun: HashSet::new(),
            events: HashSet::new(),
            without_result: HashSet::new(),
            turns: HashMap::new(),
        };
        for event in events {
            recorded.add(event);
        }
        recorded
    }

    fn add(&mut self, event: &Event) {
        let Some(entry) = fold::entry_id(event).map(std::borrow::Cow::into_owned) else {
            return;
        };
        if fold::begins_entry(event) {
            self.begun.insert(entry.clone());
        } else if !self.begun.contains(&entry) {
            return;
        }
        match &event.body {
            EventBody::Message {
                change: MessageChange::TurnStarted { turn },
                ..
            } => {
                self.turns.insert(entry.clone(), *turn);
            }
            EventBody::Call {
                change: CallChange::Ended { outcome, .. },
                ..
            } => match outcome.state {
                CallState::Interrupted => {
                    self.without_result.insert(entry.clone());
                }
                _ => {
                    self.without_result.remove(&entry);
                }
            },
            _ => {}
        }
        self.events.insert((entry, event.body.name()));
    }

    /// Whether nothing of the session is on record.
    pub fn is_empty(&self) -> bool {
        self.is_empty
    }

    /// Returns the number of turns on record.
    pub fn turn_count(&self) -> u32 {
        self.turns.values().copied().max().unwrap_or(0)
    }

    /// Returns the number of the turn of a message of the agent, if it is on record.
    pub fn turn_of(&self, message: &str) -> Option<u32> {
        self.turns.get(message).copied()
    }

    /// Whether everything about a call is on record. A call without a result is completed once there is one.
    pub fn has_call(&self, call: &str, has_result: bool) -> bool {
        let ended = self.events.contains(&(call.to_owned(), "call_ended"));
        ended && !(has_result && self.without_result.contains(call))
    }

    /// Whether an event is on record.
    pub fn has(&self, event: &Event) -> bool {
        let Some(entry) = fold::entry_id(event) else {
            return !self.is_empty;
        };
        let name = event.body.name();
        let is_end = name == "call_ended";
        let is_superseded = is_end && self.without_result.contains(entry.as_ref());
        self.events.contains(&(entry.into_owned(), name)) && !is_superseded
    }
}
