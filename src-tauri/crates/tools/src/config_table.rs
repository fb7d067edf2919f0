//! Files of the person with one table for each thing that is set up: read with errors that name the line, changed table by table.

use std::collections::BTreeMap;
use std::ops::Range;

use protocol::UserError;
use protocol::server::mcp_servers::ServerId;
use serde::de::DeserializeOwned;
use toml_edit::{Document, DocumentMut, Item, Table, TableLike, de};

use crate::limits::QUOTED_CHARS_MAX;

/// Whether it is on, in each table.
const ENABLED: &str = "enabled";

/// One such file: its words, its limits, and how one of its tables is read and written.
pub trait ConfigTable {
    /// What one of its tables tells.
    type TableItem;
    /// One of its tables as it is written, without whether it is on.
    type RawItem: DeserializeOwned;
    /// The name of the file, in the data folder.
    const FILE: &'static str;
    /// What its tables stand under: `servers` of `[servers.NAME]`.
    const SECTION: &'static str;
    /// What one of them is called, in a sentence.
    const ITEM_NAME: &'static str;
    /// Largest file, in bytes.
    const BYTES_MAX: usize;
    /// Most tables.
    const COUNT_MAX: usize;

    /// What a table tells.
    ///
    /// # Errors
    /// It tells nothing that there could be.
    fn from_raw(
        id: ServerId,
        written: Self::RawItem,
        enabled: bool,
    ) -> Result<Self::TableItem, ConfigTableError>;

    /// Its name, and whether it is on.
    fn id_and_enabled(one: &Self::TableItem) -> (&ServerId, bool);

    /// Whether it can be set up so.
    ///
    /// # Errors
    /// The first thing that is wrong with it.
    fn validate(one: &Self::TableItem) -> Result<(), ConfigTableError>;

    /// It as a table, without whether it is on.
    fn to_table(one: &Self::TableItem) -> Table;
}

/// What is wrong with one table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigTableError {
    key: &'static str,
    what: String,
    hint: String,
}

impl ConfigTableError {
    /// What is wrong at a key of the table, as the end of a sentence, and what should stand there. An empty key is the table.
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
/// The first thing that is wrong, with its line: then nothing of the file is used.
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
            let what = format!("`{section}` is no table");
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

/// One table, read and looked at.
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
        let what = format!("the {one} `{id}` is no table");
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
    let read = K::from_raw(id.clone(), written, enabled);
    match read.and_then(|one| K::validate(&one).map(|()| one)) {
        Ok(one) => Ok(one),
        Err(found) => wrong(
            span_of(found.key),
            found.format_message::<K>(&id).trim_end_matches('.'),
            &found.hint,
        ),
    }
}

/// Something that is wrong in the file, where it stands, and what should stand there.
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

/// Whether something can be set up so.
///
/// # Errors
/// What is wrong with it.
pub fn validate_item<K: ConfigTable>(one: &K::TableItem) -> Result<(), UserError> {
    K::validate(one).map_err(|wrong| {
        let told = wrong.format_message::<K>(K::id_and_enabled(one).0);
        // It is a sentence of its own here.
        let mut letters = told.chars();
        let first = letters.next().map(|first| first.to_ascii_uppercase());
        let told: String = first.into_iter().chain(letters).collect();
        UserError::new(told, wrong.hint)
    })
}

/// The text with this one added or put in the place of the one of its name; everything else stays as it is written.
///
/// # Errors
/// It cannot be set up so, or the text is no such file, or is full.
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

/// The text without one.
///
/// # Errors
/// The text is no such file.
pub fn remove_item<K: ConfigTable>(text: &str, id: &ServerId) -> Result<String, UserError> {
    let mut document = parse_document::<K>(text)?;
    get_section::<K>(&mut document)?.remove(id.as_str());
    Ok(document.to_string())
}

/// The text with one switched on or off.
///
/// # Errors
/// The text is no such file, or names none of this name.
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

/// That there is none of this name.
pub fn unknown_item_error<K: ConfigTable>(id: &ServerId) -> UserError {
    let one = K::ITEM_NAME;
    UserError::new(
        format!("There is no {one} `{id}`."),
        format!("Look at the list of {one}s."),
    )
}

fn parse_document<K: ConfigTable>(text: &str) -> Result<DocumentMut, UserError> {
    // What cannot be read is not written over.
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
        let what = format!("{}: `{}` is no table.", K::FILE, K::SECTION);
        UserError::new(what, "Correct it.")
    })
}

/// Puts a list into a table, if there is anything in it.
pub fn insert_list(table: &mut Table, name: &str, list: &[String]) {
    if !list.is_empty() {
        let list: toml_edit::Array = list.iter().map(String::as_str).collect();
        table.insert(name, toml_edit::value(list));
    }
}

/// Puts named values into a table, if there are any, as a table of their own.
pub fn insert_map(table: &mut Table, name: &str, values: &BTreeMap<String, String>) {
    if !values.is_empty() {
        let mut inner = Table::new();
        for (name, value) in values {
            inner.insert(name, toml_edit::value(value.as_str()));
        }
        table.insert(name, Item::Table(inner));
    }
}
