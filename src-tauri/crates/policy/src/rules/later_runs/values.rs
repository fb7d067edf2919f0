//! The values in a file that a program runs or obeys: by their keys, or by the lines that they stand in.

use std::collections::BTreeMap;

use jsonc_parser::{ParseOptions, parse_to_serde_value};
use regex::Regex;
use serde_json::Value;

use super::nested_keys::{flatten_lines, may_nest};

/// A value that counts.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct WatchedValue {
    /// Path of its keys, `scripts.postinstall`; empty for a line.
    pub key: String,
    /// The value, a text as it is and anything else as JSON.
    pub text: String,
}

/// Values of a file, each with how often it stands there.
pub(super) type ValueCounts = BTreeMap<WatchedValue, usize>;

/// Says which values of a file count.
#[derive(Debug)]
pub(super) enum ValueFilter {
    /// Those under these keys.
    Keys(Vec<Vec<String>>),
    /// Those under these keys that the expression matches.
    MatchingKeys(Vec<Vec<String>>, Regex),
    /// Those that the expression finds.
    Lines(Regex),
    /// Those that the expression finds where each line has the keys before it that lead there.
    NestedLines(Regex),
}

impl ValueFilter {
    /// Returns the filter that finds the values under these keys. `*` stands for any key and for the items of a list.
    pub fn of_keys(keys: &[String]) -> Self {
        Self::Keys(split_keys(keys))
    }

    /// Returns the filter that finds the values under these keys that an expression matches.
    ///
    /// # Errors
    /// The expression cannot be read.
    pub fn of_matching_keys(keys: &[String], values: &str) -> Result<Self, regex::Error> {
        Ok(Self::MatchingKeys(split_keys(keys), Regex::new(values)?))
    }

    /// Returns the filter that finds what an expression does: its first group, or the whole match.
    ///
    /// # Errors
    /// The expression cannot be read.
    pub fn of_lines(lines: &str) -> Result<Self, regex::Error> {
        Ok(Self::Lines(Regex::new(lines)?))
    }

    /// Returns the filter as [`ValueFilter::of_lines`] does; in files whose settings stand in blocks, the expression sees the keys
    /// that lead to a line before it.
    ///
    /// # Errors
    /// The expression cannot be read.
    pub fn of_nested_lines(lines: &str) -> Result<Self, regex::Error> {
        Ok(Self::NestedLines(Regex::new(lines)?))
    }

    /// Returns the values of a file that count; none if the file cannot be read.
    pub fn read_values(&self, path: &str, bytes: &[u8]) -> Option<ValueCounts> {
        let mut values = ValueCounts::new();
        match self {
            Self::Lines(lines) => {
                add_found_lines(lines, &String::from_utf8_lossy(bytes), &mut values);
            }
            Self::NestedLines(lines) => {
                let text = String::from_utf8_lossy(bytes);
                match may_nest(path) {
                    true => add_found_lines(lines, &flatten_lines(&text), &mut values),
                    false => add_found_lines(lines, &text, &mut values),
                }
            }
            Self::Keys(keys) => values = read_keys(path, bytes, keys)?,
            Self::MatchingKeys(keys, expression) => {
                values = read_keys(path, bytes, keys)?;
                values.retain(|value, _| expression.is_match(&value.text));
            }
        }
        Some(values)
    }
}

fn split_keys(keys: &[String]) -> Vec<Vec<String>> {
    let split = |key: &String| key.split('.').map(str::to_owned).collect();
    keys.iter().map(split).collect()
}

fn read_keys(path: &str, bytes: &[u8], keys: &[Vec<String>]) -> Option<ValueCounts> {
    let root = parse(path, std::str::from_utf8(bytes).ok()?)?;
    let mut values = ValueCounts::new();
    for key in keys {
        collect_values(&root, key, String::new(), &mut values);
    }
    Some(values)
}

fn add_found_lines(lines: &Regex, text: &str, values: &mut ValueCounts) {
    let texts = lines.captures_iter(text).filter_map(|found| {
        let mut groups = found.iter().skip(1).flatten();
        groups.next().or_else(|| found.get(0))
    });
    for text in texts {
        let (key, text) = (String::new(), text.as_str().trim().to_owned());
        *values.entry(WatchedValue { key, text }).or_default() += 1;
    }
}

fn parse(path: &str, text: &str) -> Option<Value> {
    match path.to_ascii_lowercase().ends_with(".toml") {
        true => toml::from_str(text).ok(),
        false if text.trim().is_empty() => Some(Value::Null),
        false => parse_to_serde_value(text, &ParseOptions::default()).ok(),
    }
}

/// Collects the values under a path of keys. `*` stands for the items of a list and, at its end, for the rest of a name.
fn collect_values(value: &Value, keys: &[String], name: String, values: &mut ValueCounts) {
    let Some((key, below)) = keys.split_first() else {
        let text = match value {
            Value::String(text) => text.clone(),
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::Array(_)
            | Value::Object(_) => value.to_string(),
        };
        *values.entry(WatchedValue { key: name, text }).or_default() += 1;
        return;
    };
    let matches = |found: &str| match key.strip_suffix('*') {
        Some(start) => found.starts_with(start),
        None => found == key,
    };
    match value {
        Value::Object(members) => {
            for (member, value) in members.iter().filter(|(member, _)| matches(member)) {
                let name = match name.as_str() {
                    "" => member.clone(),
                    name => format!("{name}.{member}"),
                };
                collect_values(value, below, name, values);
            }
        }
        Value::Array(items) if key == "*" => {
            for item in items {
                collect_values(item, below, name.clone(), values);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {}
    }
}
