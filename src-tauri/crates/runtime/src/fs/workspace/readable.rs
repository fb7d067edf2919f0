//! Places that may be read outside of a workspace: folders that were granted with it, and places that were opened
//! since.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use protocol::UserError;
use tokio::sync::watch;

use crate::fs::workspace::{Root, Workspace, open_root};

/// The granted folders and the places opened since. Clones share the places that are opened.
#[derive(Debug, Clone, Default)]
pub(super) struct ReadableRoots {
    granted: Vec<Arc<Root>>,
    opened: Arc<watch::Sender<Vec<ReadableRoot>>>,
}

/// A folder or a file by its real path, with the folder through which it is reached.
#[derive(Debug)]
struct ReadableRoot {
    place: PathBuf,
    root: Arc<Root>,
}

impl ReadableRoots {
    /// Returns the folder through which a real path may be read, if it may.
    pub fn find_root(&self, real: &Path) -> Option<Arc<Root>> {
        let mut granted = self.granted.iter();
        let granted = granted.find(|root| real.starts_with(&root.path)).cloned();
        granted.or_else(|| {
            let opened = self.opened.borrow();
            let found = opened.iter().find(|one| one.contains_path(real))?;
            Some(Arc::clone(&found.root))
        })
    }
}

impl ReadableRoot {
    fn contains_path(&self, real: &Path) -> bool {
        real.starts_with(&self.place)
    }
}

impl Workspace {
    /// Returns the workspace with one more folder that may be read, by absolute path.
    ///
    /// # Errors
    /// As [`Workspace::open`].
    pub fn with_readable(&self, folder: &Path) -> Result<Self, UserError> {
        let mut more = self.clone();
        more.readable.granted.push(Arc::new(open_root(folder)?));
        Ok(more)
    }

    /// Opens one more folder or file for reading, by absolute path: in this workspace and in every clone of it (M15).
    ///
    /// # Errors
    /// As [`Workspace::open`], for the folder or the one that the file is in.
    pub fn grant_read(&self, place: &Path) -> Result<(), UserError> {
        let (place, root) = match (open_root(place), place.parent(), place.file_name()) {
            (Ok(root), _, _) => (root.path.clone(), root),
            (Err(_), Some(folder), Some(name)) => {
                let root = open_root(folder)?;
                (root.path.join(name), root)
            }
            (Err(fault), _, _) => return Err(fault),
        };
        let root = Arc::new(root);
        let opened = ReadableRoot { place, root };
        self.readable.opened.send_modify(|all| all.push(opened));
        Ok(())
    }

    /// Waits until one of these places, by real path, is opened for reading; for ever where none is.
    pub async fn wait_until_readable(&self, places: &[String]) {
        let mut opened = self.readable.opened.subscribe();
        let holds = |one: &ReadableRoot| {
            places
                .iter()
                .any(|place| one.contains_path(Path::new(place)))
        };
        // The sender lives as long as this workspace, so waiting cannot fail.
        let _ = opened.wait_for(|all| all.iter().any(holds)).await;
    }
}
