//! What goes over the pipe to a server and comes back: requests with their answers, and nothing that was not asked for.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use runtime::{Companion, Life};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use crate::asked;
use crate::frame::{self, Message};
use crate::heard::Heard;
use crate::limits::{
    CANCELLED_MAX, MESSAGES_UNASKED_BYTES_MAX, MESSAGES_UNASKED_MAX, TOLD_BYTES_MAX,
    WAITING_MESSAGES_MAX,
};

/// Why a request came to nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Failure {
    Cancelled,
    TimedOut(Duration),
    /// The connection is over.
    Gone,
    /// The server says no.
    Refused {
        code: i64,
        message: String,
    },
    /// Nobody can make sense of the answer; a clause.
    Strange(String),
}

/// Both directions of one pipe.
pub(crate) struct Wire {
    out: mpsc::Sender<Vec<u8>>,
    waiting: Mutex<Waiting>,
    pub heard: Heard,
    /// Cancelled when it is over.
    pub gone: CancellationToken,
    why: Mutex<Option<String>>,
    /// The folder that the server works in, as it is told.
    folder: Value,
    /// The end of its standard error.
    told: Mutex<String>,
    /// Cancelled when all of that was heard.
    pub hushed: CancellationToken,
}

#[derive(Default)]
struct Waiting {
    last: i64,
    asked: HashMap<i64, oneshot::Sender<Result<Value, Failure>>>,
    cancelled: HashSet<i64>,
    /// Messages and bytes since something was asked.
    unasked: (u64, u64),
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panic while the lock was held leaves plain data behind; going on with it is safe.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Wire {
    /// Takes over the pipes of a program that works in this folder.
    pub(crate) fn of(companion: Companion, folder: Value) -> (Arc<Self>, Life) {
        let (out, queue) = mpsc::channel(WAITING_MESSAGES_MAX);
        let wire = Arc::new(Self {
            out,
            waiting: Mutex::default(),
            heard: Heard::default(),
            gone: CancellationToken::new(),
            why: Mutex::default(),
            folder,
            told: Mutex::default(),
            hushed: CancellationToken::new(),
        });
        tokio::spawn(write(wire.gone.clone(), companion.input, queue));
        tokio::spawn(listen(wire.clone(), companion.told));
        tokio::spawn(read(wire.clone(), companion.output));
        (wire, companion.life)
    }

    /// Ends it, whoever still waits for an answer. The first who says why is heard.
    pub(crate) fn end(&self, why: impl Into<String>) {
        locked(&self.why).get_or_insert_with(|| why.into());
        self.gone.cancel();
        locked(&self.waiting).asked.clear();
    }

    /// Why it is over, as a clause; none if it is not.
    pub(crate) fn why(&self) -> Option<String> {
        locked(&self.why).clone()
    }

    /// The last line of its standard error.
    pub(crate) fn last_told(&self) -> Option<String> {
        let told = locked(&self.told);
        let last = told.lines().rev().find(|line| !line.trim().is_empty())?;
        Some(last.trim().to_owned())
    }

    /// Whether somebody waits for an answer.
    pub(crate) fn is_busy(&self) -> bool {
        !locked(&self.waiting).asked.is_empty()
    }

    /// Asks, and waits for the answer. Whoever gives up, or drops this, takes the question back.
    pub(crate) async fn ask(
        &self,
        method: &str,
        params: Value,
        timeout: Duration,
        cancel: &CancellationToken,
    ) -> Result<Value, Failure> {
        let (tell, answer) = oneshot::channel();
        let id = {
            let mut waiting = locked(&self.waiting);
            if self.gone.is_cancelled() {
                return Err(Failure::Gone);
            }
            waiting.last += 1;
            waiting.unasked = (0, 0);
            let id = waiting.last;
            waiting.asked.insert(id, tell);
            id
        };
        let _question = Question { wire: self, id };
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        let answered = async {
            self.send(&request).await?;
            answer.await.unwrap_or(Err(Failure::Gone))
        };
        tokio::select! {
            biased;
            () = cancel.cancelled() => Err(Failure::Cancelled),
            answered = answered => answered,
            () = tokio::time::sleep(timeout) => Err(Failure::TimedOut(timeout)),
        }
    }

    /// Tells something that has no answer.
    pub(crate) async fn tell(&self, method: &str, params: Value) -> Result<(), Failure> {
        let told = json!({ "jsonrpc": "2.0", "method": method, "params": params });
        self.send(&told).await
    }

    async fn send(&self, message: &Value) -> Result<(), Failure> {
        let written = frame::written(message);
        tokio::select! {
            biased;
            () = self.gone.cancelled() => Err(Failure::Gone),
            sent = self.out.send(written) => sent.map_err(|_| Failure::Gone),
        }
    }

    /// Sends without waiting: a server that does not read is ended.
    fn send_now(&self, message: &Value) {
        if self.out.try_send(frame::written(message)).is_err() {
            self.end("it does not read what it is told");
        }
    }

    /// Takes one message. The error is why the server has to go.
    fn take(&self, message: Message) -> Result<(), String> {
        self.count(message.bytes)?;
        let Value::Object(mut members) = message.value else {
            return Err("it wrote a message that is none of the protocol".to_owned());
        };
        let (method, id) = (members.remove("method"), members.remove("id"));
        let params = members.remove("params");
        match (method, id) {
            (Some(Value::String(method)), Some(id)) => {
                let mut reply = json!({ "jsonrpc": "2.0", "id": id });
                match asked::answer(&method, params.as_ref(), &self.folder) {
                    Ok(result) => reply["result"] = result,
                    Err(error) => reply["error"] = error,
                }
                self.send_now(&reply);
                Ok(())
            }
            (Some(Value::String(method)), None) => {
                self.heard.take(&method, params);
                Ok(())
            }
            (None, Some(id)) => {
                let answer = match members.remove("error") {
                    None | Some(Value::Null) => Ok(members.remove("result").unwrap_or_default()),
                    Some(error) => Err(refused(&error)),
                };
                self.answered(&id, answer)
            }
            (_, _) => Err("it wrote a message that is none of the protocol".to_owned()),
        }
    }

    fn answered(&self, id: &Value, answer: Result<Value, Failure>) -> Result<(), String> {
        let mut waiting = locked(&self.waiting);
        let id = id.as_i64().unwrap_or_default();
        if let Some(tell) = waiting.asked.remove(&id) {
            // Whoever asked may have gone.
            let _ = tell.send(answer);
            return Ok(());
        }
        match waiting.cancelled.remove(&id) {
            true => Ok(()),
            false => Err("it answered something twice, or something that nobody asked".to_owned()),
        }
    }

    fn count(&self, bytes: usize) -> Result<(), String> {
        let mut waiting = locked(&self.waiting);
        waiting.unasked.0 += 1;
        waiting.unasked.1 += bytes as u64;
        let (messages, bytes) = waiting.unasked;
        match messages > MESSAGES_UNASKED_MAX || bytes > MESSAGES_UNASKED_BYTES_MAX {
            true => Err(format!(
                "it sent {messages} messages with {bytes} bytes without being asked anything new"
            )),
            false => Ok(()),
        }
    }
}

/// A question that is open as long as this lives.
struct Question<'a> {
    wire: &'a Wire,
    id: i64,
}

