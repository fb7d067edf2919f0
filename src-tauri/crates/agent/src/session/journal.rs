//! A session's pen: every event goes through here to the record, and nothing is built on one that did not arrive.

use std::collections::{HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use protocol::view::masked_call::{MaskedCall, holds_secret};
use protocol::{CallId, EventBody, Outcome, SessionId, UserError};
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

    /// Writes without waiting. Whether it arrived is learned at the next [`EventSink::sync`].
    pub fn record(&self, body: EventBody) {
        self.track_secret(&body);
        let ack = self.record.append(
            self.session.clone(),
            self.clock.now(),
            body,
            Durability::Batched,
        );
        let mut open = self.lock_open();
        match open.back_mut() {
            Some(last) if last.is_same_batch(&ack) => *last = ack,
            Some(_) | None => open.push_back(ack),
        }
    }

    /// Looks, without waiting, whether all arrived of which that is known by now.
    pub fn check_errors(&self) -> Result<(), UserError> {
        let mut open = self.lock_open();
        while let Some(known) = open.front().and_then(Ack::try_result) {
            open.pop_front();
            known?;
        }
        Ok(())
    }

    /// Writes, and waits until it is on disk, with everything told before it. For decisions and effects.
    pub async fn record_synced(&self, body: EventBody) -> Result<(), UserError> {
        self.track_secret(&body);
        let ack = self.record.append(
            self.session.clone(),
            self.clock.now(),
            body,
            Durability::OnDisk,
        );
        self.sync().await?;
        ack.await.map(drop).map_err(UserError::from)
    }

    /// Writes that a call begins. If it may change something, waits until that is committed, so that no restart runs it
    /// a second time.
    pub async fn record_start_synced(&self, call: &CallId, matters: bool) -> Result<(), UserError> {
        self.record(EventBody::CallStarted { call: call.clone() });
        match matters {
            true => self.sync().await,
            false => Ok(()),
        }
    }

    /// Writes how a call ended; waits for the disk if it had an effect or a person decided on it.
    pub async fn record_end_synced(
        &self,
        call: &CallId,
        outcome: &Outcome,
        matters: bool,
    ) -> Result<(), UserError> {
        let body = self.call_ended_event(call, outcome);
        match matters {
            true => self.record_synced(body).await,
            false => {
                self.record(body);
                Ok(())
            }
        }
    }

    /// Writes, without waiting, how a call ended that had no effect.
    pub fn record_end(&self, call: &CallId, outcome: &Outcome) {
        self.record(self.call_ended_event(call, outcome));
    }

    fn call_ended_event(&self, call: &CallId, outcome: &Outcome) -> EventBody {
        EventBody::CallEnded {
            call: call.clone(),
            outcome: Box::new(outcome.clone()),
            masked: self.mask_call(call).map(Box::new),
        }
    }

    /// How a call is shown from its end on, if its arguments hold a secret. A record that cannot be read is answered with
    /// nothing to show.
    fn mask_call(&self, call: &CallId) -> Option<MaskedCall> {
        if !self.lock_secret().remove(call) {
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
    fn track_secret(&self, body: &EventBody) {
        let (call, arguments) = match body {
            EventBody::CallProposed { call, .. } => (&call.id, &call.arguments),
            EventBody::CallEdited { call, arguments } => (call, arguments),
            _ => return,
        };
        self.track_secret_arguments(call, arguments);
    }

    /// The same for a call that is on record already.
    pub fn track_secret_arguments(&self, call: &CallId, arguments: &Map<String, Value>) {
        if holds_secret(arguments) {
            self.lock_secret().insert(call.clone());
        }
    }

    /// Waits until everything told is committed.
    pub async fn sync(&self) -> Result<(), UserError> {
        let open = std::mem::take(&mut *self.lock_open());
        for ack in open {
            ack.await?;
        }
        Ok(())
    }

    fn lock_secret(&self) -> MutexGuard<'_, HashSet<CallId>> {
        self.secret.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_open(&self) -> MutexGuard<'_, VecDeque<Ack>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
