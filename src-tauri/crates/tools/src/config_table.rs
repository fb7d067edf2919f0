//! Configuration files of the person with one table per item: errors when reading name the line, and changes are made
//! table by table.

use std::collections::BTreeMap;
use std::ops::Range;

use protocol::UserError;
use protocol::server::mcp_servers::ServerId;
use serde::de::DeserializeOwned;
use toml_edit::{Document, DocumentMut, Item, Table, TableLike, de};

use crate::limits::QUOTED_CHARS_MAX;

/// Key that switches the item of a table on.
const ENABLED: &str = "enabled";

/// The format of one configuration file: its names, its limits, and how its tables are read and written.
pub trait ConfigTable {
    /// The item that a table describes.
    type TableItem;
    /// A table as it is written, without the key that switches it on.
    type RawItem: DeserializeOwned;
    /// Name of the file, in the data folder.
    const FILE: &'static str;
    /// Section that holds the tables: `servers` of `[servers.NAME]`.
    const SECTION: &'static str;
    /// Name of one item, as sentences use it.
    const ITEM_NAME: &'static str;
    /// Largest file, in bytes.
    const BYTES_MAX: usize;
    /// Most tables in one file.
    const COUNT_MAX: usize;

    /// Converts a table into an item.
    ///
    /// # Errors
    /// If the table describes no possible item.
    fn from_raw(
        id: ServerId,
        written: Self::RawItem,
        enabled: bool,
    ) -> Result<Self::TableItem, ConfigTableError>;

    /// Returns the id of an item, and whether it is enabled.
    fn id_and_enabled(one: &Self::TableItem) -> (&ServerId, bool);

    /// Checks whether the item can be set up as described.
    ///
    /// # Errors
    /// The first problem of the item.
    fn validate(one: &Self::TableItem) -> Result<(), ConfigTableError>;

    /// Converts an item into a table, without the key that switches it on.
    fn to_table(one: &Self::TableItem) -> Table;
}

/// A problem in one table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigTableError {
    key: &'static str,
    what: String,
    hint: String,
}

impl ConfigTableError {
    /// Creates a problem at a key of the table: `what` is the end of a sentence, `hint` says what should be written
    /// instead. An empty key means the table itself.
    pub fn new(key: &'static str, what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            key,
            what: what.into(),
            hint: hint.into(),
        }
    }

    fn format_message<K: ConfigTable>(&self, id: &ServerId) -> String {
        let (one, what) = (K::ITEM_NAME, &self.what);
        format!("the {one} `{id}` cannot be set up so: {what}.")
    }
}

/// Reads the text of the file.
///
/// # Errors
/// The first problem, with its line: then nothing of the file is used.
pub fn parse_items<K: ConfigTable>(text: &str) -> Result<Vec<K::TableItem>, UserError> {
    let (file, section, one) = (K::FILE, K::SECTION, K::ITEM_NAME);
    if text.len() > K::BYTES_MAX {
        let what = format!("{file} is longer than {} bytes.", K::BYTES_MAX);
        return Err(unusable_file_error::<K>(what, "Shorten it."));
    }
    let document = Document::parse(text)
        .map_err(|error| error_at_line::<K>(text, error.span(), error.message(), "Correct it."))?;
    let mut all = Vec::new();
    for (key, item) in document.iter() {
        let span = document.key(key).and_then(toml_edit::Key::span);
        let named = protocol::text::display_text::to_single_line(key, QUOTED_CHARS_MAX);
        if key != section {
            let what = format!("`{named}` is unknown here");
            let hint = format!("Call each table `[{section}.NAME]`.");
            return Err(error_at_line::<K>(text, span, &what, &hint));
        }
        let Some(tables) = item.as_table_like() else {
            let what = format!("`{section}` is not a table");
            let hint = format!("Write each {one} as a table `[{section}.NAME]`.");
            return Err(error_at_line::<K>(text, span, &what, &hint));
        };
        if tables.len() > K::COUNT_MAX {
            let what = format!("there are more than {} {one}s", K::COUNT_MAX);
            return Err(error_at_line::<K>(
                text,
                span,
                &what,
                "Remove some of them.",
            ));
        }
        for (name, item) in tables.iter() {
            all.push(parse_item::<K>(text, tables, name, item)?);
        }
    }
    all.sort_by(|a, b| K::id_and_enabled(a).0.cmp(K::id_and_enabled(b).0));
    Ok(all)
}

