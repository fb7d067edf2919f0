//! What the changes of one plan add to files, and take from them, that counts.

use std::collections::BTreeMap;

use super::row::{Row, Watched};
use super::values::{ValueCounts, WatchedValue};
use super::{LaterRuns, checks, is_dependency, migrations, pins};

/// A file before and after a change.
#[derive(Debug, Clone, Copy)]
pub struct ChangedFile<'a> {
    /// Path relative to the workspace root, `/`-separated.
    pub path: &'a str,
    /// Content before; none if there was no file.
    pub before: Option<&'a [u8]>,
    /// Content after; none if there is no file any more.
    pub after: Option<&'a [u8]>,
}

/// Says of a path and its content after a change, none if the file is gone, whether nobody wrote it so: git had it, or a
/// build makes it. Guards are not looked for in such a file: whoever checks out a branch does not change what it says.
pub type IsKnownContent<'a> = &'a dyn Fn(&str, Option<&[u8]>) -> bool;

/// The changed files of one plan, compared one after the other.
pub struct ChangedValues<'a> {
    table: &'static LaterRuns,
    is_known: IsKnownContent<'a>,
    sentences: Vec<String>,
    /// How much rarer each value that is looked for by its end became in all files together, by row: a value that moved to
    /// another file is not gone.
    gone: BTreeMap<usize, BTreeMap<WatchedValue, i64>>,
}

impl<'a> ChangedValues<'a> {
    /// Returns the changes of no file.
    pub fn new(is_known: IsKnownContent<'a>) -> Self {
        Self {
            table: LaterRuns::standard(),
            is_known,
            sentences: Vec::new(),
            gone: BTreeMap::new(),
        }
    }

    /// Adds a file whose content is known.
    pub fn add(&mut self, file: &ChangedFile<'_>) {
        if is_dependency(file.path) {
            return;
        }
        let mut guards = Vec::new();
        for (at, row) in self.table.find_value_rows(file.path) {
            let told = match &row.watched {
                Watched::WholeFile => None,
                Watched::New(_) => describe_new_values(row, file).map(Finding::Sentence),
                Watched::Gone(_) => count_gone_values(row, file).map(|it| Finding::Gone(at, it)),
            };
            match told {
                Some(Finding::Sentence(said)) if !row.is_guard => self.sentences.push(said),
                told => guards.extend(told),
            }
        }
        let checks = checks::describe_weakened_checks(file);
        let pins = pins::describe_changed_pins(file);
        let migrations = migrations::describe_changed_migration(file, self.is_known);
        let said = checks.into_iter().chain(pins).chain(migrations);
        guards.extend(said.map(Finding::Sentence));
        if guards.is_empty() || (self.is_known)(file.path, file.after) {
            return;
        }
        for finding in guards {
            match finding {
                Finding::Sentence(said) => self.sentences.push(said),
                Finding::Gone(row, values) => {
                    let row = self.gone.entry(row).or_default();
                    for (value, fewer) in values {
                        *row.entry(value).or_default() += fewer;
                    }
                }
            }
        }
    }

    /// Adds a file whose content is not known: it counts for all rows on what runs later.
    pub fn add_unknown(&mut self, path: &str) {
        let rows = self.table.find_value_rows(path);
        let rows = rows.filter(|(_, row)| !row.is_guard);
        let said =
            rows.map(|(_, row)| format!("`{path}` is too large to be compared: {}.", row.raw.says));
        self.sentences.extend(said);
    }

    /// Returns a sentence on each row by which a file counts, with what is new or gone.
    pub fn into_sentences(self) -> Vec<String> {
        let gone = self.gone.into_iter().filter_map(|(at, values)| {
            let gone = values.into_iter().filter(|(_, fewer)| *fewer > 0);
            let gone: Vec<WatchedValue> = gone.map(|(value, _)| value).collect();
            let row = self.table.row(at);
            (!gone.is_empty()).then(|| row.describe_values(&gone))
        });
        self.sentences.into_iter().chain(gone).collect()
    }
}

/// What a row finds in one file.
enum Finding {
    Sentence(String),
    /// The row, and how much rarer or more frequent each value became.
    Gone(usize, BTreeMap<WatchedValue, i64>),
}

fn describe_new_values(row: &Row, file: &ChangedFile<'_>) -> Option<String> {
    let Watched::New(filter) = &row.watched else {
        return None;
    };
    let after = filter.read_values(file.path, file.after?);
    let Some(after) = after else {
        return Some(format!("`{}` cannot be read: {}.", file.path, row.raw.says));
    };
    if row.raw.existing && file.before.is_none() {
        return None;
    }
    let before = file
        .before
        .and_then(|bytes| filter.read_values(file.path, bytes));
    let before = before.unwrap_or_default();
    let is_new = |value: &WatchedValue, count: usize| match before.get(value) {
        Some(known) => row.raw.each && count > *known,
        None => true,
    };
    let new = after
        .into_iter()
        .filter(|(value, count)| is_new(value, *count));
    let new: Vec<WatchedValue> = new.map(|(value, _)| value).collect();
    (!new.is_empty()).then(|| row.describe_values(&new))
}

/// Returns by how much each value became rarer; none if no value did, or became more frequent.
fn count_gone_values(row: &Row, file: &ChangedFile<'_>) -> Option<BTreeMap<WatchedValue, i64>> {
    let Watched::Gone(filter) = &row.watched else {
        return None;
    };
    let count = |bytes: Option<&[u8]>| -> ValueCounts {
        let values = bytes.and_then(|bytes| filter.read_values(file.path, bytes));
        values.unwrap_or_default()
    };
    let mut fewer: BTreeMap<WatchedValue, i64> = BTreeMap::new();
    for (value, count) in count(file.before) {
        *fewer.entry(value).or_default() += i64::try_from(count).unwrap_or(i64::MAX);
    }
    for (value, count) in count(file.after) {
        *fewer.entry(value).or_default() -= i64::try_from(count).unwrap_or(i64::MAX);
    }
    fewer.retain(|_, fewer| *fewer != 0);
    (!fewer.is_empty()).then_some(fewer)
}
