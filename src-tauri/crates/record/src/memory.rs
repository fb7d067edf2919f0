//! The record that is kept in memory only: the log and nothing that is made from it.

use std::sync::{PoisonError, RwLock};

use protocol::{Event, SessionId};

use crate::ack::Append;
use crate::queue::Queue;
use crate::record::Publish;

/// Every event so far, in order; the position of an event is its place from 1.
#[derive(Default)]
pub(crate) struct Log(RwLock<Vec<Event>>);

impl Log {
    /// The last event's position; 0 if there is none.
    pub(crate) fn last_seq(&self) -> u64 {
        self.0.read().unwrap_or_else(PoisonError::into_inner).len() as u64
    }

    /// At most `limit` events after the position `since`, of one session or of all.
    pub(crate) fn events(&self, since: u64, session: Option<&SessionId>, limit: u32) -> Vec<Event> {
        let log = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let since = usize::try_from(since).unwrap_or(usize::MAX);
        let wanted = |event: &&Event| session.is_none_or(|session| event.session == *session);
        let after = log.get(since..).unwrap_or_default().iter();
        after.filter(wanted).take(limit as usize).cloned().collect()
    }

    /// Takes what comes from the queue, publishes and acknowledges it, until nobody can append any more.
    pub(crate) fn run(&self, queue: &Queue, publish: &Publish) {
        while let Some(batch) = queue.take() {
            let mut log = self.0.write().unwrap_or_else(PoisonError::into_inner);
            let begin = log.len();
            let (acks, events): (Vec<_>, Vec<_>) =
                batch.appends.into_iter().map(Append::into_parts).unzip();
            for event in events {
                let seq = log.len() as u64 + 1;
                log.push(Event { seq, ..event });
            }
            drop(log);
            let log = self.0.read().unwrap_or_else(PoisonError::into_inner);
            publish(log.get(begin..).unwrap_or_default());
            for (ack, event) in acks.into_iter().zip(log.iter().skip(begin)) {
                // Whoever dropped its promise does not want to know.
                let _ = ack.send(Ok(event.seq));
            }
            if let Some((_, done)) = batch.pages_max {
                // There are no pages; who asked may have gone.
                let _ = done.send(());
            }
        }
    }
}
