//! What a call will do to files, to the byte: made while it is previewed, carried out as it was shown.

use std::borrow::Cow;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::Digest;
use crate::call::captured_effects::CapturedEffects;

/// What execution will change. A tool that changes no file, or cannot know, has none.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Plan {
    /// Nothing that could be said before.
    #[default]
    None,
    /// These files get these contents, or go: all or none.
    Write(Vec<FileChange>),
    /// This path goes, with all that is below it.
    Remove(Removal),
    /// What a command did in the sealed room happens as it was captured.
    Effects(Arc<CapturedEffects>),
}

/// One file before and after.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    /// Path relative to the workspace root, `/`-separated.
    pub path: String,
    /// Content when the plan was made; none if there was no file.
    pub before: Option<Vec<u8>>,
    /// Content to be written; none if the file goes.
    pub after: Option<Vec<u8>>,
    /// The path of another change of the same plan, which goes: this is that file at a new place, with its permission bits.
    pub from: Option<String>,
}

impl FileChange {
    /// Files of a plan, one that moves counted once.
    pub fn count_files(changes: &[Self]) -> usize {
        changes.len() - changes.iter().filter(|it| it.from.is_some()).count()
    }
}

/// A path that goes, with a digest of all that stood there when the plan was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Removal {
    /// Path relative to the workspace root.
    pub path: String,
    /// Digest over names, kinds, modes, sizes and modification times below the path.
    pub listing: Digest,
    /// Files below the path, itself included.
    pub files: u64,
    /// Their length together, in bytes.
    pub bytes: u64,
}

impl Plan {
    /// Paths that execution will touch, relative to the workspace root; what is not UTF-8 in them replaced.
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

    /// A digest of everything that the plan would do, for binding a decision to it.
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
