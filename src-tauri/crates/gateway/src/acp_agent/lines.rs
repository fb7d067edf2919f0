//! The lines between an editor and us, each of them one message.

use std::io;

use agent_client_protocol::Lines;
use futures::{Sink, Stream, sink, stream};
use tokio::io::BufReader;
use tokio::io::{
    AsyncBufRead, AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt,
};

use crate::limits::MESSAGE_BYTES_MAX;

/// Stands in the place of a line that is too long. It is no message, so it is answered with an error that quotes it.
const TOO_LONG: &str = "A message may be 16 MiB long; this one was longer and was not read.";
/// Stands in the place of a line that is not UTF-8.
const NOT_UTF8: &str = "A message is UTF-8; this one was not.";

/// Returns the transport over a pair of streams.
pub(super) fn transport<R, W>(
    from: R,
    to: W,
) -> Lines<
    impl Sink<String, Error = io::Error> + Send + 'static,
    impl Stream<Item = io::Result<String>> + Send + 'static,
>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let outgoing = sink::unfold(to, async |mut to: W, line: String| {
        to.write_all(format!("{line}\n").as_bytes()).await?;
        to.flush().await?;
        Ok(to)
    });
    let incoming = stream::try_unfold(BufReader::new(from), async |mut from| {
        let line = read_line(&mut from, MESSAGE_BYTES_MAX).await?;
        Ok(line.map(|line| (line, from)))
    });
    Lines::new(outgoing, incoming)
}

/// Reads a line that is not blank, without its end; none at the end of the input.
async fn read_line(
    from: &mut (impl AsyncBufRead + Unpin),
    bytes_max: usize,
) -> io::Result<Option<String>> {
    loop {
        let mut line = Vec::new();
        let room = bytes_max as u64 + 1;
        if (&mut *from).take(room).read_until(b'\n', &mut line).await? == 0 {
            return Ok(None);
        }
        if line.len() > bytes_max && !line.ends_with(b"\n") {
            skip_line(from).await?;
            return Ok(Some(TOO_LONG.to_owned()));
        }
        if !line.trim_ascii().is_empty() {
            let text = String::from_utf8(line).unwrap_or_else(|_| NOT_UTF8.to_owned());
            return Ok(Some(text.trim_end().to_owned()));
        }
    }
}

/// Skips the rest of a line.
async fn skip_line(from: &mut (impl AsyncBufRead + Unpin)) -> io::Result<()> {
    loop {
        let piece = from.fill_buf().await?;
        let end = piece.iter().position(|byte| *byte == b'\n');
        let (read, is_over) = (piece.len(), piece.is_empty());
        from.consume(end.map_or(read, |end| end + 1));
        if is_over || end.is_some() {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_line_is_read_whole_or_named() {
        let mut from =
            BufReader::with_capacity(4, &b"\n  \r\n{}\r\n12345678\n123456789\n\xff\nend"[..]);
        let mut lines = Vec::new();
        while let Some(line) = read_line(&mut from, 8).await.unwrap() {
            lines.push(line);
        }
        assert_eq!(lines, ["{}", "12345678", TOO_LONG, NOT_UTF8, "end"]);
    }
}
