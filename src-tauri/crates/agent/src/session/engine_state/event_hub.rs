//! From the record's commits to everybody who listens: without gaps, in order, to late listeners too.

use std::ops::Deref;
use std::sync::Arc;

use protocol::{Event, UserError};
use record::Record;
use serde::{Serialize, Serializer};
use tokio::sync::broadcast;

/// How many batches a slow listener may fall behind before it is sent to the record for what it missed.
const BUFFERED_BATCHES_MAX: usize = 1024;
/// How many recorded events a listener gets at once.
const BACKLOG_EVENTS_MAX: u32 = 1_000;

/// The place where committed events are handed out.
#[derive(Clone)]
pub struct EventHub {
    sender: broadcast::Sender<Arc<[Event]>>,
}

impl EventHub {
    /// A hub that nobody listens to yet.
    pub fn new() -> Self {
        Self {
            sender: broadcast::Sender::new(BUFFERED_BATCHES_MAX),
        }
    }

    /// Hands out committed events. Called by the record's writer, after each commit.
    pub fn publish(&self, events: Arc<[Event]>) {
        // Nobody may listen. Who begins to after this finds the events on record.
        let _ = self.sender.send(events);
    }

    /// Everything after `since`: what is on record first, then what comes.
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

/// Some events in order, at least one; shared with everybody else who listens.
#[derive(Debug, Clone)]
pub struct EventBatch {
    events: Arc<[Event]>,
    /// How many of them this listener had before.
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

/// A listener's place in the log.
pub struct EventStream {
    live: broadcast::Receiver<Arc<[Event]>>,
    record: Record,
    seq: u64,
    behind: bool,
}

impl EventStream {
    /// The next events; none once the desk is gone.
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

    /// What of some events this listener did not have; none if it had them all.
    fn take_unseen(&mut self, events: Arc<[Event]>) -> Option<EventBatch> {
        let known = events.partition_point(|event| event.seq <= self.seq);
        self.seq = events.get(known..)?.last()?.seq;
        Some(EventBatch {
            events,
            skipped: known,
        })
    }
}
