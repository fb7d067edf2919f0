//! Sessions of other agents, recorded as their transcripts have them: marked as imported, and not judged.
//!
//! **The ids of an imported session and of everything in it follow from what its agent wrote.** So what is on record is
//! known again: a session that went on gets what is new, and an import that broke off is completed by the next one.

mod event_composer;
mod kept_images;
mod recorded_events;

use std::path::PathBuf;
use std::sync::Arc;

use protocol::event::ClientInfo;
use protocol::{At, Content, Digest, Event, SessionId, UserError};
use record::{Durability, Record};
use runtime::SessionFolder;
use serde_json::{Map, Value};

use crate::engine::Engine;
use crate::engine::session_import::event_composer::EventComposer;
use crate::engine::session_import::recorded_events::RecordedEvents;
use crate::limits::IMPORTED_EVENTS_PENDING_MAX;
use crate::session::engine_state::EngineState;
use crate::session::session_lock::SessionLock;

/// Number of hexadecimal digits of an id that follows from what an agent wrote.
const ID_DIGITS: usize = 24;

/// A session of another agent, as its transcript has it.
#[derive(Debug, Clone, PartialEq)]
pub struct ImportedSession {
    /// The agent, with its own id of the session.
    pub agent: ClientInfo,
    /// Folder that the agent worked in, absolute. It need not exist any more.
    pub folder: PathBuf,
    /// What was said and done, in its order.
    pub entries: Vec<ImportedEntry>,
}

/// Something that was said or done in a session of another agent.
#[derive(Debug, Clone, PartialEq)]
pub struct ImportedEntry {
    /// When that was.
    pub at: At,
    /// What it was.
    pub body: ImportedBody,
}

/// What was said or done.
#[derive(Debug, Clone, PartialEq)]
pub enum ImportedBody {
    /// The person's message.
    Prompt {
        /// The text.
        text: String,
        /// Images beside it; no other content.
        images: Vec<Content>,
        /// Paths of images beside it that cannot be read any more.
        unread_images: Vec<String>,
    },
    /// The agent's message.
    Answer(String),
    /// What the agent thought.
    Thought(String),
    /// A call of the agent.
    Call(ImportedCall),
}

/// A call that another agent made.
#[derive(Debug, Clone, PartialEq)]
pub struct ImportedCall {
    /// The agent's id of the call, or of the part of it that this call is.
    pub id: String,
    /// Id of the tool; the agent's name of it if it is none of ours.
    pub tool: String,
    /// Arguments, by our names if the tool is one of ours.
    pub arguments: Map<String, Value>,
    /// The result; none if the transcript has none.
    pub result: Option<ImportedResult>,
}

/// The result of a call that another agent made.
#[derive(Debug, Clone, PartialEq)]
pub struct ImportedResult {
    /// When the call ended.
    pub at: At,
    /// What the agent's model read.
    pub text: String,
    /// Images that it read beside it; no other content.
    pub images: Vec<Content>,
    /// Whether the call failed.
    pub failed: bool,
}

/// What an import added to the record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImportReceipt {
    /// Whether the session was not on record before.
    pub is_new: bool,
    /// Number of messages and calls that were added or completed.
    pub entries: u64,
}

impl Engine {
    /// Records a session of another agent, or what is new in it if it is on record.
    ///
    /// # Errors
    /// Another process imports the same session, or the record cannot be written. What was recorded by then stays, and is
    /// not recorded again.
    pub async fn import_session(
        &self,
        session: ImportedSession,
    ) -> Result<ImportReceipt, UserError> {
        let engine = Arc::clone(&self.state);
        let imported = tokio::task::spawn_blocking(move || record_session(&engine, &session));
        imported.await.map_err(|_| {
            UserError::new(
                "The import broke off.",
                "Import again: what is on record stays, and the rest is added.",
            )
        })?
    }
}

impl ImportedSession {
    /// Returns the id that the session has on record.
    fn record_id(&self) -> SessionId {
        SessionId(derive_id("ses", &(&self.agent.name, &self.agent.session)))
    }
}

/// Returns an id that follows from what it stands for.
fn derive_id(kind: &str, of: &impl serde::Serialize) -> String {
    let digest = Digest::from_json(of);
    let digits = digest.as_str().get(..ID_DIGITS);
    format!("{kind}_{}", digits.unwrap_or(digest.as_str()))
}

/// Records what of a session is not on record. Waits for the disk, so it must not run on an async thread.
fn record_session(
    engine: &Arc<EngineState>,
    session: &ImportedSession,
) -> Result<ImportReceipt, UserError> {
    let id = session.record_id();
    let folder = SessionFolder::open(&engine.config.data_dir, &id)?;
    let lock = SessionLock::default();
    let held = lock.acquire(&folder)?;
    if engine.record.is_deleted(&id)? {
        // The person deleted it here: it stays deleted.
        drop(held);
        folder.remove_if_empty();
        return Ok(ImportReceipt {
            is_new: false,
            entries: 0,
        });
    }
    let recorded = RecordedEvents::new(&engine.session_events(&id)?);
    let is_new = recorded.is_empty();
    let mut composer = EventComposer::new(engine, &id, session, &recorded);
    let mut added = composer.compose_opening(session);
    let mut entries = 0;
    for entry in &session.entries {
        let events = composer.compose_entry(entry);
        entries += u64::from(!events.is_empty());
        added.extend(events);
        if added.len() >= IMPORTED_EVENTS_PENDING_MAX {
            append_events(&engine.record, std::mem::take(&mut added))?;
        }
    }
    append_events(&engine.record, added)?;
    drop(held);
    folder.remove_if_empty();
    Ok(ImportReceipt { is_new, entries })
}

/// Appends events to the record, and waits until they are on disk.
pub(super) fn append_events(record: &Record, events: Vec<Event>) -> Result<(), UserError> {
    let acks: Vec<_> = events
        .into_iter()
        .map(|event| record.append(event.session, event.at, event.body, Durability::OnDisk))
        .collect();
    for ack in acks {
        ack.wait()?;
    }
    Ok(())
}
