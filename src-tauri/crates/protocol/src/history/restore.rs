//! A person's restore requests to the history, their previews, and their receipts, path by path.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{UndoDirection, UndoEntry};
use crate::UndoId;
use crate::view::effects::PathInfo;
use crate::view::preview::FileDiff;

/// A request to undo or redo entries of the history; carried out as a whole or not at all.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum RestoreRequest {
    /// Undoes these entries, the newest first, and nothing else.
    Undo {
        /// The entries; their order does not matter.
        entries: Vec<UndoId>,
    },
    /// Undoes every entry of the workspace after this one, the newest first. The entry itself stays.
    UndoTo {
        /// The entry.
        entry: UndoId,
    },
    /// Redoes an undone entry.
    Redo {
        /// The entry.
        entry: UndoId,
    },
}

/// Treatment of a path that is no longer as the history left it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum ConflictChoice {
    /// The current content stays.
    Keep,
    /// The content from the history replaces the current one; a copy of the current content is taken first.
    Restore,
    /// Both changes are applied, where they touch different lines of a text; a copy of the current content is taken
    /// first.
    Merge,
}

/// A person's choice for one conflicting path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct PathChoice {
    /// The path, as the conflict names it.
    pub path: String,
    /// The treatment chosen for the path.
    pub choice: ConflictChoice,
}

/// A path that is no longer as the history left it. Unless every conflict has a choice, nothing is touched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Conflict {
    /// The path, relative to the workspace root.
    pub path: String,
    /// The node that the history left at the path; none if it left nothing.
    pub left: Option<PathInfo>,
    /// The node that the restore would put at the path; none if nothing.
    pub wanted: Option<PathInfo>,
    /// The node now at the path; none if nothing.
    pub now: Option<PathInfo>,
    /// The choices that are possible for the path.
    pub choices: Vec<ConflictChoice>,
    /// Difference that `restore` would make to the current text; none where either version is not a short text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub restored: Option<FileDiff>,
    /// Difference that `merge` would make to the current text; none where both changes touch the same lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub merged: Option<FileDiff>,
}

/// Change that a restore makes to one path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum PathChange {
    /// A node is created where none exists.
    Created,
    /// The current node is replaced by another, which differs in content, kind, mode, or time alone.
    Restored,
    /// The current node is removed.
    Removed,
    /// Both changes are merged into the current text.
    Merged,
    /// The path stays as it is.
    Kept,
}

/// Change to one path in a restore.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct PathReceipt {
    /// The path, relative to the workspace root.
    pub path: String,
    /// The change that is made, or was made, to the path.
    pub change: PathChange,
    /// Note on the path: why it stays, or that a hard link comes back as a separate file. Empty for none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
}

/// Effect of a call that no copy of files can bring back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct IrreversibleEffect {
    /// The entry of the call.
    pub entry: UndoId,
    /// The effect: `git push`, `/etc/hosts`.
    pub what: String,
    /// Why the effect stays, in one plain sentence.
    pub reason: String,
}

/// Extent of a restore.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, TS)]
pub struct RestoreCoverage {
    /// Summary in one sentence: "Restores 3 files and removes 1 folder; cannot take back: git push."
    pub text: String,
    /// Number of files, links and folders that come back or get other content.
    pub restores: u64,
    /// Number of files, links and folders that are removed.
    pub removes: u64,
    /// Length of the restored content, in bytes.
    pub bytes: u64,
    /// Effects that cannot be taken back, as far as is known from the calls' declarations.
    pub cannot: Vec<IrreversibleEffect>,
}

/// Preview of a restore: its conflicts and changes. Making the preview touches nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct RestorePreview {
    /// Whether the restore is an undo or a redo.
    pub direction: UndoDirection,
    /// The entries that the restore covers, in the order in which they would be undone or redone.
    pub entries: Vec<UndoEntry>,
    /// Paths that are no longer as the history left them: each needs a choice. At most 200.
    pub conflicts: Vec<Conflict>,
    /// The changes, path by path, if every conflict were kept. At most 1,000.
    pub paths: Vec<PathReceipt>,
    /// Total number of paths.
    pub paths_total: u64,
    /// Extent of the restore.
    pub coverage: RestoreCoverage,
}

/// Receipt of a restore that was carried out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct RestoreReceipt {
    /// The history entry of the restore itself.
    pub entry: UndoEntry,
    /// The changes, path by path, at most 1,000.
    pub paths: Vec<PathReceipt>,
    /// Total number of paths.
    pub paths_total: u64,
}

/// The history of one workspace, or of all workspaces.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Timeline {
    /// The entries, the newest first; a person's restores are among them.
    pub entries: Vec<UndoEntry>,
    /// Whether there are more entries.
    pub more: bool,
    /// Total number of entries.
    pub entries_total: u64,
    /// Size of the store on disk, all workspaces together, in bytes.
    pub store_bytes: u64,
    /// The most that the store may hold, in bytes.
    pub store_bytes_max: u64,
    /// How long entries are kept, in days.
    pub keep_days: u32,
    /// Warnings about this workspace: for example, that it is the home folder. Empty for none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// Receipt of a collection, which drops old entries from the history.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, TS)]
pub struct CollectionReceipt {
    /// Number of entries dropped because they were too old or too many.
    pub entries: u64,
    /// Space that the collection freed, in bytes.
    pub bytes_freed: u64,
    /// Number of entries that are left.
    pub entries_left: u64,
    /// Size of the store after the collection, in bytes.
    pub bytes_left: u64,
}
