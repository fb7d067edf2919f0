//! From the record's commits to everybody who listens: without gaps, in order, to late listeners too.

use std::sync::Arc;

use protocol::{Event, Fault};
use record::Record;
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
    pub fn publish(&self, events: &[Event]) {
        // Who begins to listen after this finds the events on record.
        if self.sender.receiver_count() > 0 {
            // The last listener may just have gone.
            let _ = self.sender.send(events.into());
        }
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

/// A listener's place in the log.
pub struct Events {
    live: broadcast::Receiver<Arc<[Event]>>,
    record: Record,
    seq: u64,
    behind: bool,
}

impl Events {
    /// The next events, at least one, in order; none once the desk is gone.
    pub async fn next(&mut self) -> Result<Option<Vec<Event>>, Fault> {
        loop {
            if self.behind {
                let events = self.record.events(self.seq, None, BACKLOG_EVENTS)?;
                self.behind = events.len() == BACKLOG_EVENTS as usize;
                if let Some(last) = events.last() {
                    self.seq = last.seq;
                    return Ok(Some(events));
                }
            }
            match self.live.recv().await {
                Ok(batch) => {
                    let fresh: Vec<Event> = batch
                        .iter()
                        .filter(|event| event.seq > self.seq)
                        .cloned()
                        .collect();
                    if let Some(last) = fresh.last() {
                        self.seq = last.seq;
                        return Ok(Some(fresh));
                    }
                }
                Err(broadcast::error::RecvError::Lagged(_)) => self.behind = true,
                Err(broadcast::error::RecvError::Closed) => return Ok(None),
            }
        }
    }
}
