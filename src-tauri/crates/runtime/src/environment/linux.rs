//! Rooms on Linux: where a layer works here, and one command run over it.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use protocol::effects::{Assurance, Effects, Refused, RefusedKind};
use protocol::{Captured, Exit, Fault, Plan, Ran};
use sandbox::{Layers, Limits, Room};
use tokio_util::sync::CancellationToken;

use super::bounds::{bytes_max, outgrown};
use super::copy::{copy, weigh};
use super::ended::{Refusals, settled};
use super::layer::{Layer, Place};
use super::look::{look, too_much};
use super::masks::{masks, read_only};
use super::proxy::WayOut;
use super::read_out::{ReadOut, read_out};
use super::trial::without_copy;
use super::{LayerKind, Probe, Rehearsed};
use crate::files::joined;
use crate::process::shell::{around, shell_name};
use crate::process::{attend, room};
use crate::{Command, FileError, Net, Workspace};

#[derive(Debug)]
pub(super) struct Inner {
    pub program: Option<PathBuf>,
    masked: Vec<PathBuf>,
    pub disk: Arc<Place>,
    pub kinds: Vec<LayerKind>,
    known: Mutex<HashMap<Ground, Known>>,
}

/// What a trial holds for: a file system, and whether our own folder lies in the workspace.
type Ground = (u64, bool);

#[derive(Debug, Clone)]
pub(super) struct Known {
    pub probe: Probe,
    pub place: Option<Arc<Place>>,
}

impl Inner {
    pub(super) fn open(
        program: Option<PathBuf>,
        folder: &Path,
        mut masked: Vec<PathBuf>,
        kinds: &[LayerKind],
    ) -> Result<Self, Fault> {
        let disk = Place::open(folder).map_err(|error| {
            Fault::new(
                format!(
                    "The folder for rooms `{}` cannot be used.",
                    folder.display()
                ),
                "Check the permissions of the data folder.",
            )
            .caused_by(&error)
        })?;
        masked.push(folder.to_owned());
        Ok(Self {
            program,
            masked,
            disk: Arc::new(disk),
            kinds: kinds.to_vec(),
            known: Mutex::default(),
        })
    }

    pub(super) async fn probe(&self, workspace: &Workspace) -> Probe {
        self.known(workspace).await.probe
    }

    /// What holds in a workspace. Whether it can be copied is looked at anew each time: it grows.
    async fn known(&self, workspace: &Workspace) -> Known {
        let known = self.tried(workspace).await;
        if known.probe.layer != LayerKind::Copy {
            return known;
        }
        let whole = workspace.clone();
        match blocking(move || weigh(whole.dir())).await {
            Ok(()) => known,
            Err(error) => without_copy(known, &error),
        }
    }

    async fn tried(&self, workspace: &Workspace) -> Known {
        let device = fs::metadata(workspace.root()).map_or(0, |found| found.dev());
        let ground = (device, self.disk.lies_in(workspace.root()));
        let known = |all: &Mutex<HashMap<Ground, Known>>| {
            let all = all.lock().unwrap_or_else(PoisonError::into_inner);
            all.get(&ground).cloned()
        };
        if let Some(known) = known(&self.known) {
            return known;
        }
        let found = self.try_out(workspace).await;
        let mut all = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        all.entry(ground).or_insert(found).clone()
    }

    pub(super) async fn rehearse(
        &self,
        command: &Command,
        net: &Net,
        on_output: impl FnMut(&str) + Send,
        cancel: &CancellationToken,
    ) -> Result<Rehearsed, FileError> {
        command.workspace.admit_command(&command.line)?;
        let known = self.known(&command.workspace).await;
        let Some(place) = known.place else {
            return Err(FileError::NoRoom {
                reason: known.probe.reasons.join(" "),
            });
        };
        let failed = |error: io::Error| FileError::from_io("the folder for rooms", &error);
        let mut layer = layer(&place, &command.workspace).map_err(failed)?;
        let (workspace, own) = (command.workspace.clone(), self.masked.clone());
        let masks = blocking(move || Ok(masks(&workspace, &own))).await?;
        let (began_ns, kind) = (now_ns(), known.probe.layer);
        if kind == LayerKind::Copy {
            let (workspace, upper) = (command.workspace.clone(), layer.upper());
            layer.copied = Some(blocking(move || copy(workspace.dir(), &upper)).await?);
        }
        let (ran, refused) = self
            .run(command, net, (kind, &layer), masks.paths, on_output, cancel)
            .await?;
        if ran.exit == Exit::Cancelled {
            return Err(FileError::Cancelled);
        }
        let (upper, workspace) = (layer.upper(), command.workspace.clone());
        let copied = layer.copied.take();
        let read = blocking(move || {
            look(&upper, workspace.dir(), began_ns, copied.as_ref()).map(read_out)
        });
        let read = read.await?;
        Ok(rehearsed(ran, refused, read, masks.notes, layer))
    }

