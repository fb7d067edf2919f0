//! The files that the session itself wrote, as it left them: losing their content loses nobody else's work.

use std::collections::{HashMap, HashSet};

use protocol::{Digest, Node, Plan};

/// The digest of the content of each file that the session wrote, by its path relative to the workspace root.
#[derive(Debug, Clone, Default)]
pub(crate) struct OwnFiles(HashMap<String, Digest>);

impl OwnFiles {
    /// Returns the files that a plan writes, without the paths where it keeps content of somebody else: what an edit or
    /// a move leaves of that is not the session's own.
    pub fn from_plan(plan: &Plan, kept: &HashSet<String>) -> Self {
        let mut files = match plan {
            Plan::None | Plan::Remove(_) => HashMap::new(),
            Plan::Write(changes) => changes
                .iter()
                .filter_map(|change| {
                    let after = change.after.as_deref()?;
                    Some((change.path.clone(), Digest::from_bytes(after)))
                })
                .collect(),
            Plan::Effects(captured) => captured
                .steps
                .iter()
                .filter_map(|step| match &step.after {
                    Node::File { blob, .. } if !has_content(&step.before, blob) => {
                        Some((step.path.to_string_lossy().into_owned(), blob.clone()))
                    }
                    Node::File { .. } | Node::Absent | Node::Link { .. } | Node::Folder { .. } => {
                        None
                    }
                })
                .collect(),
        };
        files.retain(|path, _| !kept.contains(path));
        Self(files)
    }

    /// Adds the files of a plan that was carried out.
    pub fn add(&mut self, written: Self) {
        self.0.extend(written.0);
    }

    /// Whether the session wrote this content to this path.
    pub fn contains(&self, path: &str, content: &Digest) -> bool {
        self.0.get(path) == Some(content)
    }
}

fn has_content(node: &Node, content: &Digest) -> bool {
    matches!(node, Node::File { blob, .. } if blob == content)
}
