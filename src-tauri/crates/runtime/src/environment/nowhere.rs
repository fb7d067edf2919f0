//! Systems that have no such room: every command runs as it stands, and that is said.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use protocol::effects::Effects;
use protocol::{Fault, Plan, UndoEntry};
use tokio_util::sync::CancellationToken;

use super::{LayerKind, Probe, RanInPlace, Rehearsed, TakenUp, Walls};
use crate::{Command, EntryMeta, FileError, History, Net, Workspace};

const WHY: &str = "This system has no sealed room: a command runs as it stands, and what it changes cannot be shown before.";

#[derive(Debug)]
pub(super) struct Inner;

/// There never is one.
#[derive(Debug)]
pub(super) enum Layer {}

/// Everything of a workspace as it was before a command: there never is one.
#[derive(Debug)]
pub enum Picture {}

/// What a command did for real.
#[derive(Debug)]
pub struct InPlace {
    /// The act by which it can be taken back; none if it changed nothing.
    pub entry: Option<UndoEntry>,
    /// What it did, for a person.
    pub effects: Effects,
    /// What it did, path by path.
    pub plan: Plan,
    /// The workspace as it was before.
    pub before: Workspace,
}

impl Inner {
    pub(super) fn open(
        _program: Option<PathBuf>,
        _folder: &Path,
        _masked: Vec<PathBuf>,
        _kinds: &[LayerKind],
        _rooms: &[Walls],
    ) -> Result<Self, Fault> {
        Ok(Self)
    }

    pub(super) async fn probe(&self, _workspace: &Workspace) -> Probe {
        Probe::gate_only(vec![WHY.to_owned()])
    }

    pub(super) async fn rehearse(
        &self,
        _command: &Command,
        _net: &Net,
        _on_output: impl FnMut(&str) + Send,
        _cancel: &CancellationToken,
    ) -> Result<Rehearsed, FileError> {
        Err(no_room())
    }

    pub(super) async fn picture(
        &self,
        _workspace: &Workspace,
        _history: &History,
        _meta: EntryMeta,
    ) -> Result<Picture, FileError> {
        Err(no_room())
    }

    pub(super) async fn run_in_place(
        &self,
        _command: &Command,
        _net: &Net,
        picture: &Picture,
        _on_output: impl FnMut(&str) + Send,
        _cancel: &CancellationToken,
    ) -> Result<RanInPlace, FileError> {
        match *picture {}
    }
}

pub(super) fn settle(picture: Arc<Picture>) -> Result<InPlace, FileError> {
    match *picture {}
}

pub(super) fn take_up(_history: &History) -> TakenUp {
    TakenUp::default()
}

fn no_room() -> FileError {
    FileError::NoRoom {
        reason: WHY.to_owned(),
    }
}
