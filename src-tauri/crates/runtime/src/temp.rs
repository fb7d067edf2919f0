//! Names of temporary files, known before they are made, so that a crash leaves none behind for good.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use protocol::{Digest, Plan};
use serde::{Deserialize, Serialize};

use crate::dir::{Dir, is_absence};
use crate::error::is_link_refused;

const START: &str = ".countersign-";

/// What the temporary names of one piece of work have in common.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Tag(String);

impl Tag {
    /// For carrying out a plan.
    pub(crate) fn of_plan(plan: &Plan) -> Self {
        Self::of(plan.digest().as_str().as_bytes())
    }

    /// For work named by some bytes.
    pub(crate) fn of(bytes: &[u8]) -> Self {
        let digest = Digest::of(bytes);
        Self(digest.as_str().chars().take(20).collect())
    }

    /// The name of the temporary file number `n`.
    pub(crate) fn name(&self, n: usize) -> OsString {
        format!("{START}{}-{n}.tmp", self.0).into()
    }

    fn is_of(&self, name: &std::ffi::OsStr) -> bool {
        name.to_str()
            .and_then(|name| name.strip_prefix(START))
            .and_then(|rest| rest.strip_prefix(self.0.as_str()))
            .is_some_and(|rest| rest.starts_with('-'))
    }
}

/// Removes what work with one of these tags left in the folders that hold `paths`, and in those above them.
pub(crate) fn sweep<'a>(
    dir: &Dir,
    paths: impl Iterator<Item = &'a Path>,
    tags: &[Tag],
) -> io::Result<()> {
    let mut folders: BTreeSet<PathBuf> = BTreeSet::new();
    for path in paths {
        for above in path.ancestors().skip(1) {
            if !folders.insert(above.to_owned()) {
                break;
            }
        }
    }
    for folder in folders {
        let folder = match dir.folder(&folder) {
            Ok(folder) => folder,
            // Below a link lies nothing of ours.
            Err(error) if is_absence(&error) || is_link_refused(&error) => continue,
            Err(error) => return Err(error),
        };
        let before = folder.stat_self()?;
        let mut swept = false;
        for name in folder.names()? {
            if tags.iter().any(|tag| tag.is_of(&name)) {
                folder.remove_tree(&name)?;
                swept = true;
            }
        }
        if swept {
            folder.set_mtime(before.mtime_ns)?;
        }
    }
    Ok(())
}
