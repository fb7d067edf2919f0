//! The rows of the tables: of which files each speaks, and what of them counts.

use protocol::text::display_text::to_single_line;
use protocol::text::redact;
use serde::Deserialize;

use super::values::{ValueFilter, WatchedValue};
use crate::path::Os;
use crate::patterns::PathPattern;

/// Greatest length of a value in a sentence, in characters.
const VALUE_CHARS_MAX: usize = 120;

/// How many values or names are listed in a sentence.
const NAMED_VALUES_MAX: usize = 3;

/// Folders with the tests of a project, and what they work on.
const TEST_FOLDERS: &[&str] = &[
    "test",
    "tests",
    "spec",
    "specs",
    "__tests__",
    "testdata",
    "fixtures",
    "e2e",
];

/// A row as it is written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(
    not(test),
    expect(dead_code, reason = "only tests read what documents a row")
)]
pub(super) struct RawRow {
    pub program: String,
    pub says: String,
    pub paths: Vec<String>,
    #[serde(default)]
    pub keys: Vec<String>,
    pub lines: Option<String>,
    pub gone: Option<String>,
    #[serde(default)]
    pub nested: bool,
    #[serde(default)]
    pub each: bool,
    #[serde(default)]
    pub existing: bool,
    #[serde(default)]
    pub tests: bool,
    pub documented: String,
    pub example: RawExample,
    pub harmless: Option<RawExample>,
}

/// A change by which a row is tested.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(
    not(test),
    expect(dead_code, reason = "only tests compare the examples")
)]
pub(super) struct RawExample {
    pub path: String,
    pub before: Option<String>,
    pub after: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawTable {
    pub row: Vec<RawRow>,
}

/// What of a file counts.
#[derive(Debug)]
pub(super) enum Watched {
    WholeFile,
    /// Values that are new or changed.
    New(ValueFilter),
    /// Values that are gone.
    Gone(ValueFilter),
}

/// A row, ready to match.
#[derive(Debug)]
pub(super) struct Row {
    pub raw: RawRow,
    pub patterns: Vec<PathPattern>,
    pub watched: Watched,
    /// Whether the row is about something that protects, and not about something that runs.
    pub is_guard: bool,
}

impl Row {
    /// Returns the row; none if a pattern or an expression cannot be read.
    pub fn from_raw(raw: RawRow, is_guard: bool) -> Option<Self> {
        let patterns: Result<Vec<_>, _> = raw
            .paths
            .iter()
            .map(|path| PathPattern::new(path, Os::Macos))
            .collect();
        let watched = match (&raw.lines, &raw.gone) {
            (Some(lines), _) if raw.nested => {
                Watched::New(ValueFilter::of_nested_lines(lines).ok()?)
            }
            (Some(lines), _) if !raw.keys.is_empty() => {
                Watched::New(ValueFilter::of_matching_keys(&raw.keys, lines).ok()?)
            }
            (Some(lines), _) => Watched::New(ValueFilter::of_lines(lines).ok()?),
            (None, Some(gone)) => Watched::Gone(ValueFilter::of_lines(gone).ok()?),
            (None, None) if raw.keys.is_empty() => Watched::WholeFile,
            (None, None) => Watched::New(ValueFilter::of_keys(&raw.keys)),
        };
        Some(Self {
            patterns: patterns.ok()?,
            watched,
            raw,
            is_guard,
        })
    }

    /// Whether the row speaks of the files of a project's tests, if the path is one.
    pub fn covers_tests_at(&self, path: &str) -> bool {
        !self.is_guard || self.raw.tests || !is_test(path)
    }

    /// Whether the content of a file counts, and not the file.
    pub fn compares_values(&self) -> bool {
        !matches!(self.watched, Watched::WholeFile)
    }

    /// Describes values by which a change counts.
    pub fn describe_values(&self, values: &[WatchedValue]) -> String {
        let named = list_first(values.iter().map(describe_value));
        let says = &self.raw.says;
        match self.watched {
            Watched::Gone(_) => format!("{says}. Gone: {named}."),
            Watched::New(_) | Watched::WholeFile => format!("{says}: {named}."),
        }
    }
}

/// Lists the first of some names, and says how many more there are.
pub(super) fn list_first(names: impl ExactSizeIterator<Item = String>) -> String {
    let more = names.len().saturating_sub(NAMED_VALUES_MAX);
    let named: Vec<String> = names.take(NAMED_VALUES_MAX).collect();
    let named = named.join(", ");
    match more {
        0 => named,
        more => format!("{named}, and {more} more"),
    }
}

fn describe_value(value: &WatchedValue) -> String {
    let text = to_single_line(&redact::text(&value.text).0, VALUE_CHARS_MAX);
    match value.key.as_str() {
        "" => format!("`{text}`"),
        key => format!("`{}` is `{text}`", to_single_line(key, VALUE_CHARS_MAX)),
    }
}

/// Whether a path, relative to the workspace root, is one of a project's tests.
pub fn is_test(path: &str) -> bool {
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    let stem = name.split('.').next().unwrap_or(name);
    folders.split('/').any(|it| TEST_FOLDERS.contains(&it))
        || stem == "conftest"
        || stem.starts_with("test_")
        || stem.ends_with("_test")
        || name.contains(".test.")
        || name.contains(".spec.")
}
