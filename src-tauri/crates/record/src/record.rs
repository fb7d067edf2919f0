//! The record's handle: appends go to the writer's thread, questions to one of the reading connections.

use std::path::Path;
use std::sync::{Arc, mpsc};
use std::thread::{self, JoinHandle};

use protocol::{At, EventBody, SessionId};
use rusqlite::Transaction;
use tokio::sync::oneshot;

use crate::RecordError;
use crate::open;
use crate::projections::load;
use crate::reader_pool::{ProjectionState, ReaderPool};
use crate::writer::ack::{Ack, AppendRequest, Durability};
use crate::writer::memory_log::MemoryLog;
use crate::writer::queue::{WriterQueue, WriterRequest};
use crate::writer::{PublishFn, Writer};

/// Everything that ever happened, and its projections. Clones share one writer; when the last one is dropped, appended
/// events are written and the database is closed.
#[derive(Clone)]
pub struct Record {
    pub(crate) inner: Arc<RecordInner>,
}

pub(crate) struct RecordInner {
    queue: Arc<WriterQueue>,
    thread: Option<JoinHandle<()>>,
    pub(crate) readers: ReaderPool,
    /// The log, if it is kept in memory only.
    pub(crate) log: Option<Arc<MemoryLog>>,
}

impl Record {
    /// Opens the database `file`, or makes it; its folder must exist. A database of a later version, a damaged one and
    /// a file that is something else are refused and left as they are.
    pub fn open(file: &Path, publish: PublishFn) -> Result<Self, RecordError> {
        let writer = Writer::new(open::open_writer(file)?, publish)?;
        let readers = ReaderPool::open(file)?;
        Self::start_writer(readers, None, move |queue| writer.run(queue))
    }

    /// Whether nothing was ever recorded in `file`: it is missing or empty, and so is the log beside it.
    pub fn is_blank(file: &Path) -> bool {
        open::is_blank_database(file)
    }

    /// Opens a record for throwaway runs: its events are kept in memory only and gone with the last handle. They are
    /// not projected: every query but [`Record::events`] and [`Record::last_seq`] is answered as by an empty record.
    pub fn in_memory(publish: PublishFn) -> Result<Self, RecordError> {
        let log = Arc::new(MemoryLog::default());
        let written_log = Arc::clone(&log);
        Self::start_writer(ReaderPool::open_empty()?, Some(log), move |queue| {
            written_log.run(queue, &publish);
        })
    }

    fn start_writer(
        readers: ReaderPool,
        log: Option<Arc<MemoryLog>>,
        work: impl FnOnce(&WriterQueue) + Send + 'static,
    ) -> Result<Self, RecordError> {
        let queue = Arc::new(WriterQueue::default());
        let source = Arc::clone(&queue);
        let thread = thread::Builder::new()
            .name("record".to_owned())
            .spawn(move || {
                let _abandoned = AbandonOnDrop(&source);
                work(&source);
            })
            .map_err(|_| RecordError::Closed)?;
        Ok(Self {
            inner: Arc::new(RecordInner {
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
        let append = AppendRequest {
            session,
            at,
            body,
            durability,
        };
        match queue.append(append) {
            Ok((promise, place)) => Ack::new_pending(promise, place, Arc::clone(queue)),
            Err(error) => Ack::new_failed(error),
        }
    }

    /// Makes the writer publish events that another process recorded soon, even if nothing is recorded here.
    pub fn publish_foreign_events(&self) {
        self.inner.queue.push_request(WriterRequest::PublishForeign);
    }

    /// Waits until nothing is left of the sessions that were deleted, on this thread. Not for use within an async task.
    ///
    /// # Errors
    /// Something is left, as on a full disk: it is erased later, at the next start at the latest.
    pub fn wait_until_erased(&self) -> Result<(), RecordError> {
        let (done, told) = oneshot::channel();
        self.inner.queue.push_request(WriterRequest::Erase(done));
        told.blocking_recv().unwrap_or(Err(RecordError::Closed))
    }

    /// Runs a query on the projections as of one moment, with every event in them that was acknowledged before.
    pub(crate) fn query_projections<T>(
        &self,
        question: impl FnOnce(&Transaction<'_>) -> Result<T, RecordError>,
    ) -> Result<T, RecordError> {
        let state = self.ensure_projected()?;
        self.inner.readers.read_snapshot(state, question)
    }

    /// Makes sure that all events acknowledged by now are projected. Where the writer cannot do so, as on a full disk,
    /// the query projects them for itself.
    pub(crate) fn ensure_projected(&self) -> Result<ProjectionState, RecordError> {
        let inner = &self.inner;
        if inner.log.is_some()
            || inner
                .readers
                .read_snapshot(ProjectionState::Current, is_fully_projected)?
        {
            return Ok(ProjectionState::Current);
        }
        let writer = inner.thread.as_ref().map(|thread| thread.thread().id());
        if writer == Some(thread::current().id()) {
            return Ok(ProjectionState::Temporary);
        }
        let (done, told) = mpsc::sync_channel(1);
        inner.queue.push_request(WriterRequest::Project(done));
        Ok(match told.recv() {
            Ok(true) => ProjectionState::Current,
            Ok(false) | Err(_) => ProjectionState::Temporary,
        })
    }

    /// Takes the database for full at `pages` pages of 8 kB, so that tests can meet a full disk. Waits until it holds.
    #[doc(hidden)]
    pub fn limit_database_pages(&self, pages: u32) {
        self.send_and_wait(|done| WriterRequest::LimitPages(pages, done));
    }

    /// Does deferred work without waiting for a quiet moment, so that measurements and tests can see its result. Waits
    /// until the work is done, or until it fails.
    #[doc(hidden)]
    pub fn flush_deferred(&self) {
        self.send_and_wait(WriterRequest::Flush);
    }

    fn send_and_wait(&self, ask: impl FnOnce(oneshot::Sender<()>) -> WriterRequest) {
        let (done, told) = oneshot::channel();
        self.inner.queue.push_request(ask(done));
        drop(told.blocking_recv());
    }
}

/// Whether the tables hold projections of every event in the log.
fn is_fully_projected(tx: &Transaction<'_>) -> Result<bool, RecordError> {
    Ok(load::load_projected_seq(tx)? >= load::load_last_seq(tx)?)
}

impl std::fmt::Debug for Record {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Record").finish_non_exhaustive()
    }
}

impl Drop for RecordInner {
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

/// Tells the queue on drop that no thread takes from it any more, also where the thread panicked.
struct AbandonOnDrop<'a>(&'a WriterQueue);

impl Drop for AbandonOnDrop<'_> {
    fn drop(&mut self) {
        self.0.close_abandoned();
    }
}
