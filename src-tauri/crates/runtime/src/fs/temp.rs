//! Names of temporary files, known before the files are created, so that a crash leaves none behind for good.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use protocol::{Digest, Plan};
use serde::{Deserialize, Serialize};

use crate::error::is_link_refused;
use crate::fs::dir::{Dir, is_not_found};

const NAME_PREFIX: &str = ".countersign-";

/// The common part of the temporary names of one piece of work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct TempTag(String);

impl TempTag {
    /// Returns the tag for carrying out a plan.
    pub(crate) fn from_plan(plan: &Plan) -> Self {
        Self::from_bytes(plan.digest().as_str().as_bytes())
    }

    /// Returns the tag for work that is identified by some bytes.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Self {
        let digest = Digest::from_bytes(bytes);
        Self(digest.as_str().chars().take(20).collect())
    }

    /// Returns the name of the temporary file number `n`.
    pub(crate) fn temp_name(&self, n: usize) -> OsString {
        format!("{NAME_PREFIX}{}-{n}.tmp", self.0).into()
    }

    fn matches_name(&self, name: &std::ffi::OsStr) -> bool {
        name.to_str()
            .and_then(|name| name.strip_prefix(NAME_PREFIX))
            .and_then(|rest| rest.strip_prefix(self.0.as_str()))
            .is_some_and(|rest| rest.starts_with('-'))
    }
}

/// Removes temporary files with one of these tags from the folders that hold `paths`, and from those above them.
pub(crate) fn sweep_temp_files<'a>(
    dir: &Dir,
    paths: impl Iterator<Item = &'a Path>,
    tags: &[TempTag],
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
        let folder = match dir.open_folder(&folder) {
            Ok(folder) => folder,
            // Below a link lies nothing of ours.
            Err(error) if is_not_found(&error) || is_link_refused(&error) => continue,
            Err(error) => return Err(error),
        };
        let before = folder.stat_self()?;
        let mut swept = false;
        for name in folder.list_names()? {
            if tags.iter().any(|tag| tag.matches_name(&name)) {
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
