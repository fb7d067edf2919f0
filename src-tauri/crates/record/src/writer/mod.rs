//! The writer, the only thread that writes: takes waiting events, writes them to the log in one transaction, publishes
//! them, then acknowledges them; and projects them once nothing waits, or on request.

pub(crate) mod ack;
pub(crate) mod erasure;
pub(crate) mod event_rows;
pub(crate) mod memory_log;
pub(crate) mod queue;
pub(crate) mod search_scope;

use std::sync::Arc;
use std::time::Duration;

use protocol::Event;
use rusqlite::{Connection, TransactionBehavior};

use crate::RecordError;
use crate::limits::DEFERRED_IDLE_DELAY;
use crate::projections::load;
use crate::projections::load::EVENT_COLUMNS;
use crate::projections::statements::seq_to_sql;
use crate::projections::{Projector, StoredEvents};
use crate::writer::erasure::{Erasure, ErasureProgress};
use crate::writer::event_rows::EventInserter;
use crate::writer::queue::{QueuedEvents, WriterBatch, WriterQueue, WriterRequest, WriterWork};
use crate::writer::search_scope::EntryKeys;

/// Callback for every event after its commit, in order, on the writer's thread; the events are shared, so that passing
/// them on copies none. It should do only that and return: while it runs, nothing is recorded. The events that it gets
/// follow without a gap on those that [`crate::Record::last_seq`] counted when the record was opened.
pub type PublishFn = Box<dyn Fn(Arc<[Event]>) + Send>;

/// The writer's own state.
pub(crate) struct Writer {
    conn: Connection,
    publish: PublishFn,
    /// The keys for the log's rows; none if they may lack an entry that they would have to hold.
    entry_keys: Option<EntryKeys>,
    maker: Projector,
    /// The last event that was published.
    last: u64,
    on_disk: bool,
    /// State of the deferred work.
    deferred: DeferredWork,
    erasure: Erasure,
}

/// The state of deferred work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DeferredWork {
    /// The work begins when nothing was requested for a while.
    Waiting,
    /// The work has begun, and goes on until something is requested.
    Running,
    /// The work failed, and is tried again after the next batch that does not fail.
    Failed,
}

/// The result of writing a batch of events.
struct WriteResult {
    /// The events that another process recorded meanwhile.
    foreign: Vec<Event>,
    /// The stored length of each event.
    lengths: Vec<usize>,
}

impl Writer {
    pub(crate) fn new(conn: Connection, publish: PublishFn) -> Result<Self, RecordError> {
        let last = load::load_last_seq(&conn)?;
        let erasure = Erasure::new(&conn)?;
        Ok(Self {
            conn,
            publish,
            entry_keys: None,
            maker: Projector::default(),
            last,
            on_disk: false,
            deferred: DeferredWork::Waiting,
            erasure,
        })
    }

    /// Works until nobody can send requests any more.
    pub(crate) fn run(mut self, queue: &WriterQueue) {
        while let Some(work) = queue.next_work(self.deferred_delay()) {
            match work {
                WriterWork::Batch(WriterBatch {
                    events,
                    requests: asks,
                }) => {
                    if let Some(batch) = events {
                        self.record_batch(batch);
                    }
                    if self.maker.is_full() {
                        self.project_pending();
                    }
                    asks.into_iter().for_each(|ask| self.handle_request(ask));
                    // It goes on whatever others record meanwhile.
                    if self.erasure.has_work() {
                        self.run_deferred(|| true);
                    }
                }
                WriterWork::Deferred => self.run_deferred(|| queue.has_requests()),
            }
        }
    }

    fn handle_request(&mut self, ask: WriterRequest) {
        // The sender of the request may have gone.
        match ask {
            WriterRequest::LimitPages(pages, done) => {
                self.limit_database_pages(pages);
                let _ = done.send(());
            }
            WriterRequest::Flush(done) => {
                while self.deferred_delay().is_some() {
                    self.run_deferred(|| false);
                }
                let _ = done.send(());
            }
            WriterRequest::PublishForeign => self.publish_foreign(),
            WriterRequest::Project(done) => {
                let _ = done.send(self.project_pending());
            }
            WriterRequest::Erase(done) => {
                self.erasure.wait(done);
                // Also after a failure, or nobody would tell whoever waits.
                self.deferred = DeferredWork::Waiting;
            }
        }
    }

