//! What is known while the entries of a transcript are read, and which of its calls are kept.

use std::collections::HashSet;
use std::path::PathBuf;

use protocol::At;
use protocol::text::timestamp::parse_timestamp;
use serde_json::{Map, Value};

use crate::transcripts::{TranscriptCall, TranscriptQuery, Transcripts};

/// A session while its transcript is read.
pub(super) struct SessionState<'a> {
    /// Which calls are looked for.
    pub query: &'a TranscriptQuery<'a>,
    /// What was found so far.
    pub found: &'a mut Transcripts,
    /// Ids of the calls that were seen, with their times: some models number the calls of every session from 1.
    pub ids: &'a mut HashSet<(String, At)>,
    /// The agent's id of the session.
    pub session: String,
    /// Folder that the agent works in, as far as it is known.
    pub folder: Option<PathBuf>,
    /// When the entry was written.
    pub at: At,
}

impl SessionState<'_> {
    /// Remembers when an entry was written.
    pub(super) fn note_time(&mut self, entry: &Value) {
        let text = entry.get("timestamp").and_then(Value::as_str);
        let at = text.and_then(parse_timestamp);
        self.at = at.unwrap_or(self.at);
    }

    /// Remembers the session, where the entry names it.
    pub(super) fn note_session(&mut self, entry: &Value, name: &str) {
        if let Some(session) = entry.get(name).and_then(Value::as_str) {
            session.clone_into(&mut self.session);
        }
    }

    /// Remembers the folder, where the entry names it.
    pub(super) fn note_folder(&mut self, entry: &Value) {
        if let Some(folder) = entry.get("cwd").and_then(Value::as_str) {
            self.folder = Some(folder.into());
        }
    }

    /// Adds a call, if it is one of those that are looked for and was not seen before.
    pub(super) fn add_call(&mut self, id: Option<&Value>, tool: &str, input: Map<String, Value>) {
        let Some(id) = id.and_then(Value::as_str) else {
            return;
        };
        if self.at < self.query.since || !self.ids.insert((id.to_owned(), self.at)) {
            return;
        }
        let folder = self.folder.as_ref();
        match folder.filter(|folder| folder.starts_with(self.query.workspace)) {
            Some(folder) => self.found.calls.push(TranscriptCall {
                id: id.to_owned(),
                session: self.session.clone(),
                at: self.at,
                tool: tool.to_owned(),
                input,
                folder: folder.clone(),
            }),
            None => self.found.elsewhere += 1,
        }
    }
}
