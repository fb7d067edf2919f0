//! An act that is recorded after it was done: by a command that ran for real, over a picture of how everything was before.

use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use protocol::history::Node;
use protocol::{Digest, UndoEntry, UndoState};

use super::manifest::{Manifest, Step, Touched, Way};
use super::unlock::{Need, Unlocked};
use super::{EntryMeta, History, entry_of};
use crate::dir::Dir;
use crate::temp::Tag;
use crate::{FileError, Workspace};

/// Takes the content of an open file of about so many bytes; gives its digest and its length.
pub(crate) type Content<'a> = &'a mut dyn FnMut(&mut File, u64) -> io::Result<(Digest, u64)>;

/// Lets its owner read what stands at a path, until what happened is recorded.
pub(crate) type Unlock<'a> = &'a dyn Fn(&Path) -> Result<(), FileError>;

/// What became another.
#[derive(Debug, Default)]
pub(crate) struct Happened {
    /// Every path before and after, in order: a folder comes before what is in it. One that is `true` may stay when it is
    /// taken back and something else is in it.
    pub steps: Vec<(PathBuf, Node, Node, bool)>,
    /// Folders that stayed: their times before and after.
    pub folders: Vec<(PathBuf, i64, i64)>,
}

impl History {
    /// Where pictures of workspaces lie while commands run in them. Each is a folder of its own.
    pub(crate) fn pictures(&self) -> PathBuf {
        self.0.entries.0.with_file_name("pictures")
    }

    /// How many bytes of contents one entry may hold.
    pub(crate) fn bytes_max(&self) -> u64 {
        self.0.bytes_max
    }

    /// Does something while nobody else, in this process or another, works on the history.
    pub(crate) fn alone<T>(&self, work: impl FnOnce() -> T) -> Result<T, FileError> {
        let _turn = self.turn()?;
        Ok(work())
    }

    /// Records what happened, as it stands, with copies of both sides, and has it on disk when it returns. `before` is the
    /// picture of the workspace. `look` says what happened, unlocks what it could not read else, and hands every content that
    /// the entry is to keep on. No entry where nothing happened; the one that is there already where it was recorded before.
    ///
    /// # Errors
    /// What `look` says, and what the system said. No entry is left.
    pub(crate) fn record<T>(
        &self,
        workspace: &Workspace,
        before: &Dir,
        meta: EntryMeta,
        look: impl FnOnce(Content<'_>, Unlock<'_>) -> Result<(Happened, T), FileError>,
    ) -> Result<(Option<UndoEntry>, T), FileError> {
        let failed = |error: io::Error| FileError::from_io("the history", &error);
        let _turn = self.turn()?;
        let mut batch = self.0.store.batch().map_err(failed)?;
        let unlocked = Unlocked::new(&self.0, workspace);
        let unlock = |path: &Path| unlocked.unlock([(path, Need::Read)]);
        let (happened, told) = look(&mut |file, bytes| batch.put_file(file, bytes), &unlock)?;
        if happened.steps.is_empty() {
            unlocked.lock()?;
            self.0.store.sweep().map_err(failed)?;
            return Ok((None, told));
        }
        batch.finish().map_err(failed)?;
        let manifest = manifest(workspace, before, meta, happened);
        unlocked.lock()?;
        self.0.entries.save(&manifest)?;
        Ok((Some(manifest.entry), told))
    }
}

fn manifest(workspace: &Workspace, before: &Dir, meta: EntryMeta, happened: Happened) -> Manifest {
    let stepped: BTreeSet<&Path> = happened.steps.iter().map(|one| one.0.as_path()).collect();
    let folders = happened.folders.iter();
    let touched = folders
        .filter(|(path, ..)| !stepped.contains(path.as_path()))
        .map(|(path, before_ns, after_ns)| Touched {
            path: Way(path.clone()),
            before_ns: *before_ns,
            after_ns: Some(*after_ns),
        });
    let touched = touched.collect();
    let steps = happened.steps.into_iter();
    let steps: Vec<Step> = steps
        .map(|(path, was, is, made)| Step {
            before_traits: before.traits_at(&path),
            after_traits: workspace.dir().traits_at(&path),
            path: Way(path),
            before: was,
            after: is,
            made,
        })
        .collect();
    let effect = Tag::of(meta.id.as_str().as_bytes());
    Manifest {
        entry: entry_of(workspace, meta, &steps, UndoState::Applied),
        root: Way(workspace.root().to_owned()),
        effect,
        steps,
        touched,
        known: true,
        going_back: false,
        deed: None,
    }
}
