//! The structure of both versions of a file: where a hunk stands, and what changed, in the words of the file itself.
//!
//! Start at [`Structures`]. One file reads each family of formats as a tree of places with their lines; a text that
//! cannot be read, or is too large, has no structure.

mod change;
mod code;
mod ini;
mod json;
mod label;
mod languages;
mod markdown;
mod notebook;
mod summary;
mod table;
#[cfg(test)]
mod tests;
mod toml;
mod tree;
mod xml;
mod yaml;

use std::ops::Range;

use similar::DiffOp;

use self::change::{Change, compare_structures};
use self::languages::find_language;
use self::summary::{Summary, summarize};
use self::tree::Node;
use crate::limits::{STRUCTURE_BYTES_MAX, STRUCTURE_WAY_CHARS_MAX};

/// The structures of the old and the new text of a file, and the changes between them.
pub(super) struct Structures<'a> {
    old: Option<Node<'a>>,
    new: Option<Node<'a>>,
    changes: Vec<Change>,
}

impl<'a> Structures<'a> {
    /// Reads both texts. A file that comes or goes whole has nothing to tell places apart from.
    pub(super) fn read(path: &str, language: &str, old: &'a str, new: &'a str) -> Self {
        let read = |text| read_structure(path, language, text);
        let is_whole = old.is_empty() || new.is_empty();
        let (old, new) = match is_whole {
            true => (None, None),
            false => (read(old), read(new)),
        };
        let changes = old.as_ref().zip(new.as_ref());
        Self {
            changes: changes
                .and_then(|(old, new)| compare_structures(old, new))
                .unwrap_or_default(),
            old,
            new,
        }
    }

    /// Returns the way to the first changed place of a hunk; empty if it is not known.
    pub(super) fn find_section(&self, group: &[DiffOp]) -> String {
        let mut operations = group
            .iter()
            .filter(|op| !matches!(op, DiffOp::Equal { .. }));
        let change = operations
            .clone()
            .find_map(|op| self.find_change(&op.old_range(), &op.new_range()));
        match change {
            Some(change) => format_way(&change.way),
            None => operations
                .next()
                .and_then(|op| self.find_place(&op.old_range(), &op.new_range()))
                .map(|way| format_way(&way))
                .unwrap_or_default(),
        }
    }

    /// Summarizes all changes.
    pub(super) fn summarize(&self) -> Summary {
        summarize(&self.changes)
    }

    /// Finds the first change in these lines of either side; of several in one line, the one of the smallest place.
    fn find_change(&self, old: &Range<usize>, new: &Range<usize>) -> Option<&Change> {
        let offset = |place: &Option<Range<usize>>, lines: &Range<usize>| {
            let place = place.as_ref()?;
            let is_within = place.start < lines.end && lines.start < place.end;
            is_within.then(|| (place.start.saturating_sub(lines.start), place.len()))
        };
        let found = self.changes.iter().filter_map(|change| {
            let at = offset(&change.old_lines, old).or_else(|| offset(&change.new_lines, new))?;
            Some((at, change))
        });
        found.min_by_key(|(at, _)| *at).map(|(_, change)| change)
    }

    /// Finds the place of the first line: of the old side, or of the new one if nothing is removed.
    fn find_place(&self, old: &Range<usize>, new: &Range<usize>) -> Option<Vec<&str>> {
        match old.is_empty() {
            true => self.new.as_ref().map(|root| find_way(root, new.start)),
            false => self.old.as_ref().map(|root| find_way(root, old.start)),
        }
    }
}

/// Reads the structure of a text by its name and its language; none if it has none that can be read.
fn read_structure<'a>(path: &str, language: &str, text: &'a str) -> Option<Node<'a>> {
    if text.len() > STRUCTURE_BYTES_MAX {
        return None;
    }
    let name = path.rsplit('/').next().unwrap_or(path);
    let extension = name.rsplit('.').next().unwrap_or_default();
    match (name, extension) {
        ("uv.lock" | "pdm.lock", _) => return toml::read_toml(text),
        ("pubspec.lock" | "yarn.lock", _) => return yaml::read_yaml(text),
        ("composer.lock" | "Pipfile.lock" | "flake.lock" | "deno.lock" | "bun.lock", _) => {
            return json::read_json(text);
        }
        (_, "csv") => return table::read_table(text, b','),
        (_, "tsv") => return table::read_table(text, b'\t'),
        (_, "jsonl" | "ndjson") => return json::read_json_lines(text),
        _ => {}
    }
    match language {
        "json" => json::read_json(text),
        "notebook" => notebook::read_notebook(text),
        "yaml" => yaml::read_yaml(text),
        "toml" => toml::read_toml(text),
        "xml" => xml::read_xml(text),
        "ini" => ini::read_ini(text),
        "markdown" => markdown::read_markdown(text),
        _ => code::read_code(text, find_language(language)?),
    }
}

/// Returns the labels on the way to the smallest place that holds a line, as far as the line is in one place only.
fn find_way<'n>(root: &'n Node<'_>, line: usize) -> Vec<&'n str> {
    let mut way = Vec::new();
    let mut node = root;
    loop {
        let within = node
            .children
            .iter()
            .filter(|child| child.lines.contains(&line));
        let smallest = within.clone().map(|child| child.lines.len()).min();
        let mut smallest = within.filter(|child| Some(child.lines.len()) == smallest);
        let (Some(child), None) = (smallest.next(), smallest.next()) else {
            return way;
        };
        way.push(child.label.as_str());
        node = child;
    }
}

/// Formats a way: `jobs › 4711 “nightly-train” › status`. A long one is shown from its end.
fn format_way(way: &[impl AsRef<str>]) -> String {
    let mut chars = 0;
    let mut shown: Vec<&str> = way
        .iter()
        .rev()
        .map(AsRef::as_ref)
        .take_while(|label: &&str| {
            let fits = chars == 0 || chars + label.chars().count() <= STRUCTURE_WAY_CHARS_MAX;
            chars += label.chars().count();
            fits
        })
        .collect();
    if shown.len() < way.len() {
        shown.push("…");
    }
    shown.reverse();
    shown.join(" › ")
}
