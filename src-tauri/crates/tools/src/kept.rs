//! Files of the person with one table for each thing that is set up: read with errors that name the line, changed table by table.

use std::collections::BTreeMap;
use std::ops::Range;

use protocol::Fault;
use protocol::servers::ServerId;
use serde::de::DeserializeOwned;
use toml_edit::{Document, DocumentMut, Item, Table, TableLike, de};

use crate::limits::NAMED_CHARS_MAX;

/// Whether it is on, in each table.
const ENABLED: &str = "enabled";

/// One such file: its words, its limits, and how one of its tables is read and written.
pub trait Kept {
    /// What one of its tables tells.
    type One;
    /// One of its tables as it is written, without whether it is on.
    type Written: DeserializeOwned;
    /// The name of the file, in the data folder.
    const FILE: &'static str;
    /// What its tables stand under: `servers` of `[servers.NAME]`.
    const SECTION: &'static str;
    /// What one of them is called, in a sentence.
    const ONE: &'static str;
    /// Largest file, in bytes.
    const BYTES_MAX: usize;
    /// Most tables.
    const COUNT_MAX: usize;

    /// What a table tells.
    ///
    /// # Errors
    /// It tells nothing that there could be.
    fn of(id: ServerId, written: Self::Written, enabled: bool) -> Result<Self::One, Wrong>;

    /// Its name, and whether it is on.
    fn named(one: &Self::One) -> (&ServerId, bool);

    /// Whether it can be set up so.
    ///
    /// # Errors
    /// The first thing that is wrong with it.
    fn right(one: &Self::One) -> Result<(), Wrong>;

    /// It as a table, without whether it is on.
    fn table(one: &Self::One) -> Table;
}

/// What is wrong with one table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wrong {
    key: &'static str,
    what: String,
    hint: String,
}

impl Wrong {
    /// What is wrong at a key of the table, as the end of a sentence, and what should stand there. An empty key is the table.
    pub fn new(key: &'static str, what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            key,
            what: what.into(),
            hint: hint.into(),
        }
    }

    fn told<K: Kept>(&self, id: &ServerId) -> String {
        let (one, what) = (K::ONE, &self.what);
        format!("the {one} `{id}` cannot be set up so: {what}.")
    }
}

/// Reads the text of the file.
///
/// # Errors
/// The first thing that is wrong, with its line: then nothing of the file is used.
pub fn read<K: Kept>(text: &str) -> Result<Vec<K::One>, Fault> {
    let (file, section, one) = (K::FILE, K::SECTION, K::ONE);
    if text.len() > K::BYTES_MAX {
        let what = format!("{file} is longer than {} bytes.", K::BYTES_MAX);
        return Err(until::<K>(what, "Shorten it."));
    }
    let document = Document::parse(text)
        .map_err(|error| at_line::<K>(text, error.span(), error.message(), "Correct it."))?;
    let mut all = Vec::new();
    for (key, item) in document.iter() {
        let span = document.key(key).and_then(toml_edit::Key::span);
        let named = protocol::shown::in_a_sentence(key, NAMED_CHARS_MAX);
        if key != section {
            let what = format!("`{named}` is unknown here");
            let hint = format!("Call each table `[{section}.NAME]`.");
            return Err(at_line::<K>(text, span, &what, &hint));
        }
        let Some(tables) = item.as_table_like() else {
            let what = format!("`{section}` is no table");
            let hint = format!("Write each {one} as a table `[{section}.NAME]`.");
            return Err(at_line::<K>(text, span, &what, &hint));
        };
        if tables.len() > K::COUNT_MAX {
            let what = format!("there are more than {} {one}s", K::COUNT_MAX);
            return Err(at_line::<K>(text, span, &what, "Remove some of them."));
        }
        for (name, item) in tables.iter() {
            all.push(one_of::<K>(text, tables, name, item)?);
        }
    }
    all.sort_by(|a, b| K::named(a).0.cmp(K::named(b).0));
    Ok(all)
}

