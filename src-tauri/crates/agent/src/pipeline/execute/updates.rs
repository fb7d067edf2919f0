//! Updates of a running call, joined into few events, and passed through the hooks that may keep them back.

use std::sync::Arc;
use std::time::Instant;

use parking_lot::Mutex;
use protocol::event::CallChange;
use protocol::text::cut::take_head;
use protocol::text::redact;
use protocol::text::redact::Masker;
use protocol::{CallId, EventBody, PartialResult};

use tools::progress_schema::ProgressSchema;

use crate::host::hooks::{CallUpdate, HookedCall};
use crate::limits::{
    COALESCE_BYTES_MAX, COALESCE_DELAY, OUTPUT_PENDING_BYTES_MAX, PROGRESS_BYTES_MAX,
    UPDATES_PENDING_MAX,
};
use crate::pipeline::call_context::CallContext;
use crate::pipeline::hooks;
use crate::pipeline::outcome;
use crate::session::Session;

/// The updates of one call. A tool produces them from any thread; without hooks they are sent at once when there are
/// enough of them, with hooks when the loop of the call flushes them.
pub(in crate::pipeline) struct UpdateSender {
    session: Arc<Session>,
    call: CallId,
    tool: String,
    progress_text: ProgressSchema,
    hooked: Option<Arc<HookedCall>>,
    open: Mutex<PendingUpdates>,
}

#[derive(Default)]
struct PendingUpdates {
    /// Output and pieces of the result that were not sent yet, in order; consecutive output is one piece.
    queue: Vec<CallUpdate>,
    /// Total size of the queued updates, in bytes.
    queue_bytes: usize,
    progress: Option<String>,
    /// Masks the output of the call as one text, so that a secret split across two pieces is found.
    masker: Option<Masker>,
    since: Option<Instant>,
    /// A hook failed: no more updates are sent.
    silent: bool,
}

impl UpdateSender {
    pub fn new(cx: &CallContext<'_>) -> Self {
        Self {
            session: cx.session.clone(),
            call: cx.call.id.clone(),
            tool: cx.tool.id().to_owned(),
            progress_text: cx.tool.0.progress_schema().clone(),
            hooked: cx.hooked.clone(),
            open: Mutex::new(PendingUpdates {
                masker: cx.tool.masks_output().then(Masker::default),
                ..PendingUpdates::default()
            }),
        }
    }

    /// Queues live output (`S001-12`).
    pub fn push_output(&self, text: &str) {
        let mut open = self.open.lock();
        let masked = open.masker.as_mut().map(|masker| masker.push_text(text));
        let text = masked.as_deref().unwrap_or(text);
        open.push_output(text);
        self.send_if_due(&mut open);
    }

    /// Queues a piece of the result (`S001-12`). A piece for which there is no room is dropped: the result contains all
    /// of them.
    pub fn push_partial(&self, mut partial: PartialResult) {
        let mut open = self.open.lock();
        let bytes = partial.byte_len();
        if open.queue.len() >= UPDATES_PENDING_MAX || open.free_bytes() < bytes {
            tracing::warn!(tool = %self.tool, bytes, "a piece of a result was left out");
            return;
        }
        if open.masker.is_some() {
            outcome::redact_items(&mut partial.content);
            if let Some(details) = &mut partial.details {
                outcome::redact_value(details);
            }
        }
        open.queue_bytes += bytes;
        open.queue.push(CallUpdate::Partial(partial));
        self.send_if_due(&mut open);
    }

    /// Sets the progress message (`S001-13`). Only the last of several pending messages is sent; one that does not fit
    /// the tool's published schema is dropped (`S003-40`).
    pub fn set_progress(&self, message: &str) {
        if !self.progress_text.is_valid_message(message) {
            tracing::warn!(tool = %self.tool, "progress that does not fit its schema was left out");
            return;
        }
        let mut open = self.open.lock();
        let masked = open.masker.as_ref().map(|_| redact::text(message).0);
        let message = masked.as_deref().unwrap_or(message);
        open.progress = Some(take_head(message, PROGRESS_BYTES_MAX).to_owned());
        self.send_if_due(&mut open);
    }

    /// Sends the remaining updates, at the end of the call.
    pub async fn finish(&self) {
        {
            let mut open = self.open.lock();
            let rest = open.masker.as_mut().map(Masker::finish).unwrap_or_default();
            open.push_output(&String::from_utf8_lossy(&rest));
        }
        self.flush().await;
    }

    /// Sends the pending updates.
    pub async fn flush(&self) {
        let updates = take_all(&mut self.open.lock());
        let Some(hooked) = &self.hooked else {
            updates.for_each(|update| self.send(update));
            return;
        };
        for update in updates {
            if self.open.lock().silent {
                return;
            }
            match hooks::run_before_update(&self.session, hooked, &update).await {
                Ok(true) => {
                    self.send(update.clone());
                    hooks::run_after_update(&self.session, hooked, &update).await;
                }
                Ok(false) => {}
                Err(()) => self.open.lock().silent = true,
            }
        }
    }

    fn send_if_due(&self, open: &mut PendingUpdates) {
        let due = open.since.get_or_insert_with(Instant::now).elapsed() >= COALESCE_DELAY
            || open.queue_bytes >= COALESCE_BYTES_MAX;
        if due && self.hooked.is_none() {
            take_all(open).for_each(|update| self.send(update));
        }
    }

    fn send(&self, update: CallUpdate) {
        let call = self.call.clone();
        self.session.journal.record(match update {
            CallUpdate::Output(text) => EventBody::for_call(&call, CallChange::Output { text }),
            CallUpdate::Partial(partial) => {
                EventBody::for_call(&call, CallChange::Update { partial })
            }
            CallUpdate::Progress(text) => EventBody::for_call(
                &call,
                CallChange::Progress {
                    tool: self.tool.clone(),
                    text,
                },
            ),
        });
    }
}

fn take_all(open: &mut PendingUpdates) -> impl Iterator<Item = CallUpdate> + use<> {
    open.since = None;
    open.queue_bytes = 0;
    let said = std::mem::take(&mut open.queue);
    let progress = open.progress.take().map(CallUpdate::Progress);
    said.into_iter().chain(progress)
}

impl PendingUpdates {
    fn free_bytes(&self) -> usize {
        OUTPUT_PENDING_BYTES_MAX.saturating_sub(self.queue_bytes)
    }

    fn push_output(&mut self, text: &str) {
        let text = take_head(text, self.free_bytes());
        self.queue_bytes += text.len();
        match self.queue.last_mut() {
            _ if text.is_empty() => {}
            Some(CallUpdate::Output(said)) => said.push_str(text),
            Some(CallUpdate::Partial(_) | CallUpdate::Progress(_)) | None => {
                self.queue.push(CallUpdate::Output(text.to_owned()));
            }
        }
    }
}
