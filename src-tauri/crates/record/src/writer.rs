//! The one thread that writes: takes what waits, writes it to the log in one transaction, publishes it, then acknowledges
//! it; and makes of it what there is to make once nothing waits, or somebody asks.

use std::sync::Arc;
use std::time::Duration;

use protocol::Event;
use rusqlite::{Connection, TransactionBehavior};

use crate::RecordError;
use crate::events::EventRows;
use crate::limits::LATE_AFTER;
use crate::load::{self, EVENT};
use crate::made::{Maker, Stored};
use crate::places::Places;
use crate::queue::{Ask, Batch, Events, Queue, Work};
use crate::record::Publish;
use crate::store::sql;

/// The writer's own state.
pub(crate) struct Writer {
    conn: Connection,
    publish: Publish,
    /// The keys for the log's rows; none if it does not know every entry that it would have to.
    places: Option<Places>,
    maker: Maker,
    /// The last event that was published.
    last: u64,
    on_disk: bool,
    /// How late work goes.
    late: LateWork,
}

/// How late work goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LateWork {
    /// It begins when nothing was asked for a while.
    Waits,
    /// It has begun, and goes on until something is asked.
    Runs,
    /// It failed, and is tried again after the next batch that does not.
    Failed,
}

/// What came of writing some events.
struct Written {
    /// The events that another process recorded meanwhile.
    foreign: Vec<Event>,
    /// The stored length of each event.
    lengths: Vec<usize>,
}

impl Writer {
    pub(crate) fn new(conn: Connection, publish: Publish) -> Result<Self, RecordError> {
        let last = load::last_seq(&conn)?;
        Ok(Self {
            conn,
            publish,
            places: None,
            maker: Maker::default(),
            last,
            on_disk: false,
            late: LateWork::Waits,
        })
    }

    /// Works until nobody can ask any more.
    pub(crate) fn run(mut self, queue: &Queue) {
        while let Some(work) = queue.take(self.late_after()) {
            match work {
                Work::Asked(Batch { events, asks }) => {
                    if let Some(batch) = events {
                        self.record(batch);
                    }
                    if self.maker.is_full() {
                        self.make();
                    }
                    asks.into_iter().for_each(|ask| self.answer(ask));
                }
                Work::Late => self.catch_up(|| queue.is_asked()),
            }
        }
    }

    fn answer(&mut self, ask: Ask) {
        // Who asked may have gone.
        match ask {
            Ask::PagesMax(pages, done) => {
                self.limit(pages);
                let _ = done.send(());
            }
            Ask::Rest(done) => {
                while self.late_after().is_some() {
                    self.catch_up(|| false);
                }
                let _ = done.send(());
            }
            Ask::Look => self.look(),
            Ask::Make(done) => {
                let _ = done.send(self.make());
            }
        }
    }

    /// For how long nothing must be asked before late work is done; none if there is nothing to do.
    fn late_after(&self) -> Option<Duration> {
        match self.late {
            _ if !self.maker.owes() && !self.maker.live.late.owes() => None,
            LateWork::Waits => Some(LATE_AFTER),
            LateWork::Runs => Some(Duration::ZERO),
            LateWork::Failed => None,
        }
    }

    /// Makes what is there to make of the events so far. Gives whether that worked.
    fn make(&mut self) -> bool {
        loop {
            match self.make_some() {
                Ok(true) => {}
                Ok(false) => return true,
                Err(error) => {
                    self.put_off(&error);
                    return false;
                }
            }
        }
    }

    /// Makes some of it. Gives whether there is more.
    fn make_some(&mut self) -> Result<bool, RecordError> {
        self.sync(false)?;
        let tx = self
            .conn
            .transaction_with_behavior(TransactionBehavior::Immediate)?;
        let more = self.maker.make(&tx)?;
        tx.commit()?;
        if let (false, Some(places)) = (more, &mut self.places) {
            places.forget_entries();
        }
        Ok(more)
    }

    /// Does some late work, until something is asked.
    fn catch_up(&mut self, asked: impl Fn() -> bool) {
        self.late = LateWork::Runs;
        let done = match self.maker.owes() {
            true => self.make_some().map(drop),
            false => self.complete(asked),
        };
        if let Err(error) = done {
            self.put_off(&error);
        }
    }

