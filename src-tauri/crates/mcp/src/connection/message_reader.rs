//! Reads a server's messages line by line, each with its members about tasks kept.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncBufRead, AsyncRead, BufReader, ReadBuf};

use super::task_members::keep_task_members;

/// Reader of whole lines; how long one may be is for the reader below it to say.
pub(super) struct MessageReader<R> {
    from: BufReader<R>,
    /// The line that is being read.
    line: Vec<u8>,
    /// A line that was read, without what was handed on already.
    rest: io::Cursor<Vec<u8>>,
}

impl<R: AsyncRead> MessageReader<R> {
    pub(super) fn new(from: R) -> Self {
        Self {
            from: BufReader::new(from),
            line: Vec::new(),
            rest: io::Cursor::default(),
        }
    }

    /// Makes the line that was read the one to hand on.
    fn finish_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        let kept = str::from_utf8(&line).ok().and_then(keep_task_members);
        self.rest = io::Cursor::new(match kept {
            Some(kept) => (kept + "\n").into_bytes(),
            None => line,
        });
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for MessageReader<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let reader = &mut *self;
        loop {
            let before = buffer.filled().len();
            ready!(Pin::new(&mut reader.rest).poll_read(cx, buffer))?;
            if buffer.filled().len() > before || buffer.remaining() == 0 {
                return Poll::Ready(Ok(()));
            }
            let read = ready!(Pin::new(&mut reader.from).poll_fill_buf(cx))?;
            if read.is_empty() && reader.line.is_empty() {
                return Poll::Ready(Ok(()));
            }
            let end = read.iter().position(|byte| *byte == b'\n');
            let taken = end.map_or(read.len(), |end| end + 1);
            reader.line.extend_from_slice(&read[..taken]);
            let is_over = end.is_some() || taken == 0;
            Pin::new(&mut reader.from).consume(taken);
            if is_over {
                reader.finish_line();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt;

    use super::*;

    #[tokio::test]
    async fn every_byte_is_read_but_those_of_members_that_are_kept() {
        let listed = r#"{"result":{"tools":[{"execution":{"taskSupport":"required"}}]}}"#;
        let long = "x".repeat(100_000);
        for (written, is_kept) in [
            (String::new(), false),
            (format!("one\n\n{long}\nwithout an end"), false),
            (format!("one\n{listed}\ntwo\n"), true),
        ] {
            let mut read = String::new();
            let mut reader = MessageReader::new(written.as_bytes());
            reader.read_to_string(&mut read).await.unwrap();
            match is_kept {
                false => assert_eq!(read, written),
                true => assert_eq!(
                    read,
                    written.replace(listed, &keep_task_members(listed).unwrap())
                ),
            }
        }
    }
}
