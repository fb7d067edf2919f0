//! The text of one message of an agent while it arrives: joined into pieces, which are recorded.

use std::time::Instant;

use protocol::MessageId;
use protocol::event::MessageChange;

use crate::limits::{COALESCE_BYTES_MAX, COALESCE_DELAY};
use crate::session::Session;

/// Writer of one message.
pub(crate) struct MessageWriter {
    id: MessageId,
    /// Text that is not recorded yet.
    open: String,
    open_is_reasoning: bool,
    since: Instant,
    /// The whole text, without the reasoning.
    text: String,
}

impl MessageWriter {
    /// Returns a writer of a message without any text.
    pub fn new(id: MessageId) -> Self {
        Self {
            id,
            open: String::new(),
            open_is_reasoning: false,
            since: Instant::now(),
            text: String::new(),
        }
    }

    /// Returns the id of the message.
    pub fn id(&self) -> &MessageId {
        &self.id
    }

    /// Adds a piece, and records what there is once it is long or old enough.
    pub fn push_text(&mut self, session: &Session, text: &str, reasoning: bool) {
        if reasoning != self.open_is_reasoning {
            self.flush(session);
            self.open_is_reasoning = reasoning;
        }
        if self.open.is_empty() {
            self.since = Instant::now();
        }
        self.open.push_str(text);
        if !reasoning {
            self.text.push_str(text);
        }
        if self.open.len() >= COALESCE_BYTES_MAX || self.since.elapsed() >= COALESCE_DELAY {
            self.flush(session);
        }
    }

    /// Records the text that is not recorded yet.
    pub fn flush(&mut self, session: &Session) {
        if !self.open.is_empty() {
            session.journal.record_message(
                &self.id,
                MessageChange::AgentSaid {
                    text: std::mem::take(&mut self.open),
                    reasoning: self.open_is_reasoning,
                },
            );
        }
    }

    /// Whether there is text that is not recorded yet.
    pub fn has_open_text(&self) -> bool {
        !self.open.is_empty()
    }

    /// Returns the whole text so far, without the reasoning.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the whole text, without the reasoning.
    pub fn into_text(self) -> String {
        self.text
    }
}
