//! The record that is kept in memory only: the log without projections.

use std::sync::{Arc, PoisonError, RwLock};

use protocol::{Event, SessionId};

use crate::writer::PublishFn;
use crate::writer::queue::{WriterQueue, WriterRequest, WriterWork};

/// Every event so far, in order, in the batches that they were published in; the position of an event is its place from
/// 1.
#[derive(Default)]
pub(crate) struct MemoryLog(RwLock<Vec<Arc<[Event]>>>);

impl MemoryLog {
    /// The last event's position; 0 if there is none.
    pub(crate) fn last_seq(&self) -> u64 {
        count_events(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// At most `limit` events after the position `since`, of one session or of all.
    pub(crate) fn events(&self, since: u64, session: Option<&SessionId>, limit: u32) -> Vec<Event> {
        let log = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let batches_before =
            log.partition_point(|batch| batch.last().is_none_or(|last| last.seq <= since));
        let is_requested = |event: &&Event| {
            event.seq > since && session.is_none_or(|session| event.session == *session)
        };
        let after = log
            .iter()
            .skip(batches_before)
            .flat_map(|batch| batch.iter());
        after
            .filter(is_requested)
            .take(limit as usize)
            .cloned()
            .collect()
    }

    /// Takes events from the queue, publishes and acknowledges them, until nobody can append any more.
    pub(crate) fn run(&self, queue: &WriterQueue, publish: &PublishFn) {
        while let Some(WriterWork::Batch(batch)) = queue.next_work(None) {
            if let Some(batch) = batch.events {
                let mut events = batch.events;
                let first = self.last_seq() + 1;
                for (seq, event) in (first..).zip(&mut events) {
                    event.seq = seq;
                }
                let events: Arc<[Event]> = events.into();
                let mut log = self.0.write().unwrap_or_else(PoisonError::into_inner);
                log.push(Arc::clone(&events));
                drop(log);
                publish(events);
                // Whoever dropped its promise does not want to know.
                let _ = batch.ack_sender.send(Ok(first));
            }
            for ask in batch.requests {
                // There are no pages and no other process, and nothing is made or left for later; who asked may have gone.
                match ask {
                    WriterRequest::PublishForeign => {}
                    WriterRequest::LimitPages(_, done) | WriterRequest::Flush(done) => {
                        let _ = done.send(());
                    }
                    WriterRequest::Project(done) => drop(done.send(true)),
                    WriterRequest::Erase(done) => drop(done.send(Ok(()))),
                }
            }
        }
    }
}

fn count_events(log: &[Arc<[Event]>]) -> u64 {
    log.last()
        .and_then(|batch| batch.last())
        .map_or(0, |event| event.seq)
}
