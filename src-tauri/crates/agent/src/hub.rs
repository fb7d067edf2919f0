//! From the record's commits to everybody who listens: without gaps, in order, to late listeners too.

use std::ops::Deref;
use std::sync::Arc;

use protocol::{Event, Fault};
use record::Record;
use serde::{Serialize, Serializer};
use tokio::sync::broadcast;

/// How many batches a slow listener may fall behind before it is sent to the record for what it missed.
const BATCHES_KEPT: usize = 1024;
/// How many recorded events a listener gets at once.
const BACKLOG_EVENTS: u32 = 1_000;

/// The place where committed events are handed out.
#[derive(Clone)]
pub struct Hub {
    sender: broadcast::Sender<Arc<[Event]>>,
}

impl Hub {
    /// A hub that nobody listens to yet.
    pub fn new() -> Self {
        Self {
            sender: broadcast::Sender::new(BATCHES_KEPT),
        }
    }

    /// Hands out committed events. Called by the record's writer, after each commit.
    pub fn publish(&self, events: Arc<[Event]>) {
        // Nobody may listen. Who begins to after this finds the events on record.
        let _ = self.sender.send(events);
    }

    /// Everything after `since`: what is on record first, then what comes.
    pub fn subscribe(&self, record: Record, since: u64) -> Events {
        // Listen first, then read: nothing can fall between.
        Events {
            live: self.sender.subscribe(),
            record,
            seq: since,
            behind: true,
        }
    }
}

/// Some events in order, at least one; shared with everybody else who listens.
#[derive(Debug, Clone)]
pub struct Batch {
    events: Arc<[Event]>,
    /// How many of them this listener had before.
    known: usize,
}

impl Deref for Batch {
    type Target = [Event];

    fn deref(&self) -> &[Event] {
        self.events.get(self.known..).unwrap_or_default()
    }
}

impl Serialize for Batch {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.deref().serialize(serializer)
    }
}

/// A listener's place in the log.
pub struct Events {
    live: broadcast::Receiver<Arc<[Event]>>,
    record: Record,
    seq: u64,
    behind: bool,
}

impl Events {
    /// The next events; none once the desk is gone.
    pub async fn next(&mut self) -> Result<Option<Batch>, Fault> {
        loop {
            if self.behind {
                let events = self.record.events(self.seq, None, BACKLOG_EVENTS)?;
                self.behind = events.len() == BACKLOG_EVENTS as usize;
                if let Some(batch) = self.fresh(events.into()) {
                    return Ok(Some(batch));
                }
            }
            match self.live.recv().await {
                Ok(events) => {
                    if let Some(batch) = self.fresh(events) {
                        return Ok(Some(batch));
                    }
                }
                Err(broadcast::error::RecvError::Lagged(_)) => self.behind = true,
                Err(broadcast::error::RecvError::Closed) => return Ok(None),
            }
        }
    }

    /// What of some events this listener did not have; none if it had them all.
    fn fresh(&mut self, events: Arc<[Event]>) -> Option<Batch> {
        let known = events.partition_point(|event| event.seq <= self.seq);
        self.seq = events.get(known..)?.last()?.seq;
        Some(Batch { events, known })
    }
}
