//! Log messages of a server for the clients of a gateway, and from which level on each client wants them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use protocol::SessionId;
use protocol::text::display_text::to_single_line;
use protocol::text::redact;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};

use crate::limits::{LOG_MESSAGE_BYTES_MAX, LOG_MESSAGES_QUEUE_MAX, NAME_CHARS_MAX};
use crate::lock_mutex;

/// How severe a log message is, the least severe first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogLevel {
    /// Of use for finding faults.
    Debug,
    /// What goes on.
    Info,
    /// Usual, but worth a look.
    Notice,
    /// It may go wrong.
    Warning,
    /// Something failed.
    Error,
    /// A part of the server failed.
    Critical,
    /// Somebody has to act at once.
    Alert,
    /// The server cannot be used.
    Emergency,
}

/// A log message of a server, with secrets masked.
#[derive(Debug, Clone, PartialEq)]
pub struct LogMessage {
    /// How severe it is.
    pub level: LogLevel,
    /// The message as the protocol has it: `level`, `logger`, and `data`.
    pub params: Value,
    /// The sessions one of whose calls it belongs to; empty if it belongs to no call.
    sessions: BTreeSet<SessionId>,
}

impl LogMessage {
    /// Whether whoever makes the calls of this session is told the message; none for a client that has made no call. What belongs
    /// to the calls of others is not.
    pub fn is_for(&self, session: Option<&SessionId>) -> bool {
        self.sessions.is_empty() || session.is_some_and(|session| self.sessions.contains(session))
    }

    /// Returns the message as one that belongs to a call of one of these sessions.
    pub(crate) fn of_sessions(self, sessions: BTreeSet<SessionId>) -> Self {
        Self { sessions, ..self }
    }

    /// Returns a message that belongs to no call, with secrets masked; a text in place of data that are too long.
    pub(crate) fn new(level: LogLevel, logger: Option<&str>, data: &Value) -> Self {
        let (data, _) = redact::mask_value(data);
        let text = data.to_string();
        let data = match text.len() > LOG_MESSAGE_BYTES_MAX {
            true => {
                let cut = text.floor_char_boundary(LOG_MESSAGE_BYTES_MAX);
                format!("{} [The rest was left out.]", &text[..cut]).into()
            }
            false => data.into_owned(),
        };
        let mut params = json!({ "level": level, "data": data });
        if let Some(logger) = logger {
            params["logger"] = to_single_line(logger, NAME_CHARS_MAX).into();
        }
        Self {
            level,
            params,
            sessions: BTreeSet::new(),
        }
    }
}

/// The log messages of one server. Clones are the same.
#[derive(Clone)]
pub(crate) struct LogMessages {
    sender: broadcast::Sender<LogMessage>,
    wanted: Arc<Mutex<WantedLevels>>,
}

#[derive(Default)]
struct WantedLevels {
    last_id: u64,
    by_id: BTreeMap<u64, LogLevel>,
}

impl LogMessages {
    pub(crate) fn new() -> Self {
        Self {
            sender: broadcast::Sender::new(LOG_MESSAGES_QUEUE_MAX),
            wanted: Arc::default(),
        }
    }

    /// Passes a message on to all who wait for one.
    pub(crate) fn send(&self, message: LogMessage) {
        // Nobody may be there to hear it.
        let _ = self.sender.send(message);
    }

    /// Whether somebody waits for messages.
    pub(crate) fn is_watched(&self) -> bool {
        self.sender.receiver_count() > 0
    }

    /// Returns a receiver of the messages from now on.
    pub(crate) fn subscribe(&self) -> LogReceiver {
        LogReceiver(self.sender.subscribe())
    }

    /// Wants messages from this level on, until the returned value is dropped.
    pub(crate) fn want_level(&self, level: LogLevel) -> WantedLogLevel {
        let mut wanted = lock_mutex(&self.wanted);
        wanted.last_id += 1;
        let id = wanted.last_id;
        wanted.by_id.insert(id, level);
        WantedLogLevel {
            id,
            messages: self.clone(),
        }
    }

