//! One log, five vocabularies: pure mappers from events to the messages of the specifications (M19).
//!
//! A mapper follows one session from its first event on, keeps the state that it needs, and returns the messages for
//! each event. It reads no clock and makes no ids: the same events always give the same messages. To resume, map again
//! from the first event; a mapper that begins in the middle is silent about calls whose beginning it did not see. Every
//! message about a call carries the call's id.

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

/// The vocabularies in which a session can be reported, beside its own events.
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
    /// All vocabularies.
    pub const ALL: [Self; 5] = [
        Self::Chat,
        Self::Spans,
        Self::Agent,
        Self::Chunks,
        Self::ToolEvents,
    ];

    /// Returns the name as typed: `chat`, `spans`, `agent`, `chunks`, `tool-events`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Chat => "chat",
            Self::Spans => "spans",
            Self::Agent => "agent",
            Self::Chunks => "chunks",
            Self::ToolEvents => "tool-events",
        }
    }

    /// Parses the name of a vocabulary.
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

/// Maps one session to one vocabulary, as JSON.
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
    /// Creates a mapper of a session to a vocabulary.
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

    /// Maps an event to any number of JSON objects; none for an event of another session.
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
    // Every message consists of texts, numbers and JSON, so serialisation cannot fail.
    let written = words.iter().map(serde_json::to_value);
    written.filter_map(Result::ok).collect()
}
