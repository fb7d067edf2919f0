//! The record's handle: appends go to the writer's thread, questions to one of the reading connections.

use std::path::Path;
use std::sync::{Arc, mpsc};
use std::thread::{self, JoinHandle};

use protocol::{At, Event, EventBody, SessionId};
use rusqlite::Transaction;
use tokio::sync::oneshot;

use crate::RecordError;
use crate::ack::{Ack, Append, Durability};
use crate::memory::Log;
use crate::queue::{Ask, Queue};
use crate::readers::{Made, Readers};
use crate::writer::Writer;
use crate::{load, look};

/// Hears of every event after its commit, in order, on the writer's thread; the events are shared, so that passing them
/// on copies none. It should do that and return: while it runs, nothing is recorded. What it is called with follows without a gap on the events that [`Record::last_seq`]
/// counted when the record was opened.
pub type Publish = Box<dyn Fn(Arc<[Event]>) + Send>;

/// Everything that ever happened, and what is made from it. Clones share one writer; when the last one is dropped, what
/// was appended is written and the database is closed.
#[derive(Clone)]
pub struct Record {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    queue: Arc<Queue>,
    thread: Option<JoinHandle<()>>,
    pub(crate) readers: Readers,
    /// The log, if it is kept in memory only.
    pub(crate) log: Option<Arc<Log>>,
}

impl Record {
    /// Opens the database `file`, or makes it; its folder must exist. A database of a later version, a damaged one and
    /// a file that is something else are refused and left as they are.
    pub fn open(file: &Path, publish: Publish) -> Result<Self, RecordError> {
        let writer = Writer::new(look::open_writer(file)?, publish)?;
        let readers = Readers::open(file)?;
        Self::start(readers, None, move |queue| writer.run(queue))
    }

    /// Whether nothing was ever recorded in `file`: it is missing or empty, and so is the log beside it.
    pub fn is_blank(file: &Path) -> bool {
        look::is_blank(file)
    }

    /// A record for throwaway runs: its events are kept in memory only and gone with the last handle. Nothing is made of
    /// them: every question but [`Record::events`] and [`Record::last_seq`] is answered as by an empty record.
    pub fn in_memory(publish: Publish) -> Result<Self, RecordError> {
        let log = Arc::new(Log::default());
        let kept = Arc::clone(&log);
        Self::start(Readers::empty()?, Some(log), move |queue| {
            kept.run(queue, &publish);
        })
    }

    fn start(
        readers: Readers,
        log: Option<Arc<Log>>,
        work: impl FnOnce(&Queue) + Send + 'static,
    ) -> Result<Self, RecordError> {
        let queue = Arc::new(Queue::default());
        let source = Arc::clone(&queue);
        let thread = thread::Builder::new()
            .name("record".to_owned())
            .spawn(move || {
                let _abandoned = Abandon(&source);
                work(&source);
            })
            .map_err(|_| RecordError::Closed)?;
        Ok(Self {
            inner: Arc::new(Inner {
                queue,
                thread: Some(thread),
                readers,
                log,
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
        let queue = &self.inner.queue;
        let append = Append {
            session,
            at,
            body,
            durability,
        };
        match queue.append(append) {
            Ok((promise, place)) => Ack::sent(promise, place, Arc::clone(queue)),
            Err(error) => Ack::refused(error),
        }
    }

    /// Has what another process recorded published soon, also if nothing is recorded here.
    pub fn look(&self) {
        self.inner.queue.ask(Ask::Look);
    }

    /// Asks something of what is made of the events, as it stands at one moment, with everything in it that was
    /// acknowledged before.
    pub(crate) fn ask<T>(
        &self,
        question: impl FnOnce(&Transaction<'_>) -> Result<T, RecordError>,
    ) -> Result<T, RecordError> {
        let made = self.made()?;
        self.inner.readers.read(made, question)
    }

    /// Sees to it that everything is made of the events that were acknowledged by now. Where the writer cannot, as on a
    /// full disk, whoever asks does it for themselves.
    pub(crate) fn made(&self) -> Result<Made, RecordError> {
        let inner = &self.inner;
        if inner.log.is_some() || inner.readers.read(Made::Stands, is_made)? {
            return Ok(Made::Stands);
        }
        let writer = inner.thread.as_ref().map(|thread| thread.thread().id());
        if writer == Some(thread::current().id()) {
            return Ok(Made::Apart);
        }
        let (done, told) = mpsc::sync_channel(1);
        inner.queue.ask(Ask::Make(done));
        Ok(match told.recv() {
            Ok(true) => Made::Stands,
            Ok(false) | Err(_) => Made::Apart,
        })
    }

    /// Takes the database for full at `pages` pages of 8 kB, so that tests can meet a full disk. Waits until it holds.
    #[doc(hidden)]
    pub fn limit_pages(&self, pages: u32) {
        self.tell(|done| Ask::PagesMax(pages, done));
    }

    /// Does what was left for later without waiting for a quiet moment, so that measurements and tests can see it done.
    /// Waits until it is, or until it fails.
    #[doc(hidden)]
    pub fn rest(&self) {
        self.tell(Ask::Rest);
    }

    fn tell(&self, ask: impl FnOnce(oneshot::Sender<()>) -> Ask) {
        let (done, told) = oneshot::channel();
        self.inner.queue.ask(ask(done));
        drop(told.blocking_recv());
    }
}

/// Whether the tables hold what every event in the log says.
fn is_made(tx: &Transaction<'_>) -> Result<bool, RecordError> {
    Ok(load::upto(tx)? >= load::last_seq(tx)?)
}

impl std::fmt::Debug for Record {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Record").finish_non_exhaustive()
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.queue.close();
        if let Some(thread) = self.thread.take() {
            // The last handle may be dropped by what the writer publishes to; it cannot wait for itself.
            if thread.thread().id() != thread::current().id() {
                drop(thread.join());
            }
        }
    }
}

/// Tells the queue that nobody takes from it any more, also where the thread broke off.
struct Abandon<'a>(&'a Queue);

impl Drop for Abandon<'_> {
    fn drop(&mut self) {
        self.0.abandon();
    }
}
