//! Commands that run for real, in the workspace itself, over a picture of it from before: the picture taken, and what they did
//! there, recorded so that it can be taken back. The same on every system.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::TakenUp;
use super::attributes;
use super::change::{Change, Thing};
use super::copy::{Copier, weigh};
use super::look::{Upper, look};
use super::picture::Picture;
use super::read_out::{Done, read_out};
use super::refusals::Refusals;
use super::told::{Over, told};
use crate::dir::Dir;
use crate::history::Happened;
use crate::{EntryMeta, FileError, History, Workspace};
use protocol::effects::{Assurance, Effects};
use protocol::{Exit, Plan, Ran, UndoEntry};

/// What a person should know of every such run that changed something.
const NOT_APART: &str = "What else changed in the folder while it ran is told as its doing: whose it was cannot be told apart.";

/// What a command did for real. Its picture goes when this is dropped.
#[derive(Debug)]
pub struct InPlace {
    /// The act by which it can be taken back, on disk; none if it changed nothing that can be.
    pub entry: Option<UndoEntry>,
    /// What it did, for a person.
    pub effects: Effects,
    /// What it did, path by path: it stands already.
    pub plan: Plan,
    /// The workspace as it was before.
    pub before: Workspace,
    _gone: Gone,
}

/// Removes a picture that is not needed any more.
#[derive(Debug)]
struct Gone(Arc<Picture>);

impl Drop for Gone {
    fn drop(&mut self) {
        self.0.folder.remove();
    }
}

/// Takes a picture of a workspace that is not too large for one.
pub(super) async fn picture(
    workspace: &Workspace,
    history: &History,
    meta: EntryMeta,
    copier: Copier,
) -> Result<Picture, FileError> {
    let (workspace, history) = (workspace.clone(), history.clone());
    blocking(move || {
        weigh(workspace.dir())?;
        Picture::take(&history, &workspace, meta, copier)
    })
    .await
}

/// Whether a workspace is not too large for a picture.
pub(super) async fn can_picture(workspace: &Workspace) -> bool {
    let workspace = workspace.clone();
    blocking(move || weigh(workspace.dir())).await.is_ok()
}

/// Takes a picture for what is done by a program that runs beside us: it is taken for done without a fault.
pub(super) async fn snapshot(
    workspace: &Workspace,
    history: &History,
    meta: EntryMeta,
) -> Result<Picture, FileError> {
    let picture = picture(workspace, history, meta, Copier::System).await?;
    let ran = (Ran::silent(Exit::Code(0)), Refusals::default());
    let _ = picture.ran.set(ran);
    Ok(picture)
}

/// Compares the workspace of a picture with it, and records what is different as one act.
///
/// # Errors
/// What kept it from being recorded. The picture stays then, and is taken up at the next start.
pub(super) fn settle(picture: Arc<Picture>) -> Result<InPlace, FileError> {
    let failed = |error| FileError::from_io("the picture of the workspace", &error);
    let tree = picture.folder.tree();
    let before = Dir::open(&tree).map_err(failed)?;
    let (ran, refused) = picture
        .ran
        .get()
        .cloned()
        .unwrap_or_else(|| (Ran::silent(Exit::Cancelled), Default::default()));
    let (workspace, copied) = (&picture.workspace, &picture.copied);
    let meta = picture.meta.clone();
    let recorded = picture
        .history
        .record(workspace, &before, meta, |content, unlock| {
            // Nobody but us can reach the picture.
            let never = i64::MAX;
            let real = (Upper::Real(copied), workspace.dir());
            let looked = look(real, &before, never, content, Some(unlock))?;
            let around_special = above_special(&looked.changes);
            let attributes = attributes::note(&looked.attributes, Done::ForReal);
            let mut read = read_out(looked.changes, Done::ForReal);
            read.notes.extend(attributes);
            let steps = read.steps.iter().map(|step| {
                let made = around_special.contains(&step.path);
                let (before, after) = (step.before.clone(), step.after.clone());
                (step.path.clone(), before, after, made)
            });
            let steps: Vec<_> = steps.collect();
            let above: BTreeSet<&Path> = steps.iter().filter_map(|one| one.0.parent()).collect();
            // What is taken back changes the time of the folder that it lies in.
            let mut folders = looked.folders;
            folders.retain(|(path, was, is)| was != is || above.contains(path.as_path()));
            Ok((Happened { steps, folders }, read))
        });
    let (entry, mut read) = recorded?;
    if entry.is_some() {
        read.notes.push(NOT_APART.to_owned());
    }
    let (effects, plan) = told(Over {
        assurance: Assurance::Snapshot,
        ran,
        refused,
        read,
        notes: Vec::new(),
        after: picture.workspace.root().to_owned(),
    });
    Ok(InPlace {
        entry,
        effects,
        plan,
        before: Workspace::open(&tree).map_err(|fault| FileError::other("the picture", fault))?,
        _gone: Gone(picture),
    })
}

/// Folders in which a pipe, a socket or a device stands now: those cannot go with them.
fn above_special(changes: &[Change]) -> BTreeSet<PathBuf> {
    let special = changes
        .iter()
        .filter(|change| matches!(change.after, Thing::Special(_)));
    let above = special.flat_map(|change| change.path.ancestors().skip(1));
    above.map(Path::to_owned).collect()
}

/// Records what commands did over whose pictures a crash came. What cannot be recorded keeps its picture.
pub(super) fn take_up(history: &History) -> TakenUp {
    let mut up = TakenUp::default();
    let left = Picture::left(history).unwrap_or_else(|error| {
        up.failed.push(error);
        Vec::new()
    });
    for picture in left {
        match recorded(picture) {
            Ok(act) => up.acts.extend(act),
            Err(error) => up.failed.push(error),
        }
    }
    up
}

/// The act of a picture that was left, recorded now unless it was before.
fn recorded(picture: Picture) -> Result<Option<UndoEntry>, FileError> {
    let known = picture.history.entry(&picture.meta.id);
    match known.map_err(|fault| FileError::other("the history", fault))? {
        Some(act) => {
            picture.folder.remove();
            Ok(Some(act))
        }
        None => Ok(settle(Arc::new(picture))?.entry.clone()),
    }
}

/// Does work that reads many files off the threads that everything else runs on.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, FileError> + Send + 'static,
) -> Result<T, FileError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) => Err(FileError::other("the workspace", error)),
    }
}
