//! A program in a room that runs beside us for as long as somebody talks to it: the workspace is the real one, and whoever calls
//! it looks after what it changes there.

use std::io;
use std::os::fd::OwnedFd;

use sandbox::{Limits, Room};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};

use super::Walls;
use super::ended::how_it_ended;
use super::layer::Layer;
use super::linux::{Inner, NOT_INSTALLED, layer};
use super::masks::read_only;
use super::proxy::WayOut;
use super::refusals::Refusals;
use super::roomed::{TMP, inherited_in_room};
use crate::files::joined;
use crate::process::life::{Around, stay_with};
use crate::process::room::Wanted;
use crate::{Companion, CompanionCommand, Exit, FileError, InRoom, Net, Workspace};

impl Inner {
    /// Starts a program in a room around the workspace itself.
    pub(super) async fn accompany(
        &self,
        command: &CompanionCommand,
        workspace: &Workspace,
        net: &Net,
    ) -> Result<Companion, FileError> {
        let no_room = |reason: String| FileError::NoRoom { reason };
        let known = self.known(workspace).await;
        let program = self.program.as_ref();
        let program = program.ok_or_else(|| no_room(NOT_INSTALLED.to_owned()))?;
        match known.walls {
            Some(Walls::All) => {}
            // Secrets stay open to what runs there, and the network is everybody's.
            Some(Walls::Landlock) | None => return Err(no_room(known.probe.reasons.join(" "))),
        }
        let failed = |error: io::Error| FileError::from_io(command.program.as_str(), &error);
        let folder = layer(&self.disk, workspace).map_err(failed)?;
        let masked = self.masks(workspace).await?.paths;
        let room = room_of(command, workspace, net, masked, &folder)?;
        let (input, writer) = io::pipe().map_err(failed)?;
        let (told, errors) = io::pipe().map_err(failed)?;
        let (talking, listener) = program.accompany(&room, input, &errors).await?;
        // While it is held, what the program says to people does not end.
        drop(errors);
        let way_out = listener.map(|listener| WayOut::open(listener, net.clone()));
        let around = Beside {
            wanted: Some(talking.wanted),
            way_out: way_out.transpose().map_err(failed)?,
            folder,
        };
        let life = stay_with(talking.child, Some(Box::new(around)));
        let (input, output) = (OwnedFd::from(writer), OwnedFd::from(talking.output));
        let told = OwnedFd::from(told);
        Ok(Companion {
            input: ChildStdin::from_std(input.into()).map_err(failed)?,
            output: ChildStdout::from_std(output.into()).map_err(failed)?,
            told: ChildStderr::from_std(told.into()).map_err(failed)?,
            life,
        })
    }
}

fn room_of(
    command: &CompanionCommand,
    workspace: &Workspace,
    net: &Net,
    masked: Vec<std::path::PathBuf>,
    own: &Layer,
) -> Result<Room, FileError> {
    let start = workspace.own_place(&command.folder.to_string_lossy(), true)?;
    let folder = joined(workspace.root(), &start);
    let mut environment = inherited_in_room(command.inherited.variables(), net);
    environment.insert("TMPDIR".to_owned(), TMP.to_owned());
    environment.insert("PWD".to_owned(), folder.to_string_lossy().into_owned());
    environment.extend(command.env.iter().cloned());
    let words = std::iter::once(&command.program).chain(&command.args);
    Ok(Room {
        workspace: workspace.root().to_owned(),
        folder,
        layers: None,
        bare: None,
        read_only: read_only(workspace),
        masked,
        limits: Limits {
            room_memory_bytes: workspace.rooms().memory_bytes(),
            ..Limits::default()
        },
        proxy: net.is_open(),
        input: true,
        command: words.cloned().collect(),
        environment: environment.into_iter().collect(),
        told: own.told(),
    })
}

/// What lasts as long as the program.
struct Beside {
    wanted: Option<Wanted>,
    way_out: Option<WayOut>,
    folder: Layer,
}

impl Around for Beside {
    fn end(&mut self) {
        self.wanted.take();
    }

    fn settle(self: Box<Self>, exit: Exit) -> (Exit, InRoom) {
        match how_it_ended(exit, sandbox::read_told(&self.folder.told())) {
            Ok((exit, mut refusals)) => {
                if let Some(way_out) = &self.way_out {
                    refusals.add(way_out.close());
                }
                let Refusals { list, .. } = refusals;
                let fared = InRoom {
                    not_entered: None,
                    refused: list,
                };
                (exit, fared)
            }
            Err(why) => {
                let fared = InRoom {
                    not_entered: Some(why),
                    refused: Vec::new(),
                };
                (exit, fared)
            }
        }
    }
}
