//! A session's pen: every event goes through here to the record, and nothing is built on one that did not arrive.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use protocol::{CallId, EventBody, Fault, Outcome, SessionId};
use record::{Ack, Durability, Record};
use runtime::clock::Clock;

/// Writes one session's events.
pub struct Journal {
    record: Record,
    session: SessionId,
    clock: Arc<dyn Clock>,
    /// Acknowledgements of what was told and not yet waited for: of each batch the last.
    open: Mutex<VecDeque<Ack>>,
}

impl Journal {
    /// A pen for a session.
    pub fn new(record: Record, session: SessionId, clock: Arc<dyn Clock>) -> Self {
        Self {
            record,
            session,
            clock,
            open: Mutex::default(),
        }
    }

    /// Writes without waiting. Whether it arrived is learned at the next [`Journal::settle`].
    pub fn tell(&self, body: EventBody) {
        let ack = self.record.append(
            self.session.clone(),
            self.clock.now(),
            body,
            Durability::Batched,
        );
        let mut open = self.open();
        match open.back_mut() {
            Some(last) if last.ends_with(&ack) => *last = ack,
            Some(_) | None => open.push_back(ack),
        }
    }

    /// Looks, without waiting, whether all arrived of which that is known by now.
    pub fn check(&self) -> Result<(), Fault> {
        let mut open = self.open();
        while let Some(known) = open.front().and_then(Ack::known) {
            open.pop_front();
            known?;
        }
        Ok(())
    }

    /// Writes, and waits until it is on disk, with everything told before it. For decisions and effects.
    pub async fn keep(&self, body: EventBody) -> Result<(), Fault> {
        let ack = self.record.append(
            self.session.clone(),
            self.clock.now(),
            body,
            Durability::OnDisk,
        );
        self.settle().await?;
        ack.await.map(drop).map_err(Fault::from)
    }

    /// Writes that a call begins. If it may change something, waits until that is committed, so that no restart runs it
    /// a second time.
    pub async fn keep_start(&self, call: &CallId, matters: bool) -> Result<(), Fault> {
        self.tell(EventBody::CallStarted { call: call.clone() });
        match matters {
            true => self.settle().await,
            false => Ok(()),
        }
    }

    /// Writes how a call ended; waits for the disk if it had an effect or a person decided on it.
    pub async fn keep_end(
        &self,
        call: &CallId,
        outcome: &Outcome,
        matters: bool,
    ) -> Result<(), Fault> {
        let body = EventBody::CallEnded {
            call: call.clone(),
            outcome: Box::new(outcome.clone()),
        };
        match matters {
            true => self.keep(body).await,
            false => {
                self.tell(body);
                Ok(())
            }
        }
    }

    /// Waits until everything told is committed.
    pub async fn settle(&self) -> Result<(), Fault> {
        let open = std::mem::take(&mut *self.open());
        for ack in open {
            ack.await?;
        }
        Ok(())
    }

    fn open(&self) -> MutexGuard<'_, VecDeque<Ack>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
