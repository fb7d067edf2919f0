//! Systems that have no such room: every command runs as it stands, and that is said.

use std::path::{Path, PathBuf};

use protocol::Fault;
use protocol::effects::Assurance;
use tokio_util::sync::CancellationToken;

use super::{LayerKind, Probe, Rehearsed};
use crate::{Command, FileError, Net, Workspace};

const WHY: &str = "This system has no sealed room: a command runs as it stands, and what it changes cannot be shown before.";

#[derive(Debug)]
pub(super) struct Inner;

/// There never is one.
#[derive(Debug)]
pub(super) enum Layer {}

impl Inner {
    pub(super) fn open(
        _program: Option<PathBuf>,
        _folder: &Path,
        _masked: Vec<PathBuf>,
        _kinds: &[LayerKind],
    ) -> Result<Self, Fault> {
        Ok(Self)
    }

    pub(super) async fn probe(&self, _workspace: &Workspace) -> Probe {
        Probe {
            assurance: Assurance::GateOnly,
            layer: LayerKind::None,
            net_off: false,
            unix_sockets_off: false,
            kill_tree: false,
            reasons: vec![WHY.to_owned()],
        }
    }

    pub(super) async fn rehearse(
        &self,
        _command: &Command,
        _net: &Net,
        _on_output: impl FnMut(&str) + Send,
        _cancel: &CancellationToken,
    ) -> Result<Rehearsed, FileError> {
        Err(FileError::NoRoom {
            reason: WHY.to_owned(),
        })
    }
}
