//! The limits of the record, each with its reason.

use std::time::Duration;

/// Events in one transaction: a few milliseconds of work, so that an ack never waits long behind others.
pub(crate) const BATCH_EVENTS_MAX: usize = 1_024;
/// How long events gather when nobody waits for them: a burst of calls becomes one transaction, and a person sees no
/// delay.
pub(crate) const GATHER_DELAY: Duration = Duration::from_millis(5);
/// Events that wait for the writer; more than this and an append is refused, or memory would grow without end.
pub(crate) const QUEUED_EVENTS_MAX: usize = 100_000;
/// Unsettled entries that the writer keeps folded in memory; the rest is read again when it is needed.
pub(crate) const LIVE_ENTRIES_MAX: usize = 1_024;
/// Sessions that the writer keeps folded in memory.
pub(crate) const LIVE_SESSIONS_MAX: usize = 1_024;
/// Bytes of streamed text after which an unfinished entry is written again; in between, a reader folds the pieces in.
pub(crate) const PIECES_BYTES_MAX: usize = 32 * 1024;
/// Streamed pieces after which an unfinished entry is written again.
pub(crate) const PIECES_MAX: usize = 256;
/// Recorded events that may lack a projection; beyond that, they are projected before more events are recorded. The
/// first query waits for the projection: some tens of milliseconds.
pub(crate) const UNPROJECTED_EVENTS_MAX: usize = 8_192;
/// Bytes of the JSON of those events, which are kept in memory until they are projected.
pub(crate) const UNPROJECTED_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Time without an append after which the writer does deferred work: longer than a step of a call that runs by itself
/// takes, shorter than a person takes to look.
pub(crate) const DEFERRED_IDLE_DELAY: Duration = Duration::from_millis(50);
/// Entries in one transaction of late work: a few milliseconds, which end early when something is appended.
pub(crate) const DEFERRED_SLICE_MAX: usize = 256;
/// Entries whose JSON and words may be deferred; beyond that, these are written at once. A search looks through all
/// deferred entries.
pub(crate) const DEFERRED_ENTRIES_MAX: usize = 4_096;
/// Bytes of the events of those entries, which are kept in memory until the deferred writes.
pub(crate) const DEFERRED_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Events from the first to the last of an entry that may be deferred: a reader walks over those between.
pub(crate) const DEFERRED_SPAN_MAX: u64 = 4_096;
/// Events of a deleted session in one transaction: a few milliseconds of work.
pub(crate) const ERASED_EVENTS_MAX: usize = 512;
/// Pages of the full-text index that are merged in one transaction.
pub(crate) const MERGED_PAGES_MAX: i64 = 64;
/// Connections that read at the same time; a further reader waits for one of them.
pub(crate) const READERS_MAX: usize = 4;
/// How long one process waits for another that writes to the same database, in milliseconds. A disk that others keep
/// busy may take many seconds to take a checkpoint; an event that waits for it is better than one that is refused.
pub(crate) const BUSY_TIMEOUT_MS: u64 = 30_000;
/// Length of a page of a new database.
pub(crate) const PAGE_BYTES: u32 = 8 * 1024;
/// Pages in the write-ahead log after which it is copied into the database: 16 MB.
pub(crate) const WAL_PAGES: u32 = 2_000;

/// Entries in one page of a transcript.
pub(crate) const PAGE_ENTRIES_MAX: u32 = 500;
/// Stored bytes in one page of a transcript; a page has at least one entry.
pub(crate) const PAGE_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Events in one answer.
pub(crate) const PAGE_EVENTS_MAX: u32 = 10_000;
/// Undo entries in one page.
pub(crate) const PAGE_UNDO_MAX: u32 = 500;

/// Bytes of one argument, of the output, or of a message that are indexed.
pub(crate) const INDEXED_PART_BYTES_MAX: usize = 16 * 1024;
/// Bytes of a whole entry that are indexed.
pub(crate) const INDEXED_BYTES_MAX: usize = 64 * 1024;
/// Levels of nested arguments that are indexed.
pub(crate) const INDEXED_DEPTH_MAX: usize = 8;

/// Length of a search text in bytes.
pub(crate) const QUERY_BYTES_MAX: usize = 4 * 1024;
/// Words, phrases and filters in one search text.
pub(crate) const QUERY_PARTS_MAX: usize = 64;
/// Hits in one page.
pub(crate) const PAGE_HITS_MAX: u32 = 200;
/// Characters of one line of context.
pub(crate) const SNIPPET_LINE_CHARS_MAX: usize = 240;
/// Values named for one facet.
pub(crate) const FACET_VALUES_MAX: usize = 20;
