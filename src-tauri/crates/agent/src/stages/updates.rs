//! What a running call says, joined into few events, between the hooks that may keep it back.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use protocol::cut::head;
use protocol::redact::Masker;
use protocol::{CallId, EventBody, PartialResult, redact};

use tools::progress::Progress;

use super::finish;
use super::found::Called;
use crate::hooks::{self, HookedCall, Update};
use crate::limits::{
    COALESCE, COALESCE_BYTES, OUTPUT_PILED_BYTES_MAX, PROGRESS_BYTES_MAX, UPDATES_PILED_MAX,
};
use crate::session::Session;

/// The updates of one call. A tool says them from wherever it runs; without hooks they are told at once when there are
/// enough of them, with hooks when the call's own loop comes by.
pub(super) struct Updates {
    session: Arc<Session>,
    call: CallId,
    tool: String,
    words: Progress,
    hooked: Option<Arc<HookedCall>>,
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    /// Output and pieces of the result that were not told yet, in order; output that follows output is one piece.
    said: Vec<Update>,
    /// Their bytes.
    said_bytes: usize,
    progress: Option<String>,
    /// Sees all output of the call as one text, so that a secret in two pieces of it is found.
    masker: Option<Masker>,
    since: Option<Instant>,
    /// A hook broke: nothing more is told.
    silent: bool,
}

impl Updates {
    pub fn new(
        session: Arc<Session>,
        call: CallId,
        called: &Called<'_>,
        hooked: Option<Arc<HookedCall>>,
    ) -> Self {
        Self {
            session,
            call,
            tool: called.id().to_owned(),
            words: called.0.progress().clone(),
            hooked,
            open: Mutex::new(Open {
                masker: called.masks().then(Masker::default),
                ..Open::default()
            }),
        }
    }

    /// Takes live output (`S001-12`).
    pub fn output(&self, text: &str) {
        let mut open = self.open();
        let masked = open.masker.as_mut().map(|masker| masker.push_text(text));
        let text = masked.as_deref().unwrap_or(text);
        open.push_output(text);
        self.tell_if_due(&mut open);
    }

    /// Takes a piece of the result (`S001-12`). One for which there is no room is left out: the result has it all.
    pub fn partial(&self, mut partial: PartialResult) {
        let mut open = self.open();
        let bytes = partial.bytes();
        if open.said.len() >= UPDATES_PILED_MAX || open.room() < bytes {
            tracing::warn!(tool = %self.tool, bytes, "a piece of a result was left out");
            return;
        }
        if open.masker.is_some() {
            finish::redact_items(&mut partial.content);
            if let Some(details) = &mut partial.details {
                finish::redact_value(details);
            }
        }
        open.said_bytes += bytes;
        open.said.push(Update::Partial(partial));
        self.tell_if_due(&mut open);
    }

    /// Takes a word on progress (`S001-13`). Of several at once the last counts; one that the tool does not publish is not
    /// told (`S003-40`).
    pub fn progress(&self, message: &str) {
        if !self.words.fits(message) {
            tracing::warn!(tool = %self.tool, "progress that does not fit its schema was left out");
            return;
        }
        let mut open = self.open();
        let masked = open.masker.as_ref().map(|_| redact::text(message).0);
        let message = masked.as_deref().unwrap_or(message);
        open.progress = Some(head(message, PROGRESS_BYTES_MAX).to_owned());
        self.tell_if_due(&mut open);
    }

    /// Tells the rest: no more will come.
    pub async fn end(&self) {
        {
            let mut open = self.open();
            let rest = open.masker.as_mut().map(Masker::finish).unwrap_or_default();
            open.push_output(&String::from_utf8_lossy(&rest));
        }
        self.flush().await;
    }

    /// Tells what is sure by now.
    pub async fn flush(&self) {
        let updates = take(&mut self.open());
        let Some(hooked) = &self.hooked else {
            updates.for_each(|update| self.tell(update));
            return;
        };
        for update in updates {
            if self.open().silent {
                return;
            }
            match hooks::before_update(&self.session, hooked, &update).await {
                Ok(true) => {
                    self.tell(update.clone());
                    hooks::after_update(&self.session, hooked, &update).await;
                }
                Ok(false) => {}
                Err(()) => self.open().silent = true,
            }
        }
    }

    fn tell_if_due(&self, open: &mut Open) {
        let due = open.since.get_or_insert_with(Instant::now).elapsed() >= COALESCE
            || open.said_bytes >= COALESCE_BYTES;
        if due && self.hooked.is_none() {
            take(open).for_each(|update| self.tell(update));
        }
    }

    fn tell(&self, update: Update) {
        let call = self.call.clone();
        self.session.journal.tell(match update {
            Update::Output(text) => EventBody::CallOutput { call, text },
            Update::Partial(partial) => EventBody::CallUpdate { call, partial },
            Update::Progress(message) => EventBody::CallProgress {
                call,
                tool: self.tool.clone(),
                message,
            },
        });
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn take(open: &mut Open) -> impl Iterator<Item = Update> + use<> {
    open.since = None;
    open.said_bytes = 0;
    let said = std::mem::take(&mut open.said);
    let progress = open.progress.take().map(Update::Progress);
    said.into_iter().chain(progress)
}

impl Open {
    fn room(&self) -> usize {
        OUTPUT_PILED_BYTES_MAX.saturating_sub(self.said_bytes)
    }

    fn push_output(&mut self, text: &str) {
        let text = head(text, self.room());
        self.said_bytes += text.len();
        match self.said.last_mut() {
            _ if text.is_empty() => {}
            Some(Update::Output(said)) => said.push_str(text),
            Some(Update::Partial(_) | Update::Progress(_)) | None => {
                self.said.push(Update::Output(text.to_owned()));
            }
        }
    }
}