    /// Returns the least severe level that is wanted; none if no level is.
    pub(crate) fn wanted_level(&self) -> Option<LogLevel> {
        lock_mutex(&self.wanted).by_id.values().min().copied()
    }
}

/// A level from which on somebody wants the messages of a server.
pub struct WantedLogLevel {
    id: u64,
    messages: LogMessages,
}

impl Drop for WantedLogLevel {
    fn drop(&mut self) {
        lock_mutex(&self.messages.wanted).by_id.remove(&self.id);
    }
}

/// Receiver of the log messages of a server.
pub struct LogReceiver(broadcast::Receiver<LogMessage>);

impl LogReceiver {
    /// Waits for the next message; none once the server is gone. Where messages come faster than they are received, one tells
    /// how many were dropped.
    pub async fn next(&mut self) -> Option<LogMessage> {
        match self.0.recv().await {
            Ok(message) => Some(message),
            Err(RecvError::Lagged(dropped)) => Some(dropped_message(dropped)),
            Err(RecvError::Closed) => None,
        }
    }

    /// Returns the next message that came already.
    pub fn try_next(&mut self) -> Option<LogMessage> {
        match self.0.try_recv() {
            Ok(message) => Some(message),
            Err(TryRecvError::Lagged(dropped)) => Some(dropped_message(dropped)),
            Err(TryRecvError::Empty | TryRecvError::Closed) => None,
        }
    }
}

fn dropped_message(dropped: u64) -> LogMessage {
    let text = format!("{dropped} messages came too fast and were dropped.");
    LogMessage::new(LogLevel::Warning, None, &text.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_server_is_asked_for_the_least_severe_level_that_is_wanted() {
        let messages = LogMessages::new();
        assert_eq!(messages.wanted_level(), None);
        let error = messages.want_level(LogLevel::Error);
        let info = messages.want_level(LogLevel::Info);
        assert_eq!(messages.wanted_level(), Some(LogLevel::Info));
        drop(info);
        assert_eq!(messages.wanted_level(), Some(LogLevel::Error));
        drop(error);
        assert_eq!(messages.wanted_level(), None);
    }

    #[test]
    fn a_message_is_masked_and_cut() {
        let token = format!("ghp_{}", "a1B2".repeat(9));
        let data = json!({ "said": [format!("with {token}")] });
        let message = LogMessage::new(LogLevel::Info, Some("a\u{202e}b"), &data);
        let text = message.params.to_string();
        assert!(
            !text.contains(&token) && text.contains("with ***"),
            "{text}"
        );
        assert_eq!(message.params["logger"], "aU+202Eb");
        let long = LogMessage::new(LogLevel::Info, None, &"ä".repeat(1 << 20).into());
        let text = long.params["data"].as_str().unwrap();
        assert!(text.len() < LOG_MESSAGE_BYTES_MAX + 100 && text.ends_with("left out.]"));
        assert_eq!(long.params.get("logger"), None);
    }

    #[test]
    fn a_message_is_for_those_whose_calls_it_belongs_to() {
        let session = |name: &str| SessionId(name.to_owned());
        let plain = LogMessage::new(LogLevel::Info, None, &"Ready.".into());
        assert!(plain.is_for(None) && plain.is_for(Some(&session("one"))));
        let of_call = plain.of_sessions(BTreeSet::from([session("one")]));
        assert!(of_call.is_for(Some(&session("one"))));
        assert!(!of_call.is_for(Some(&session("two"))));
        assert!(!of_call.is_for(None));
    }

    #[tokio::test]
    async fn a_flood_of_messages_is_dropped_and_counted() {
        let messages = LogMessages::new();
        let mut receiver = messages.subscribe();
        for n in 0..LOG_MESSAGES_QUEUE_MAX + 7 {
            messages.send(LogMessage::new(LogLevel::Info, None, &n.into()));
        }
        let first = receiver.next().await.unwrap();
        assert_eq!(
            first.params["data"],
            "7 messages came too fast and were dropped."
        );
        assert_eq!(receiver.try_next().unwrap().params["data"], 7);
    }
}
