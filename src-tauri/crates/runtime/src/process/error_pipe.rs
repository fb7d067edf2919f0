//! Standard error of a command by itself: a pipe, and a thread that reads it while the command runs.

use std::io::{self, Read as _};
use std::sync::Arc;

use tokio::task::JoinHandle;

/// The reading end of a command's standard error.
pub struct ErrorPipe {
    reading: JoinHandle<io::Result<ErrorText>>,
}

/// What a command wrote to its standard error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErrorText {
    /// The head of it.
    pub head: Vec<u8>,
    /// Whether there was more.
    pub is_truncated: bool,
}

impl ErrorPipe {
    /// Opens a pipe of whose text `bytes_max` are kept, and returns the end for [`ShellCommand::errors`].
    ///
    /// # Errors
    /// The system has no pipe left.
    ///
    /// [`ShellCommand::errors`]: crate::ShellCommand::errors
    pub fn open(bytes_max: u64) -> io::Result<(Arc<io::PipeWriter>, Self)> {
        let (reader, writer) = io::pipe()?;
        let reading = tokio::task::spawn_blocking(move || read_head(reader, bytes_max));
        Ok((Arc::new(writer), Self { reading }))
    }

    /// Waits for the end of the text: until the command ended and every writing end was dropped.
    ///
    /// # Errors
    /// The pipe cannot be read.
    pub async fn finish(self) -> io::Result<ErrorText> {
        self.reading.await.map_err(io::Error::other)?
    }
}

/// Reads a pipe to its end and returns the head; all of it is read, so that the writer never blocks.
fn read_head(mut pipe: io::PipeReader, bytes_max: u64) -> io::Result<ErrorText> {
    let mut head = Vec::new();
    pipe.by_ref().take(bytes_max).read_to_end(&mut head)?;
    let rest = io::copy(&mut pipe, &mut io::sink())?;
    Ok(ErrorText {
        head,
        is_truncated: rest > 0,
    })
}
