//! Reads a server's output with a limit on the length of a line: a longer line ends the connection.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use protocol::server::mcp_servers::ServerLogSource;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, BufReader, ReadBuf};
use tokio_util::sync::CancellationToken;

use crate::limits::LOG_LINE_CHARS_MAX;
use crate::lock_mutex;
use crate::server_log::ServerLog;

/// Reason why a connection ended; the first one that is set stays.
#[derive(Debug, Clone, Default)]
pub(crate) struct CloseReason {
    reason: Arc<Mutex<Option<String>>>,
    /// Cancelled when the whole standard error of a program is in the log.
    pub stderr_drained: CancellationToken,
}

impl CloseReason {
    /// Sets the reason, unless there is one already.
    pub(crate) fn set_reason(&self, why: impl Into<String>) {
        lock_mutex(&self.reason).get_or_insert_with(|| why.into());
    }

    /// Returns the reason that was set.
    pub(crate) fn reason(&self) -> Option<String> {
        lock_mutex(&self.reason).clone()
    }
}

/// Reads from a server as long as its lines are short enough.
pub(crate) struct LineLimitReader<R> {
    from: R,
    bytes_max: usize,
    line_bytes: usize,
    why: CloseReason,
}

impl<R> LineLimitReader<R> {
    pub(crate) fn new(from: R, bytes_max: usize, why: CloseReason) -> Self {
        Self {
            from,
            bytes_max,
            line_bytes: 0,
            why,
        }
    }

    /// Counts the bytes that were read. Returns `false` if a line is too long.
    fn count_line_bytes(&mut self, read: &[u8]) -> bool {
        for piece in read.split_inclusive(|byte| *byte == b'\n') {
            self.line_bytes += piece.len();
            if self.line_bytes > self.bytes_max {
                return false;
            }
            if piece.ends_with(b"\n") {
                self.line_bytes = 0;
            }
        }
        true
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for LineLimitReader<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let polled = Pin::new(&mut self.from).poll_read(cx, buffer);
        let Poll::Ready(Ok(())) = polled else {
            return polled;
        };
        let read = buffer.filled().get(before..).unwrap_or_default().to_vec();
        if self.count_line_bytes(&read) {
            return polled;
        }
        let why = format!("it wrote a line of more than {} bytes", self.bytes_max);
        self.why.set_reason(why);
        buffer.set_filled(before);
        Poll::Ready(Err(io::ErrorKind::InvalidData.into()))
    }
}

/// Collects a server's standard error in the log. A line without an end is kept in pieces.
pub(crate) async fn collect_stderr(stderr: impl tokio::io::AsyncRead + Unpin, log: ServerLog) {
    let mut stderr = BufReader::new(stderr);
    let mut line = Vec::new();
    loop {
        line.clear();
        let mut piece = (&mut stderr).take(4 * LOG_LINE_CHARS_MAX as u64);
        match piece.read_until(b'\n', &mut line).await {
            Ok(0) | Err(_) => return,
            Ok(_) => log.add(ServerLogSource::Stderr, &String::from_utf8_lossy(&line)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_line_that_is_too_long_is_the_end() {
        for (said, is_taken) in [
            ("12345\n12345\n1234", true),
            ("1234\n12345\n", true),
            ("12345\n123456\n", false),
            ("1234567890123", false),
        ] {
            let why = CloseReason::default();
            let mut lines = LineLimitReader::new(said.as_bytes(), 6, why.clone());
            let mut read = String::new();
            let taken = lines.read_to_string(&mut read).await;
            assert_eq!(taken.is_ok(), is_taken, "{said}");
            assert_eq!(why.reason().is_none(), is_taken, "{said}");
        }
    }
}
