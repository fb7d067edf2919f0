//! Message framing over a pipe: `Content-Length`, an empty line, JSON; messages are limited in length.
//!
//! Implemented here because the crates that frame this protocol accept messages of any length, and the programs at the
//! other end of this pipe are third-party.

use serde_json::Value;
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncReadExt};

use crate::limits::{HEADER_BYTES_MAX, MESSAGE_BYTES_MAX};

/// A message, and its length in bytes.
#[derive(Debug, PartialEq)]
pub(crate) struct FramedMessage {
    pub value: Value,
    pub bytes: usize,
}

/// Reads one message; `None` at the end.
///
/// # Errors
/// The error in the message, as a clause about the program that wrote it.
pub(crate) async fn read_message<R: AsyncBufRead + Unpin>(
    from: &mut R,
) -> Result<Option<FramedMessage>, String> {
    let Some(bytes) = read_header(from).await? else {
        return Ok(None);
    };
    let mut body = vec![0; bytes];
    match from.read_exact(&mut body).await {
        Ok(_) => {}
        Err(_) => return Err("it ended in the middle of a message".to_owned()),
    }
    let value = serde_json::from_slice(&body)
        .map_err(|error| format!("it wrote a message that is not JSON ({error})"))?;
    Ok(Some(FramedMessage { value, bytes }))
}

/// Reads the length given in the header; `None` at the end.
async fn read_header<R: AsyncBufRead + Unpin>(from: &mut R) -> Result<Option<usize>, String> {
    let mut length = None;
    let mut room = HEADER_BYTES_MAX;
    loop {
        let mut line = Vec::new();
        let mut piece = (&mut *from).take(room as u64);
        let read = piece.read_until(b'\n', &mut line).await;
        let read = read.map_err(|_| "its output could not be read".to_owned())?;
        if read == 0 && room == HEADER_BYTES_MAX {
            return Ok(None);
        }
        room = room.saturating_sub(read);
        let Some(line) = line.strip_suffix(b"\n").filter(|_| room > 0) else {
            return Err("it wrote something that is not a message".to_owned());
        };
        let line = String::from_utf8_lossy(line.strip_suffix(b"\r").unwrap_or(line));
        if line.is_empty() {
            break;
        }
        let Some((name, value)) = line.split_once(':') else {
            return Err("it wrote something that is not a message".to_owned());
        };
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse::<usize>().ok();
        }
    }
    match length {
        None => Err("it wrote a message without its length".to_owned()),
        Some(bytes) if bytes > MESSAGE_BYTES_MAX => Err(format!(
            "it wrote a message of {bytes} bytes, and {MESSAGE_BYTES_MAX} are taken"
        )),
        Some(bytes) => Ok(Some(bytes)),
    }
}

/// Encodes a message for sending.
pub(crate) fn encode_message(message: &Value) -> Vec<u8> {
    let body = message.to_string();
    let mut all = format!("Content-Length: {}\r\n\r\n", body.len()).into_bytes();
    all.extend_from_slice(body.as_bytes());
    all
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    async fn all(said: &[u8]) -> (Vec<Value>, Option<String>) {
        let mut from = tokio::io::BufReader::new(said);
        let mut messages = Vec::new();
        loop {
            match read_message(&mut from).await {
                Ok(Some(message)) => messages.push(message.value),
                Ok(None) => return (messages, None),
                Err(why) => return (messages, Some(why)),
            }
        }
    }

    #[tokio::test]
    async fn messages_are_read_one_after_the_other() {
        let mut said = encode_message(&json!({ "a": "\u{e9}" }));
        said.extend(b"content-length: 2\r\nContent-Type: application/vscode-jsonrpc; charset=utf-8\r\n\r\n{}");
        assert_eq!(
            all(&said).await,
            (vec![json!({ "a": "\u{e9}" }), json!({})], None)
        );
    }

    #[tokio::test]
    async fn what_is_no_message_is_an_error() {
        let long = format!("X: {}\r\n", "x".repeat(HEADER_BYTES_MAX));
        let huge = format!("Content-Length: {}\r\n\r\n", MESSAGE_BYTES_MAX + 1);
        for (said, told) in [
            ("Loading the index\n", "not a message"),
            ("Content-Length: 2", "not a message"),
            (long.as_str(), "not a message"),
            ("\r\n{}", "without its length"),
            ("Content-Length: two\r\n\r\n{}", "without its length"),
            ("Content-Length: -1\r\n\r\n{}", "without its length"),
            (huge.as_str(), "are taken"),
            ("Content-Length: 9\r\n\r\n{}", "in the middle"),
            ("Content-Length: 2\r\n\r\n{]", "not JSON"),
        ] {
            let (messages, why) = all(said.as_bytes()).await;
            assert_eq!(messages, [Value::Null; 0]);
            let why = why.unwrap();
            assert!(why.contains(told), "{said:?}: {why}");
        }
    }
}
