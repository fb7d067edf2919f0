//! Commands that run for real: in a room, in the workspace itself, over a picture of it from before; and what they did there,
//! recorded so that it can be taken back.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use protocol::effects::{Assurance, Effects};
use protocol::{Exit, Plan, Ran, UndoEntry};
use tokio_util::sync::CancellationToken;

use super::bounds::bytes_max;
use super::change::{Change, Thing};
use super::copy::weigh;
use super::linux::{Inner, blocking, layer};
use super::look::{Upper, look};
use super::masks::masks;
use super::picture::Picture;
use super::read_out::{Done, read_out};
use super::site::Site;
use super::told::{Over, told};
use super::{LayerKind, RanInPlace, TakenUp, Walls};
use crate::dir::Dir;
use crate::history::Happened;
use crate::{Command, EntryMeta, FileError, History, Net, Workspace};

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

impl Inner {
    /// Takes a picture of a workspace for a command that is to run in it.
    pub(super) async fn picture(
        &self,
        workspace: &Workspace,
        history: &History,
        meta: EntryMeta,
    ) -> Result<Picture, FileError> {
        let known = self.known(workspace).await;
        if known.walls.is_none() {
            return Err(FileError::NoRoom {
                reason: known.probe.reasons.join(" "),
            });
        }
        let (workspace, history) = (workspace.clone(), history.clone());
        blocking(move || {
            weigh(workspace.dir())?;
            Picture::take(&history, &workspace, meta)
        })
        .await
    }

    /// Runs a command in the workspace of a picture.
    pub(super) async fn run_in_place(
        &self,
        command: &Command,
        net: &Net,
        picture: &Picture,
        on_output: impl FnMut(&str) + Send,
        cancel: &CancellationToken,
    ) -> Result<RanInPlace, FileError> {
        command.workspace.admit_command(&command.line)?;
        let known = self.known(&command.workspace).await;
        let (Some(walls), true) = (
            known.walls,
            command.workspace.root() == picture.workspace.root(),
        ) else {
            return Err(FileError::NoRoom {
                reason: known.probe.reasons.join(" "),
            });
        };
        if walls == Walls::Landlock && net.is_open() {
            return Err(FileError::NoRoom {
                reason: "Where nobody may make namespaces there is no way to the network that keeps to chosen hosts. Run it without."
                    .to_owned(),
            });
        }
        let folder = layer(&self.disk, &command.workspace)
            .map_err(|error| FileError::from_io("the folder for rooms", &error))?;
        let (workspace, own) = (command.workspace.clone(), self.masked.clone());
        let mut masks = blocking(move || Ok(masks(&workspace, &own))).await?;
        let grows_max = bytes_max(LayerKind::Disk).min(picture.history.bytes_max());
        let site = Site::real(&folder, walls, command, picture.disk_bytes(), grows_max);
        let (ran, mut refused) = self
            .run(command, net, &site, masks.paths, on_output, cancel)
            .await?;
        refused.notes.append(&mut masks.notes);
        let told = RanInPlace {
            ran: ran.clone(),
            refused: refused.list.clone(),
            reached: refused.reached.clone(),
        };
        // A picture is run over once.
        let _ = picture.ran.set((ran, refused));
        Ok(told)
    }
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
    let recorded = picture.history.record(workspace, &before, meta, |content| {
        // Nobody but us can reach the picture.
        let never = i64::MAX;
        let real = (Upper::Real(copied), workspace.dir());
        let looked = look(real, &before, never, content)?;
        let around_special = above_special(&looked.changes);
        let read = read_out(looked.changes, Done::ForReal);
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
