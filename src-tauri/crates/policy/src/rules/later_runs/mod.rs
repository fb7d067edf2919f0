//! Files that some program runs or obeys by itself later on, outside of every sandbox.
//!
//! The table is data: `table.toml`. A row speaks of whole files, whose change the rules ask about,
//! or of certain values in a file, which are compared here: the key that runs counts, not the file.

mod values;

use std::sync::OnceLock;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use protocol::rule::verdict::RuleTrace;
use protocol::text::display_text::to_single_line;
use protocol::text::redact;
use protocol::{Capability, Rule, RuleAction, RuleScope, Verdict};
use serde::Deserialize;

use crate::path::Os;
use crate::patterns::PathPattern;
use crate::rules::{CompiledRule, Subject, SubjectKind};
use values::{ValueFilter, WatchedValue};

/// Greatest length of a value in a sentence, in characters.
const VALUE_CHARS_MAX: usize = 120;

/// How many values of one row are named in a sentence.
const NAMED_VALUES_MAX: usize = 3;

/// Folders whose content packages and builds bring along: a program reads its configuration from the project, not from
/// these.
const DEPENDENCY_FOLDERS: &[&str] = &[
    "node_modules",
    ".venv",
    "venv",
    "site-packages",
    "target",
    "__pycache__",
    ".tox",
    ".nox",
    ".terraform",
    ".gradle",
    "bower_components",
];

/// A file before and after a change.
#[derive(Debug, Clone, Copy)]
pub struct ChangedFile<'a> {
    /// Path relative to the workspace root, `/`-separated.
    pub path: &'a str,
    /// Content before; none if there was no file.
    pub before: Option<&'a [u8]>,
    /// Content after.
    pub after: &'a [u8],
}

/// A row as it is written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(
    not(test),
    expect(dead_code, reason = "only tests read what documents a row")
)]
struct RawRow {
    program: String,
    says: String,
    paths: Vec<String>,
    #[serde(default)]
    keys: Vec<String>,
    lines: Option<String>,
    documented: String,
    example: RawExample,
    harmless: Option<RawExample>,
}

/// A change by which a row is tested.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(
    not(test),
    expect(dead_code, reason = "only tests compare the examples")
)]
struct RawExample {
    path: String,
    before: Option<String>,
    after: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawTable {
    row: Vec<RawRow>,
}

/// A row, ready to match.
#[derive(Debug)]
struct Row {
    raw: RawRow,
    patterns: Vec<PathPattern>,
    /// The values of a file that count; none if the whole file does.
    values: Option<ValueFilter>,
}

/// The table of files that some program runs or obeys by itself later on.
#[derive(Debug)]
pub struct LaterRuns {
    rows: Vec<Row>,
    /// All patterns of all rows: most paths match none of them.
    any: GlobSet,
    /// The row and the pattern of each glob in `any`.
    origins: Vec<(usize, usize)>,
}

impl LaterRuns {
    /// Returns the built-in table. A row that cannot be read is left out; a test reads all of them.
    pub fn standard() -> &'static Self {
        static STANDARD: OnceLock<LaterRuns> = OnceLock::new();
        STANDARD.get_or_init(|| {
            let table: RawTable =
                toml::from_str(include_str!("table.toml")).unwrap_or(RawTable { row: Vec::new() });
            Self::from_rows(table.row)
        })
    }

    fn from_rows(raw: Vec<RawRow>) -> Self {
        let rows: Vec<Row> = raw.into_iter().filter_map(Row::from_raw).collect();
        let mut builder = GlobSetBuilder::new();
        let mut origins = Vec::new();
        for (row, one) in rows.iter().enumerate() {
            for (pattern, written) in one.raw.paths.iter().enumerate() {
                let glob = GlobBuilder::new(&format!("**/{written}"))
                    .literal_separator(true)
                    .case_insensitive(true)
                    .build();
                if let Ok(glob) = glob {
                    builder.add(glob);
                    origins.push((row, pattern));
                }
            }
        }
        Self {
            any: builder.build().unwrap_or_default(),
            rows,
            origins,
        }
    }

