//! What an append asks of the writer, and the promise that it gets.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use protocol::{At, EventBody, SessionId};
use tokio::sync::oneshot;

use crate::RecordError;

/// When an append is acknowledged. Either way it survives the death of the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// After its transaction is committed; a loss of power may still take the last moments.
    Batched,
    /// After its transaction is on the disk: for decisions and effects.
    OnDisk,
}

/// One event on its way to the writer.
pub(crate) struct Append {
    pub(crate) session: SessionId,
    pub(crate) at: At,
    pub(crate) body: EventBody,
    pub(crate) durability: Durability,
    pub(crate) ack: oneshot::Sender<Result<u64, RecordError>>,
}

/// The promise that an event is recorded: gives its `seq` once it is committed and published. Dropping it is fine; the
/// event is recorded all the same.
#[derive(Debug)]
#[must_use = "await it, or drop it on purpose"]
pub struct Ack(State);

#[derive(Debug)]
enum State {
    Sent(oneshot::Receiver<Result<u64, RecordError>>),
    Refused(RecordError),
}

impl Ack {
    pub(crate) fn sent(receiver: oneshot::Receiver<Result<u64, RecordError>>) -> Self {
        Self(State::Sent(receiver))
    }

    pub(crate) fn refused(error: RecordError) -> Self {
        Self(State::Refused(error))
    }

    /// Waits on this thread. Not for use within an async task, where it panics: await it there.
    pub fn wait(self) -> Result<u64, RecordError> {
        match self.0 {
            State::Sent(receiver) => receiver.blocking_recv().unwrap_or(Err(RecordError::Closed)),
            State::Refused(error) => Err(error),
        }
    }
}

impl Future for Ack {
    type Output = Result<u64, RecordError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match &mut self.0 {
            State::Sent(receiver) => Pin::new(receiver)
                .poll(cx)
                .map(|result| result.unwrap_or(Err(RecordError::Closed))),
            State::Refused(error) => Poll::Ready(Err(error.clone())),
        }
    }
}
