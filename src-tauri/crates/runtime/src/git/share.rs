//! How large a part of the files that git has a plan changes.

use protocol::{CapturedEffects, Node};

use super::Repository;
use crate::fs::workspace::Workspace;

/// How many files a plan may change before their share counts.
const FILES_UNCOUNTED_MAX: u64 = 9;

/// The files of the index that a plan changes, and all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChangedShare {
    /// Number of files whose content changes or goes.
    pub changed: u64,
    /// Number of all files.
    pub all: u64,
}

/// Returns the share of the files of the repository that a command changed, if it is more than half of them. Reads files,
/// so it must not run on an async thread.
pub fn find_large_share(workspace: &Workspace, captured: &CapturedEffects) -> Option<ChangedShare> {
    let rewritten = captured.steps.iter().filter(|step| {
        matches!(&step.before, Node::File { blob, .. }
            if !matches!(&step.after, Node::File { blob: after, .. } if after == blob))
    });
    if rewritten.clone().count() as u64 <= FILES_UNCOUNTED_MAX {
        return None;
    }
    let repository = Repository::discover(workspace.root())?;
    let index = repository.index.as_ref()?;
    let changed = rewritten.filter(|step| {
        let path = workspace.root().join(&step.path);
        let below = path.strip_prefix(&repository.work_tree).ok();
        let name = below.map(|below| below.as_os_str().as_encoded_bytes());
        name.is_some_and(|name| index.entry_by_path(name.into()).is_some())
    });
    let share = ChangedShare {
        changed: changed.count() as u64,
        all: index.entries().len() as u64,
    };
    (share.changed > FILES_UNCOUNTED_MAX && share.changed * 2 > share.all).then_some(share)
}
