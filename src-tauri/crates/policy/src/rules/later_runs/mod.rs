//! What some program runs or obeys by itself later on, outside of every sandbox, and what protects a project until then.
//!
//! The tables are data: `table.toml` lists what runs, `guards.toml` what protects. A row speaks of whole files, whose
//! change the rules ask about, or of certain values in a file, which are compared here: the key that runs counts, not the
//! file.

mod changes;
mod checks;
mod migrations;
mod nested_keys;
mod pins;
mod row;
mod values;

use std::collections::BTreeMap;
use std::sync::OnceLock;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use protocol::rule::verdict::RuleTrace;
use protocol::{Capability, Rule, RuleAction, RuleScope, Verdict};

pub use changes::{ChangedFile, ChangedValues, IsKnownContent};
pub use row::is_test;

use crate::patterns::PathPattern;
use crate::rules::{CompiledRule, Subject, SubjectKind};
use row::{RawTable, Row};

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

/// A row that speaks of a path.
struct FoundRow<'a> {
    at: usize,
    row: &'a Row,
    /// The pattern of the row that matches.
    pattern: usize,
}

/// The tables of what some program runs or obeys by itself later on, and of what protects a project.
#[derive(Debug)]
pub struct LaterRuns {
    rows: Vec<Row>,
    /// All patterns of all rows: most paths match none of them.
    any: GlobSet,
    /// The row and the pattern of each glob in `any`.
    origins: Vec<(usize, usize)>,
}

impl LaterRuns {
    /// Returns the built-in tables. A row that cannot be read is left out; a test reads all of them.
    pub fn standard() -> &'static Self {
        static STANDARD: OnceLock<LaterRuns> = OnceLock::new();
        STANDARD.get_or_init(|| {
            let runs = read_table(include_str!("table.toml"), false);
            let guards = read_table(include_str!("guards.toml"), true);
            Self::from_rows(runs.into_iter().chain(guards).collect())
        })
    }

    fn from_rows(rows: Vec<Row>) -> Self {
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

    fn row(&self, at: usize) -> &Row {
        &self.rows[at]
    }

    /// Returns the rows that speak of a path, each with its place and the pattern that matches.
    fn find_rows(&self, path: &str) -> impl Iterator<Item = FoundRow<'_>> {
        let found = match is_dependency(path) {
            true => Vec::new(),
            false => self.any.matches(path),
        };
        let found = found.into_iter().map(|glob| {
            let (at, pattern) = self.origins[glob];
            let row = &self.rows[at];
            FoundRow { at, row, pattern }
        });
        found.filter(move |found| found.row.covers_tests_at(path))
    }

    /// Returns the rows that speak of values in a file, once each.
    fn find_value_rows(&self, path: &str) -> impl Iterator<Item = (usize, &Row)> {
        let found = self.find_rows(path);
        let rows: BTreeMap<usize, &Row> = found
            .filter(|found| found.row.compares_values())
            .map(|found| (found.at, found.row))
            .collect();
        rows.into_iter()
    }

    /// Whether some values of the file count, so that its content has to be known.
    pub fn compares_values(&self, path: &str) -> bool {
        let may_count = self.find_value_rows(path).next().is_some()
            || checks::may_hold_checks(path)
            || migrations::is_migration(path)
            || pins::is_pin_file(path);
        may_count && !is_dependency(path)
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
        let FoundRow { row, pattern, .. } = self.find_rows(&fact.real).find(|found| {
            !found.row.compares_values() && !named(&found.row.patterns[found.pattern])
        })?;
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

/// Whether packages or a build brought a file along.
fn is_dependency(path: &str) -> bool {
    let mut names = path.split('/');
    names.any(|name| DEPENDENCY_FOLDERS.contains(&name))
}

fn read_table(text: &str, is_guards: bool) -> Vec<Row> {
    let table: RawTable = toml::from_str(text).unwrap_or(RawTable { row: Vec::new() });
    let rows = table.row.into_iter();
    rows.filter_map(|row| Row::from_raw(row, is_guards))
        .collect()
}

#[cfg(test)]
mod tests;
