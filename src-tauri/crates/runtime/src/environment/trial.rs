//! What this machine can promise, found out by entering a room once, and never guessed from versions.

use std::io;
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
use crate::limits::{COPY_BYTES_MAX, COPY_PATHS_MAX};
use crate::{Command, FileError, Net, Workspace};

/// Memory that is there for files, where there is any.
const MEMORY: &str = "/dev/shm";
/// How long a trial may take.
const TRIAL_MS: u64 = 10_000;

impl Inner {
    /// Enters a room once with a layer on the disk of the data folder; where that does not work, with one in memory; and where
    /// none can lie over the workspace, with a copy in its place.
    pub(super) async fn try_out(&self, workspace: &Workspace) -> Known {
        let mut reasons = Vec::new();
        if self.program.is_none() {
            reasons.push(
                "The program of the sealed room, `countersign-room`, is not installed.".to_owned(),
            );
            return gate_only(reasons);
        }
        for kind in &self.kinds {
            for (name, place) in self.places(*kind) {
                let tried = match place {
                    Ok(place) => self.try_on(&place, *kind, workspace).await.map(|()| place),
                    Err(error) => Err(error.to_string()),
                };
                match tried {
                    Ok(place) => {
                        reasons.push(promised(*kind));
                        return speculative(place, *kind, reasons);
                    }
                    Err(why) => reasons.push(format!("{name} does not work: {why}.")),
                }
            }
        }
        gate_only(reasons)
    }

    /// Where changes could be kept in this way, each with what it is called.
    fn places(&self, kind: LayerKind) -> Vec<(String, io::Result<Arc<Place>>)> {
        let disk = |name: &str| vec![(name.to_owned(), Ok(Arc::clone(&self.disk)))];
        let memory = |parent: PathBuf| {
            let place = Place::open(&parent).map(Arc::new);
            (format!("A layer in memory (`{}`)", parent.display()), place)
        };
        match kind {
            LayerKind::Disk => disk("A layer on the disk of the data folder"),
            LayerKind::Memory => memory_folders().into_iter().map(memory).collect(),
            LayerKind::Copy => disk("A copy of the workspace"),
            LayerKind::None => Vec::new(),
        }
    }

    async fn try_on(
        &self,
        place: &Place,
        kind: LayerKind,
        workspace: &Workspace,
    ) -> Result<(), String> {
        let layer = layer(place, workspace).map_err(|error| error.to_string())?;
        let marks = Dir::open(&layer.upper()).map_err(|error| error.to_string())?;
        if kind == LayerKind::Copy {
            if place.lies_in(workspace.root()) {
                return Err("the data folder lies in the workspace".to_owned());
            }
        } else if !marks.takes_marks() {
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
            .run(
                &command,
                &Net::closed(),
                (kind, &layer),
                Vec::new(),
                |_: &str| {},
                &never,
            )
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

/// What is said of a way that works.
fn promised(kind: LayerKind) -> String {
    let max = bytes_max(kind) >> 20;
    let copy_max = COPY_BYTES_MAX >> 20;
    let kept = match kind {
        LayerKind::Disk => {
            "what it changes is kept on the disk of the data folder until you agree".to_owned()
        }
        LayerKind::Memory => {
            format!("what it changes is kept in memory until you agree, at most {max} MiB")
        }
        LayerKind::Copy => format!(
            "until you agree it changes a copy of the workspace, of at most {copy_max} MiB and {COPY_PATHS_MAX} paths"
        ),
        LayerKind::None => "what it changes is kept nowhere".to_owned(),
    };
    format!("A command runs in a sealed room; {kept}.")
}

/// What holds for a workspace that cannot be copied, where nothing but a copy would do.
pub(super) fn without_copy(known: Known, error: &FileError) -> Known {
    let mut reasons = known.probe.reasons;
    // That a copy works.
    reasons.pop();
    reasons.push(match error {
        FileError::NoRoom { reason } => reason.clone(),
        other => format!("The workspace cannot be copied for a command: {other}"),
    });
    gate_only(reasons)
}

fn speculative(place: Arc<Place>, kind: LayerKind, reasons: Vec<String>) -> Known {
    Known {
        probe: Probe {
            assurance: Assurance::Speculative,
            layer: kind,
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
