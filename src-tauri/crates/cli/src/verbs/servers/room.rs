//! `servers room`: moves a server into a sealed room, and back.

use std::path::{Path, PathBuf};

use agent::Desk;
use protocol::Fault;
use protocol::servers::{ServerChange, ServerId, ServerRoom, ServerView, ServerWay};
use protocol::shown::in_a_sentence;

use super::super::kept;
use super::{Kept, change, show};
use crate::ending::{Ended, Ending};
use crate::out::Out;

/// Characters of a folder or a host that is named, at most.
const NAME_CHARS_MAX: usize = 200;

/// The room that is asked for on a command line.
///
/// # Errors
/// The folder has no place.
pub(super) fn asked(folder: &Path, hosts: &[String]) -> Result<ServerRoom, Ending> {
    Ok(ServerRoom {
        workspace: placed(folder)?.display().to_string(),
        hosts: hosts.to_vec(),
    })
}

/// A folder that was named, as a whole path.
pub(super) fn placed(folder: &Path) -> Result<PathBuf, Ending> {
    std::path::absolute(folder).map_err(|error| {
        Ending::usage(Fault::new("The folder has no place.", "Name another.")).because(&error)
    })
}

/// Sets it up with this room, or with none; one that was on is started anew there.
pub(super) async fn set(
    desk: &Desk,
    id: &ServerId,
    wanted: Option<ServerRoom>,
    out: &mut Out,
) -> Ended {
    let settings = kept::view::<Kept>(desk, id).await?.settings;
    let mut way = settings.way;
    match &mut way {
        ServerWay::Stdio { folder, room, .. } => {
            let is_inside =
                |folder: &String, room: &ServerRoom| Path::new(folder).starts_with(&room.workspace);
            if let Some(wanted) = &wanted {
                // It then starts in the folder of its room.
                folder.take_if(|folder| !is_inside(folder, wanted));
            }
            *room = wanted;
        }
        ServerWay::Http { .. } => {
            return Err(Ending::usage(Fault::new(
                format!("The server `{id}` is reached at an address: it runs on another machine."),
                "Limit what its tools are called with by rules.",
            )));
        }
    }
    let timeout_ms = settings.timeout_ms;
    change(desk, id, ServerChange::Set { way, timeout_ms }).await?;
    if settings.enabled {
        change(desk, id, ServerChange::Switch { enabled: true }).await?;
    }
    show(desk, id, out).await
}

/// Where a program of this machine runs, in a sentence; none for what runs on another.
pub(super) fn told(view: &ServerView) -> Option<String> {
    let id = &view.settings.id;
    let name = |text: &str| in_a_sentence(text, NAME_CHARS_MAX);
    match &view.settings.way {
        ServerWay::Stdio { room: None, .. } => Some(format!(
            "Runs as you, outside any sandbox. To run it in a sealed room: countersign servers room {id} FOLDER"
        )),
        ServerWay::Stdio {
            room: Some(room), ..
        } => {
            let hosts = match room.hosts.is_empty() {
                true => "reaches no host".to_owned(),
                false => format!("reaches {}", name(&room.hosts.join(", "))),
            };
            Some(format!(
                "Runs in a sealed room: changes {} alone, {hosts}.",
                name(&room.workspace)
            ))
        }
        ServerWay::Http { .. } => None,
    }
}
