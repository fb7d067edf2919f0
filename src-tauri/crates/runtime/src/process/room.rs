//! Starts a command in the sealed room: the program of the room, with the room on its standard input.

use std::io;
use std::net::TcpListener;
use std::path::Path;
use std::process::Stdio;

use sandbox::{Outside, Room};
use tokio::io::AsyncWriteExt as _;
use tokio::process::{ChildStdin, Command as Starter};

use super::{Pipe, Started};
use crate::FileError;

/// Starts the program of the room. It reads the room as one line; when its input closes, the room ends. Of a room with a way
/// out it gives the port in it at which somebody is to listen; none if it could not be entered, which it tells in its own way.
pub(crate) async fn start(
    program: &Path,
    room: &Room,
    errors: Option<&std::io::PipeWriter>,
) -> Result<(Started, Option<TcpListener>), FileError> {
    let failed = |error: io::Error| FileError::from_io(program.display().to_string(), &error);
    let (reader, writer) = std::io::pipe().map_err(failed)?;
    let mut starter = Starter::new(program);
    starter
        .env_clear()
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(writer.try_clone().map_err(failed)?)
        .stderr(match errors {
            Some(errors) => errors.try_clone().map_err(failed)?,
            None => writer,
        })
        .process_group(0);
    let outside = match room.proxy {
        false => None,
        true => {
            let (outside, inside) = Outside::pair().map_err(failed)?;
            starter.stdin(inside);
            Some(outside)
        }
    };
    let mut child = starter.spawn().map_err(failed)?;
    // It holds the other ends.
    drop(starter);
    let pipe = Pipe::new(reader).map_err(failed)?;
    let (wanted, listener): (Option<Box<dyn Send>>, _) = match outside {
        None => (tell(child.stdin.take(), room).await.map_err(failed)?, None),
        Some(outside) => {
            let (outside, listener) = take(outside, room.clone()).await.map_err(failed)?;
            (Some(Box::new(outside)), listener)
        }
    };
    let started = Started {
        child,
        pipe,
        wanted,
    };
    Ok((started, listener))
}

/// Says through a pipe what the room is.
async fn tell(input: Option<ChildStdin>, room: &Room) -> io::Result<Option<Box<dyn Send>>> {
    let Some(mut input) = input else {
        return Ok(None);
    };
    let mut line = serde_json::to_vec(room)?;
    line.push(b'\n');
    // A program that ended before it had read it all says why in its own way.
    let _ = input.write_all(&line).await;
    let _ = input.flush().await;
    Ok(Some(Box::new(input)))
}

/// Says what the room is, and waits for the port in it.
async fn take(outside: Outside, room: Room) -> io::Result<(Outside, Option<TcpListener>)> {
    let taking = tokio::task::spawn_blocking(move || {
        let listener = outside.ask(&room).and_then(|()| outside.take_listener());
        (outside, listener.ok())
    });
    taking.await.map_err(io::Error::other)
}
