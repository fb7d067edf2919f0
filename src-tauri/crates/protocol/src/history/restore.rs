//! What a person asks of the history, what it would meet, and what came of it, path by path.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{UndoDirection, UndoEntry};
use crate::UndoId;
use crate::view::effects::PathInfo;
use crate::view::preview::FileDiff;

/// What is to be taken back or brought again: one act, whole or not at all.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum RestoreRequest {
    /// These entries go back, the newest first, and nothing else.
    Undo {
        /// The entries; their order does not count.
        entries: Vec<UndoId>,
    },
    /// Everything in the workspace after this entry goes back, the newest first. The entry itself stays.
    UndoTo {
        /// The entry.
        entry: UndoId,
    },
    /// An undone entry comes again.
    Redo {
        /// The entry.
        entry: UndoId,
    },
}

/// What becomes of a path that is no longer as the history left it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum ConflictChoice {
    /// What stands there stays.
    Keep,
    /// What the history has replaces it; a copy of what stands there is taken first.
    Restore,
    /// Both changes, where they touch different lines of a text; a copy of what stands there is taken first.
    Merge,
}

/// A person's word on one path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct PathChoice {
    /// The path, as the conflict names it.
    pub path: String,
    /// What becomes of it.
    pub choice: ConflictChoice,
}

/// A path that is no longer as the history left it. Without a choice for each of them nothing is touched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Conflict {
    /// The path, relative to the workspace root.
    pub path: String,
    /// What the history left there; none if nothing.
    pub left: Option<PathInfo>,
    /// What it would put there; none if nothing.
    pub wanted: Option<PathInfo>,
    /// What stands there; none if nothing.
    pub now: Option<PathInfo>,
    /// What can be chosen.
    pub choices: Vec<ConflictChoice>,
    /// What `restore` would do to the text that stands there; none where one of both is no short text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub restored: Option<FileDiff>,
    /// What `merge` would do to the text that stands there; none where both changes touch the same lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub merged: Option<FileDiff>,
}

/// What happens to one path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum PathChange {
    /// Something comes where nothing stands.
    Created,
    /// Something else comes in the place of what stands there: content, kind, mode, or time alone.
    Restored,
    /// What stands there goes.
    Removed,
    /// It gets both changes.
    Merged,
    /// It stays as it is.
    Kept,
}

/// One path of an act.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct PathReceipt {
    /// The path, relative to the workspace root.
    pub path: String,
    /// What happens, or happened, to it.
    pub change: PathChange,
    /// What there is to say of it: why it stays, that a hard link comes back as a file of its own. Empty for nothing.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
}

/// Something that a call did which no copy of files brings back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct IrreversibleEffect {
    /// The entry of the call.
    pub entry: UndoId,
    /// What it did: `git push`, `/etc/hosts`.
    pub what: String,
    /// Why that stays, one plain sentence.
    pub reason: String,
}

/// How far an act reaches.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, TS)]
pub struct RestoreCoverage {
    /// In one sentence: "Restores 3 files and removes 1 folder; cannot take back: git push."
    pub text: String,
    /// Files, links and folders that come back or get other content.
    pub restores: u64,
    /// Files, links and folders that go.
    pub removes: u64,
    /// Length of what comes back, in bytes.
    pub bytes: u64,
    /// What cannot be taken back, as far as is known from what the calls declared.
    pub cannot: Vec<IrreversibleEffect>,
}

/// What an act would meet. Nothing was touched to find it out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct RestorePreview {
    /// Whether it takes back or brings again.
    pub direction: UndoDirection,
    /// The entries that it is about, in the order in which they would go.
    pub entries: Vec<UndoEntry>,
    /// Paths that are no longer as the history left them: each needs a choice. At most 200.
    pub conflicts: Vec<Conflict>,
    /// What would happen, path by path, if every conflict were kept. At most 1,000.
    pub paths: Vec<PathReceipt>,
    /// How many paths there are altogether.
    pub paths_total: u64,
    /// How far it reaches.
    pub coverage: RestoreCoverage,
}

/// What an act did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct RestoreReceipt {
    /// The act, as the history has it.
    pub entry: UndoEntry,
    /// Path by path, at most 1,000.
    pub paths: Vec<PathReceipt>,
    /// How many paths there are altogether.
    pub paths_total: u64,
}

/// The history of a workspace, or of all.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Timeline {
    /// The newest first; acts of the person among them.
    pub entries: Vec<UndoEntry>,
    /// Whether there are more.
    pub more: bool,
    /// How many there are altogether.
    pub entries_total: u64,
    /// What the store holds on disk, all workspaces together, in bytes.
    pub store_bytes: u64,
    /// How much it may hold.
    pub store_bytes_max: u64,
    /// How long entries are kept.
    pub keep_days: u32,
    /// What a person should know of this workspace: that it is the home folder. Empty for nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// What a collection did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, TS)]
pub struct CollectionReceipt {
    /// Entries that were dropped because they are too old or too many.
    pub entries: u64,
    /// What that freed, in bytes.
    pub bytes_freed: u64,
    /// Entries that are left.
    pub entries_left: u64,
    /// What the store holds now, in bytes.
    pub bytes_left: u64,
}