    /// For how long nothing must be asked before late work is done; none if there is nothing to do.
    fn deferred_delay(&self) -> Option<Duration> {
        match self.deferred {
            _ if !self.maker.has_work()
                && !self.maker.live.deferred.has_work()
                && !self.erasure.has_work() =>
            {
                None
            }
            DeferredWork::Waiting => Some(DEFERRED_IDLE_DELAY),
            DeferredWork::Running => Some(Duration::ZERO),
            DeferredWork::Failed => None,
        }
    }

    /// Projects all events so far. Returns whether that worked.
    fn project_pending(&mut self) -> bool {
        loop {
            match self.project_some() {
                Ok(true) => {}
                Ok(false) => return true,
                Err(error) => {
                    self.abandon_deferred(&error);
                    return false;
                }
            }
        }
    }

    /// Projects some of the events. Returns whether there are more.
    fn project_some(&mut self) -> Result<bool, RecordError> {
        self.set_synchronous(false)?;
        let tx = self
            .conn
            .transaction_with_behavior(TransactionBehavior::Immediate)?;
        let more = self.maker.project_next(&tx)?;
        tx.commit()?;
        if let (false, Some(places)) = (more, &mut self.entry_keys) {
            places.forget_entries();
        }
        Ok(more)
    }

    /// Does some late work, until something is asked.
    fn run_deferred(&mut self, has_query: impl Fn() -> bool) {
        self.deferred = DeferredWork::Running;
        // What is erased is projected by then, so that nothing of it is left to do.
        let done = if self.maker.has_work() {
            self.project_some().map(drop)
        } else if self.erasure.has_work() {
            self.erase_slice()
        } else {
            self.write_deferred_slice(has_query)
        };
        if let Err(error) = done {
            self.abandon_deferred(&error);
        }
    }

    fn write_deferred_slice(&mut self, has_query: impl Fn() -> bool) -> Result<(), RecordError> {
        self.set_synchronous(false)?;
        let tx = self
            .conn
            .transaction_with_behavior(TransactionBehavior::Immediate)?;
        self.maker.live.deferred.write_deferred(&tx, has_query)?;
        Ok(tx.commit()?)
    }

    /// Erases some of what is left of deleted sessions. Where it stood is overwritten.
    fn erase_slice(&mut self) -> Result<(), RecordError> {
        self.set_synchronous(false)?;
        self.set_secure_delete(true)?;
        let tx = self
            .conn
            .transaction_with_behavior(TransactionBehavior::Immediate)?;
        let progress = self.erasure.erase_some(&tx)?;
        tx.commit()?;
        if progress == ErasureProgress::Finished {
            self.set_secure_delete(false)?;
            if let Err(error) = erasure::truncate_log(&self.conn) {
                tracing::info!(error = %error.to_user_error(), "the log of the record is emptied later");
            }
            self.erasure.finish();
        }
        Ok(())
    }

    fn set_secure_delete(&self, on: bool) -> Result<(), RecordError> {
        self.conn
            .pragma_update_and_check(None, "secure_delete", on, |_| Ok(()))?;
        Ok(())
    }

    /// Gives up the deferred work after an error; it stays deferred in the tables.
    fn abandon_deferred(&mut self, error: &RecordError) {
        self.clear_caches();
        self.erasure.fail(error);
        self.deferred = DeferredWork::Failed;
        tracing::warn!(error = %error.to_user_error(), "what was left for later waits longer");
    }

    /// Clears everything in memory, which may hold changes that were rolled back.
    fn clear_caches(&mut self) {
        (self.entry_keys, self.maker) = (None, Projector::default());
    }

