//! A session's pen: every event goes through here to the record, and nothing is built on one that did not arrive.

use std::collections::{HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use protocol::masked_call::{MaskedCall, holds_secret};
use protocol::{CallId, EventBody, Fault, Outcome, SessionId};
use record::{Ack, Durability, Record};
use runtime::clock::Clock;
use serde_json::{Map, Value};

/// Writes one session's events.
pub struct Journal {
    record: Record,
    session: SessionId,
    clock: Arc<dyn Clock>,
    /// Acknowledgements of what was told and not yet waited for: of each batch the last.
    open: Mutex<VecDeque<Ack>>,
    /// Calls that go on and whose arguments hold a secret.
    secret: Mutex<HashSet<CallId>>,
}

impl Journal {
    /// A pen for a session.
    pub fn new(record: Record, session: SessionId, clock: Arc<dyn Clock>) -> Self {
        Self {
            record,
            session,
            clock,
            open: Mutex::default(),
            secret: Mutex::default(),
        }
    }

    /// Writes without waiting. Whether it arrived is learned at the next [`Journal::settle`].
    pub fn tell(&self, body: EventBody) {
        self.note_secret(&body);
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
        self.note_secret(&body);
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
        let body = self.call_ended(call, outcome);
        match matters {
            true => self.keep(body).await,
            false => {
                self.tell(body);
                Ok(())
            }
        }
    }

    /// Writes, without waiting, how a call ended that had no effect.
    pub fn tell_end(&self, call: &CallId, outcome: &Outcome) {
        self.tell(self.call_ended(call, outcome));
    }

    fn call_ended(&self, call: &CallId, outcome: &Outcome) -> EventBody {
        EventBody::CallEnded {
            call: call.clone(),
            outcome: Box::new(outcome.clone()),
            masked: self.mask_call(call).map(Box::new),
        }
    }

    /// How a call is shown from its end on, if its arguments hold a secret. A record that cannot be read is answered with
    /// nothing to show.
    fn mask_call(&self, call: &CallId) -> Option<MaskedCall> {
        if !self.secret().remove(call) {
            return None;
        }
        match self.record.entry(&self.session, call.as_str()) {
            Ok(entry) => entry?.body.call().map(MaskedCall::new),
            Err(error) => {
                tracing::warn!(%error, %call, "the call's arguments are withheld");
                Some(MaskedCall::withheld())
            }
        }
    }

    /// Notes a call whose arguments hold a secret, so that it is masked when it ends.
    fn note_secret(&self, body: &EventBody) {
        let (call, arguments) = match body {
            EventBody::CallProposed { call, .. } => (&call.id, &call.arguments),
            EventBody::CallEdited { call, arguments } => (call, arguments),
            _ => return,
        };
        self.note_arguments(call, arguments);
    }

    /// The same for a call that is on record already.
    pub fn note_arguments(&self, call: &CallId, arguments: &Map<String, Value>) {
        if holds_secret(arguments) {
            self.secret().insert(call.clone());
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

    fn secret(&self) -> MutexGuard<'_, HashSet<CallId>> {
        self.secret.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn open(&self) -> MutexGuard<'_, VecDeque<Ack>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
