//! Running a command for real on macOS, behind Seatbelt: by the program of the room, as on Linux.
//!
//! **This was never run by those who wrote it**: it is compiled and tested where a Mac builds it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use protocol::{Fault, Ran};
use tokio_util::sync::CancellationToken;

use super::elsewhere::{Grows, Promises, Runner};
use super::in_place::blocking;
use super::layer::Place;
use super::masks::masks;
use super::refusals::Refusals;
use super::roomed;
use super::secrets::Secrets;
use super::site::Site;
use crate::process::room::Rooms;
use crate::{Command, FileError, Net};

/// What holds and what does not, in plain sentences.
const CLOSED: [&str; 2] = [
    "A command runs for real, closed in by Seatbelt: it has no network and no socket of this machine, and changes nothing outside of the workspace but files for a while.",
    "What it was refused is not seen, and what it starts as a group of its own may outlive it, as closed in as it was.",
];

/// Runs it by the program of the room.
#[derive(Debug)]
pub(super) struct Seatbelt {
    program: Option<Arc<Rooms>>,
    disk: Place,
    masked: Vec<PathBuf>,
    secrets: Arc<Secrets>,
}

impl Runner for Seatbelt {
    fn open(program: Option<PathBuf>, folder: &Path, masked: Vec<PathBuf>) -> Result<Self, Fault> {
        let disk = Place::of_data(folder)?;
        Ok(Self {
            program: program.map(Rooms::new).map(Arc::new),
            disk,
            masked,
            secrets: Arc::default(),
        })
    }

    fn promises(&self) -> Promises {
        Promises {
            net_off: true,
            unix_sockets_off: true,
            kill_tree: false,
            reasons: CLOSED.map(str::to_owned).to_vec(),
        }
    }

    async fn run(
        &self,
        command: &Command,
        grows: Grows,
        on_output: impl FnMut(&str) + Send,
        cancel: &CancellationToken,
    ) -> Result<(Ran, Refusals), FileError> {
        let Some(program) = &self.program else {
            return Err(FileError::NoRoom {
                reason: "the program of the sealed room, `countersign-room`, is not installed"
                    .to_owned(),
            });
        };
        let failed = |error: std::io::Error| FileError::from_io("the folder for rooms", &error);
        let root = command.workspace.dir().stat_self().map_err(failed)?;
        let folder = self.disk.layer(root.mode).map_err(failed)?;
        let (workspace, own) = (command.workspace.clone(), self.masked.clone());
        let secrets = self.secrets.clone();
        let mut masks = blocking(move || masks(&workspace, &own, &secrets)).await?;
        // Our own folder is closed to the command.
        let temporary = tempfile::tempdir().map_err(failed)?;
        let grows = (grows.from_bytes, grows.by_bytes);
        let bare = Some(temporary.path().to_owned());
        let site = Site::real(&folder, bare, command, grows);
        let net = Net::closed();
        let ran = roomed::run(
            (program, command),
            (&net, &site),
            masks.paths,
            on_output,
            cancel,
        );
        let (ran, mut refused) = ran.await?;
        refused.notes.append(&mut masks.notes);
        Ok((ran, refused))
    }
}