    /// Publishes events that another process recorded, which are otherwise published with this process's next batch.
    fn publish_foreign(&mut self) {
        match load_foreign_events(&self.conn, self.last) {
            Ok(events) => {
                let Some(last) = events.last() else {
                    return;
                };
                (self.last, self.entry_keys) = (last.seq, None);
                (self.publish)(events.into());
            }
            Err(error) => {
                tracing::warn!(error = %error.to_user_error(), "what another process recorded is reported later");
            }
        }
    }

    /// Records a batch as a whole, or refuses it as a whole.
    fn record_batch(&mut self, batch: QueuedEvents) {
        let mut events = batch.events;
        let result = match self.write_events(&mut events, batch.on_disk) {
            Ok(WriteResult { foreign, lengths }) => {
                if !foreign.is_empty() {
                    (self.publish)(foreign.into());
                }
                let first = events.first().map_or(self.last, |event| event.seq);
                self.last = events.last().map_or(self.last, |event| event.seq);
                self.deferred = DeferredWork::Waiting;
                if events.iter().any(erasure::is_deletion) {
                    self.erasure.begin();
                }
                let events: Arc<[Event]> = events.into();
                (self.publish)(Arc::clone(&events));
                self.maker.push_events(StoredEvents { events, lengths });
                Ok(first)
            }
            Err(error) => {
                self.clear_caches();
                tracing::error!(events = events.len(), error = %error.to_user_error(), "not recorded");
                Err(error)
            }
        };
        // Whoever dropped its promise does not want to know.
        let _ = batch.ack_sender.send(result);
    }

    /// Writes some events in one transaction and gives them their positions.
    fn write_events(
        &mut self,
        events: &mut [Event],
        on_disk: bool,
    ) -> Result<WriteResult, RecordError> {
        self.set_synchronous(on_disk)?;
        let tx = self
            .conn
            .transaction_with_behavior(TransactionBehavior::Immediate)?;
        let foreign = load_foreign_events(&tx, self.last)?;
        let mut seq = self.last;
        if let Some(last) = foreign.last() {
            (seq, self.entry_keys) = (last.seq, None);
        }
        let places = match &mut self.entry_keys {
            Some(places) => places,
            None => {
                // Every entry is found in the tables, then.
                self.maker.project_all(&tx)?;
                self.entry_keys.insert(EntryKeys::default())
            }
        };
        let mut log = EventInserter::new(&tx)?;
        let mut lengths = Vec::with_capacity(events.len());
        let mut deleted = Vec::new();
        for event in events.iter_mut() {
            seq += 1;
            event.seq = seq;
            log.push_event(event, |bytes| {
                lengths.push(bytes);
                let keys = places.keys_for(&tx, event)?;
                if erasure::is_deletion(event) {
                    deleted.push((keys.0, event.seq));
                }
                Ok(keys)
            })?;
        }
        log.flush_rest()?;
        places.store_spans(&tx)?;
        for (session, seq) in deleted {
            erasure::mark_deleted(&tx, session, seq)?;
        }
        tx.commit()?;
        Ok(WriteResult { foreign, lengths })
    }

    /// Whether a commit is on the disk when it returns.
    fn set_synchronous(&mut self, on_disk: bool) -> Result<(), RecordError> {
        if on_disk != self.on_disk {
            let level = if on_disk { "full" } else { "normal" };
            self.conn.pragma_update(None, "synchronous", level)?;
            self.on_disk = on_disk;
        }
        Ok(())
    }

    fn limit_database_pages(&self, pages: u32) {
        let set = self
            .conn
            .pragma_update_and_check(None, "max_page_count", pages, |_| Ok(()));
        if let Err(error) = set {
            tracing::error!(%error, "the limit of pages was not set");
        }
    }
}

/// The events on record after this one, all of other processes.
fn load_foreign_events(conn: &Connection, last: u64) -> Result<Vec<Event>, RecordError> {
    if load::load_last_seq(conn)? == last {
        return Ok(Vec::new());
    }
    let sql = format!("SELECT {EVENT_COLUMNS} WHERE events.seq > ?1 ORDER BY events.seq");
    load::load_rows(conn, &sql, [seq_to_sql(last)], load::event_from_row)
}
