//! Contents of files that nobody wrote by hand: git had them before a plan, or a build makes them.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};

use protocol::{Node, Plan};

use super::Repository;
use super::ignored::BuildOutputs;
use crate::fs::workspace::Workspace;

/// Files of `.git` that git writes when it goes to another commit, and not when it adds one.
const CHECKOUT_FILES: &[&str] = &[".git/HEAD", ".git/ORIG_HEAD"];

/// Tells which contents that a plan leaves are known. The repository is read when the first one is asked about, so this
/// must not be used on an async thread.
pub struct KnownContents {
    root: PathBuf,
    is_checkout: bool,
    repository: OnceCell<Option<Repository>>,
}

impl KnownContents {
    /// Returns what was known before a plan.
    pub fn before(workspace: &Workspace, plan: &Plan) -> Self {
        let is_checkout = match plan {
            Plan::Effects(captured) => captured.steps.iter().any(|step| {
                let is_written = matches!(step.after, Node::File { .. });
                is_written
                    && CHECKOUT_FILES
                        .iter()
                        .any(|file| step.path == Path::new(file))
            }),
            Plan::None | Plan::Write(_) | Plan::Remove(_) => false,
        };
        Self {
            root: workspace.root().to_owned(),
            is_checkout,
            repository: OnceCell::new(),
        }
    }

    /// Whether git had this content of a file, or a build makes the file. A file that is gone is known if git went to
    /// another commit. The path is relative to the workspace root.
    pub fn contains(&self, path: &str, content: Option<&[u8]>) -> bool {
        let repository = self
            .repository
            .get_or_init(|| Repository::discover(&self.root));
        let file = self.root.join(path);
        if BuildOutputs::new(repository.as_ref()).contains(&file) {
            return true;
        }
        match (repository, content) {
            (_, None) => self.is_checkout,
            (Some(repository), Some(content)) => repository.has_content(&file, content),
            (None, Some(_)) => false,
        }
    }
}
