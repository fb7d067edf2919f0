//! The transport: reads lines of a client, writes our lines, and gives every request exactly one answer.

use std::collections::VecDeque;
use std::collections::hash_map::{Entry, HashMap};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::RoleServer;
use rmcp::model::{JsonRpcMessage, RequestId};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde::Serialize;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use super::parsed_line::{self, ParsedLine};
use super::request_id::IdScanner;
use crate::limits::{FINAL_WRITE_TIMEOUT, LINES_QUEUE_MAX};

/// A line to be written, and a signal for the task that waits until it is written.
struct OutgoingLine {
    bytes: Vec<u8>,
    written: Option<oneshot::Sender<io::Result<()>>>,
}

/// Transport over the lines of a client.
pub(super) struct GatewayTransport<R> {
    from: BufReader<R>,
    bytes_max: usize,
    /// Bytes of the current line so far; empty once the line is too long.
    line: Vec<u8>,
    is_too_long: bool,
    has_begun: bool,
    scanner: IdScanner,
    /// Answers to lines that were not messages, to be written before more is read.
    answers: VecDeque<Value>,
    to: mpsc::Sender<OutgoingLine>,
    open: OpenRequests,
}

/// Requests without an answer.
#[derive(Debug, Clone, Default)]
struct OpenRequests(Arc<Mutex<HashMap<RequestId, AnswerExpectation>>>);

/// Whether the client waits for an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AnswerExpectation {
    Expected,
    /// The client cancelled the request, and by the protocol gets no answer. The id stays taken, so that a late answer
    /// is never taken for the answer to another request.
    Cancelled,
}

impl OpenRequests {
    fn lock_ids(&self) -> MutexGuard<'_, HashMap<RequestId, AnswerExpectation>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Final work of a connection once no more input is read: answering open requests, and writing the answers.
pub(super) struct TransportCloser {
    to: mpsc::Sender<OutgoingLine>,
    open: OpenRequests,
    writes: JoinHandle<()>,
}

/// Returns the transport for lines of at most this many bytes to and from a client.
pub(super) fn split_transport<R, W>(
    from: R,
    to: W,
    bytes_max: usize,
) -> (GatewayTransport<R>, TransportCloser)
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let (sender, receiver) = mpsc::channel(LINES_QUEUE_MAX);
    let writes = tokio::spawn(write_lines(to, receiver));
    let open = OpenRequests::default();
    let lines = GatewayTransport {
        from: BufReader::new(from),
        bytes_max,
        line: Vec::new(),
        is_too_long: false,
        has_begun: false,
        scanner: IdScanner::default(),
        answers: VecDeque::new(),
        to: sender.clone(),
        open: open.clone(),
    };
    let last = TransportCloser {
        to: sender,
        open,
        writes,
    };
    (lines, last)
}

/// Writes whole lines, one after the other, until all senders are dropped or the client stops reading.
async fn write_lines(mut to: impl AsyncWrite + Unpin, mut lines: mpsc::Receiver<OutgoingLine>) {
    while let Some(line) = lines.recv().await {
        let wrote = match to.write_all(&line.bytes).await {
            Ok(()) => to.flush().await,
            Err(error) => Err(error),
        };
        let is_over = wrote.is_err();
        if let Some(written) = line.written {
            let _ = written.send(wrote);
        }
        if is_over {
            return;
        }
    }
}

impl TransportCloser {
    /// Answers every open request, and waits until everything is written or the client does not read it.
    pub async fn finish(self) {
        let Self { to, open, writes } = self;
        let open: Vec<(RequestId, AnswerExpectation)> = open.lock_ids().drain().collect();
        let waiting = open
            .into_iter()
            .filter(|(_, waits)| *waits == AnswerExpectation::Expected);
        let last = async move {
            for (id, _) in waiting {
                if let Ok(bytes) = serialize_line(&parsed_line::unanswered_response(&id)) {
                    let _ = to
                        .send(OutgoingLine {
                            bytes,
                            written: None,
                        })
                        .await;
                }
            }
            drop(to);
            writes.await
        };
        if tokio::time::timeout(FINAL_WRITE_TIMEOUT, last)
            .await
            .is_err()
        {
            tracing::info!("the client did not read the last answers");
        }
    }
}

