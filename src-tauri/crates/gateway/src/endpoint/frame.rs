//! One message on a stream: its length in four bytes, the highest first, and its JSON.

use std::io;

use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use crate::limits::MESSAGE_BYTES_MAX;

/// Longest message, in bytes: the streams of a command in Base64 are the longest.
const FRAME_BYTES_MAX: usize = 4 * MESSAGE_BYTES_MAX;

/// Reads a message.
///
/// # Errors
/// [`io::ErrorKind::InvalidData`] for a message that is too long or cannot be parsed; errors of the stream.
pub(crate) async fn read_message<T: DeserializeOwned>(
    stream: &mut (impl AsyncRead + Unpin),
) -> io::Result<T> {
    let length = stream.read_u32().await?;
    let length = usize::try_from(length).unwrap_or(usize::MAX);
    if length > FRAME_BYTES_MAX {
        return Err(io::Error::new(
            io::ErrorKind::InvalidData,
            format!("The message has {length} bytes; at most {FRAME_BYTES_MAX} are read."),
        ));
    }
    let mut text = Vec::new();
    stream.take(length as u64).read_to_end(&mut text).await?;
    if text.len() < length {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    serde_json::from_slice(&text).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

/// Writes a message.
///
/// # Errors
/// [`io::ErrorKind::InvalidInput`] for a message that is too long; errors of the stream.
pub(crate) async fn write_message(
    stream: &mut (impl AsyncWrite + Unpin),
    message: &impl Serialize,
) -> io::Result<()> {
    let text = serde_json::to_vec(message)?;
    if text.len() > FRAME_BYTES_MAX {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let length = u32::try_from(text.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
    let mut frame = length.to_be_bytes().to_vec();
    frame.extend_from_slice(&text);
    stream.write_all(&frame).await?;
    stream.flush().await
}