    /// Returns the rows that speak of a path, each with the pattern that matches.
    fn find_rows(&self, path: &str) -> impl Iterator<Item = (&Row, usize)> {
        let is_dependency = path
            .split('/')
            .any(|name| DEPENDENCY_FOLDERS.contains(&name));
        let found = match is_dependency {
            true => Vec::new(),
            false => self.any.matches(path),
        };
        found.into_iter().map(|at| {
            let (row, pattern) = self.origins[at];
            (&self.rows[row], pattern)
        })
    }

    /// Whether some values of the file count, so that its content has to be known.
    pub fn compares_values(&self, path: &str) -> bool {
        self.find_rows(path).any(|(row, _)| row.values.is_some())
    }

    /// Returns a sentence on each row by which a change counts, with what is new. Rows that speak of whole files are
    /// left to the rules.
    pub fn describe_changed_values(&self, file: &ChangedFile<'_>) -> Vec<String> {
        let rows = self.find_rows(file.path);
        rows.filter_map(|(row, _)| row.describe_change(file))
            .collect()
    }

    /// Returns the sentences on a file whose content is not known.
    pub fn describe_unknown_values(&self, path: &str) -> Vec<String> {
        let rows = self.find_rows(path).filter(|(row, _)| row.values.is_some());
        rows.map(|(row, _)| format!("`{path}` is too large to be compared: {}.", row.raw.says))
            .collect()
    }

    /// Returns the verdict on writing a file that counts as a whole, unless the rule that speaks names the place.
    pub(crate) fn tighten_verdict(
        &self,
        subject: &Subject<'_>,
        current: Verdict,
        speaks: Option<&CompiledRule>,
    ) -> Option<(Verdict, RuleTrace)> {
        let (SubjectKind::Path(fact) | SubjectKind::Effect(fact)) = subject.seen else {
            return None;
        };
        // A word that may be a file which a command writes is no change yet: its effects tell.
        let may_write = fact.capability == Capability::FsWrite && !subject.tightens;
        if !may_write || current >= Verdict::Ask {
            return None;
        }
        let named = |pattern: &PathPattern| {
            speaks.is_some_and(|rule| rule.trusted && rule.names_protected(pattern))
        };
        let (row, pattern) = self
            .find_rows(&fact.real)
            .find(|(row, pattern)| row.values.is_none() && !named(&row.patterns[*pattern]))?;
        let rule = Rule {
            permission: "fs.write".to_owned(),
            pattern: Some(row.raw.paths[pattern].clone()),
            action: RuleAction::Ask,
            reason: Some(format!("{}.", row.raw.says)),
            scope: RuleScope::Builtin,
            file: None,
            line: None,
            expires_ms: None,
            max_uses: None,
            grant: None,
        };
        Some((
            Verdict::Ask,
            RuleTrace {
                rule,
                won: true,
                why: "built in; a rule that names this very place overrides it".to_owned(),
            },
        ))
    }
}

impl Row {
    fn from_raw(raw: RawRow) -> Option<Self> {
        let patterns: Result<Vec<_>, _> = raw
            .paths
            .iter()
            .map(|path| PathPattern::new(path, Os::Macos))
            .collect();
        Some(Self {
            patterns: patterns.ok()?,
            values: ValueFilter::new(&raw.keys, raw.lines.as_deref()).ok()?,
            raw,
        })
    }

    fn describe_change(&self, file: &ChangedFile<'_>) -> Option<String> {
        let filter = self.values.as_ref()?;
        let before = file
            .before
            .map(|bytes| filter.read_values(file.path, bytes));
        let Some(after) = filter.read_values(file.path, file.after) else {
            return Some(format!(
                "`{}` cannot be read: {}.",
                file.path, self.raw.says
            ));
        };
        let before = before.flatten().unwrap_or_default();
        let new: Vec<&WatchedValue> = after.difference(&before).collect();
        let named: Vec<String> = new
            .iter()
            .take(NAMED_VALUES_MAX)
            .map(|value| describe_value(value))
            .collect();
        let more = match new.len().saturating_sub(NAMED_VALUES_MAX) {
            0 => String::new(),
            more => format!(", and {more} more"),
        };
        let named = named.join(", ");
        (!new.is_empty()).then(|| format!("{}: {named}{more}.", self.raw.says))
    }
}

