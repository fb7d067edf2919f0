//! One log, five vocabularies: pure mappers from events to the words that the specifications speak (M19).
//!
//! A mapper follows one session from its first event on, keeps what it needs of the past, and gives for each event what is
//! to be said. It reads no clock and makes no ids: the same events give the same words, each time. Who resumes, maps again
//! from the first event; a mapper that begins in the middle stays silent about calls whose beginning it did not see. Every
//! word about a call carries the call's id.

pub mod agent_event;
mod agent_event_types;
pub mod chat;
pub mod chunks;
mod permission;
pub mod spans;
pub mod tool_events;

pub use agent_event::{AgentEvent, AgentEventMapper};
pub use chat::{ChatEvent, ChatMapper};
pub use chunks::{Chunk, ChunkMapper};
pub use spans::{SpanMapper, SpanStatus, TraceSpan};
pub use tool_events::{ToolEvent, ToolEventMapper};

use serde_json::Value;

use crate::{Event, SessionId, UserError};

/// The words that a session can be told in, beside its own events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Vocabulary {
    /// Chat events of 000.
    Chat,
    /// The calls of a session as spans of a trace, of 000.
    Spans,
    /// Agent events of 001.
    Agent,
    /// Stream chunks of 002.
    Chunks,
    /// `tool.*` events of 003.
    ToolEvents,
}

impl Vocabulary {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Chat,
        Self::Spans,
        Self::Agent,
        Self::Chunks,
        Self::ToolEvents,
    ];

    /// The name as typed: `chat`, `spans`, `agent`, `chunks`, `tool-events`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Chat => "chat",
            Self::Spans => "spans",
            Self::Agent => "agent",
            Self::Chunks => "chunks",
            Self::ToolEvents => "tool-events",
        }
    }

    /// Reads such a name.
    pub fn parse(name: &str) -> Result<Self, UserError> {
        let found = Self::ALL.into_iter().find(|known| known.as_str() == name);
        found.ok_or_else(|| {
            UserError::new(
                format!("There is no event vocabulary “{name}”."),
                "There are chat, spans, agent, chunks and tool-events.",
            )
        })
    }
}

/// One session told in one vocabulary, as JSON.
#[derive(Debug, Clone)]
pub struct SessionMapper {
    session: SessionId,
    mapper: Mapper,
}

#[derive(Debug, Clone)]
enum Mapper {
    Chat(ChatMapper),
    Spans(SpanMapper),
    Agent(AgentEventMapper),
    Chunks(ChunkMapper),
    ToolEvents(ToolEventMapper),
}

impl SessionMapper {
    /// Tells a session in a vocabulary.
    pub fn new(vocabulary: Vocabulary, session: SessionId) -> Self {
        let mapper = match vocabulary {
            Vocabulary::Chat => Mapper::Chat(ChatMapper::default()),
            Vocabulary::Spans => Mapper::Spans(SpanMapper::default()),
            Vocabulary::Agent => Mapper::Agent(AgentEventMapper::default()),
            Vocabulary::Chunks => Mapper::Chunks(ChunkMapper::default()),
            Vocabulary::ToolEvents => Mapper::ToolEvents(ToolEventMapper::default()),
        };
        Self { session, mapper }
    }

    /// What is to be said of an event: any number of JSON objects, none for another session's.
    pub fn map(&mut self, event: &Event) -> Vec<Value> {
        if event.session != self.session {
            return Vec::new();
        }
        match &mut self.mapper {
            Mapper::Chat(mapper) => to_json_values(mapper.map(event)),
            Mapper::Spans(mapper) => to_json_values(mapper.map(event)),
            Mapper::Agent(mapper) => to_json_values(mapper.map(event)),
            Mapper::Chunks(mapper) => to_json_values(mapper.map(event)),
            Mapper::ToolEvents(mapper) => to_json_values(mapper.map(event)),
        }
    }
}

fn to_json_values(words: Vec<impl serde::Serialize>) -> Vec<Value> {
    // Every word is made of texts, numbers and JSON, so each can be written.
    let written = words.iter().map(serde_json::to_value);
    written.filter_map(Result::ok).collect()
}

/// A point in time as RFC 3339 in UTC with milliseconds; the epoch for one that no calendar has.
fn format_time(at: crate::At) -> String {
    let stamp = jiff::Timestamp::from_millisecond(at).unwrap_or_default();
    format!("{stamp:.3}")
}
