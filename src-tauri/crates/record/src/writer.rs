//! The one thread that writes: takes what waits, writes it in one transaction, publishes it, then acknowledges it; and
//! makes up for what it left for later once nothing waits.

use std::sync::Arc;
use std::time::Duration;

use protocol::Event;
use rusqlite::{Connection, TransactionBehavior};

use crate::RecordError;
use crate::ack::{Append, Durability};
use crate::events::EventRows;
use crate::judged;
use crate::limits::LATE_AFTER;
use crate::live::Live;
use crate::load::{self, EVENT};
use crate::queue::{Ask, Batch, Queue, Work};
use crate::record::Publish;
use crate::store::{Statements, sql};

/// The writer's own state.
pub(crate) struct Writer {
    conn: Connection,
    publish: Publish,
    live: Live,
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

impl Writer {
    pub(crate) fn new(conn: Connection, publish: Publish) -> Result<Self, RecordError> {
        let last = load::last_seq(&conn)?;
        Ok(Self {
            conn,
            publish,
            live: Live::default(),
            last,
            on_disk: false,
            late: LateWork::Waits,
        })
    }

    /// Works until nobody can ask any more.
    pub(crate) fn run(mut self, queue: &Queue) {
        while let Some(work) = queue.take(self.late_after()) {
            match work {
                Work::Asked(Batch { appends, asks }) => {
                    self.record(appends);
                    asks.into_iter().for_each(|ask| self.answer(ask));
                }
                Work::Late => self.catch_up(|| queue.is_asked()),
            }
        }
    }

    fn answer(&mut self, ask: Ask) {
        let done = match ask {
            Ask::PagesMax(pages, done) => {
                self.limit(pages);
                done
            }
            Ask::Rest(done) => {
                while self.late_after().is_some() {
                    self.catch_up(|| false);
                }
                done
            }
        };
        // Who asked may have gone.
        let _ = done.send(());
    }

    /// For how long nothing must be asked before late work is done; none if there is nothing to do.
    fn late_after(&self) -> Option<Duration> {
        match self.late {
            _ if !self.live.late.owes() => None,
            LateWork::Waits => Some(LATE_AFTER),
            LateWork::Runs => Some(Duration::ZERO),
            LateWork::Failed => None,
        }
    }

    /// Does some late work, until something is asked. Where it fails, what is owed stays so in the tables.
    fn catch_up(&mut self, asked: impl Fn() -> bool) {
        self.late = LateWork::Runs;
        if let Err(error) = self.complete(asked) {
            self.live.clear();
            self.late = LateWork::Failed;
            tracing::warn!(error = %error.fault(), "what was left for later waits longer");
        }
    }

    fn complete(&mut self, asked: impl Fn() -> bool) -> Result<(), RecordError> {
        self.sync(false)?;
        let tx = self
            .conn
            .transaction_with_behavior(TransactionBehavior::Immediate)?;
        self.live.late.catch_up(&tx, asked)?;
        Ok(tx.commit()?)
    }

    /// Records a batch whole, or refuses it whole.
    fn record(&mut self, batch: Vec<Append>) {
        if batch.is_empty() {
            return;
        }
        let on_disk = batch.iter().any(|a| a.durability == Durability::OnDisk);
        let (acks, mut events): (Vec<_>, Vec<_>) =
            batch.into_iter().map(Append::into_parts).unzip();
        match self.write(&mut events, on_disk) {
            Ok(foreign) => {
                if !foreign.is_empty() {
                    (self.publish)(foreign.into());
                }
                self.last = events.last().map_or(self.last, |event| event.seq);
                self.late = LateWork::Waits;
                let events: Arc<[Event]> = events.into();
                (self.publish)(Arc::clone(&events));
                for (ack, event) in acks.into_iter().zip(events.iter()) {
                    // Whoever dropped its promise does not want to know.
                    let _ = ack.send(Ok(event.seq));
                }
            }
            Err(error) => {
                // What is in memory may hold events that were rolled back.
                self.live.clear();
                tracing::error!(events = events.len(), error = %error.fault(), "not recorded");
                for ack in acks {
                    let _ = ack.send(Err(error.clone()));
                }
            }
        }
    }

    /// Writes some events in one transaction and gives them their positions. Gives the events that another process
    /// recorded meanwhile.
    fn write(&mut self, events: &mut [Event], on_disk: bool) -> Result<Vec<Event>, RecordError> {
        self.sync(on_disk)?;
        let tx = self
            .conn
            .transaction_with_behavior(TransactionBehavior::Immediate)?;
        let mut seq = load::last_seq(&tx)?;
        let mut foreign = Vec::new();
        if seq != self.last {
            self.live.clear();
            let mut statement = tx.prepare_cached(&format!(
                "SELECT {EVENT} WHERE events.seq > ?1 ORDER BY events.seq"
            ))?;
            let mut rows = statement.query([sql(self.last)])?;
            while let Some(row) = rows.next()? {
                foreign.push(load::event(row)?);
            }
        }
        let mut log = EventRows::new(&tx)?;
        let mut places = Vec::with_capacity(events.len());
        for event in events.iter_mut() {
            seq += 1;
            event.seq = seq;
            // What is read to fold an event in is never told in the same batch: that is in memory until the batch is
            // stored.
            log.add(event, |bytes| {
                let place = self.live.fold(&tx, event, bytes)?;
                places.push(place);
                Ok(place)
            })?;
        }
        log.finish()?;
        judged::project(&tx, events, &places)?;
        let mut rows = Statements::new(&tx)?;
        self.live.store(&mut rows)?;
        drop(rows);
        tx.commit()?;
        self.live.trim();
        Ok(foreign)
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
