//! What this machine can promise, found out by entering a room once, and never guessed from versions.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use protocol::effects::Assurance;
use tokio_util::sync::CancellationToken;

use super::bounds::bytes_max;
use super::layer::Place;
use super::linux::{Inner, Known, NOT_INSTALLED, layer};
use super::site::Site;
use super::tried::{did_nothing, not_copied, nothing, pictured};
use super::{LayerKind, Probe, Walls};
use crate::dir::Dir;
use crate::limits::{COPY_BYTES_MAX, COPY_PATHS_MAX};
use crate::{FileError, Net, Workspace};

/// Memory that is there for files, where there is any.
const MEMORY: &str = "/dev/shm";

impl Inner {
    /// Enters a room once with a layer on the disk of the data folder; where that does not work, with one in memory; and where
    /// none can lie over the workspace, with a copy in its place. And once more with the workspace itself.
    pub(super) async fn try_out(&self, workspace: &Workspace) -> Known {
        let mut reasons = Vec::new();
        if self.program.is_none() {
            reasons.push(NOT_INSTALLED.to_owned());
            return gate_only(reasons);
        }
        let layered = self.try_layers(workspace, &mut reasons).await;
        let mut why_not = Vec::new();
        let walls = self.try_rooms(workspace, &mut why_not).await;
        match (layered, walls) {
            (Some((place, kind)), walls) => {
                let why_no_better = reasons.clone();
                reasons.push(promised(kind));
                reasons.push(memory_kept().to_owned());
                Known {
                    probe: Probe {
                        assurance: Assurance::Speculative,
                        layer: kind,
                        in_place: walls.is_some(),
                        ..closed(reasons)
                    },
                    place: Some(place),
                    walls,
                    why_no_better,
                }
            }
            (None, Some(walls)) => {
                reasons.append(&mut why_not);
                let why_no_better = reasons.clone();
                reasons.extend(promised_in_place(walls).map(str::to_owned));
                reasons.push(pictured());
                Known {
                    probe: Probe {
                        assurance: Assurance::Snapshot,
                        layer: LayerKind::None,
                        in_place: true,
                        kill_tree: walls == Walls::All || sandbox::keeps_signals_in(),
                        ..closed(reasons)
                    },
                    place: None,
                    walls: Some(walls),
                    why_no_better,
                }
            }
            (None, None) => {
                reasons.append(&mut why_not);
                gate_only(reasons)
            }
        }
    }

    /// Where changes can be kept, in the best way that works; and why no better one does.
    async fn try_layers(
        &self,
        workspace: &Workspace,
        reasons: &mut Vec<String>,
    ) -> Option<(Arc<Place>, LayerKind)> {
        for kind in &self.kinds {
            for (name, place) in self.places(*kind) {
                let tried = match place {
                    Ok(place) => self.try_on(&place, *kind, workspace).await.map(|()| place),
                    Err(error) => Err(error.to_string()),
                };
                match tried {
                    Ok(place) => return Some((place, *kind)),
                    Err(why) => reasons.push(format!("{name} does not work: {why}.")),
                }
            }
        }
        None
    }

    /// The walls of a room in which the workspace itself can be changed; and why there are no better ones.
    async fn try_rooms(&self, workspace: &Workspace, reasons: &mut Vec<String>) -> Option<Walls> {
        for walls in &self.rooms {
            match self.try_in_place(*walls, workspace).await {
                Ok(()) => return Some(*walls),
                Err(why) => {
                    let name = match walls {
                        Walls::All => "A room around the workspace itself",
                        Walls::Landlock => "One whose only walls are Landlock and refused calls",
                    };
                    reasons.push(format!("{name} does not work: {why}."));
                }
            }
        }
        None
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
        self.try_at(&Site::layered(kind, &layer), workspace).await
    }

    async fn try_in_place(&self, walls: Walls, workspace: &Workspace) -> Result<(), String> {
        if self.disk.lies_in(workspace.root()) {
            return Err("the data folder lies in the workspace".to_owned());
        }
        let folder = layer(&self.disk, workspace).map_err(|error| error.to_string())?;
        let command = nothing(workspace);
        let site = Site::real(
            &folder,
            (walls == Walls::Landlock).then(|| folder.tmp()),
            &command,
            (u64::MAX, bytes_max(LayerKind::Disk)),
        );
        self.try_at(&site, workspace).await
    }

    /// Runs a command that does nothing.
    async fn try_at(&self, site: &Site<'_>, workspace: &Workspace) -> Result<(), String> {
        let (command, net) = (nothing(workspace), Net::closed());
        let never = CancellationToken::new();
        let ran = self.run(&command, &net, site, Vec::new(), |_: &str| {}, &never);
        did_nothing(ran.await.map(|(ran, _)| ran))
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
    let mut reasons = known.why_no_better;
    reasons.push(not_copied(error));
    gate_only(reasons)
}

/// How a room is kept to the memory that it may take.
fn memory_kept() -> &'static str {
    match sandbox::keeps_memory() {
        true => {
            "The kernel keeps all that it starts to the memory that a room may take, by a control group."
        }
        false => {
            "The memory that all it starts takes is added up a few times a second, and too much ends it: no control group can be limited here."
        }
    }
}

/// What a room whose walls are these closes, and what it leaves open.
fn promised_in_place(walls: Walls) -> impl Iterator<Item = &'static str> {
    let said = match walls {
        Walls::All => vec!["A command runs for real, in a sealed room.", memory_kept()],
        Walls::Landlock => vec![
            "A command runs for real, closed in by Landlock and refused calls alone, because nobody may make namespaces here.",
            "It can read your files, secrets among them, but change nothing outside of the workspace; git hooks and start-up files in the workspace it can change.",
            "The memory of each of its processes is limited, and not that of all together.",
        ],
    };
    said.into_iter()
}

/// What every room closes.
fn closed(reasons: Vec<String>) -> Probe {
    Probe {
        net_off: true,
        unix_sockets_off: true,
        kill_tree: true,
        ..Probe::gate_only(reasons)
    }
}

fn gate_only(reasons: Vec<String>) -> Known {
    Known {
        probe: Probe::gate_only(reasons.clone()),
        place: None,
        walls: None,
        why_no_better: reasons,
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
