//! One command in a room: the program of the room is started and told what the room is, and the command is ended when it changes
//! too much.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
#[cfg(target_os = "linux")]
use std::sync::OnceLock;

use protocol::Ran;
use protocol::effects::{Refused, RefusedKind};
use sandbox::{Limits, Room, Told};
use tokio_util::sync::CancellationToken;

use super::bounds::looked_after;
use super::ended::settled;
use super::look::too_much;
use super::masks::read_only;
#[cfg(target_os = "linux")]
use super::proxy::WayOut;
use super::refusals::Refusals;
use super::site::Site;
use crate::files::joined;
use crate::process::attend;
use crate::process::room::Rooms;
use crate::process::shell::{around, shell_name};
use crate::{Command, FileError, Net};

/// Where the temporary files of a room lie that has names of its own.
pub(super) const TMP: &str = "/tmp";

/// The secret that is named where nobody can say which one it was, or whether there was any.
const UNSEEN: &str = "(not known: this system does not show which files a command opens)";

/// Runs a command by the program of the room, with this way to the network, where it is to run; and has the next room made ready.
pub(super) async fn run(
    (rooms, command): (&Arc<Rooms>, &Command),
    (net, site): (&Net, &Site<'_>),
    masked: Vec<PathBuf>,
    on_output: impl FnMut(&str) + Send,
    cancel: &CancellationToken,
) -> Result<(Ran, Refusals), FileError> {
    let room = room_of(command, net, site, masked)?;
    let stop = cancel.child_token();
    #[cfg(target_os = "linux")]
    let way_out = OnceLock::new();
    let start = async {
        let (started, listener) = rooms.enter(&room, command.errors.as_deref()).await?;
        #[cfg(target_os = "linux")]
        if let Some(listener) = listener {
            let failed = |error: std::io::Error| FileError::from_io("the way out", &error);
            let opened = WayOut::open(listener, net.clone()).map_err(failed)?;
            way_out.get_or_init(|| opened);
        }
        #[cfg(not(target_os = "linux"))]
        let _ = listener;
        Ok(started)
    };
    let ran = attend(command, start, on_output, &stop);
    let (ran, outgrew) = looked_after(ran, site.watched.clone(), &stop).await;
    rooms.make_ready();
    if let Some(why) = &outgrew
        && site.layers.is_some()
    {
        ran?;
        return Err(too_much(why));
    }
    let mut ran = ran?;
    let mut limits = Refusals::default();
    if let Some(why) = outgrew {
        // What it did for real is told, and that it was ended for it.
        limits.outgrew(&mut ran, why, cancel.is_cancelled());
    }
    let told = sandbox::read_told(&site.folder.told());
    let is_seen = !matches!(told, Ok(Some(Told::Ended { watched: false, .. })));
    let (ran, mut refusals) = settled(ran, told)?;
    // What it did may be what came of a secret that it could not open, and nobody would know.
    if !is_seen && site.layers.is_some() && !room.masked.is_empty() {
        refusals.list.push(Refused {
            kind: RefusedKind::Secret,
            target: UNSEEN.to_owned(),
        });
    }
    refusals.list.append(&mut limits.list);
    #[cfg(target_os = "linux")]
    if let Some(way_out) = way_out.get() {
        refusals.add(way_out.close());
    }
    Ok((ran, refusals))
}

/// What of the app's variables holds in a room with this way to the network.
pub(super) fn inherited_in_room(
    inherited: Vec<(OsString, OsString)>,
    net: &Net,
) -> HashMap<String, String> {
    // A variable that is no text cannot be written down; programs that need one are not known.
    let texts = inherited
        .into_iter()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    // Whom the person's own proxy is not asked for is nobody's matter here.
    let mut environment: HashMap<String, String> = texts
        .filter(|(name, _)| !name.eq_ignore_ascii_case("no_proxy"))
        .collect();
    if net.leads_home() {
        environment.insert("no_proxy".to_owned(), String::new());
    }
    environment
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
    let tmp = site
        .bare
        .clone()
        .and_then(|tmp| tmp.into_os_string().into_string().ok());
    let mut environment = inherited_in_room(workspace.inherited(), net);
    environment.insert("TMPDIR".to_owned(), tmp.unwrap_or_else(|| TMP.to_owned()));
    for (name, value) in around(command, &folder) {
        if let Ok(value) = value.into_string() {
            environment.insert(name, value);
        }
    }
    Ok(Room {
        workspace: workspace.root().to_owned(),
        folder,
        layers: site.layers.clone(),
        bare: site.bare.clone(),
        read_only: read_only(workspace),
        masked,
        limits: Limits {
            file_bytes: site.file_bytes,
            room_memory_bytes: workspace.rooms().memory_bytes(),
            ..Limits::default()
        },
        proxy: net.is_open(),
        input: false,
        command: vec![
            shell_name().to_owned(),
            "-c".to_owned(),
            command.line.clone(),
        ],
        environment: environment.into_iter().collect(),
        told: site.folder.told(),
    })
}
