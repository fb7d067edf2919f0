//! Rewrites the references of values that are moved to another file.

use serde_json::Value;

use crate::document::source::resolve_file_reference;

/// Rewrites the references of a value of the file `from` for the file `to`. An empty name is the document itself, which
/// no file can refer to by a name.
pub(super) fn rebase_references(value: Value, from: &str, to: &str) -> Value {
    if from == to {
        return value;
    }
    match value {
        Value::Object(members) => {
            let members = members.into_iter().map(|(name, value)| match value {
                Value::String(reference) if name == "$ref" => {
                    let reference = rebase_reference(&reference, from, to).unwrap_or(reference);
                    (name, Value::String(reference))
                }
                value => (name, rebase_references(value, from, to)),
            });
            Value::Object(members.collect())
        }
        Value::Array(items) => {
            let items = items
                .into_iter()
                .map(|item| rebase_references(item, from, to));
            Value::Array(items.collect())
        }
        plain => plain,
    }
}

/// Rewrites one reference; none if it leads to a URL, or into the document itself.
fn rebase_reference(reference: &str, from: &str, to: &str) -> Option<String> {
    let (file, pointer) = reference.split_once('#').unwrap_or((reference, ""));
    let file = match file {
        "" => from.to_owned(),
        _ => resolve_file_reference(reference, from)?,
    };
    if file.is_empty() {
        return None;
    }
    let up = "../".repeat(to.matches('/').count());
    Some(format!("{up}{file}#{pointer}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_seen_from_another_file() {
        for (reference, from, to, seen) in [
            ("#/a", "parts/x.yaml", "", Some("parts/x.yaml#/a")),
            ("y.yaml#/a", "parts/x.yaml", "", Some("parts/y.yaml#/a")),
            ("#/a", "x.yaml", "paths/p.yaml", Some("../x.yaml#/a")),
            ("y.yaml", "parts/x.yaml", "", Some("parts/y.yaml#")),
            ("#/a", "", "paths/p.yaml", None),
            ("https://x.y/z#/a", "x.yaml", "", None),
        ] {
            assert_eq!(
                rebase_reference(reference, from, to).as_deref(),
                seen,
                "{reference}"
            );
        }
    }
}
