//! Edits TOML as text: hooks are tables at the end of the file, and every other byte stays, line ends included.

use std::ops::Range;

use serde_json::{Value, json};
use toml_edit::{Document, Item, Table};

use super::edit_error::EditError;
use super::hook_entries::{HOOKS, PathStep};

/// Returns the error for a text, with what is wrong and where.
fn malformed(text: &str, message: &str, span: Option<Range<usize>>) -> EditError {
    let before = &text[..span.map_or(0, |span| span.start)];
    let line = before.matches('\n').count() + 1;
    EditError::Malformed(format!("it is not TOML: {message} on line {line}"))
}

/// Reads a text.
pub(super) fn parse_toml(text: &str) -> Result<Value, EditError> {
    toml_edit::de::from_str(text).map_err(|error| malformed(text, error.message(), error.span()))
}

/// Appends an entry to `hooks.EVENT`, as a table of its own.
pub(super) fn append_toml_hook(
    text: &str,
    event: &str,
    entry: &Value,
) -> Result<String, EditError> {
    let tables = json!({ HOOKS: { event: [entry] } });
    let tables = toml_edit::ser::to_string_pretty(&tables);
    let tables = tables.map_err(|_| EditError::UnknownForm(event.to_owned()))?;
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let gap = match (text.is_empty(), text.ends_with('\n')) {
        (true, _) => "",
        (false, true) => newline,
        (false, false) => &newline.repeat(2),
    };
    let edited = format!("{text}{gap}{}", tables.replace('\n', newline));
    match edited.parse::<toml_edit::DocumentMut>() {
        Ok(_) => Ok(edited),
        // Alone both are TOML: the file has a value where a table would have to be.
        Err(_) => Err(EditError::UnknownForm(format!("{HOOKS}.{event}"))),
    }
}

/// Removes the tables at a path, each with the blank line before it.
pub(super) fn remove_toml_part(text: &str, path: &[PathStep]) -> Result<String, EditError> {
    let document = Document::parse(text);
    let document = document.map_err(|error| malformed(text, error.message(), error.span()))?;
    let unknown = || EditError::UnknownForm(HOOKS.to_owned());
    let mut extents = find_extents(document.as_table(), path).ok_or_else(unknown)?;
    extents.sort_by_key(|extent| extent.start);
    let mut edited = text.to_owned();
    for extent in extents.into_iter().rev() {
        edited.replace_range(widen_to_lines(text, extent), "");
    }
    Ok(edited)
}

/// A part of a text: a table from its header on, or a value.
pub(super) enum TomlPart {
    /// A table, with those in it.
    Table(Range<usize>),
    /// A value.
    Value(Range<usize>),
}

impl TomlPart {
    /// Returns where it stands.
    pub(super) fn range(self) -> Range<usize> {
        match self {
            Self::Table(range) | Self::Value(range) => range,
        }
    }
}

/// Returns the part to which these names lead.
pub(super) fn find_toml_part(text: &str, path: &[String]) -> Result<Option<TomlPart>, EditError> {
    let document = Document::parse(text);
    let document = document.map_err(|error| malformed(text, error.message(), error.span()))?;
    let mut names = path.iter();
    let mut item = names.next().and_then(|name| document.get(name));
    for name in names {
        item = item.and_then(|item| item.get(name));
    }
    Ok(item.and_then(|item| match item {
        Item::Table(table) => table_extent(table).map(TomlPart::Table),
        Item::Value(value) => value.span().map(TomlPart::Value),
        Item::None | Item::ArrayOfTables(_) => None,
    }))
}

/// Returns where the tables at a path stand; `None` where something else than tables does.
fn find_extents(table: &Table, path: &[PathStep]) -> Option<Vec<Range<usize>>> {
    let [PathStep::Key(name), rest @ ..] = path else {
        return Some(vec![table_extent(table)?]);
    };
    match (table.get(name)?, rest) {
        (Item::ArrayOfTables(tables), [PathStep::Index(index), rest @ ..]) => {
            find_extents(tables.get(*index)?, rest)
        }
        (Item::ArrayOfTables(tables), _) => tables.iter().map(table_extent).collect(),
        (Item::Table(inner), []) => {
            let all = inner
                .iter()
                .map(|(name, _)| find_extents(inner, &[PathStep::Key(name.to_owned())]));
            Some(all.collect::<Option<Vec<_>>>()?.concat())
        }
        (Item::Table(inner), rest) => find_extents(inner, rest),
        (Item::None | Item::Value(_), _) => None,
    }
}

/// Returns where a table stands with all that is in it, from its header on.
fn table_extent(table: &Table) -> Option<Range<usize>> {
    let header = table.span()?;
    let mut end = header.end;
    for (_, item) in table {
        let inner = match item {
            Item::Value(value) => value.span()?.end,
            Item::Table(inner) => table_extent(inner)?.end,
            Item::ArrayOfTables(tables) => tables
                .iter()
                .filter_map(table_extent)
                .map(|inner| inner.end)
                .max()?,
            Item::None => end,
        };
        end = end.max(inner);
    }
    Some(header.start..end)
}

/// Returns the whole lines of an extent, with the blank line before them.
fn widen_to_lines(text: &str, extent: Range<usize>) -> Range<usize> {
    let start = text[..extent.start].rfind('\n').map_or(0, |end| end + 1);
    let above = &text[..start];
    let blank = ["\r\n", "\n"].iter().find(|newline| {
        let above = above.strip_suffix(**newline);
        above.is_some_and(|above| above.is_empty() || above.ends_with('\n'))
    });
    let end = text[extent.end..]
        .find('\n')
        .map_or(text.len(), |end| extent.end + end + 1);
    start - blank.map_or(0, |newline| newline.len())..end
}
