//! The record: what state it is in, and what it holds in numbers.

use std::collections::BTreeMap;
use std::path::Path;

use protocol::{CallState, SessionState};
use record::{Record, RecordCounts, RecordError, StateCount};
use serde::Serialize;

use crate::engine::maintenance::record_check::{check_record_exists, record_path};

/// The record.
#[derive(Debug, Serialize)]
pub(super) struct RecordReport {
    state: RecordState,
    sessions: Vec<CountReport<SessionState>>,
    calls: Vec<CountReport<CallState>>,
    /// By the name of their kind.
    events: BTreeMap<&'static str, u64>,
    events_of_unknown_kinds: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum RecordState {
    /// Nothing was recorded yet.
    None,
    /// There is no record, and files that belong to one.
    Missing,
    Whole,
    Damaged,
    /// A newer version wrote it.
    Newer,
    Unreadable,
}

#[derive(Debug, Serialize)]
struct CountReport<S> {
    state: S,
    count: u64,
}

impl RecordReport {
    pub(super) fn read(data_dir: &Path) -> Self {
        let file = record_path(data_dir);
        if Record::is_blank(&file) {
            let state = match check_record_exists(data_dir) {
                Ok(()) => RecordState::None,
                Err(_) => RecordState::Missing,
            };
            return Self::new(state, RecordCounts::default());
        }
        match Record::count(&file) {
            Ok(counts) => Self::new(RecordState::Whole, counts),
            Err(error) => Self::new(state_of_error(&error), RecordCounts::default()),
        }
    }

    fn new(state: RecordState, counts: RecordCounts) -> Self {
        let RecordCounts {
            events,
            unknown_events,
            sessions,
            calls,
        } = counts;
        Self {
            state,
            sessions: sessions.into_iter().map(CountReport::from).collect(),
            calls: calls.into_iter().map(CountReport::from).collect(),
            events,
            events_of_unknown_kinds: unknown_events,
        }
    }
}

impl<S> From<StateCount<S>> for CountReport<S> {
    fn from(count: StateCount<S>) -> Self {
        let StateCount { state, count } = count;
        Self { state, count }
    }
}

fn state_of_error(error: &RecordError) -> RecordState {
    match error {
        RecordError::Newer { .. } => RecordState::Newer,
        RecordError::NotARecord { .. } | RecordError::Damaged { .. } => RecordState::Damaged,
        RecordError::Full(_)
        | RecordError::CannotOpen { .. }
        | RecordError::CannotCopy { .. }
        | RecordError::Busy(_)
        | RecordError::Overloaded
        | RecordError::Closed
        | RecordError::Serialize(_)
        | RecordError::Other(_) => RecordState::Unreadable,
    }
}