    fn complete(&mut self, asked: impl Fn() -> bool) -> Result<(), RecordError> {
        self.sync(false)?;
        let tx = self
            .conn
            .transaction_with_behavior(TransactionBehavior::Immediate)?;
        self.maker.live.late.catch_up(&tx, asked)?;
        Ok(tx.commit()?)
    }

    /// What is owed stays so in the tables.
    fn put_off(&mut self, error: &RecordError) {
        self.forget();
        self.late = LateWork::Failed;
        tracing::warn!(error = %error.fault(), "what was left for later waits longer");
    }

    /// What is in memory may hold what was rolled back.
    fn forget(&mut self) {
        (self.places, self.maker) = (None, Maker::default());
    }

    /// Publishes what another process recorded, which is otherwise told with the next batch of this one.
    fn look(&mut self) {
        match foreign(&self.conn, self.last) {
            Ok(events) => {
                let Some(last) = events.last() else {
                    return;
                };
                (self.last, self.places) = (last.seq, None);
                (self.publish)(events.into());
            }
            Err(error) => {
                tracing::warn!(error = %error.fault(), "what another process recorded is told later");
            }
        }
    }

    /// Records a batch whole, or refuses it whole.
    fn record(&mut self, batch: Events) {
        let mut events = batch.events;
        let told = match self.write(&mut events, batch.on_disk) {
            Ok(Written { foreign, lengths }) => {
                if !foreign.is_empty() {
                    (self.publish)(foreign.into());
                }
                let first = events.first().map_or(self.last, |event| event.seq);
                self.last = events.last().map_or(self.last, |event| event.seq);
                self.late = LateWork::Waits;
                let events: Arc<[Event]> = events.into();
                (self.publish)(Arc::clone(&events));
                self.maker.keep(Stored { events, lengths });
                Ok(first)
            }
            Err(error) => {
                self.forget();
                tracing::error!(events = events.len(), error = %error.fault(), "not recorded");
                Err(error)
            }
        };
        // Whoever dropped its promise does not want to know.
        let _ = batch.keeper.send(told);
    }

    /// Writes some events in one transaction and gives them their positions.
    fn write(&mut self, events: &mut [Event], on_disk: bool) -> Result<Written, RecordError> {
        self.sync(on_disk)?;
        let tx = self
            .conn
            .transaction_with_behavior(TransactionBehavior::Immediate)?;
        let foreign = foreign(&tx, self.last)?;
        let mut seq = self.last;
        if let Some(last) = foreign.last() {
            (seq, self.places) = (last.seq, None);
        }
        let places = match &mut self.places {
            Some(places) => places,
            None => {
                // Every entry is found in the tables, then.
                self.maker.make_all(&tx)?;
                self.places.insert(Places::default())
            }
        };
        let mut log = EventRows::new(&tx)?;
        let mut lengths = Vec::with_capacity(events.len());
        for event in events.iter_mut() {
            seq += 1;
            event.seq = seq;
            log.add(event, |bytes| {
                lengths.push(bytes);
                places.of(&tx, event)
            })?;
        }
        log.finish()?;
        places.store_spans(&tx)?;
        tx.commit()?;
        Ok(Written { foreign, lengths })
    }

    /// Whether a commit is on the disk when it returns.
    fn sync(&mut self, on_disk: bool) -> Result<(), RecordError> {
        if on_disk != self.on_disk {
            let level = if on_disk { "full" } else { "normal" };
            self.conn.pragma_update(None, "synchronous", level)?;
            self.on_disk = on_disk;
        }
        Ok(())
    }

    fn limit(&self, pages: u32) {
        let set = self
            .conn
            .pragma_update_and_check(None, "max_page_count", pages, |_| Ok(()));
        if let Err(error) = set {
            tracing::error!(%error, "the limit of pages was not set");
        }
    }
}

/// The events on record after this one, all of other processes.
fn foreign(conn: &Connection, last: u64) -> Result<Vec<Event>, RecordError> {
    if load::last_seq(conn)? == last {
        return Ok(Vec::new());
    }
    let mut statement = conn.prepare_cached(&format!(
        "SELECT {EVENT} WHERE events.seq > ?1 ORDER BY events.seq"
    ))?;
    let mut rows = statement.query([sql(last)])?;
    let mut events = Vec::new();
    while let Some(row) = rows.next()? {
        events.push(load::event(row)?);
    }
    Ok(events)
}
