//! Delivery of the record's commits to all subscribers: without gaps, in order, to late subscribers too.

use std::ops::Deref;
use std::sync::Arc;

use protocol::{Event, UserError};
use record::Record;
use serde::{Serialize, Serializer};
use tokio::sync::broadcast;

/// Number of batches that a slow subscriber may fall behind before it has to read the missed events from the record.
const BUFFERED_BATCHES_MAX: usize = 1024;
/// Number of recorded events that a subscriber receives at once.
const BACKLOG_EVENTS_MAX: u32 = 1_000;

/// Hub that publishes committed events to subscribers.
#[derive(Clone)]
pub struct EventHub {
    sender: broadcast::Sender<Arc<[Event]>>,
}

impl EventHub {
    /// Returns a hub without subscribers.
    pub fn new() -> Self {
        Self {
            sender: broadcast::Sender::new(BUFFERED_BATCHES_MAX),
        }
    }

    /// Publishes committed events. Called by the record's writer, after each commit.
    pub fn publish(&self, events: Arc<[Event]>) {
        // Nobody may listen. Who begins to after this finds the events on record.
        let _ = self.sender.send(events);
    }

    /// Returns every event after `since`: recorded ones first, then new ones.
    pub fn subscribe(&self, record: Record, since: u64) -> EventStream {
        // Listen first, then read: nothing can fall between.
        EventStream {
            live: self.sender.subscribe(),
            record,
            seq: since,
            behind: true,
        }
    }
}

/// One or more events in order; shared between all subscribers.
#[derive(Debug, Clone)]
pub struct EventBatch {
    events: Arc<[Event]>,
    /// Number of leading events that this subscriber has received before.
    skipped: usize,
}

impl Deref for EventBatch {
    type Target = [Event];

    fn deref(&self) -> &[Event] {
        self.events.get(self.skipped..).unwrap_or_default()
    }
}

impl Serialize for EventBatch {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.deref().serialize(serializer)
    }
}

/// A subscriber's position in the log.
pub struct EventStream {
    live: broadcast::Receiver<Arc<[Event]>>,
    record: Record,
    seq: u64,
    behind: bool,
}

impl EventStream {
    /// Returns the next events; none once the engine is closed.
    pub async fn next(&mut self) -> Result<Option<EventBatch>, UserError> {
        loop {
            if self.behind {
                let events = self.record.events(self.seq, None, BACKLOG_EVENTS_MAX)?;
                self.behind = events.len() == BACKLOG_EVENTS_MAX as usize;
                if let Some(batch) = self.take_unseen(events.into()) {
                    return Ok(Some(batch));
                }
            }
            match self.live.recv().await {
                Ok(events) => {
                    if let Some(batch) = self.take_unseen(events) {
                        return Ok(Some(batch));
                    }
                }
                Err(broadcast::error::RecvError::Lagged(_)) => self.behind = true,
                Err(broadcast::error::RecvError::Closed) => return Ok(None),
            }
        }
    }

    /// Returns the events that this subscriber has not received; none if it has received them all.
    fn take_unseen(&mut self, events: Arc<[Event]>) -> Option<EventBatch> {
        let known = events.partition_point(|event| event.seq <= self.seq);
        self.seq = events.get(known..)?.last()?.seq;
        Some(EventBatch {
            events,
            skipped: known,
        })
    }
}
