//! Transport of messages to and from a server: requests with their answers; answers that were not requested are
//! rejected.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use runtime::{Companion, ProcessLifetime};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use crate::framing::{self, FramedMessage};
use crate::limits::{
    CANCELLED_MAX, MESSAGES_UNASKED_BYTES_MAX, MESSAGES_UNASKED_MAX, STDERR_BYTES_MAX,
    WAITING_MESSAGES_MAX,
};
use crate::lock_mutex;
use crate::notifications::ServerNotifications;
use crate::server_request;

/// The reason why a request failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum LspFailure {
    Cancelled,
    TimedOut(Duration),
    /// The connection is closed.
    Disconnected,
    /// The server rejected the request.
    Rejected {
        code: i64,
        message: String,
    },
    /// The answer cannot be understood; a clause.
    Malformed(String),
}

/// Both directions of the pipe to a server.
pub(crate) struct LspTransport {
    outgoing: mpsc::Sender<Vec<u8>>,
    pending: Mutex<PendingRequests>,
    pub notifications: ServerNotifications,
    /// Cancelled when the connection is closed.
    pub disconnected: CancellationToken,
    close_reason: Mutex<Option<String>>,
    /// Folder that the server works in, as sent to the server.
    folder: Value,
    /// The end of the server's standard error.
    stderr_tail: Mutex<String>,
    /// Cancelled when standard error was read to its end.
    pub stderr_drained: CancellationToken,
}

#[derive(Default)]
struct PendingRequests {
    last_id: i64,
    requests: HashMap<i64, oneshot::Sender<Result<Value, LspFailure>>>,
    cancelled: HashSet<i64>,
    /// Numbers of messages and bytes since the last request.
    unsolicited: (u64, u64),
}

impl LspTransport {
    /// Takes over the pipes of a program that works in this folder.
    pub(crate) fn from_companion(
        companion: Companion,
        folder: Value,
    ) -> (Arc<Self>, ProcessLifetime) {
        let (out, queue) = mpsc::channel(WAITING_MESSAGES_MAX);
        let wire = Arc::new(Self {
            outgoing: out,
            pending: Mutex::default(),
            notifications: ServerNotifications::default(),
            disconnected: CancellationToken::new(),
            close_reason: Mutex::default(),
            folder,
            stderr_tail: Mutex::default(),
            stderr_drained: CancellationToken::new(),
        });
        tokio::spawn(write_messages(
            wire.disconnected.clone(),
            companion.input,
            queue,
        ));
        tokio::spawn(collect_stderr(wire.clone(), companion.errors));
        tokio::spawn(read_messages(wire.clone(), companion.output));
        (wire, companion.lifetime)
    }

    /// Closes the connection and fails all pending requests. Only the first reason is kept.
    pub(crate) fn close(&self, why: impl Into<String>) {
        lock_mutex(&self.close_reason).get_or_insert_with(|| why.into());
        self.disconnected.cancel();
        lock_mutex(&self.pending).requests.clear();
    }

    /// Returns the reason why the connection is closed, as a clause; `None` if it is open.
    pub(crate) fn close_reason(&self) -> Option<String> {
        lock_mutex(&self.close_reason).clone()
    }

    /// Returns the last line of the server's standard error that is not empty.
    pub(crate) fn last_stderr_line(&self) -> Option<String> {
        let tail = lock_mutex(&self.stderr_tail);
        let last = tail.lines().rev().find(|line| !line.trim().is_empty())?;
        Some(last.trim().to_owned())
    }

    /// Whether any request is still waiting for its answer.
    pub(crate) fn has_pending_requests(&self) -> bool {
        !lock_mutex(&self.pending).requests.is_empty()
    }

    /// Sends a request, and waits for the answer. Giving up or dropping the future cancels the request.
    pub(crate) async fn send_request(
        &self,
        method: &str,
        params: Value,
        timeout: Duration,
        cancel: &CancellationToken,
    ) -> Result<Value, LspFailure> {
        let (tell, answer) = oneshot::channel();
        let id = {
            let mut waiting = lock_mutex(&self.pending);
            if self.disconnected.is_cancelled() {
                return Err(LspFailure::Disconnected);
            }
            waiting.last_id += 1;
            waiting.unsolicited = (0, 0);
            let id = waiting.last_id;
            waiting.requests.insert(id, tell);
            id
        };
        let _question = PendingRequest { wire: self, id };
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        let answered = async {
            self.send_message(&request).await?;
            answer.await.unwrap_or(Err(LspFailure::Disconnected))
        };
        tokio::select! {
            biased;
            () = cancel.cancelled() => Err(LspFailure::Cancelled),
            answered = answered => answered,
            () = tokio::time::sleep(timeout) => Err(LspFailure::TimedOut(timeout)),
        }
    }

    /// Sends a notification, which has no answer.
    pub(crate) async fn send_notification(
        &self,
        method: &str,
        params: Value,
    ) -> Result<(), LspFailure> {
        let message = json!({ "jsonrpc": "2.0", "method": method, "params": params });
        self.send_message(&message).await
    }

    async fn send_message(&self, message: &Value) -> Result<(), LspFailure> {
        let written = framing::encode_message(message);
        tokio::select! {
            biased;
            () = self.disconnected.cancelled() => Err(LspFailure::Disconnected),
            sent = self.outgoing.send(written) => sent.map_err(|_| LspFailure::Disconnected),
        }
    }

    /// Sends a message without waiting: a server that does not read is ended.
    fn send_now(&self, message: &Value) {
        if self
            .outgoing
            .try_send(framing::encode_message(message))
            .is_err()
        {
            self.close("it does not read its input");
        }
    }