impl Drop for Question<'_> {
    fn drop(&mut self) {
        let mut waiting = locked(&self.wire.waiting);
        if waiting.asked.remove(&self.id).is_none() || self.wire.gone.is_cancelled() {
            return;
        }
        waiting.cancelled.insert(self.id);
        let too_many = waiting.cancelled.len() > CANCELLED_MAX;
        drop(waiting);
        match too_many {
            true => self.wire.end("it answers nothing any more"),
            false => self.wire.send_now(&json!({
                "jsonrpc": "2.0", "method": "$/cancelRequest", "params": { "id": self.id },
            })),
        }
    }
}

fn refused(error: &Value) -> Failure {
    let message = error.get("message").and_then(Value::as_str);
    Failure::Refused {
        code: error
            .get("code")
            .and_then(Value::as_i64)
            .unwrap_or_default(),
        message: message.unwrap_or("without a reason").to_owned(),
    }
}

async fn read(wire: Arc<Wire>, output: impl tokio::io::AsyncRead + Unpin) {
    let mut output = BufReader::new(output);
    loop {
        let message = tokio::select! {
            biased;
            () = wire.gone.cancelled() => return,
            message = frame::read(&mut output) => message,
        };
        let taken = match message {
            Ok(Some(message)) => wire.take(message),
            Ok(None) => Err("it ended".to_owned()),
            Err(why) => Err(why),
        };
        if let Err(why) = taken {
            return wire.end(why);
        }
    }
}

async fn write(
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

/// Keeps the end of what it says on its standard error.
async fn listen(wire: Arc<Wire>, told: impl tokio::io::AsyncRead + Unpin) {
    let mut told = BufReader::new(told);
    let mut line = Vec::new();
    loop {
        line.clear();
        let mut piece = (&mut told).take(TOLD_BYTES_MAX as u64);
        // It comes to its end when the program does, and is heard to its last word.
        match piece.read_until(b'\n', &mut line).await {
            Ok(0) | Err(_) => return wire.hushed.cancel(),
            Ok(_) => {
                let mut kept = locked(&wire.told);
                kept.push_str(&String::from_utf8_lossy(&line));
                let tail = protocol::cut::tail(&kept, TOLD_BYTES_MAX).to_owned();
                *kept = tail;
            }
        }
    }
}
