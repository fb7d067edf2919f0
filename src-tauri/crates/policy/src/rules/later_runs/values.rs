//! The values in a file that a program runs or obeys: by their keys, or by the lines that they stand in.

use std::collections::BTreeSet;

use jsonc_parser::{ParseOptions, parse_to_serde_value};
use regex::Regex;
use serde_json::Value;

/// A value that counts.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct WatchedValue {
    /// Path of its keys, `scripts.postinstall`; empty for a line.
    pub key: String,
    /// The value, a text as it is and anything else as JSON.
    pub text: String,
}

/// Says which values of a file count.
#[derive(Debug)]
pub(super) enum ValueFilter {
    /// Those under these keys.
    Keys(Vec<Vec<String>>),
    /// Those that the expression finds.
    Lines(Regex),
}

impl ValueFilter {
    /// Returns the filter of a row; none if the whole file counts.
    ///
    /// # Errors
    /// The expression cannot be read.
    pub fn new(keys: &[String], lines: Option<&str>) -> Result<Option<Self>, regex::Error> {
        let split = |key: &String| key.split('.').map(str::to_owned).collect();
        match lines {
            Some(lines) => Ok(Some(Self::Lines(Regex::new(lines)?))),
            None if keys.is_empty() => Ok(None),
            None => Ok(Some(Self::Keys(keys.iter().map(split).collect()))),
        }
    }

    /// Returns the values of a file that count; none if the file cannot be read.
    pub fn read_values(&self, path: &str, bytes: &[u8]) -> Option<BTreeSet<WatchedValue>> {
        let mut values = BTreeSet::new();
        match self {
            Self::Lines(lines) => {
                let text = String::from_utf8_lossy(bytes);
                values.extend(lines.captures_iter(&text).filter_map(|found| {
                    let text = found.get(1).or_else(|| found.get(0))?.as_str().trim();
                    let (key, text) = (String::new(), text.to_owned());
                    Some(WatchedValue { key, text })
                }));
            }
            Self::Keys(keys) => {
                let root = parse(path, std::str::from_utf8(bytes).ok()?)?;
                for key in keys {
                    collect_values(&root, key, String::new(), &mut values);
                }
            }
        }
        Some(values)
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
fn collect_values(
    value: &Value,
    keys: &[String],
    name: String,
    values: &mut BTreeSet<WatchedValue>,
) {
    let Some((key, below)) = keys.split_first() else {
        let text = match value {
            Value::String(text) => text.clone(),
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::Array(_)
            | Value::Object(_) => value.to_string(),
        };
        values.insert(WatchedValue { key: name, text });
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
