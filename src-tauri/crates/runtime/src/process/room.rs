//! Starts a command in the sealed room: the program of the room, with the room on its standard input.

use std::path::Path;
use std::process::Stdio;

use tokio::io::AsyncWriteExt as _;
use tokio::process::Command as Starter;

use super::{Pipe, Started};
use crate::FileError;

/// Starts the program of the room. It reads the room as one line; when its input closes, the room ends.
pub(crate) async fn start(
    program: &Path,
    room: &sandbox::Room,
    errors: Option<&std::io::PipeWriter>,
) -> Result<Started, FileError> {
    let failed = |error: std::io::Error| FileError::from_io(program.display().to_string(), &error);
    let mut line = serde_json::to_vec(room)
        .map_err(std::io::Error::from)
        .map_err(failed)?;
    line.push(b'\n');
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
    let mut child = starter.spawn().map_err(failed)?;
    drop(starter);
    let pipe = Pipe::new(reader).map_err(failed)?;
    let mut wanted = child.stdin.take();
    if let Some(input) = &mut wanted {
        // A program that ended before it had read it all says why in its own way.
        let _ = input.write_all(&line).await;
        let _ = input.flush().await;
    }
    Ok(Started {
        child,
        pipe,
        wanted,
    })
}