    /// Handles one message. The error is the reason why the server has to be ended.
    fn handle_message(&self, message: FramedMessage) -> Result<(), String> {
        self.count_message(message.bytes)?;
        let Value::Object(mut members) = message.value else {
            return Err("it wrote a message that is none of the protocol".to_owned());
        };
        let (method, id) = (members.remove("method"), members.remove("id"));
        let params = members.remove("params");
        match (method, id) {
            (Some(Value::String(method)), Some(id)) => {
                let mut reply = json!({ "jsonrpc": "2.0", "id": id });
                match server_request::answer_server_request(&method, params.as_ref(), &self.folder)
                {
                    Ok(result) => reply["result"] = result,
                    Err(error) => reply["error"] = error,
                }
                self.send_now(&reply);
                Ok(())
            }
            (Some(Value::String(method)), None) => {
                self.notifications.handle_notification(&method, params);
                Ok(())
            }
            (None, Some(id)) => {
                let answer = match members.remove("error") {
                    None | Some(Value::Null) => Ok(members.remove("result").unwrap_or_default()),
                    Some(error) => Err(parse_error_response(&error)),
                };
                self.complete_request(&id, answer)
            }
            (_, _) => Err("it wrote a message that is none of the protocol".to_owned()),
        }
    }

    fn complete_request(
        &self,
        id: &Value,
        answer: Result<Value, LspFailure>,
    ) -> Result<(), String> {
        let mut waiting = lock_mutex(&self.pending);
        let id = id.as_i64().unwrap_or_default();
        if let Some(tell) = waiting.requests.remove(&id) {
            // Whoever asked may have gone.
            let _ = tell.send(answer);
            return Ok(());
        }
        match waiting.cancelled.remove(&id) {
            true => Ok(()),
            false => Err("it answered something twice, or something that nobody asked".to_owned()),
        }
    }

    fn count_message(&self, bytes: usize) -> Result<(), String> {
        let mut waiting = lock_mutex(&self.pending);
        waiting.unsolicited.0 += 1;
        waiting.unsolicited.1 += bytes as u64;
        let (messages, bytes) = waiting.unsolicited;
        match messages > MESSAGES_UNASKED_MAX || bytes > MESSAGES_UNASKED_BYTES_MAX {
            true => Err(format!(
                "it sent {messages} messages with {bytes} bytes without being asked anything new"
            )),
            false => Ok(()),
        }
    }
}

/// A pending request, which is cancelled when this is dropped.
struct PendingRequest<'a> {
    wire: &'a LspTransport,
    id: i64,
}

impl Drop for PendingRequest<'_> {
    fn drop(&mut self) {
        let mut waiting = lock_mutex(&self.wire.pending);
        if waiting.requests.remove(&self.id).is_none() || self.wire.disconnected.is_cancelled() {
            return;
        }
        waiting.cancelled.insert(self.id);
        let too_many = waiting.cancelled.len() > CANCELLED_MAX;
        drop(waiting);
        match too_many {
            true => self.wire.close("it answers nothing any more"),
            false => self.wire.send_now(&json!({
                "jsonrpc": "2.0", "method": "$/cancelRequest", "params": { "id": self.id },
            })),
        }
    }
}

fn parse_error_response(error: &Value) -> LspFailure {
    let message = error.get("message").and_then(Value::as_str);
    LspFailure::Rejected {
        code: error
            .get("code")
            .and_then(Value::as_i64)
            .unwrap_or_default(),
        message: message.unwrap_or("without a reason").to_owned(),
    }
}

async fn read_messages(wire: Arc<LspTransport>, output: impl tokio::io::AsyncRead + Unpin) {
    let mut output = BufReader::new(output);
    loop {
        let message = tokio::select! {
            biased;
            () = wire.disconnected.cancelled() => return,
            message = framing::read_message(&mut output) => message,
        };
        let taken = match message {
            Ok(Some(message)) => wire.handle_message(message),
            Ok(None) => Err("it ended".to_owned()),
            Err(why) => Err(why),
        };
        if let Err(why) = taken {
            return wire.close(why);
        }
    }
}

async fn write_messages(
    gone: CancellationToken,
    mut input: impl tokio::io::AsyncWrite + Unpin,
    mut queue: mpsc::Receiver<Vec<u8>>,
) {
    loop {
        let message = tokio::select! {
            biased;
            () = gone.cancelled() => return,
            message = queue.recv() => message,
        };
        let Some(message) = message else { return };
        let written = async {
            input.write_all(&message).await?;
            input.flush().await
        };
        let written = tokio::select! {
            biased;
            () = gone.cancelled() => return,
            written = written => written,
        };
        // That it ended is seen where it is read.
        if written.is_err() {
            return;
        }
    }
}

/// Collects the end of the server's standard error.
async fn collect_stderr(wire: Arc<LspTransport>, stderr: impl tokio::io::AsyncRead + Unpin) {
    let mut stderr = BufReader::new(stderr);
    let mut line = Vec::new();
    loop {
        line.clear();
        let mut piece = (&mut stderr).take(STDERR_BYTES_MAX as u64);
        // It comes to its end when the program does, and is heard to its last word.
        match piece.read_until(b'\n', &mut line).await {
            Ok(0) | Err(_) => return wire.stderr_drained.cancel(),
            Ok(_) => {
                let mut tail = lock_mutex(&wire.stderr_tail);
                tail.push_str(&String::from_utf8_lossy(&line));
                *tail = protocol::text::cut::take_tail(&tail, STDERR_BYTES_MAX).to_owned();
            }
        }
    }
}
