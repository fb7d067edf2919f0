//! The calls of sessions on record, in the order in which they were made.

use std::collections::{HashMap, VecDeque};
use std::path::Path;

use protocol::{At, Event, EventBody, SessionId, UserError};
use runtime::Workspace;

use super::{ReplayCall, path_text};
use crate::engine::Engine;
use crate::engine::since::parse_since;
use crate::replay::folder_names::replace_in_members;

/// Number of events that are read at a time.
const PAGE_EVENTS: u32 = 1_000;

/// Reader of recorded calls.
pub struct RecordedCalls<'a> {
    engine: &'a Engine,
    /// Workspace of each session whose calls are read.
    roots: HashMap<SessionId, String>,
    /// Workspace that the calls are made in now.
    root: String,
    since: At,
    last_seq: u64,
    page: VecDeque<ReplayCall>,
}

impl<'a> RecordedCalls<'a> {
    /// Opens the calls that were made since a point in time, `2026-05-01` or `7d`: of these sessions, or of all sessions
    /// of the workspace if none is named.
    ///
    /// # Errors
    /// The workspace cannot be opened, the record cannot be read, or `since` is no point in time.
    pub fn open(
        engine: &'a Engine,
        workspace: &Path,
        named: &[SessionId],
        since: Option<&str>,
    ) -> Result<Self, UserError> {
        let since = since.map(|text| parse_since(text, engine.state.now()));
        let since = since.transpose()?.unwrap_or(At::MIN);
        let root = path_text(Workspace::open(workspace)?.root());
        let sessions = engine.state.record.sessions()?.into_iter();
        let roots = sessions
            .filter(|one| match named.is_empty() {
                true => one.workspace == root,
                false => named.contains(&one.id),
            })
            .map(|one| (one.id, one.workspace))
            .collect();
        Ok(Self {
            engine,
            roots,
            root,
            since,
            last_seq: 0,
            page: VecDeque::new(),
        })
    }

    /// Returns the next call; none after the last one.
    ///
    /// # Errors
    /// The record cannot be read.
    pub fn next_call(&mut self) -> Result<Option<ReplayCall>, UserError> {
        while self.page.is_empty() {
            let record = &self.engine.state.record;
            let events = record.events(self.last_seq, None, PAGE_EVENTS)?;
            let Some(last) = events.last() else {
                return Ok(None);
            };
            self.last_seq = last.seq;
            let calls = events.into_iter().filter_map(|event| self.read_call(event));
            self.page = calls.collect();
        }
        Ok(self.page.pop_front())
    }

    /// Returns the call that an event proposes, if it is one of those to read. Its arguments name files of the
    /// workspace that it was made in; they are replaced by those of the present one.
    fn read_call(&self, event: Event) -> Option<ReplayCall> {
        let root = self.roots.get(&event.session)?;
        match event.body {
            EventBody::Proposal(proposal) if event.at >= self.since => Some(ReplayCall {
                id: proposal.call.id.to_string(),
                session: Some(event.session.to_string()),
                tool: proposal.call.name,
                arguments: replace_in_members(proposal.call.arguments, root, &self.root),
            }),
            _ => None,
        }
    }
}