/// Reads and validates one table.
fn parse_item<K: ConfigTable>(
    text: &str,
    tables: &dyn TableLike,
    name: &str,
    item: &Item,
) -> Result<K::TableItem, UserError> {
    let (section, one) = (K::SECTION, K::ITEM_NAME);
    let at = tables.key(name).and_then(toml_edit::Key::span);
    let wrong = |span: Option<Range<usize>>, what: &str, hint: &str| {
        Err(error_at_line::<K>(text, span.or(at.clone()), what, hint))
    };
    let id = match ServerId::try_from(name.to_owned()) {
        Ok(id) => id,
        Err(what) => {
            let hint = format!("Write `[{section}.NAME]` with such a name.");
            return wrong(None, &what, &hint);
        }
    };
    let Ok(mut table) = item.clone().into_table() else {
        let what = format!("the {one} `{id}` is not a table");
        return wrong(None, &what, &format!("Write `[{section}.{id}]`."));
    };
    let span_of = |key: &str| {
        let like = item.as_table_like()?;
        like.key(key).and_then(toml_edit::Key::span)
    };
    let enabled = match table.remove(ENABLED).map(|item| item.as_bool()) {
        None => false,
        Some(Some(enabled)) => enabled,
        Some(None) => {
            let what = format!("`{ENABLED}` of the {one} `{id}` is neither true nor false");
            return wrong(span_of(ENABLED), &what, "Write true or false.");
        }
    };
    let written: K::RawItem = match de::from_document(DocumentMut::from(table)) {
        Ok(written) => written,
        Err(error) => {
            let what = format!("the {one} `{id}`: {}", error.message());
            let hint = format!("Correct it, as a table of a {one} is written.");
            return wrong(error.span(), &what, &hint);
        }
    };
    let parsed = K::from_raw(id.clone(), written, enabled);
    match parsed.and_then(|one| K::validate(&one).map(|()| one)) {
        Ok(one) => Ok(one),
        Err(problem) => wrong(
            span_of(problem.key),
            problem.format_message::<K>(&id).trim_end_matches('.'),
            &problem.hint,
        ),
    }
}

/// Builds the error for a problem in the file, with its line and what should be written instead.
fn error_at_line<K: ConfigTable>(
    text: &str,
    at: Option<Range<usize>>,
    what: &str,
    hint: &str,
) -> UserError {
    let at = at.map_or(0, |span| span.start.min(text.len()));
    let line = text.get(..at).unwrap_or("").matches('\n').count() + 1;
    let what = what.lines().collect::<Vec<_>>().join(" ");
    unusable_file_error::<K>(format!("{}, line {line}: {what}.", K::FILE), hint)
}

fn unusable_file_error<K: ConfigTable>(what: String, hint: &str) -> UserError {
    UserError::new(
        what,
        format!("{hint} Until then no {} of it is used.", K::ITEM_NAME),
    )
}

/// Checks whether an item can be set up as described.
///
/// # Errors
/// The problem of the item.
pub fn validate_item<K: ConfigTable>(one: &K::TableItem) -> Result<(), UserError> {
    K::validate(one).map_err(|problem| {
        let message = problem.format_message::<K>(K::id_and_enabled(one).0);
        // It is a sentence of its own here.
        let mut letters = message.chars();
        let first = letters.next().map(|first| first.to_ascii_uppercase());
        let message: String = first.into_iter().chain(letters).collect();
        UserError::new(message, problem.hint)
    })
}

