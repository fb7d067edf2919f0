//! The text of entries: where one stands, another in its place, and a text in which no value of a variable or a header can be
//! read.

use std::ops::Range;

use serde::Serialize as _;
use serde_json::{Value, json};

use super::entries::{SECRET_MEMBERS, ServerDialect};
use crate::connections::config_text::split_mark;
use crate::connections::edit_error::EditError;
use crate::connections::json_layout::{INDENT, format_json};
use crate::connections::json_text::{find_json_value, parse_json};
use crate::connections::toml_text::{TomlPart, find_toml_part, parse_toml};

/// What stands in the place of a value that is not shown.
const HIDDEN: &str = "\"***\"";

/// The text of a configuration with entries of servers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ServersText {
    /// Mark that some editors begin a file with; empty if there is none.
    mark: &'static str,
    text: String,
    dialect: ServerDialect,
}

impl ServersText {
    pub(super) fn new(text: &str, dialect: ServerDialect) -> Self {
        let (mark, text) = split_mark(text);
        Self {
            mark,
            text: text.to_owned(),
            dialect,
        }
    }

    /// Returns how the entries are written.
    pub(super) fn dialect(&self) -> ServerDialect {
        self.dialect
    }

    /// Returns the whole text of the file.
    pub(super) fn to_text(&self) -> String {
        format!("{}{}", self.mark, self.text)
    }

    /// Returns what the text says; an empty one says an empty object.
    pub(super) fn parse(&self) -> Result<Value, EditError> {
        match self.dialect {
            ServerDialect::Codex => parse_toml(&self.text),
            ServerDialect::Common | ServerDialect::Gemini | ServerDialect::Opencode => {
                Ok(parse_json(&self.text)?.unwrap_or_else(|| json!({})))
            }
        }
    }

    /// Returns the text of the entry at a path, to the byte.
    pub(super) fn entry(&self, path: &[String]) -> Result<&str, EditError> {
        Ok(&self.text[self.find(path)?])
    }

    /// Returns the text with another entry at a path.
    pub(super) fn with_entry(&self, path: &[String], entry: &Value) -> Result<Self, EditError> {
        let written = match self.dialect {
            ServerDialect::Codex => self.format_toml(path, entry)?,
            ServerDialect::Common | ServerDialect::Gemini | ServerDialect::Opencode => {
                self.format_json(path, entry)?
            }
        };
        let edited = self.with_text(path, &written)?;
        let mut expected = self.parse()?;
        if let Some(place) = expected.pointer_mut(&pointer(path)) {
            *place = entry.clone();
        }
        match edited.parse()? == expected {
            true => Ok(edited),
            false => Err(EditError::Inexact),
        }
    }

    /// Returns the text with another text in the place of the entry at a path.
    pub(super) fn with_text(&self, path: &[String], entry: &str) -> Result<Self, EditError> {
        let mut text = self.text.clone();
        text.replace_range(self.find(path)?, entry);
        Ok(Self { text, ..*self })
    }

    /// Returns the text with no value of a variable or a header of these entries.
    pub(super) fn hide_values(&self, entries: &[Vec<String>]) -> Result<String, EditError> {
        let config = self.parse()?;
        let mut ranges = Vec::new();
        for path in entries {
            for member in SECRET_MEMBERS {
                let path = [&path[..], &[member.to_owned()]].concat();
                let members = config.pointer(&pointer(&path)).and_then(Value::as_object);
                for name in members.into_iter().flat_map(|members| members.keys()) {
                    ranges.push(self.find(&[&path[..], std::slice::from_ref(name)].concat())?);
                }
            }
        }
        ranges.sort_by_key(|range| std::cmp::Reverse(range.start));
        let mut text = self.text.clone();
        for range in ranges {
            text.replace_range(range, HIDDEN);
        }
        Ok(text)
    }

    fn find(&self, path: &[String]) -> Result<Range<usize>, EditError> {
        let found = match self.dialect {
            ServerDialect::Codex => find_toml_part(&self.text, path)?.map(|part| part.range()),
            ServerDialect::Common | ServerDialect::Gemini | ServerDialect::Opencode => {
                find_json_value(&self.text, path)?
            }
        };
        found.ok_or_else(|| EditError::UnknownForm(path.join(".")))
    }

    /// Formats an entry as the one at a path is laid out: on one line, or over several with its indentation.
    fn format_json(&self, path: &[String], entry: &Value) -> Result<String, EditError> {
        let range = self.find(path)?;
        if !self.text[range.clone()].contains('\n') {
            return Ok(entry.to_string());
        }
        let line = self.text[..range.start]
            .rfind('\n')
            .map_or(0, |end| end + 1);
        let line = &self.text[line..];
        let indent = &line[..line.len() - line.trim_start_matches([' ', '\t']).len()];
        let newline = match self.text.contains("\r\n") {
            true => "\r\n",
            false => "\n",
        };
        let unit = match indent.starts_with('\t') {
            true => "\t",
            false => INDENT,
        };
        let written = format_json(entry, unit);
        Ok(written.replace('\n', &format!("{newline}{indent}")))
    }

    /// Formats an entry as a table of its own, or as a value where the one at a path is a value.
    fn format_toml(&self, path: &[String], entry: &Value) -> Result<String, EditError> {
        let unknown = || EditError::UnknownForm(path.join("."));
        let newline = match self.text.contains("\r\n") {
            true => "\r\n",
            false => "\n",
        };
        match find_toml_part(&self.text, path)?.ok_or_else(unknown)? {
            TomlPart::Value(_) => {
                let value = entry.serialize(toml_edit::ser::ValueSerializer::new());
                Ok(value.map_err(|_| unknown())?.to_string())
            }
            TomlPart::Table(_) => {
                let named = path.iter().rev();
                let tables = named.fold(entry.clone(), |inner, name| json!({ name: inner }));
                let tables = toml_edit::ser::to_string_pretty(&tables).map_err(|_| unknown())?;
                Ok(tables.trim_end().replace('\n', newline))
            }
        }
    }
}

/// Returns a path as a JSON pointer.
pub(super) fn pointer(path: &[String]) -> String {
    let steps = path.iter();
    steps
        .map(|step| format!("/{}", step.replace('~', "~0").replace('/', "~1")))
        .collect()
}
