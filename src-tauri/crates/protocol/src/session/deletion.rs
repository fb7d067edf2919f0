//! The deletion of a session: what goes, and what stays on record of it.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{At, SessionId};

/// Host in which the person deleted a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum DeletionHost {
    /// The window of the app.
    Window,
    /// The command line.
    CommandLine,
}

/// What goes with a session, to be shown before it is deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, TS)]
pub struct DeletionPreview {
    /// Number of calls in the session and in those of its sub-agents.
    pub calls: u64,
    /// Number of sub-agents' sessions, which go with it.
    pub sub_agents: u64,
    /// Number of changes that can no longer be undone or redone afterwards.
    pub undo_entries: u64,
    /// Bytes on disk of the copies for undo that nothing else needs.
    pub undo_bytes: u64,
}

/// A session that was deleted: all that stays on record of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct DeletedSession {
    /// The id that the session had.
    pub session: SessionId,
    /// When it was deleted.
    pub at: At,
    /// Host in which the person deleted it.
    pub host: DeletionHost,
    /// Number of calls that it had.
    pub calls: u64,
}

impl DeletedSession {
    /// Most deleted sessions that are listed.
    pub const LISTED_MAX: usize = 200;
}
