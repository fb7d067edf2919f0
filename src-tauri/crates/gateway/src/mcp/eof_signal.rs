//! A reader of a client's input that signals the end of the input.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, ReadBuf};
use tokio_util::sync::CancellationToken;

/// Reader that signals when its input has ended.
pub(super) struct EofSignalReader<R> {
    from: R,
    closed: CancellationToken,
}

impl<R> EofSignalReader<R> {
    /// Wraps a reader. `closed` is cancelled at the end of its input.
    pub fn new(from: R, closed: CancellationToken) -> Self {
        Self { from, closed }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for EofSignalReader<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let (before, room) = (buffer.filled().len(), buffer.remaining());
        let polled = Pin::new(&mut self.from).poll_read(cx, buffer);
        match &polled {
            Poll::Ready(Ok(())) if room > 0 && buffer.filled().len() == before => {
                self.closed.cancel();
            }
            Poll::Ready(Err(_)) => self.closed.cancel(),
            Poll::Ready(Ok(())) | Poll::Pending => {}
        }
        polled
    }
}
