//! The letters and digits that a session sent, by receiver: a secret may leave in two calls, half in each. They end with the
//! process.

use std::collections::HashMap;

/// How many bytes are remembered for each receiver; the latest count.
const BYTES_MAX: usize = 64 * 1024;
/// How many receivers are remembered. What goes to further ones is looked at call by call.
const RECEIVERS_MAX: usize = 100;

/// The letters and digits that a session sent.
#[derive(Debug, Clone, Default)]
pub(crate) struct SentLetters(HashMap<String, String>);

impl SentLetters {
    /// Adds what is sent to these receivers: letters and digits of ASCII.
    pub fn add(&mut self, receivers: &[String], letters: &str) {
        for receiver in receivers {
            if self.0.len() >= RECEIVERS_MAX && !self.0.contains_key(receiver) {
                continue;
            }
            let sent = self.0.entry(receiver.clone()).or_default();
            if !sent.contains(letters) {
                sent.push_str(letters);
                let excess = sent.len().saturating_sub(BYTES_MAX);
                sent.drain(..excess);
            }
        }
    }

    /// Returns what was sent to any of these receivers.
    pub fn sent_to(&self, receivers: &[String]) -> String {
        let sent = receivers.iter().filter_map(|receiver| self.0.get(receiver));
        sent.map(String::as_str).collect::<Vec<_>>().join(" ")
    }
}