/// One table, read and looked at.
fn one_of<K: Kept>(
    text: &str,
    tables: &dyn TableLike,
    name: &str,
    item: &Item,
) -> Result<K::One, Fault> {
    let (section, one) = (K::SECTION, K::ONE);
    let at = tables.key(name).and_then(toml_edit::Key::span);
    let wrong = |span: Option<Range<usize>>, what: &str, hint: &str| {
        Err(at_line::<K>(text, span.or(at.clone()), what, hint))
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
    let written: K::Written = match de::from_document(DocumentMut::from(table)) {
        Ok(written) => written,
        Err(error) => {
            let what = format!("the {one} `{id}`: {}", error.message());
            let hint = format!("Correct it, as a table of a {one} is written.");
            return wrong(error.span(), &what, &hint);
        }
    };
    let read = K::of(id.clone(), written, enabled);
    match read.and_then(|one| K::right(&one).map(|()| one)) {
        Ok(one) => Ok(one),
        Err(found) => wrong(
            span_of(found.key),
            found.told::<K>(&id).trim_end_matches('.'),
            &found.hint,
        ),
    }
}

/// Something that is wrong in the file, where it stands, and what should stand there.
fn at_line<K: Kept>(text: &str, at: Option<Range<usize>>, what: &str, hint: &str) -> Fault {
    let at = at.map_or(0, |span| span.start.min(text.len()));
    let line = text.get(..at).unwrap_or("").matches('\n').count() + 1;
    let what = what.lines().collect::<Vec<_>>().join(" ");
    until::<K>(format!("{}, line {line}: {what}.", K::FILE), hint)
}

fn until<K: Kept>(what: String, hint: &str) -> Fault {
    Fault::new(
        what,
        format!("{hint} Until then no {} of it is used.", K::ONE),
    )
}

/// Whether something can be set up so.
///
/// # Errors
/// What is wrong with it.
pub fn check<K: Kept>(one: &K::One) -> Result<(), Fault> {
    K::right(one).map_err(|wrong| {
        let told = wrong.told::<K>(K::named(one).0);
        // It is a sentence of its own here.
        let mut letters = told.chars();
        let first = letters.next().map(|first| first.to_ascii_uppercase());
        let told: String = first.into_iter().chain(letters).collect();
        Fault::new(told, wrong.hint)
    })
}

/// The text with this one added or put in the place of the one of its name; everything else stays as it is written.
///
/// # Errors
/// It cannot be set up so, or the text is no such file, or is full.
pub fn with<K: Kept>(text: &str, one: &K::One) -> Result<String, Fault> {
    check::<K>(one)?;
    let (id, enabled) = K::named(one);
    let mut document = document::<K>(text)?;
    let tables = section::<K>(&mut document)?;
    let id = id.as_str();
    if !tables.contains_key(id) && tables.len() >= K::COUNT_MAX {
        return Err(Fault::new(
            format!("There are {} {}s already.", K::COUNT_MAX, K::ONE),
            "Remove one first.",
        ));
    }
    let mut table = K::table(one);
    table.insert(ENABLED, toml_edit::value(enabled));
    tables.insert(id, Item::Table(table));
    Ok(document.to_string())
}

/// The text without one.
///
/// # Errors
/// The text is no such file.
pub fn without<K: Kept>(text: &str, id: &ServerId) -> Result<String, Fault> {
    let mut document = document::<K>(text)?;
    section::<K>(&mut document)?.remove(id.as_str());
    Ok(document.to_string())
}

/// The text with one switched on or off.
///
/// # Errors
/// The text is no such file, or names none of this name.
pub fn switched<K: Kept>(text: &str, id: &ServerId, enabled: bool) -> Result<String, Fault> {
    let mut document = document::<K>(text)?;
    let table = section::<K>(&mut document)?.get_mut(id.as_str());
    let Some(table) = table.and_then(Item::as_table_like_mut) else {
        return Err(unknown::<K>(id));
    };
    table.insert(ENABLED, toml_edit::value(enabled));
    Ok(document.to_string())
}

/// That there is none of this name.
pub fn unknown<K: Kept>(id: &ServerId) -> Fault {
    let one = K::ONE;
    Fault::new(
        format!("There is no {one} `{id}`."),
        format!("Look at the list of {one}s."),
    )
}

fn document<K: Kept>(text: &str) -> Result<DocumentMut, Fault> {
    // What cannot be read is not written over.
    read::<K>(text)?;
    text.parse().map_err(|error: toml_edit::TomlError| {
        Fault::new(format!("{} cannot be read.", K::FILE), "Correct it.").caused_by(&error)
    })
}

fn section<K: Kept>(document: &mut DocumentMut) -> Result<&mut dyn TableLike, Fault> {
    let mut implicit = Table::new();
    implicit.set_implicit(true);
    let entry = document.entry(K::SECTION).or_insert(Item::Table(implicit));
    entry.as_table_like_mut().ok_or_else(|| {
        let what = format!("{}: `{}` is no table.", K::FILE, K::SECTION);
        Fault::new(what, "Correct it.")
    })
}

/// Puts a list into a table, if there is anything in it.
pub fn put_list(table: &mut Table, name: &str, list: &[String]) {
    if !list.is_empty() {
        let list: toml_edit::Array = list.iter().map(String::as_str).collect();
        table.insert(name, toml_edit::value(list));
    }
}

/// Puts named values into a table, if there are any, as a table of their own.
pub fn put_map(table: &mut Table, name: &str, values: &BTreeMap<String, String>) {
    if !values.is_empty() {
        let mut inner = Table::new();
        for (name, value) in values {
            inner.insert(name, toml_edit::value(value.as_str()));
        }
        table.insert(name, Item::Table(inner));
    }
}
