//! The writer's queue: events gather here, so that a burst of them becomes one transaction.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError, mpsc};
use std::time::Duration;

use futures::FutureExt;
use protocol::Event;
use tokio::sync::oneshot;

use crate::RecordError;
use crate::limits::{BATCH_EVENTS_MAX, GATHER_DELAY, QUEUED_EVENTS_MAX};
use crate::writer::ack::{AppendRequest, BatchAck, BatchAckSender, Durability};
use crate::writer::erasure::ErasureSender;

/// The queue between the threads that append and the one that writes. A batch is due when somebody waits for one of its
/// events, when one of them must be on the disk, when it is full, or when it was gathered for long enough.
#[derive(Default)]
pub(crate) struct WriterQueue {
    state: Mutex<QueueState>,
    changed: Condvar,
}

#[derive(Default)]
struct QueueState {
    /// The batches that wait, each full but the last.
    batches: VecDeque<QueuedEvents>,
    /// Number of events in all batches.
    waiting: usize,
    due: bool,
    requests: Vec<WriterRequest>,
    closed: bool,
}

/// A request to the writer other than an event, with the channel on which the writer says that it is done.
pub(crate) enum WriterRequest {
    /// Treats the database as full at this many pages.
    LimitPages(u32, oneshot::Sender<()>),
    /// Does all deferred work.
    Flush(oneshot::Sender<()>),
    /// Publishes events that another process recorded.
    PublishForeign,
    /// Waits until nothing is left of deleted sessions.
    Erase(ErasureSender),
    /// Projects the events so far for a query; the answer says whether that worked.
    Project(mpsc::SyncSender<bool>),
}

/// The next work of the writer.
pub(crate) enum WriterWork {
    /// Requested work.
    Batch(WriterBatch),
    /// Deferred work: nothing was requested for as long as the writer waits, or nothing ever will be.
    Deferred,
}

/// Work requested of the writer: it records the events, if there are any, then serves the requests.
pub(crate) struct WriterBatch {
    pub(crate) events: Option<QueuedEvents>,
    pub(crate) requests: Vec<WriterRequest>,
}

/// Events that are recorded together, at least one and at most as many as a batch holds.
pub(crate) struct QueuedEvents {
    pub(crate) events: Vec<Event>,
    /// Whether one of them must be on the disk.
    pub(crate) on_disk: bool,
    /// Acknowledges the events.
    pub(crate) ack_sender: BatchAckSender,
    promise: BatchAck,
}

impl Default for QueuedEvents {
    fn default() -> Self {
        let (keeper, receiver) = oneshot::channel();
        Self {
            events: Vec::new(),
            on_disk: false,
            ack_sender: keeper,
            promise: receiver.shared(),
        }
    }
}

impl QueuedEvents {
    /// Adds an event; returns the promise of the batch and the event's place in it.
    fn push_event(&mut self, append: AppendRequest) -> (BatchAck, u64) {
        let place = self.events.len() as u64;
        self.on_disk |= append.durability == Durability::OnDisk;
        self.events.push(append.into());
        (self.promise.clone(), place)
    }
}

impl WriterQueue {
    /// Adds an event; gives the promise of its batch and its place there. Fails without a writer, and if there is no
    /// room.
    pub(crate) fn append(&self, append: AppendRequest) -> Result<(BatchAck, u64), RecordError> {
        let mut state = self.lock_state();
        if state.waiting >= QUEUED_EVENTS_MAX {
            return Err(RecordError::Overloaded);
        }
        if state.closed {
            return Err(RecordError::Closed);
        }
        let on_disk = append.durability == Durability::OnDisk;
        let promised = match state.batches.back_mut() {
            Some(last) if last.events.len() < BATCH_EVENTS_MAX => last.push_event(append),
            Some(_) | None => {
                let mut next = QueuedEvents::default();
                let promised = next.push_event(append);
                state.batches.push_back(next);
                promised
            }
        };
        state.waiting += 1;
        // The writer sleeps while the queue is empty and while a batch gathers; it need not hear of more than that.
        let wakes =
            state.waiting == 1 || state.waiting == BATCH_EVENTS_MAX || (on_disk && !state.due);
        state.due |= on_disk;
        drop(state);
        if wakes {
            self.changed.notify_one();
        }
        Ok(promised)
    }

    /// Makes the queued events due now, because somebody waits.
    pub(crate) fn flush_now(&self) {
        let mut state = self.lock_state();
        if !state.due && state.waiting > 0 {
            state.due = true;
            drop(state);
            self.changed.notify_one();
        }
    }

    /// Adds a request. Without a writer it is dropped.
    pub(crate) fn push_request(&self, ask: WriterRequest) {
        let mut state = self.lock_state();
        if !state.closed {
            state.requests.push(ask);
            drop(state);
            self.changed.notify_one();
        }
    }

    /// Closes the queue to appends. Waiting events are still taken.
    pub(crate) fn close(&self) {
        self.lock_state().closed = true;
        self.changed.notify_one();
    }

    /// Closes the queue because the writer is gone: everybody who waits learns that the record is closed.
    pub(crate) fn close_abandoned(&self) {
        let mut state = self.lock_state();
        state.closed = true;
        state.batches.clear();
        state.waiting = 0;
        state.requests.clear();
    }

    /// Whether something is asked of the writer.
    pub(crate) fn has_requests(&self) -> bool {
        !self.lock_state().is_empty()
    }

    /// Waits for the next batch that is due, or for deferred work if there is some and nothing is requested for
    /// `late_after`; none when the queue is closed and empty and nothing is left to do.
    pub(crate) fn next_work(&self, late_after: Option<Duration>) -> Option<WriterWork> {
        let asleep = |state: &mut QueueState| state.is_empty() && !state.closed;
        let mut state = match late_after {
            Some(idle) => {
                self.changed
                    .wait_timeout_while(self.lock_state(), idle, asleep)
                    .unwrap_or_else(PoisonError::into_inner)
                    .0
            }
            None => self
                .changed
                .wait_while(self.lock_state(), asleep)
                .unwrap_or_else(PoisonError::into_inner),
        };
        if state.is_empty() {
            return late_after.map(|_| WriterWork::Deferred);
        }
        (state, _) = self
            .changed
            .wait_timeout_while(state, GATHER_DELAY, |state| !state.is_due())
            .unwrap_or_else(PoisonError::into_inner);
        let events = state.batches.pop_front();
        state.waiting -= events.as_ref().map_or(0, |batch| batch.events.len());
        // Somebody may wait for what is left; it is not told apart.
        state.due &= state.waiting > 0;
        Some(WriterWork::Batch(WriterBatch {
            events,
            requests: std::mem::take(&mut state.requests),
        }))
    }

    fn lock_state(&self) -> MutexGuard<'_, QueueState> {
        // The queue is whole between any two statements, whatever a thread that held it did.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for WriterQueue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Queue").finish_non_exhaustive()
    }
}

impl QueueState {
    fn is_empty(&self) -> bool {
        self.waiting == 0 && self.requests.is_empty()
    }

    fn is_due(&self) -> bool {
        self.due || self.closed || !self.requests.is_empty() || self.waiting >= BATCH_EVENTS_MAX
    }
}
