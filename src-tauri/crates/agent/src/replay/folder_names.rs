//! The names of a workspace and of its copy, each put in the place of the other: recorded calls name files by absolute
//! paths, and a report names them as the person knows them.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::host::config::RulesText;

/// Absolute paths of a workspace and of its copy.
pub(super) struct FolderNames {
    pub original: String,
    pub copy: String,
}

impl FolderNames {
    /// Returns arguments that name files of the copy in the place of those of the workspace.
    pub fn arguments_to_copy(&self, arguments: Map<String, Value>) -> Map<String, Value> {
        replace_in_members(arguments, &self.original, &self.copy)
    }

    /// Returns rules about the copy in the place of the workspace.
    pub fn rules_to_copy(&self, rules: RulesText) -> RulesText {
        RulesText {
            text: replace_folder(&rules.text, &self.original, &self.copy),
            ..rules
        }
    }

    /// Returns a report that names the workspace in the place of its copy.
    pub fn to_original<T: Serialize + DeserializeOwned>(&self, report: T) -> T {
        let renamed = serde_json::to_value(&report)
            .map(|value| replace_in_value(value, &self.copy, &self.original))
            .and_then(serde_json::from_value);
        renamed.unwrap_or(report)
    }
}

/// Replaces a folder in every text of some arguments.
pub(super) fn replace_in_members(
    members: Map<String, Value>,
    from: &str,
    to: &str,
) -> Map<String, Value> {
    let renamed = members
        .into_iter()
        .map(|(name, value)| (name, replace_in_value(value, from, to)));
    renamed.collect()
}

fn replace_in_value(value: Value, from: &str, to: &str) -> Value {
    match value {
        Value::String(text) => Value::String(replace_folder(&text, from, to)),
        Value::Array(items) => {
            let items = items.into_iter();
            items.map(|item| replace_in_value(item, from, to)).collect()
        }
        Value::Object(members) => Value::Object(replace_in_members(members, from, to)),
        Value::Null | Value::Bool(_) | Value::Number(_) => value,
    }
}

/// Replaces a folder wherever a text names it or what is in it, and not where its path is only a part of another name.
fn replace_folder(text: &str, from: &str, to: &str) -> String {
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    let mut renamed = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(from) {
        let (before, after) = (&rest[..at], &rest[at + from.len()..]);
        renamed.push_str(before);
        let begins = !renamed.ends_with(|c| is_name(c) || c == '.');
        let ends = !after.starts_with(is_name);
        renamed.push_str(if begins && ends { to } else { from });
        rest = after;
    }
    renamed + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_replaced_where_it_is_meant() {
        for (text, expected) in [
            ("cat /home/me/a /home/me", "cat /copy/a /copy"),
            ("'/home/me/a b'", "'/copy/a b'"),
            ("HOME=/home/me:/home/me/bin", "HOME=/copy:/copy/bin"),
            ("/home/me.", "/copy."),
            (
                "/home/menu /home/me-2 /mnt/home/me",
                "/home/menu /home/me-2 /mnt/home/me",
            ),
            ("./home/me", "./home/me"),
            ("", ""),
        ] {
            assert_eq!(replace_folder(text, "/home/me", "/copy"), expected);
        }
    }
}
