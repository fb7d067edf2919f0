//! What this machine can promise, found out by entering a room once, and never guessed from versions.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use protocol::Exit;
use protocol::effects::Assurance;
use tokio_util::sync::CancellationToken;

use super::bounds::bytes_max;
use super::layer::Place;
use super::linux::{Inner, Known, layer};
use super::{LayerKind, Probe};
use crate::dir::Dir;
use crate::{Command, FileError, Workspace};

/// Memory that is there for files, where there is any.
const MEMORY: &str = "/dev/shm";
/// How long a trial may take.
const TRIAL_MS: u64 = 10_000;

impl Inner {
    /// Enters a room once with a layer on the disk of the data folder, and where that does not work, with one in memory.
    pub(super) async fn try_out(&self, workspace: &Workspace) -> Known {
        let mut reasons = Vec::new();
        if self.program.is_none() {
            reasons.push(
                "The program of the sealed room, `countersign-room`, is not installed.".to_owned(),
            );
            return gate_only(reasons);
        }
        match self.try_on(&self.disk, workspace).await {
            Ok(()) => {
                reasons.push("A command runs in a sealed room; what it changes is kept on the disk of the data folder until you agree.".to_owned());
                return speculative(Arc::clone(&self.disk), reasons);
            }
            Err(why) => reasons.push(format!(
                "A layer on the disk of the data folder does not work: {why}."
            )),
        }
        for parent in memory_folders() {
            let tried = match Place::open(&parent, LayerKind::Memory) {
                Ok(place) => {
                    let place = Arc::new(place);
                    self.try_on(&place, workspace).await.map(|()| place)
                }
                Err(error) => Err(error.to_string()),
            };
            match tried {
                Ok(place) => {
                    let max = bytes_max(LayerKind::Memory) >> 20;
                    reasons.push(format!("A command runs in a sealed room; what it changes is kept in memory until you agree, at most {max} MiB."));
                    return speculative(place, reasons);
                }
                Err(why) => reasons.push(format!(
                    "A layer in memory (`{}`) does not work: {why}.",
                    parent.display()
                )),
            }
        }
        gate_only(reasons)
    }

    async fn try_on(&self, place: &Place, workspace: &Workspace) -> Result<(), String> {
        let layer = layer(place, workspace).map_err(|error| error.to_string())?;
        let marks = Dir::open(&layer.upper()).map_err(|error| error.to_string())?;
        if !marks.takes_marks() {
            return Err("its file system cannot say that a folder was replaced".to_owned());
        }
        let command = Command {
            line: ":".to_owned(),
            workspace: workspace.whole(),
            folder: String::new(),
            env: Vec::new(),
            timeout_ms: TRIAL_MS,
            output_bytes_max: 4_096,
            spill: None,
            errors: None,
            masks: false,
        };
        let never = CancellationToken::new();
        let (ran, _) = self
            .run(&command, place, &layer, Vec::new(), |_: &str| {}, &never)
            .await
            .map_err(|error| match error {
                FileError::NoRoom { reason } => reason,
                other => other.to_string(),
            })?;
        match ran.exit {
            Exit::Code(0) => Ok(()),
            Exit::Code(code) => Err(format!(
                "a command that does nothing ended with code {code}"
            )),
            Exit::Signal(signal) => Err(format!(
                "a command that does nothing was ended by signal {signal}"
            )),
            Exit::TimedOut | Exit::Cancelled => {
                Err("a command that does nothing did not end".to_owned())
            }
        }
    }
}

fn speculative(place: Arc<Place>, reasons: Vec<String>) -> Known {
    Known {
        probe: Probe {
            assurance: Assurance::Speculative,
            layer: place.kind,
            net_off: true,
            unix_sockets_off: true,
            kill_tree: true,
            reasons,
        },
        place: Some(place),
    }
}

fn gate_only(reasons: Vec<String>) -> Known {
    Known {
        probe: Probe {
            assurance: Assurance::GateOnly,
            layer: LayerKind::None,
            net_off: false,
            unix_sockets_off: false,
            kill_tree: false,
            reasons,
        },
        place: None,
    }
}

/// Folders in memory in which layers could lie.
fn memory_folders() -> Vec<PathBuf> {
    let ours = std::env::var_os("XDG_RUNTIME_DIR")
        .map(|folder| PathBuf::from(folder).join("countersign-rooms"));
    let user = rustix::process::getuid().as_raw();
    let shared = Path::new(MEMORY).is_dir();
    let shared = shared.then(|| Path::new(MEMORY).join(format!("countersign-rooms-{user}")));
    ours.into_iter().chain(shared).collect()
}
