//! What an append asks of the writer, and the promise that it gets.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use protocol::{At, Event, EventBody, SessionId};
use tokio::sync::oneshot::{self, error::TryRecvError};

use crate::RecordError;
use crate::queue::Queue;

/// When an append is acknowledged. Either way it survives the death of the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// After its transaction is committed; a loss of power may still take the last moments.
    Batched,
    /// After its transaction is on the disk: for decisions and effects.
    OnDisk,
}

/// Where a promise is kept.
pub(crate) type AckSender = oneshot::Sender<Result<u64, RecordError>>;

/// One event on its way to the writer.
pub(crate) struct Append {
    pub(crate) session: SessionId,
    pub(crate) at: At,
    pub(crate) body: EventBody,
    pub(crate) durability: Durability,
    pub(crate) ack: AckSender,
}

impl Append {
    /// Whom to tell of the position, and the event, which has none yet.
    pub(crate) fn into_parts(self) -> (AckSender, Event) {
        let event = Event {
            seq: 0,
            session: self.session,
            at: self.at,
            body: self.body,
        };
        (self.ack, event)
    }
}

/// The promise that an event is recorded: gives its `seq` once it is committed and published. Dropping it is fine; the
/// event is recorded all the same. Whoever waits for it hurries the writer, which else gathers events for a moment.
#[derive(Debug)]
#[must_use = "await it, or drop it on purpose"]
pub struct Ack(State);

#[derive(Debug)]
enum State {
    Sent(oneshot::Receiver<Result<u64, RecordError>>, Arc<Queue>),
    Settled(Result<u64, RecordError>),
}

impl Ack {
    pub(crate) fn sent(
        receiver: oneshot::Receiver<Result<u64, RecordError>>,
        queue: Arc<Queue>,
    ) -> Self {
        Self(State::Sent(receiver, queue))
    }

    pub(crate) fn settled(result: Result<u64, RecordError>) -> Self {
        Self(State::Settled(result))
    }

    /// What came of it, if that is known by now. Hurries nobody.
    pub fn known(&mut self) -> Option<Result<u64, RecordError>> {
        if let State::Sent(receiver, _) = &mut self.0 {
            let result = match receiver.try_recv() {
                Ok(result) => result,
                Err(TryRecvError::Empty) => return None,
                Err(TryRecvError::Closed) => Err(RecordError::Closed),
            };
            self.0 = State::Settled(result);
        }
        match &self.0 {
            State::Settled(result) => Some(result.clone()),
            State::Sent(..) => None,
        }
    }

    /// Waits on this thread. Not for use within an async task, where it panics: await it there.
    pub fn wait(self) -> Result<u64, RecordError> {
        match self.0 {
            State::Sent(receiver, queue) => {
                queue.hurry();
                receiver.blocking_recv().unwrap_or(Err(RecordError::Closed))
            }
            State::Settled(result) => result,
        }
    }
}

impl Future for Ack {
    type Output = Result<u64, RecordError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match &mut self.0 {
            State::Sent(receiver, queue) => {
                let polled = Pin::new(receiver).poll(cx);
                if polled.is_pending() {
                    queue.hurry();
                }
                polled.map(|result| result.unwrap_or(Err(RecordError::Closed)))
            }
            State::Settled(result) => Poll::Ready(result.clone()),
        }
    }
}
