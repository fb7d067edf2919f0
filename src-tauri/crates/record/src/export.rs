//! A session as a file to keep or to pass on.

use protocol::{Entry, Fault, SessionId};

use crate::limits::{PAGE_ENTRIES_MAX, PAGE_EVENTS_MAX};
use crate::record::Record;
use crate::{RecordError, markdown, store};

/// What a session is exported as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// A story to read.
    Markdown,
    /// Every event as recorded, one JSON object a line.
    JsonLines,
}

impl Format {
    /// Reads `md` or `jsonl`.
    pub fn parse(name: &str) -> Result<Self, Fault> {
        match name {
            "md" => Ok(Self::Markdown),
            "jsonl" => Ok(Self::JsonLines),
            _ => Err(Fault::new(
                format!("There is no export format “{name}”."),
                "The formats are md and jsonl.",
            )),
        }
    }
}

impl Record {
    /// A whole session as text; empty if there is no such session.
    pub fn export(&self, session: &SessionId, format: Format) -> Result<String, RecordError> {
        match format {
            Format::Markdown => self.markdown(session),
            Format::JsonLines => self.json_lines(session),
        }
    }

    fn json_lines(&self, session: &SessionId) -> Result<String, RecordError> {
        let mut text = String::new();
        let mut since = 0;
        loop {
            let events = self.events(since, Some(session), PAGE_EVENTS_MAX)?;
            let Some(last) = events.last() else {
                return Ok(text);
            };
            since = last.seq;
            for event in &events {
                text.push_str(&store::json(event)?);
                text.push('\n');
            }
        }
    }

    fn markdown(&self, session: &SessionId) -> Result<String, RecordError> {
        let Some(view) = self.session(session)? else {
            return Ok(String::new());
        };
        let mut text = markdown::head(&view);
        let mut from = 0;
        loop {
            let (entries, more) = self.transcript_from(session, from, PAGE_ENTRIES_MAX)?;
            for entry in &entries {
                text.push_str(&markdown::entry(entry));
            }
            match entries.last() {
                Some(Entry { seq, .. }) if more => from = seq + 1,
                _ => return Ok(text),
            }
        }
    }
}
