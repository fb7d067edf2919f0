//! The record's handle: appends go to the writer's thread, questions to one of the reading connections.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread::{self, JoinHandle};

use protocol::{At, Event, EventBody, SessionId};
use tokio::sync::oneshot;

use crate::RecordError;
use crate::ack::{Ack, Append, Durability};
use crate::limits::QUEUED_EVENTS_MAX;
use crate::look;
use crate::readers::Readers;
use crate::writer::{Request, Writer};

/// Hears of every event after its commit, in order, on the writer's thread. It should pass them on and return: while
/// it runs, nothing is recorded. What it is called with follows without a gap on the events that [`Record::last_seq`]
/// counted when the record was opened.
pub type Publish = Box<dyn Fn(&[Event]) + Send>;

/// Everything that ever happened, and what is made from it. Clones share one writer; when the last one is dropped, what
/// was appended is written and the database is closed.
#[derive(Clone)]
pub struct Record {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    requests: Option<Sender<Request>>,
    queued: Arc<AtomicUsize>,
    writer: Option<JoinHandle<()>>,
    pub(crate) readers: Readers,
}

impl Record {
    /// Opens the database `file`, or makes it; its folder must exist. A database of a later version, a damaged one and
    /// a file that is something else are refused and left as they are.
    pub fn open(file: &Path, publish: Publish) -> Result<Self, RecordError> {
        let writer = Writer::new(look::open_writer(file)?, publish)?;
        let readers = Readers::open(file)?;
        let (sender, receiver) = channel();
        let queued = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&queued);
        let thread = thread::Builder::new()
            .name("record".to_owned())
            .spawn(move || writer.run(&receiver, &counted))
            .map_err(|_| RecordError::Closed)?;
        Ok(Self {
            inner: Arc::new(Inner {
                requests: Some(sender),
                queued,
                writer: Some(thread),
                readers,
            }),
        })
    }

    /// Records one event. Never blocks; events of one thread are recorded in the order of their appends. When the
    /// returned promise is kept, the event is committed, published, and seen by every reader.
    pub fn append(
        &self,
        session: SessionId,
        at: At,
        body: EventBody,
        durability: Durability,
    ) -> Ack {
        if self.inner.queued.fetch_add(1, Ordering::Relaxed) >= QUEUED_EVENTS_MAX {
            self.inner.queued.fetch_sub(1, Ordering::Relaxed);
            return Ack::refused(RecordError::Overloaded);
        }
        let (ack, receiver) = oneshot::channel();
        let append = Append {
            session,
            at,
            body,
            durability,
            ack,
        };
        // Without a writer the request is dropped, and the promise says that the record is closed.
        self.inner.send(Request::Append(append));
        Ack::sent(receiver)
    }

    /// Takes the database for full at `pages` pages of 4 kB, so that tests can meet a full disk. Waits until it holds.
    #[doc(hidden)]
    pub fn limit_pages(&self, pages: u32) {
        let (done, limited) = oneshot::channel();
        self.inner.send(Request::PagesMax(pages, done));
        drop(limited.blocking_recv());
    }
}

impl std::fmt::Debug for Record {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Record").finish_non_exhaustive()
    }
}

impl Inner {
    fn send(&self, request: Request) {
        if let Some(requests) = &self.requests {
            drop(requests.send(request));
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        drop(self.requests.take());
        if let Some(writer) = self.writer.take() {
            // The last handle may be dropped by what the writer publishes to; it cannot wait for itself.
            if writer.thread().id() != thread::current().id() {
                drop(writer.join());
            }
        }
    }
}
