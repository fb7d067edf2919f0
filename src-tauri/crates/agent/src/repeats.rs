//! Calls that an agent makes again and again although they come to the same.

use std::collections::HashMap;

use protocol::{CallState, Digest, Outcome};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use crate::limits::CALLS_REMEMBERED_MAX;

/// The calls of one run: how often each came to the same result in a row.
#[derive(Debug, Default)]
pub(crate) struct Repeats {
    seen: HashMap<Digest, (Digest, u32)>,
}

/// What two calls have in common when they are the same: tool and arguments, in whatever order these are written.
pub(crate) fn key(tool: &str, arguments: &Map<String, Value>) -> Digest {
    Digest::of_json(&(tool, Sorted(arguments)))
}

/// An object that is written with its members in the order of their names.
struct Sorted<'a>(&'a Map<String, Value>);

impl Serialize for Sorted<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut members: Vec<_> = self.0.iter().collect();
        members.sort_unstable_by_key(|(name, _)| *name);
        serializer.collect_map(
            members
                .into_iter()
                .map(|(name, value)| (name, Canonical(value))),
        )
    }
}

struct Canonical<'a>(&'a Value);

impl Serialize for Canonical<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Object(members) => Sorted(members).serialize(serializer),
            Value::Array(items) => serializer.collect_seq(items.iter().map(Canonical)),
            plain @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => {
                plain.serialize(serializer)
            }
        }
    }
}

impl Repeats {
    /// How often this call came to the same result, without another one in between.
    pub fn of(&self, call: &Digest) -> u32 {
        self.seen.get(call).map_or(0, |(_, times)| *times)
    }

    /// Takes the result of a call. One that did not run came to nothing that could be compared.
    pub fn take(&mut self, call: Digest, outcome: &Outcome) {
        match outcome.state {
            CallState::Done | CallState::Failed => {}
            CallState::Proposed
            | CallState::Waiting
            | CallState::Running
            | CallState::Denied
            | CallState::Rejected
            | CallState::Expired
            | CallState::Interrupted
            | CallState::Skipped
            | CallState::Undone => return,
        }
        if self.seen.len() >= CALLS_REMEMBERED_MAX && !self.seen.contains_key(&call) {
            self.seen.clear();
        }
        let (result, times) = self
            .seen
            .entry(call)
            .or_insert_with(|| (outcome.digest.clone(), 0));
        match *result == outcome.digest {
            true => *times += 1,
            // Whoever polls gets something new to see: that is no repetition.
            false => (*result, *times) = (outcome.digest.clone(), 1),
        }
    }
}

/// Why the next call of this kind is asked about; none if it is not.
pub(crate) fn reason(times: u32, asks_after: u32) -> Option<String> {
    (asks_after > 0 && times >= asks_after).then(|| {
        let times = match times {
            1 => "once".to_owned(),
            2 => "twice".to_owned(),
            times => format!("{times} times"),
        };
        format!("The agent made this very call {times} in this run, always with the same result.")
    })
}
