//! Rooms on Linux: where a layer works here, and one command run over it.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use protocol::effects::{Assurance, Refused, RefusedKind};
use protocol::{Exit, Fault, Ran};
use sandbox::{Limits, Room};
use tokio_util::sync::CancellationToken;

use super::bounds::outgrown;
use super::copy::{Marked, copy, weigh};
use super::ended::{KILLED, Refusals, settled};
use super::layer::{Layer, Place};
use super::look::{Upper, hashed, look, too_much};
use super::masks::{masks, read_only};
use super::proxy::WayOut;
use super::read_out::{Done, read_out};
use super::site::Site;
use super::told::{Over, told};
use super::trial::without_copy;
use super::{LayerKind, Probe, Rehearsed, Walls};
use crate::dir::Dir;
use crate::files::joined;
use crate::process::shell::{around, shell_name};
use crate::process::{attend, room};
use crate::{Command, FileError, Net, Workspace};

#[derive(Debug)]
pub(super) struct Inner {
    pub program: Option<PathBuf>,
    pub masked: Vec<PathBuf>,
    pub disk: Arc<Place>,
    pub kinds: Vec<LayerKind>,
    pub rooms: Vec<Walls>,
    known: Mutex<HashMap<Ground, Known>>,
}

/// What a trial holds for: a file system, and whether our own folder lies in the workspace.
type Ground = (u64, bool);

#[derive(Debug, Clone)]
pub(super) struct Known {
    pub probe: Probe,
    /// Where layers lie; none where no layer holds.
    pub place: Option<Arc<Place>>,
    /// The walls of a room in which a command can run for real; none where there is no such room.
    pub walls: Option<Walls>,
    /// Why what is better does not work.
    pub why_no_better: Vec<String>,
}

impl Inner {
    pub(super) fn open(
        program: Option<PathBuf>,
        folder: &Path,
        mut masked: Vec<PathBuf>,
        kinds: &[LayerKind],
        rooms: &[Walls],
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
            rooms: rooms.to_vec(),
            known: Mutex::default(),
        })
    }

    pub(super) async fn probe(&self, workspace: &Workspace) -> Probe {
        self.known(workspace).await.probe
    }

    /// What holds in a workspace. Whether it can be copied is looked at anew each time: it grows.
    pub(super) async fn known(&self, workspace: &Workspace) -> Known {
        let known = self.tried(workspace).await;
        let by_layer = matches!(known.probe.layer, LayerKind::Disk | LayerKind::Memory);
        if by_layer || known.probe.assurance == Assurance::GateOnly {
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
            let copied = blocking(move || copy(workspace.dir(), &upper, Marked::Copy));
            layer.copied = Some(copied.await?);
        }
        let site = Site::layered(kind, &layer);
        let (ran, refused) = self
            .run(command, net, &site, masks.paths, on_output, cancel)
            .await?;
        if ran.exit == Exit::Cancelled {
            return Err(FileError::Cancelled);
        }
        let (upper, workspace) = (layer.upper(), command.workspace.clone());
        let copied = layer.copied.take();
        let read = blocking(move || {
            let kind = copied.as_ref().map_or(Upper::Layer, Upper::Copy);
            let upper = Dir::open(&upper)
                .map_err(|error| FileError::from_io("the layer of the command", &error))?;
            look((kind, &upper), workspace.dir(), began_ns, &mut hashed)
        });
        let read = read_out(read.await?.changes, Done::ForShow);
        let (effects, plan) = told(Over {
            assurance: Assurance::Speculative,
            ran: ran.clone(),
            refused,
            read,
            notes: masks.notes,
            after: layer.upper(),
        });
        Ok(Rehearsed {
            ran,
            effects,
            plan,
            _layer: layer,
        })
    }

    /// Runs a command where it is to run, and ends it when it changes too much.
    pub(super) async fn run(
        &self,
        command: &Command,
        net: &Net,
        site: &Site<'_>,
        masked: Vec<PathBuf>,
        on_output: impl FnMut(&str) + Send,
        cancel: &CancellationToken,
    ) -> Result<(Ran, Refusals), FileError> {
        let program = self.program.as_deref().unwrap_or(Path::new(""));
        let room = room_of(command, net, site, masked)?;
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
        let (watched, bytes_max) = site.watched.clone();
        let too_large = outgrown(watched, bytes_max);
        tokio::pin!(ran, too_large);
        let (mut ran, outgrew) = tokio::select! {
            ran = &mut ran => (ran?, None),
            why = &mut too_large => {
                stop.cancel();
                (ran.await?, Some(why))
            }
        };
        let mut limits = Vec::new();
        if let Some(why) = outgrew {
            if site.layers.is_some() {
                return Err(too_much(&why));
            }
            // What it did for real is told, and that it was ended for it.
            if !cancel.is_cancelled() {
                ran.exit = Exit::Signal(KILLED);
            }
            limits.push(Refused {
                kind: RefusedKind::Limit,
                target: why,
            });
        }
        let told = sandbox::read_told(&site.folder.told());
        let (ran, mut refusals) = settled(ran, told)?;
        refusals.list.append(&mut limits);
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
    site: &Site<'_>,
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
    let tmp = site
        .bare()
        .and_then(|tmp| tmp.into_os_string().into_string().ok());
    let tmp = tmp.unwrap_or_else(|| "/tmp".to_owned());
    environment.insert("TMPDIR".to_owned(), tmp);
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
        layers: site.layers.clone(),
        bare: site.bare(),
        read_only: read_only(workspace),
        masked,
        limits: Limits {
            file_bytes: site.file_bytes,
            ..Limits::default()
        },
        proxy: net.is_open(),
        command: vec![
            shell_name().to_owned(),
            "-c".to_owned(),
            command.line.clone(),
        ],
        environment: environment.into_iter().collect(),
        told: site.folder.told(),
    })
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
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, FileError> + Send + 'static,
) -> Result<T, FileError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) => Err(FileError::other("the workspace", error)),
    }
}