fn describe_value(value: &WatchedValue) -> String {
    let text = to_single_line(&redact::text(&value.text).0, VALUE_CHARS_MAX);
    match value.key.as_str() {
        "" => format!("`{text}`"),
        key => format!("`{}` is `{text}`", to_single_line(key, VALUE_CHARS_MAX)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Vec<RawRow> {
        let table: RawTable = toml::from_str(include_str!("table.toml")).unwrap();
        table.row
    }

    /// What a change gives: the sentences on values, or the row that speaks of the whole file.
    fn describe(example: &RawExample, row: &Row) -> Option<String> {
        let standard = LaterRuns::standard();
        let speaks = standard
            .find_rows(&example.path)
            .any(|(found, _)| found.raw.says == row.raw.says && found.raw.paths == row.raw.paths);
        let file = ChangedFile {
            path: &example.path,
            before: example.before.as_deref().map(str::as_bytes),
            after: example.after.as_bytes(),
        };
        match row.values {
            _ if !speaks => None,
            None => Some(row.raw.says.clone()),
            Some(_) => row.describe_change(&file),
        }
    }

    #[test]
    fn every_row_is_read_and_documented() {
        let rows = table();
        assert_eq!(LaterRuns::standard().rows.len(), rows.len());
        for row in &rows {
            assert!(row.documented.len() > 20, "{}", row.program);
            assert!(!row.says.ends_with('.'), "{}", row.says);
            let has_values = !row.keys.is_empty() || row.lines.is_some();
            assert!(!has_values || row.harmless.is_some(), "{}", row.says);
        }
        let patterns: usize = rows.iter().map(|row| row.paths.len()).sum();
        assert_eq!(LaterRuns::standard().origins.len(), patterns);
    }

    #[test]
    fn every_row_tells_its_change_and_no_harmless_one() {
        for raw in table() {
            let row = Row::from_raw(raw).unwrap();
            let told = describe(&row.raw.example, &row);
            let told = told.unwrap_or_else(|| panic!("{:?}", row.raw.example));
            assert!(told.starts_with(&row.raw.says), "{told}");
            if let Some(harmless) = &row.raw.harmless {
                assert_eq!(describe(harmless, &row), None, "{harmless:?}");
            }
        }
    }

    #[test]
    fn the_key_that_runs_counts_and_not_the_file() {
        let describe = |before: Option<&str>, after: &str| {
            LaterRuns::standard().describe_changed_values(&ChangedFile {
                path: "web/package.json",
                before: before.map(str::as_bytes),
                after: after.as_bytes(),
            })
        };
        let with_script = r#"{"scripts": {"postinstall": "node setup.js", "test": "vitest"}}"#;
        assert_eq!(
            describe(Some(r#"{"scripts": {"test": "vitest"}}"#), with_script),
            ["npm runs this on the next install: `scripts.postinstall` is `node setup.js`."]
        );
        // What stands there already is no change, and what is taken away runs no more.
        assert!(describe(Some(with_script), &with_script.replace("vitest", "jest")).is_empty());
        assert!(describe(Some(with_script), "{}").is_empty());
        assert_eq!(describe(None, with_script).len(), 1);
        // Nobody can say what a broken file runs.
        assert!(describe(None, "{\"scripts\": {")[0].contains("cannot be read"));
    }

    #[test]
    fn what_packages_bring_along_is_no_file_of_the_project() {
        let table = LaterRuns::standard();
        for (path, counts) in [
            ("package.json", true),
            ("web/Package.JSON", true),
            ("node_modules/a/package.json", false),
            ("node_modules/a/.github/workflows/ci.yml", false),
            ("src/package.json.md", false),
            ("/home/mira/other/.github/workflows/ci.yml", true),
        ] {
            assert_eq!(table.find_rows(path).next().is_some(), counts, "{path}");
        }
    }
}
