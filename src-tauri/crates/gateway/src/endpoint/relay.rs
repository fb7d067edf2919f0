//! A relay between a client and the engine that is open elsewhere: hands lines on, and knows nothing of them.

use std::io;

use runtime::LocalStream;
use tokio::io::{AsyncRead, AsyncWrite, copy, split};
use tokio::time::sleep;

use crate::limits::CALLS_DRAIN_TIMEOUT;

/// Hands on what a client and an engine say to each other, until the engine has said everything, or for a moment after the
/// end of the client's input: a local stream cannot be closed in one direction alone.
///
/// # Errors
/// The engine or the client does not take what is handed on.
pub async fn relay(
    stream: LocalStream,
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
) -> io::Result<()> {
    let (mut engine_says, mut engine_hears) = split(stream);
    let sending = async {
        copy(&mut from, &mut engine_hears).await?;
        sleep(CALLS_DRAIN_TIMEOUT).await;
        Ok(())
    };
    tokio::select! {
        sent = sending => sent,
        received = copy(&mut engine_says, &mut to) => received.map(|_| ()),
    }
}
