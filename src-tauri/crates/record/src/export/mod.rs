//! A session as a file to keep or to pass on.

mod html;
pub(crate) mod markdown;

use std::sync::Arc;

use protocol::mappers::{SessionMapper, Vocabulary};
use protocol::text::redact;
use protocol::{Entry, Event, SessionId, UserError};
use serde_json::Value;

use crate::RecordError;
use crate::limits::{PAGE_ENTRIES_MAX, PAGE_EVENTS_MAX};
use crate::projections::statements;
use crate::record::Record;

/// The format of an exported session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExportFormat {
    /// Prose to read.
    Markdown,
    /// The same as one HTML file, which runs nothing and loads nothing.
    Html,
    /// Every event as recorded but for its secrets, one JSON object a line.
    JsonLines,
    /// The events in a specification's words, one JSON object a line (M19).
    Vocabulary(Vocabulary),
}

impl ExportFormat {
    /// Reads `md`, `html`, `jsonl` or the name of a vocabulary.
    pub fn parse(name: &str) -> Result<Self, UserError> {
        match name {
            "md" => Ok(Self::Markdown),
            "html" => Ok(Self::Html),
            "jsonl" => Ok(Self::JsonLines),
            _ => Vocabulary::parse(name).map(Self::Vocabulary).map_err(|_| {
                UserError::new(
                    format!("There is no export format “{name}”."),
                    "The formats are md, html, jsonl, chat, spans, agent, chunks and tool-events.",
                )
            }),
        }
    }
}

impl Record {
    /// A whole session as text, with `***` in place of its secrets; empty if there is no such session.
    pub fn export_session(
        &self,
        session: &SessionId,
        format: ExportFormat,
    ) -> Result<String, RecordError> {
        match format {
            ExportFormat::Markdown => self.export_markdown(session),
            ExportFormat::Html => self.export_html(session),
            ExportFormat::JsonLines => self.export_lines(session, |event, text| {
                let value = serde_json::to_value(event);
                let value = value.map_err(|error| RecordError::Serialize(Arc::new(error)))?;
                push_masked(text, &value, statements::to_json(event)?);
                Ok(())
            }),
            ExportFormat::Vocabulary(vocabulary) => {
                let mut teller = SessionMapper::new(vocabulary, session.clone());
                self.export_lines(session, |event, text| {
                    for word in teller.map(event) {
                        let line = word.to_string();
                        push_masked(text, &word, line);
                    }
                    Ok(())
                })
            }
        }
    }

    fn export_lines(
        &self,
        session: &SessionId,
        mut write: impl FnMut(&Event, &mut String) -> Result<(), RecordError>,
    ) -> Result<String, RecordError> {
        let mut text = String::new();
        let mut since = 0;
        loop {
            let events = self.events(since, Some(session), PAGE_EVENTS_MAX)?;
            let Some(last) = events.last() else {
                return Ok(text);
            };
            since = last.seq;
            for event in &events {
                write(event, &mut text)?;
            }
        }
    }

    fn export_html(&self, session: &SessionId) -> Result<String, RecordError> {
        let Some(view) = self.session(session)? else {
            return Ok(String::new());
        };
        let title = markdown::escape::name_hidden_chars(&redact::text(&view.title).0);
        Ok(html::render_page(&title, &self.export_markdown(session)?))
    }

    fn export_markdown(&self, session: &SessionId) -> Result<String, RecordError> {
        let Some(view) = self.session(session)? else {
            return Ok(String::new());
        };
        let mut text = markdown::render_head(&view);
        let mut from = 0;
        loop {
            let (entries, more) = self.transcript_from(session, from, PAGE_ENTRIES_MAX)?;
            for entry in &entries {
                text.push_str(&redact::text(&markdown::render_entry(entry)).0);
            }
            match entries.last() {
                Some(Entry { seq, .. }) if more => from = seq + 1,
                _ => return Ok(text),
            }
        }
    }
}

/// Adds a line of JSON without its secrets; most lines have none and stay as they are.
fn push_masked(text: &mut String, value: &Value, line: String) {
    match redact::mask_value(value) {
        (_, 0) => text.push_str(&line),
        (masked, _) => text.push_str(&masked.to_string()),
    }
    text.push('\n');
}
