//! Detection of loops: the same call several times in a row, always with the same result and with nothing in between
//! that could change the result.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use protocol::{CallState, Digest, Outcome};
use serde_json::{Map, Value};

use crate::limits::CALLS_REMEMBERED_MAX;

/// Calls of one run since the last change: how often each had the same result in a row.
#[derive(Debug, Default)]
pub(crate) struct RepeatCounter {
    counts: HashMap<CallKey, (Digest, u32)>,
}

/// Key that is equal for two calls with the same tool and arguments, in whatever order the arguments are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) struct CallKey(u64);

impl CallKey {
    /// Returns the key of a call. Keys are compared within one run only, and never decide whether a call may run.
    pub fn from_call(tool: &str, arguments: &Map<String, Value>) -> Self {
        let mut hasher = DefaultHasher::new();
        (tool, arguments).hash(&mut hasher);
        Self(hasher.finish())
    }
}

/// Whether a call may change the results of other calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CallEffect {
    /// The call only reads.
    None,
    /// The call may change something.
    Possible,
}

impl RepeatCounter {
    /// Returns how often this call had the same result, with nothing in between that could have changed it.
    pub fn repeat_count(&self, call: CallKey) -> u32 {
        self.counts.get(&call).map_or(0, |(_, times)| *times)
    }

    /// Adds the result of a call, and returns how often the call had that result in a row. A call that did not run to
    /// completion has no result to compare.
    pub fn add_outcome(&mut self, call: CallKey, effect: CallEffect, outcome: &Outcome) -> u32 {
        let has_result = match outcome.state {
            CallState::Done | CallState::Failed => true,
            CallState::Running | CallState::Interrupted | CallState::Undone => false,
            CallState::Proposed
            | CallState::Waiting
            | CallState::Denied
            | CallState::Rejected
            | CallState::Expired
            | CallState::Skipped => return self.repeat_count(call),
        };
        // Every other call may come to something else now.
        if effect == CallEffect::Possible {
            self.counts.retain(|other, _| has_result && *other == call);
        }
        if !has_result {
            return 0;
        }
        if self.counts.len() >= CALLS_REMEMBERED_MAX && !self.counts.contains_key(&call) {
            self.counts.clear();
        }
        let (result, times) = self
            .counts
            .entry(call)
            .or_insert_with(|| (outcome.digest.clone(), 0));
        match *result == outcome.digest {
            true => *times += 1,
            // Whoever polls gets something new to see: that is no repetition.
            false => (*result, *times) = (outcome.digest.clone(), 1),
        }
        *times
    }

    /// Resets the count of a call that was denied: a denial must not lead to the next one.
    pub fn remove(&mut self, call: CallKey) {
        self.counts.remove(&call);
    }

    /// Resets all counts: something other than a call may have changed the results.
    pub fn clear(&mut self) {
        self.counts.clear();
    }
}

/// Returns the reason to ask about the next call of this kind; none if there is no need to ask.
pub(crate) fn repeat_reason(times: u32, asks_after: u32) -> Option<String> {
    (asks_after > 0 && times >= asks_after).then(|| {
        let times = times_in_words(times);
        format!(
            "The agent made this very call {times} in a row, always with the same result and with nothing between that could \
             change it."
        )
    })
}

/// Returns the note to the model on a read that had the same result this many times in a row; none below the limit.
pub(crate) fn repeat_note(times: u32, tells_after: u32) -> Option<String> {
    (tells_after > 0 && times > tells_after).then(|| {
        let times = times_in_words(times);
        format!(
            "[You made this very call {times} in a row, and nothing changed between. The result is the same as before: go on \
             with what you have.]"
        )
    })
}

fn times_in_words(times: u32) -> String {
    match times {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        times => format!("{times} times"),
    }
}

#[cfg(test)]
mod tests {
    use protocol::{FailureClass, ToolOutput};
    use serde_json::json;

    use super::*;

    fn key(tool: &str, arguments: Value) -> CallKey {
        CallKey::from_call(tool, arguments.as_object().unwrap())
    }

    fn done(text: &str) -> Outcome {
        Outcome::from_tool_output(ToolOutput::new(text, "ok"), "")
    }

    #[test]
    fn calls_are_the_same_by_tool_and_arguments_and_not_by_their_order() {
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

    #[test]
    fn what_may_change_something_ends_every_other_count() {
        let (read, glob) = (key("read", json!({})), key("glob", json!({})));
        let command = key("bash", json!({ "command": "make" }));
        let mut repeats = RepeatCounter::default();
        for times in 1..=3 {
            assert_eq!(
                repeats.add_outcome(read, CallEffect::None, &done("a")),
                times
            );
            assert_eq!(
                repeats.add_outcome(glob, CallEffect::None, &done("b")),
                times
            );
        }
        assert_eq!(
            repeats.add_outcome(command, CallEffect::Possible, &done("made")),
            1
        );
        assert_eq!(
            (repeats.repeat_count(read), repeats.repeat_count(glob)),
            (0, 0)
        );
        assert_eq!(
            repeats.add_outcome(command, CallEffect::Possible, &done("made")),
            2
        );
        // A read changes nothing, so the command was still the same twice.
        repeats.add_outcome(read, CallEffect::None, &done("a"));
        assert_eq!(repeats.repeat_count(command), 2);
        assert_eq!(
            repeats.add_outcome(command, CallEffect::Possible, &done("other")),
            1
        );
    }

    #[test]
    fn what_did_not_run_is_no_repetition() {
        let call = key("bash", json!({}));
        let mut repeats = RepeatCounter::default();
        repeats.add_outcome(call, CallEffect::Possible, &done("a"));
        for state in [CallState::Denied, CallState::Rejected, CallState::Expired] {
            let ended = Outcome::new(state, FailureClass::PermissionDenied, "no", "no");
            assert_eq!(repeats.add_outcome(call, CallEffect::Possible, &ended), 1);
        }
        repeats.add_outcome(key("write", json!({})), CallEffect::Possible, &done("b"));
        assert_eq!(repeats.repeat_count(call), 0);
        repeats.add_outcome(call, CallEffect::Possible, &done("a"));
        repeats.remove(call);
        assert_eq!(repeats.repeat_count(call), 0);
    }

    #[test]
    fn words_come_after_as_many_times_as_were_set() {
        assert_eq!((repeat_reason(2, 3), repeat_note(3, 3)), (None, None));
        assert!(repeat_reason(3, 3).unwrap().contains("3 times in a row"));
        assert!(repeat_note(4, 3).unwrap().contains("4 times in a row"));
        assert_eq!((repeat_reason(9, 0), repeat_note(9, 0)), (None, None));
    }
}
