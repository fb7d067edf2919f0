//! Calls that an agent makes again and again although they come to the same.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use protocol::{CallState, Digest, Outcome};
use serde_json::{Map, Value};

use crate::limits::CALLS_REMEMBERED_MAX;

/// The calls of one run: how often each came to the same result in a row.
#[derive(Debug, Default)]
pub(crate) struct Repeats {
    seen: HashMap<Key, (Digest, u32)>,
}

/// What two calls have in common when they are the same: tool and arguments, in whatever order these are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) struct Key(u64);

impl Key {
    /// The key of a call. It is compared within one run only, and nothing is let through by it.
    pub fn of(tool: &str, arguments: &Map<String, Value>) -> Self {
        let mut hasher = DefaultHasher::new();
        (tool, arguments).hash(&mut hasher);
        Self(hasher.finish())
    }
}

impl Repeats {
    /// How often this call came to the same result, without another one in between.
    pub fn of(&self, call: Key) -> u32 {
        self.seen.get(&call).map_or(0, |(_, times)| *times)
    }

    /// Takes the result of a call. One that did not run came to nothing that could be compared.
    pub fn take(&mut self, call: Key, outcome: &Outcome) {
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn calls_are_the_same_by_tool_and_arguments_and_not_by_their_order() {
        let key = |tool, arguments: Value| Key::of(tool, arguments.as_object().unwrap());
        let one = key("read", json!({ "path": "a", "of": { "x": 1, "y": [2] } }));
        for (tool, arguments, same) in [
            (
                "read",
                json!({ "of": { "y": [2], "x": 1 }, "path": "a" }),
                true,
            ),
            (
                "write",
                json!({ "path": "a", "of": { "x": 1, "y": [2] } }),
                false,
            ),
            (
                "read",
                json!({ "path": "a", "of": { "x": 1, "y": ["2"] } }),
                false,
            ),
            (
                "read",
                json!({ "path": "b", "of": { "x": 1, "y": [2] } }),
                false,
            ),
            ("read", json!({ "path": "a" }), false),
        ] {
            let is = key(tool, arguments.clone()) == one;
            assert_eq!(is, same, "{tool} {arguments}");
        }
    }
}
