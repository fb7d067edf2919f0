//! Plan of a call's changes to files, exact to the byte: made for the preview, carried out as shown.

use std::borrow::Cow;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::Digest;
use crate::call::captured_effects::CapturedEffects;

/// The changes that execution will make. A tool that changes no file, or cannot know its changes, has no plan.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Plan {
    /// No change that can be known in advance.
    #[default]
    None,
    /// Writes or removes these files, all or none.
    Write(Vec<FileChange>),
    /// Removes this path, with everything below it.
    Remove(Removal),
    /// Carries out the captured effects of a command's dry run.
    Effects(Arc<CapturedEffects>),
}

/// State of one file before and after.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    /// Path relative to the workspace root, `/`-separated.
    pub path: String,
    /// Content when the plan was made; none if there was no file.
    pub before: Option<Vec<u8>>,
    /// Content to be written; none if the file is removed.
    pub after: Option<Vec<u8>>,
    /// Path of another change of the same plan, which removes its file: this change moves that file here, with its
    /// permission bits.
    pub from: Option<String>,
}

impl FileChange {
    /// Returns the number of files in a plan, counting a moved file once.
    pub fn count_files(changes: &[Self]) -> usize {
        changes.len() - changes.iter().filter(|it| it.from.is_some()).count()
    }
}

/// A path to be removed, with a digest of everything there when the plan was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Removal {
    /// Path relative to the workspace root.
    pub path: String,
    /// Digest of names, kinds, modes, sizes and modification times below the path.
    pub listing: Digest,
    /// Number of files below the path, itself included.
    pub files: u64,
    /// Total length of the files in bytes.
    pub bytes: u64,
}

impl Plan {
    /// Returns the paths that execution will touch, relative to the workspace root; bytes that are not UTF-8 are
    /// replaced.
    pub fn paths(&self) -> Vec<Cow<'_, str>> {
        match self {
            Self::None => Vec::new(),
            Self::Write(changes) => changes.iter().map(|c| c.path.as_str().into()).collect(),
            Self::Remove(removal) => vec![removal.path.as_str().into()],
            Self::Effects(captured) => {
                let steps = captured.steps.iter();
                steps.map(|step| step.path.to_string_lossy()).collect()
            }
        }
    }

    /// Returns a digest of everything that the plan would do, for binding a decision to the plan.
    pub fn digest(&self) -> Digest {
        match self {
            Self::None => Digest::from_bytes(b"none"),
            Self::Write(changes) => {
                let parts: Vec<_> = changes
                    .iter()
                    .map(|c| {
                        (
                            &c.path,
                            c.before.as_deref().map(Digest::from_bytes),
                            c.after.as_deref().map(Digest::from_bytes),
                        )
                    })
                    .collect();
                let from = |c: &FileChange| c.from.clone().map(|from| (from, c.path.clone()));
                match changes.iter().filter_map(from).collect::<Vec<_>>() {
                    none if none.is_empty() => Digest::from_json(&("write", parts)),
                    moves => Digest::from_json(&("write", parts, moves)),
                }
            }
            Self::Remove(removal) => Digest::from_json(&("remove", removal)),
            Self::Effects(captured) => captured.digest(),
        }
    }
}
