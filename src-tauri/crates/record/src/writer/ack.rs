//! The request that an append sends to the writer, and the acknowledgement that it gets.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures::FutureExt;
use futures::future::Shared;
use protocol::{At, Event, EventBody, SessionId};
use tokio::sync::oneshot::{self, error::RecvError};

use crate::RecordError;
use crate::writer::queue::WriterQueue;

/// When an append is acknowledged. Either way it survives the death of the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// After its transaction is committed; a loss of power may still take the last moments.
    Batched,
    /// After its transaction is on the disk: for decisions and effects.
    OnDisk,
}

/// One event on its way to the writer.
pub(crate) struct AppendRequest {
    pub(crate) session: SessionId,
    pub(crate) at: At,
    pub(crate) body: EventBody,
    pub(crate) durability: Durability,
}

impl From<AppendRequest> for Event {
    /// The event, which has no position yet.
    fn from(append: AppendRequest) -> Self {
        Self {
            seq: 0,
            session: append.session,
            at: append.at,
            body: append.body,
        }
    }
}

/// The sender that acknowledges a whole batch, with the position of its first event: its events are recorded together,
/// or none of them is.
pub(crate) type BatchAckSender = oneshot::Sender<Result<u64, RecordError>>;

/// The promise of a whole batch, as each of its events has it.
pub(crate) type BatchAck = Shared<oneshot::Receiver<Result<u64, RecordError>>>;

/// Promise that an event is recorded: resolves to the event's `seq` once the event is committed and published. Dropping
/// the promise is fine; the event is recorded all the same. Waiting for it makes the writer commit at once; otherwise
/// the writer batches events briefly.
#[derive(Debug, Clone)]
#[must_use = "await it, or drop it on purpose"]
pub struct Ack(AckState);

#[derive(Debug, Clone)]
enum AckState {
    Sent {
        promise: BatchAck,
        /// The place of the event in its batch, from 0.
        place: u64,
        queue: Arc<WriterQueue>,
    },
    Failed(RecordError),
}

impl Ack {
    pub(crate) fn new_pending(promise: BatchAck, place: u64, queue: Arc<WriterQueue>) -> Self {
        Self(AckState::Sent {
            promise,
            place,
            queue,
        })
    }

    pub(crate) fn new_failed(error: RecordError) -> Self {
        Self(AckState::Failed(error))
    }

    /// Returns the result of the append, if it is known by now. Does not make the writer commit earlier.
    pub fn try_result(&self) -> Option<Result<u64, RecordError>> {
        match &self.0 {
            AckState::Sent { promise, place, .. } => {
                let outcome = promise.clone().now_or_never()?;
                Some(event_result(outcome, *place))
            }
            AckState::Failed(error) => Some(Err(error.clone())),
        }
    }

    /// Whether both appends have the same outcome because they wait for the same batch.
    pub fn is_same_batch(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (AckState::Sent { promise: one, .. }, AckState::Sent { promise: two, .. }) => {
                one.ptr_eq(two)
            }
            (AckState::Sent { .. } | AckState::Failed(_), _) => false,
        }
    }

    /// Waits on this thread. Not for use within an async task: await it there.
    pub fn wait(self) -> Result<u64, RecordError> {
        futures::executor::block_on(self)
    }
}

impl Future for Ack {
    type Output = Result<u64, RecordError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match &mut self.0 {
            AckState::Sent {
                promise,
                place,
                queue,
            } => {
                let polled = Pin::new(promise).poll(cx);
                if polled.is_pending() {
                    queue.flush_now();
                }
                polled.map(|outcome| event_result(outcome, *place))
            }
            AckState::Failed(error) => Poll::Ready(Err(error.clone())),
        }
    }
}

/// Returns the position of an event from the acknowledgement of its batch. A batch without one lost its writer.
fn event_result(
    received: Result<Result<u64, RecordError>, RecvError>,
    place: u64,
) -> Result<u64, RecordError> {
    received
        .unwrap_or(Err(RecordError::Closed))
        .map(|first| first + place)
}
