//! The undo history as a person sees it, and the file system nodes that an undo restores.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{At, CallId, Digest, SessionId, UndoId};

mod restore;

pub use restore::{
    CollectionReceipt, Conflict, ConflictChoice, IrreversibleEffect, PathChange, PathChoice,
    PathReceipt, RestoreCoverage, RestorePreview, RestoreReceipt, RestoreRequest, Timeline,
};

/// File system node at a path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Node {
    /// No node at the path.
    Absent,
    /// A regular file.
    File {
        /// Digest of the file's content in the store.
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
        /// The link's target, as bytes: a path need not be UTF-8.
        target: Vec<u8>,
        /// The link's own modification time, nanoseconds since the epoch.
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

/// Direction in which an undo entry is applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum UndoDirection {
    /// Back to the state before the entry.
    Undo,
    /// Forward again to the state after the entry.
    Redo,
}

impl UndoDirection {
    /// Returns the opposite direction.
    pub fn opposite(self) -> Self {
        match self {
            Self::Undo => Self::Redo,
            Self::Redo => Self::Undo,
        }
    }

    /// Returns the state of an entry that was applied in this direction.
    pub fn state(self) -> UndoState {
        match self {
            Self::Undo => UndoState::Undone,
            Self::Redo => UndoState::Applied,
        }
    }
}

/// An undo or redo made by a person, itself an entry of the history like any other.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct UndoAction {
    /// Whether the entries were undone or redone.
    pub direction: UndoDirection,
    /// The entries, in the order in which they were undone or redone.
    pub of: Vec<UndoId>,
    /// The earlier undo or redo that this one reverses, restoring exactly the state before it; none where the entries
    /// themselves were undone or redone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub reverses: Option<UndoId>,
}

/// State of an undo entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum UndoState {
    /// The copy for undo was taken; whether the call took effect is not yet known.
    Prepared,
    /// The effect stands and can be taken back.
    Applied,
    /// The effect was taken back and can be redone.
    Undone,
}

/// One entry of the history: the changes to files that a call, or a person's undo or redo, made, kept so that they can
/// be taken back (`S000-24`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct UndoEntry {
    /// The id of the entry.
    pub id: UndoId,
    /// The session of the call; for a person's undo or redo, the session of the first call that it affects.
    pub session: SessionId,
    /// The call; for a person's undo or redo, the first call that it affects.
    pub call: CallId,
    /// The person's undo or redo that made this entry; none where a call made it.
    #[serde(default, alias = "act", skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub action: Option<UndoAction>,
    /// When the copy for undo was taken.
    pub at: At,
    /// The workspace root, absolute.
    pub workspace: String,
    /// Title of the change: "Deleted tests/old".
    pub title: String,
    /// Number of paths that an undo touches.
    pub paths: u64,
    /// Number of bytes that an undo restores.
    pub bytes: u64,
    /// The first of the paths, at most 20.
    pub shown: Vec<String>,
    /// State of the entry.
    pub state: UndoState,
}

/// Result of checking whether an undo or redo is possible.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct UndoCheck {
    /// The entry.
    pub id: UndoId,
    /// Paths that changed since and that an undo would overwrite; while there are any, an undo does nothing.
    pub conflicts: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An entry as earlier versions stored it, and as it is stored now.
    #[test]
    fn an_entry_of_an_earlier_version_is_read_as_its_present_form() {
        let stored = |member: &str| {
            format!(
                r#"{{"id":"und_2","session":"ses_1","call":"c","{member}":{{"direction":"undo","of":["und_1"]}},"at":5,"workspace":"/w","title":"Undid: a","paths":1,"bytes":2,"shown":["a"],"state":"applied"}}"#
            )
        };
        let entry: UndoEntry = serde_json::from_str(&stored("act")).unwrap();
        let action = UndoAction {
            direction: UndoDirection::Undo,
            of: vec![UndoId("und_1".into())],
            reverses: None,
        };
        assert_eq!(entry.action, Some(action));
        assert_eq!(serde_json::to_string(&entry).unwrap(), stored("action"));
    }
}
