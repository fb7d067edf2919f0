//! Rooms on Linux: where a layer works here, and one command run over it.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use protocol::effects::Assurance;
use protocol::{Digest, Exit, Fault, Ran};
use rustix::time::{ClockId, clock_gettime};
use tokio_util::sync::CancellationToken;

use super::bounds::bytes_max;
use super::copy::{Copier, Marked, copy, weigh};
use super::in_place::{self, blocking};
use super::layer::{Layer, Place};
use super::look::{Upper, look};
use super::masks::{Masks, masks};
use super::picture::Picture;
use super::read_out::{Done, read_out};
use super::refusals::Refusals;
use super::roomed;
use super::secrets::Secrets;
use super::site::Site;
use super::told::{Over, told};
use super::trial::without_copy;
use super::{LayerKind, Probe, RanInPlace, Rehearsed, Walls, attributes};
use crate::dir::Dir;
use crate::process::room::Rooms;
use crate::{Command, EntryMeta, FileError, History, Net, Workspace};

/// Why there is no room at all.
pub(super) const NOT_INSTALLED: &str =
    "The program of the sealed room, `countersign-room`, is not installed.";

#[derive(Debug)]
pub(super) struct Inner {
    /// None where the program of the room is not installed.
    pub program: Option<Arc<Rooms>>,
    pub masked: Vec<PathBuf>,
    pub disk: Arc<Place>,
    pub kinds: Vec<LayerKind>,
    pub rooms: Vec<Walls>,
    known: Mutex<HashMap<Ground, Known>>,
    secrets: Arc<Secrets>,
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
        let disk = Place::of_data(folder)?;
        masked.push(folder.to_owned());
        Ok(Self {
            program: program.map(Rooms::new).map(Arc::new),
            masked,
            disk: Arc::new(disk),
            kinds: kinds.to_vec(),
            rooms: rooms.to_vec(),
            known: Mutex::default(),
            secrets: Arc::default(),
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
        // Here, so that what is prepared next goes off the wait for the clock of files.
        let began_ns = clock_ns(ClockId::Realtime);
        let known = self.known(&command.workspace).await;
        let Some(place) = known.place else {
            return Err(FileError::NoRoom {
                reason: known.probe.reasons.join(" "),
            });
        };
        let failed = |error: io::Error| FileError::from_io("the folder for rooms", &error);
        let mut layer = layer(&place, &command.workspace).map_err(failed)?;
        let masks = self.masks(&command.workspace).await?;
        let kind = known.probe.layer;
        file_clock_past(began_ns).await?;
        if kind == LayerKind::Copy {
            let (workspace, upper) = (command.workspace.clone(), layer.upper());
            let copied =
                blocking(move || copy(workspace.dir(), &upper, Marked::Copy, Copier::System));
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
            look((kind, &upper), workspace.dir(), began_ns, &mut hashed, None)
        });
        let looked = read.await?;
        let attributes = attributes::note(&looked.attributes, Done::ForShow);
        let mut read = read_out(looked.changes, Done::ForShow);
        read.notes.extend(attributes);
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

    /// What is closed in a room for a workspace.
    pub(super) async fn masks(&self, workspace: &Workspace) -> Result<Masks, FileError> {
        let (workspace, own) = (workspace.clone(), self.masked.clone());
        let secrets = self.secrets.clone();
        blocking(move || masks(&workspace, &own, &secrets)).await
    }

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
        in_place::picture(workspace, history, meta, Copier::System).await
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
        let mut masks = self.masks(&command.workspace).await?;
        let grows_max = bytes_max(LayerKind::Disk).min(picture.history.bytes_max());
        let bare = (walls == Walls::Landlock).then(|| folder.tmp());
        let site = Site::real(&folder, bare, command, (picture.disk_bytes(), grows_max));
        let (ran, mut refused) = self
            .run(command, net, &site, masks.paths, on_output, cancel)
            .await?;
        refused.notes.append(&mut masks.notes);
        Ok(picture.was_run_over(ran, refused))
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
        let Some(program) = &self.program else {
            return Err(FileError::NoRoom {
                reason: NOT_INSTALLED.to_owned(),
            });
        };
        roomed::run((program, command), (net, site), masked, on_output, cancel).await
    }
}

pub(super) fn layer(place: &Place, workspace: &Workspace) -> io::Result<Layer> {
    place.layer(workspace.dir().stat_self()?.mode)
}

/// Nanoseconds since 1970 by one of the system's clocks.
fn clock_ns(clock: ClockId) -> i64 {
    let now = clock_gettime(clock);
    now.tv_sec
        .saturating_mul(1_000_000_000)
        .saturating_add(now.tv_nsec)
}

/// Waits until what is changed is stamped with a later time than `then_ns`. The clock that files are stamped with goes on in
/// steps of some milliseconds, and stands up to two of them behind the one that programs ask.
///
/// # Errors
/// [`FileError::NoRoom`] where that time does not come: the clock was set back, and what others change could not be told from
/// what was there before.
async fn file_clock_past(then_ns: i64) -> Result<(), FileError> {
    for _ in 0..STEP_WAITS_MAX {
        if clock_ns(ClockId::RealtimeCoarse) > then_ns {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    Err(FileError::NoRoom {
        reason: "The clock of this machine was set back while the command was prepared, so it was not run. Repeat it."
            .to_owned(),
    })
}

/// Five times what the slowest kernel needs, of which a step is 10 ms.
const STEP_WAITS_MAX: usize = 100;

/// The digest and length of a content that nobody keeps.
fn hashed(file: &mut File, _: u64) -> io::Result<(Digest, u64)> {
    let mut hasher = blake3::Hasher::new();
    let length = io::copy(file, &mut hasher)?;
    Ok((Digest::of_hash(&hasher.finalize()), length))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_is_written_after_the_wait_is_stamped_later() {
        let folder = tempfile::tempdir().unwrap();
        for round in 0..20 {
            let then_ns = clock_ns(ClockId::Realtime);
            file_clock_past(then_ns).await.unwrap();
            let file = folder.path().join(round.to_string());
            fs::write(&file, "").unwrap();
            let found = fs::metadata(file).unwrap();
            let changed_ns = found.ctime() * 1_000_000_000 + found.ctime_nsec();
            assert!(changed_ns > then_ns, "{changed_ns} {then_ns}");
        }
    }

    #[tokio::test]
    async fn a_clock_that_was_set_back_is_no_ground_for_a_dry_run() {
        let an_hour_ns = 3_600_000_000_000;
        let refused = file_clock_past(clock_ns(ClockId::Realtime) + an_hour_ns).await;
        assert!(
            matches!(&refused, Err(FileError::NoRoom { reason }) if reason.contains("set back")),
            "{refused:?}"
        );
    }
}