fn serialize_line(message: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut bytes = serde_json::to_vec(message)?;
    bytes.push(b'\n');
    Ok(bytes)
}

fn broken_pipe_error() -> io::Error {
    io::Error::new(
        io::ErrorKind::BrokenPipe,
        "the client does not read any more",
    )
}

impl<R: AsyncRead + Send + Unpin> GatewayTransport<R> {
    /// Reads to the end of a line; none at the end of input. Dropping the future while it waits loses no data.
    async fn read_frame(&mut self) -> Option<ParsedLine> {
        loop {
            let piece = match self.from.fill_buf().await {
                Ok(piece) => piece,
                Err(error) => {
                    tracing::warn!(%error, "the client cannot be read");
                    return None;
                }
            };
            if piece.is_empty() {
                return self.has_begun.then(|| self.finish_line());
            }
            let end = piece.iter().position(|byte| *byte == b'\n');
            let piece = &piece[..end.unwrap_or(piece.len())];
            self.scanner.feed(piece);
            self.has_begun = true;
            if self.line.len() + piece.len() > self.bytes_max {
                self.is_too_long = true;
                self.line = Vec::new();
            }
            if !self.is_too_long {
                self.line.extend_from_slice(piece);
            }
            let read = piece.len() + usize::from(end.is_some());
            self.from.consume(read);
            if end.is_some() {
                return Some(self.finish_line());
            }
        }
    }

    fn finish_line(&mut self) -> ParsedLine {
        let scanner = std::mem::take(&mut self.scanner);
        let line = std::mem::take(&mut self.line);
        self.has_begun = false;
        match std::mem::take(&mut self.is_too_long) {
            true => ParsedLine::too_long_response(scanner.id(), self.bytes_max),
            false => ParsedLine::parse(&line, scanner.id()),
        }
    }

    /// Registers an open request, or a cancellation.
    ///
    /// # Errors
    /// Returns the answer to a request whose id is taken: the request is not forwarded.
    fn register_request(&self, message: &RxJsonRpcMessage<RoleServer>) -> Result<(), Value> {
        let mut open = self.open.lock_ids();
        if let JsonRpcMessage::Request(request) = message {
            match open.entry(request.id.clone()) {
                Entry::Occupied(_) => return Err(parsed_line::id_in_use_response(&request.id)),
                Entry::Vacant(place) => place.insert(AnswerExpectation::Expected),
            };
        }
        if let Some(waits) =
            parsed_line::cancelled_request_id(message).and_then(|id| open.get_mut(id))
        {
            *waits = AnswerExpectation::Cancelled;
        }
        Ok(())
    }
}

impl<R: AsyncRead + Send + Unpin + 'static> Transport<RoleServer> for GatewayTransport<R> {
    type Error = io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let (to, open) = (self.to.clone(), self.open.clone());
        async move {
            let answers = match &item {
                JsonRpcMessage::Response(response) => Some(response.id.clone()),
                JsonRpcMessage::Error(error) => error.id.clone(),
                JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => None,
            };
            let (written, waits) = oneshot::channel();
            let line = OutgoingLine {
                bytes: serialize_line(&item)?,
                written: Some(written),
            };
            if let Some(id) = answers {
                open.lock_ids().remove(&id);
            }
            to.send(line).await.map_err(|_| broken_pipe_error())?;
            waits.await.map_err(|_| broken_pipe_error())?
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            while let Some(answer) = self.answers.front() {
                let place = self.to.reserve().await.ok()?;
                if let Ok(bytes) = serialize_line(answer) {
                    place.send(OutgoingLine {
                        bytes,
                        written: None,
                    });
                }
                self.answers.pop_front();
            }
            match self.read_frame().await? {
                ParsedLine::Ignored => {}
                ParsedLine::Answers(answers) => self.answers.extend(answers),
                ParsedLine::Message(message) => match self.register_request(&message) {
                    Ok(()) => return Some(*message),
                    Err(answer) => self.answers.push_back(answer),
                },
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        Ok(())
    }
}