    /// Runs a command over a layer, and ends it when the layer becomes too large.
    pub(super) async fn run(
        &self,
        command: &Command,
        net: &Net,
        (kind, layer): (LayerKind, &Layer),
        masked: Vec<PathBuf>,
        on_output: impl FnMut(&str) + Send,
        cancel: &CancellationToken,
    ) -> Result<(Ran, Refusals), FileError> {
        let program = self.program.as_deref().unwrap_or(Path::new(""));
        let room = room_of(command, net, kind, layer, masked)?;
        let copied = layer.copied.as_ref().map_or(0, |copied| copied.bytes);
        let stop = cancel.child_token();
        let way_out = OnceLock::new();
        let start = async {
            let (started, listener) =
                room::start(program, &room, command.errors.as_deref()).await?;
            if let Some(listener) = listener {
                let failed = |error: io::Error| FileError::from_io("the way out", &error);
                let opened = WayOut::open(listener, net.clone()).map_err(failed)?;
                way_out.get_or_init(|| opened);
            }
            Ok(started)
        };
        let ran = attend(command, start, on_output, &stop);
        let too_large = outgrown(layer.upper(), bytes_max(kind).saturating_add(copied));
        tokio::pin!(ran, too_large);
        let ran = tokio::select! {
            ran = &mut ran => ran?,
            why = &mut too_large => {
                stop.cancel();
                ran.await?;
                return Err(too_much(&why));
            }
        };
        let told = sandbox::read_told(&layer.told());
        let (ran, mut refusals) = settled(ran, told)?;
        if let Some(way_out) = way_out.get() {
            refusals.add(way_out.close());
        }
        Ok((ran, refusals))
    }
}

pub(super) fn layer(place: &Place, workspace: &Workspace) -> io::Result<Layer> {
    place.layer(workspace.dir().stat_self()?.mode)
}

fn room_of(
    command: &Command,
    net: &Net,
    kind: LayerKind,
    layer: &Layer,
    masked: Vec<PathBuf>,
) -> Result<Room, FileError> {
    let workspace = &command.workspace;
    let folder = match command.folder.as_str() {
        "" => workspace.root().to_owned(),
        folder => joined(workspace.root(), &workspace.own_place(folder, true)?),
    };
    // A variable that is no text cannot be written down; programs that need one are not known.
    let mut environment: HashMap<String, String> = workspace
        .inherited()
        .into_iter()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect();
    environment.insert("TMPDIR".to_owned(), "/tmp".to_owned());
    // Whom the person's own proxy is not asked for is nobody's matter here.
    environment.retain(|name, _| !name.eq_ignore_ascii_case("no_proxy"));
    if net.leads_home() {
        environment.insert("no_proxy".to_owned(), String::new());
    }
    for (name, value) in around(command, &folder) {
        if let Ok(value) = value.into_string() {
            environment.insert(name, value);
        }
    }
    Ok(Room {
        workspace: workspace.root().to_owned(),
        folder,
        layers: Some(Layers {
            upper: layer.upper(),
            work: (kind != LayerKind::Copy).then(|| layer.work()),
        }),
        read_only: read_only(workspace),
        masked,
        limits: Limits {
            file_bytes: bytes_max(kind),
            ..Limits::default()
        },
        proxy: net.is_open(),
        command: vec![
            shell_name().to_owned(),
            "-c".to_owned(),
            command.line.clone(),
        ],
        environment: environment.into_iter().collect(),
        told: layer.told(),
    })
}

fn rehearsed(
    ran: Ran,
    mut refused: Refusals,
    read: ReadOut,
    mut notes: Vec<String>,
    layer: Layer,
) -> Rehearsed {
    let (exit_code, ended) = match ran.exit {
        Exit::Code(code) => (Some(code), String::new()),
        Exit::Signal(signal) => (None, format!("signal {signal}")),
        Exit::TimedOut => (None, "time limit".to_owned()),
        Exit::Cancelled => (None, "stopped".to_owned()),
    };
    if ran.exit == Exit::TimedOut {
        refused.list.push(Refused {
            kind: RefusedKind::Limit,
            target: "time".to_owned(),
        });
    }
    notes.extend(refused.notes);
    notes.extend(read.notes);
    let captured = Captured {
        layer: layer.upper(),
        steps: read.steps,
        ran: ran.clone(),
    };
    let effects = Effects {
        assurance: Assurance::Speculative,
        exit_code,
        ended,
        output: protocol::shown::shown(&String::from_utf8_lossy(&ran.head)),
        output_bytes: ran.bytes,
        changes: read.effects,
        refused: refused.list,
        reached: refused.reached,
        notes,
        digest: captured.digest(),
    };
    Rehearsed {
        ran,
        effects,
        plan: match captured.steps.is_empty() {
            true => Plan::None,
            false => Plan::Effects(Arc::new(captured)),
        },
        _layer: layer,
    }
}

/// Now, by the finest clock: a file of the moment before is not taken for a later one. Times of files may lag one tick of
/// the kernel behind it, which is less than it takes to enter a room.
fn now_ns() -> i64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Realtime);
    now.tv_sec
        .saturating_mul(1_000_000_000)
        .saturating_add(now.tv_nsec)
}

/// Does work that reads many files off the threads that everything else runs on.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, FileError> + Send + 'static,
) -> Result<T, FileError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) => Err(FileError::other("the workspace", error)),
    }
}
