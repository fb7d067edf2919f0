//! Starts a command in the sealed room: the program of the room, with the room on its standard input.

use std::io;
use std::net::TcpListener;
use std::path::Path;

#[cfg(target_os = "linux")]
use sandbox::Outside;
use sandbox::Room;
use tokio::process::Command as Starter;

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
    let (outside, inside) = Outside::pair().map_err(failed)?;
    let mut starter = Starter::new(program);
    starter
        .env_clear()
        .current_dir("/")
        .stdin(inside)
        .stdout(writer.try_clone().map_err(failed)?)
        .stderr(match errors {
            Some(errors) => errors.try_clone().map_err(failed)?,
            None => writer,
        })
        .process_group(0);
    let child = starter.spawn().map_err(failed)?;
    // It holds the other ends.
    drop(starter);
    let pipe = Pipe::new(reader).map_err(failed)?;
    let (wanted, listener) = ask(Wanted(Some(outside)), room.clone())
        .await
        .map_err(failed)?;
    let started = Started {
        child,
        pipe,
        wanted: Some(Box::new(wanted)),
    };
    Ok((started, listener))
}

/// A room is wanted as long as this is kept. Letting go of it waits for nothing.
struct Wanted(Option<Outside>);

impl Drop for Wanted {
    fn drop(&mut self) {
        if let Some(outside) = self.0.take() {
            outside.no_longer();
            // Where no thread can be had, it is let go of here.
            let _ = std::thread::Builder::new().spawn(move || drop(outside));
        }
    }
}

/// Says what the room is, and waits for the port in it, if it has one. A program that ended before it had read it all says why in
/// its own way.
async fn ask(wanted: Wanted, room: Room) -> io::Result<(Wanted, Option<TcpListener>)> {
    let asking = tokio::task::spawn_blocking(move || {
        let Some(outside) = &wanted.0 else {
            return (wanted, None);
        };
        let asked = outside.ask(&room);
        let listener = asked.and_then(|()| match room.proxy {
            true => outside.take_listener().map(Some),
            false => Ok(None),
        });
        (wanted, listener.ok().flatten())
    });
    asking.await.map_err(io::Error::other)
}

/// A pipe to the program, where no room has a way out.
#[cfg(target_os = "macos")]
struct Outside(io::PipeWriter);

#[cfg(target_os = "macos")]
impl Outside {
    /// This end, and the one that becomes the program's standard input.
    fn pair() -> io::Result<(Self, io::PipeReader)> {
        let (inside, outside) = io::pipe()?;
        Ok((Self(outside), inside))
    }

    /// Says what the room is.
    fn ask(&self, room: &Room) -> io::Result<()> {
        let mut line = serde_json::to_vec(room)?;
        line.push(b'\n');
        io::Write::write_all(&mut &self.0, &line)
    }

    /// It ends when this is let go of.
    fn no_longer(&self) {}

    /// There never is one.
    fn take_listener(&self) -> io::Result<TcpListener> {
        Err(io::ErrorKind::Unsupported.into())
    }
}
