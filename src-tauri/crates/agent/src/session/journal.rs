//! The journal of a session: every event is recorded through it, and nothing relies on an event that was not recorded.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

use parking_lot::Mutex;
use policy::watchdogs::SecretMask;
use protocol::event::{CallChange, CallProposal, MessageChange};
use protocol::view::masked_call::{MaskedCall, holds_secret};
use protocol::{CallId, EventBody, MessageId, NoticeLevel, Outcome, SessionId, UserError};
use record::{Ack, Durability, Record};
use runtime::clock::Clock;
use serde_json::{Map, Value};

use crate::session::secret_masks::SecretMasks;

/// Writer of one session's events.
pub struct Journal {
    record: Record,
    session: SessionId,
    clock: Arc<dyn Clock>,
    /// Acknowledgements of recorded events that were not awaited yet: the last one of each batch.
    open: Mutex<VecDeque<Ack>>,
    /// Running calls whose recorded arguments hold a secret.
    secret: Mutex<HashSet<CallId>>,
    /// Secrets that are recorded nowhere.
    masks: Mutex<SecretMasks>,
}

impl Journal {
    /// Returns the journal of a session.
    pub fn new(record: Record, session: SessionId, clock: Arc<dyn Clock>) -> Self {
        Self {
            record,
            session,
            clock,
            open: Mutex::default(),
            secret: Mutex::default(),
            masks: Mutex::default(),
        }
    }

    /// Records an event without waiting. A failure is reported by the next [`Journal::sync`].
    pub fn record(&self, body: impl Into<EventBody>) {
        let body = self.mask_event(body.into());
        let ack = self.record.append(
            self.session.clone(),
            self.clock.now(),
            body,
            Durability::Batched,
        );
        let mut open = self.open.lock();
        match open.back_mut() {
            Some(last) if last.is_same_batch(&ack) => *last = ack,
            Some(_) | None => open.push_back(ack),
        }
    }

    /// Checks, without waiting, whether all events whose result is known by now were recorded.
    pub fn check_errors(&self) -> Result<(), UserError> {
        let mut open = self.open.lock();
        while let Some(known) = open.front().and_then(Ack::try_result) {
            open.pop_front();
            known?;
        }
        Ok(())
    }

    /// Records a change of a call.
    pub fn record_call(&self, call: &CallId, change: CallChange) {
        self.record(EventBody::for_call(call, change));
    }

    /// Records a change of a message.
    pub fn record_message(&self, message: &MessageId, change: MessageChange) {
        self.record(EventBody::for_message(message, change));
    }

    /// Records an event, and waits until it and all events before it are on disk. For decisions and effects.
    pub async fn record_synced(&self, body: impl Into<EventBody>) -> Result<(), UserError> {
        let body = self.mask_event(body.into());
        let ack = self.record.append(
            self.session.clone(),
            self.clock.now(),
            body,
            Durability::OnDisk,
        );
        self.sync().await?;
        ack.await.map(drop).map_err(UserError::from)
    }

    /// Records that a call begins. If the call may change something, waits until the event is committed, so that no
    /// restart runs the call a second time.
    pub async fn record_start_synced(&self, call: &CallId, matters: bool) -> Result<(), UserError> {
        self.record_call(call, CallChange::Started);
        match matters {
            true => self.sync().await,
            false => Ok(()),
        }
    }

    /// Records how a call ended; waits for the disk if the call had an effect or a person decided on it.
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

    /// Records, without waiting, how a call that had no effect ended.
    pub fn record_end(&self, call: &CallId, outcome: &Outcome) {
        self.record(self.call_ended_event(call, outcome));
    }

    fn call_ended_event(&self, call: &CallId, outcome: &Outcome) -> EventBody {
        EventBody::for_call(
            call,
            CallChange::Ended {
                outcome: Box::new(outcome.clone()),
                masked: self.mask_call(call).map(Box::new),
            },
        )
    }

    /// Returns the masked form in which a call is shown after its end, if its arguments hold a secret. If the record
    /// cannot be read, the masked form is empty.
    fn mask_call(&self, call: &CallId) -> Option<MaskedCall> {
        if !self.secret.lock().remove(call) {
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

    /// Masks the secrets of a call in all of its events, until it ends.
    pub fn mask_secrets(&self, call: &CallId, mask: &SecretMask) {
        self.masks.lock().add(call, mask);
    }

    /// Masks the secrets of the call that the session works for in all of its events.
    pub fn inherit_mask(&self, mask: &SecretMask) {
        self.masks.lock().inherited.add(mask);
    }

    /// Returns the mask of the secrets of the call that the session works for.
    pub fn inherited_mask(&self) -> SecretMask {
        self.masks.lock().inherited.clone()
    }

    /// Returns the mask of the secrets of a call.
    pub fn secret_mask(&self, call: &CallId) -> SecretMask {
        self.masks.lock().mask_of(call)
    }

    /// Returns an event as it is recorded.
    fn mask_event(&self, body: EventBody) -> EventBody {
        let masked = self.masks.lock().mask_event(body);
        let body = masked.unwrap_or_else(|| {
            let fault = UserError::new(
                "Something that happened in this session cannot be written down without a secret, so it is missing here.",
                "Report this.",
            );
            EventBody::notice(NoticeLevel::Error, fault)
        });
        self.track_secret(&body);
        body
    }

    /// Remembers a call whose arguments hold a secret, so that the call is masked when it ends.
    fn track_secret(&self, body: &EventBody) {
        let (call, arguments) = match body {
            EventBody::Proposal(CallProposal { call, .. }) => (&call.id, &call.arguments),
            EventBody::Call {
                call,
                change: CallChange::Edited { arguments, .. },
            } => (call, arguments),
            _ => return,
        };
        self.track_secret_arguments(call, arguments);
    }

    /// Remembers a recorded call if its arguments hold a secret.
    pub fn track_secret_arguments(&self, call: &CallId, arguments: &Map<String, Value>) {
        if holds_secret(arguments) {
            self.secret.lock().insert(call.clone());
        }
    }

    /// Waits until all recorded events are committed.
    pub async fn sync(&self) -> Result<(), UserError> {
        let open = std::mem::take(&mut *self.open.lock());
        for ack in open {
            ack.await?;
        }
        Ok(())
    }
}