/// Adds an item to the text of the file, or replaces the one of the same name; everything else stays as written.
///
/// # Errors
/// If the item cannot be set up as described, the text is not a file of this kind, or the file is full.
pub fn upsert_item<K: ConfigTable>(text: &str, one: &K::TableItem) -> Result<String, UserError> {
    validate_item::<K>(one)?;
    let (id, enabled) = K::id_and_enabled(one);
    let mut document = parse_document::<K>(text)?;
    let tables = get_section::<K>(&mut document)?;
    let id = id.as_str();
    if !tables.contains_key(id) && tables.len() >= K::COUNT_MAX {
        return Err(UserError::new(
            format!("There are {} {}s already.", K::COUNT_MAX, K::ITEM_NAME),
            "Remove one first.",
        ));
    }
    let mut table = K::to_table(one);
    table.insert(ENABLED, toml_edit::value(enabled));
    tables.insert(id, Item::Table(table));
    Ok(document.to_string())
}

/// Removes an item from the text of the file.
///
/// # Errors
/// If the text is not a file of this kind.
pub fn remove_item<K: ConfigTable>(text: &str, id: &ServerId) -> Result<String, UserError> {
    let mut document = parse_document::<K>(text)?;
    get_section::<K>(&mut document)?.remove(id.as_str());
    Ok(document.to_string())
}

/// Switches an item in the text of the file on or off.
///
/// # Errors
/// If the text is not a file of this kind, or has no item of this name.
pub fn set_enabled<K: ConfigTable>(
    text: &str,
    id: &ServerId,
    enabled: bool,
) -> Result<String, UserError> {
    let mut document = parse_document::<K>(text)?;
    let table = get_section::<K>(&mut document)?.get_mut(id.as_str());
    let Some(table) = table.and_then(Item::as_table_like_mut) else {
        return Err(unknown_item_error::<K>(id));
    };
    table.insert(ENABLED, toml_edit::value(enabled));
    Ok(document.to_string())
}

/// Returns the error that there is no item of this name.
pub fn unknown_item_error<K: ConfigTable>(id: &ServerId) -> UserError {
    let one = K::ITEM_NAME;
    UserError::new(
        format!("There is no {one} `{id}`."),
        format!("Look at the list of {one}s."),
    )
}

fn parse_document<K: ConfigTable>(text: &str) -> Result<DocumentMut, UserError> {
    // A file that cannot be read is not overwritten.
    parse_items::<K>(text)?;
    text.parse().map_err(|error: toml_edit::TomlError| {
        UserError::new(format!("{} cannot be read.", K::FILE), "Correct it.").with_source(&error)
    })
}

fn get_section<K: ConfigTable>(
    document: &mut DocumentMut,
) -> Result<&mut dyn TableLike, UserError> {
    let mut implicit = Table::new();
    implicit.set_implicit(true);
    let entry = document.entry(K::SECTION).or_insert(Item::Table(implicit));
    entry.as_table_like_mut().ok_or_else(|| {
        let what = format!("{}: `{}` is not a table.", K::FILE, K::SECTION);
        UserError::new(what, "Correct it.")
    })
}

/// Inserts a list into a table, unless the list is empty.
pub fn insert_list(table: &mut Table, name: &str, list: &[String]) {
    if !list.is_empty() {
        let list: toml_edit::Array = list.iter().map(String::as_str).collect();
        table.insert(name, toml_edit::value(list));
    }
}

/// Inserts named values into a table as a table of their own, unless there are none.
pub fn insert_map(table: &mut Table, name: &str, values: &BTreeMap<String, String>) {
    if !values.is_empty() {
        let mut inner = Table::new();
        for (name, value) in values {
            inner.insert(name, toml_edit::value(value.as_str()));
        }
        table.insert(name, Item::Table(inner));
    }
}
