//! Undo as a person sees it, and the nodes that it brings back.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{At, CallId, Digest, SessionId, UndoId};

mod restore;

pub use restore::{
    CollectionReceipt, Conflict, ConflictChoice, IrreversibleEffect, PathChange, PathChoice,
    PathReceipt, RestoreCoverage, RestorePreview, RestoreReceipt, RestoreRequest, Timeline,
};

/// What stands at a path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Node {
    /// Nothing.
    Absent,
    /// A regular file.
    File {
        /// Its content in the store.
        blob: Digest,
        /// Length in bytes.
        bytes: u64,
        /// Permission bits.
        mode: u32,
        /// Modification time, nanoseconds since the epoch; reaches to the year 2262.
        mtime_ns: i64,
    },
    /// A symbolic link.
    Link {
        /// Where it points, as bytes: a path need not be UTF-8.
        target: Vec<u8>,
        /// Its own modification time, nanoseconds since the epoch.
        mtime_ns: i64,
    },
    /// A folder.
    Folder {
        /// Permission bits.
        mode: u32,
        /// Modification time, nanoseconds since the epoch.
        mtime_ns: i64,
    },
}

/// Which way an entry goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum UndoDirection {
    /// Back to before it.
    Undo,
    /// Forward to after it again.
    Redo,
}

impl UndoDirection {
    /// The other way.
    pub fn opposite(self) -> Self {
        match self {
            Self::Undo => Self::Redo,
            Self::Redo => Self::Undo,
        }
    }

    /// Where an entry stands after going this way.
    pub fn state(self) -> UndoState {
        match self {
            Self::Undo => UndoState::Undone,
            Self::Redo => UndoState::Applied,
        }
    }
}

/// What a person took back or brought again: it is an entry of the history like any other.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct UndoAction {
    /// Whether it was taken back or brought again.
    pub direction: UndoDirection,
    /// The entries, in the order in which that was done.
    pub of: Vec<UndoId>,
    /// The act that this is the way back of, to exactly what stood before it; none where the entries themselves went.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub reverses: Option<UndoId>,
}

/// Where an undo entry stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum UndoState {
    /// The copy was taken; whether the call took effect is not yet known.
    Prepared,
    /// The effect stands and can be taken back.
    Applied,
    /// The effect was taken back and can be brought again.
    Undone,
}

/// One entry of the history: what a call, or a person who took something back, did to files, kept so that it can be
/// taken back (`S000-24`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct UndoEntry {
    /// Its name.
    pub id: UndoId,
    /// The session of the call; of an act, that of the first call that it is about.
    pub session: SessionId,
    /// The call; of an act, the first that it is about.
    pub call: CallId,
    /// Set where a person took something back or brought it again, and no call did this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub act: Option<UndoAction>,
    /// When the copy was taken.
    pub at: At,
    /// The workspace root, absolute.
    pub workspace: String,
    /// What was done: "Deleted tests/old".
    pub title: String,
    /// How many paths an undo touches.
    pub paths: u64,
    /// How many bytes an undo brings back.
    pub bytes: u64,
    /// The first of the paths, at most 20.
    pub shown: Vec<String>,
    /// Where it stands.
    pub state: UndoState,
}

/// What an undo or redo would meet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct UndoCheck {
    /// The entry.
    pub id: UndoId,
    /// Paths that changed since, which an undo would overwrite: it does nothing while there are any.
    pub conflicts: Vec<String>,
}
