//! Inserts a call's arguments into a hint's text: `Edit {path}` becomes `Edit src/main.rs`.

use serde_json::{Map, Value};

/// Longest text inserted for one argument, in characters.
const ARGUMENT_CHARS_MAX: usize = 2_000;

/// Replaces every `{member}` in the template by that argument: a string as it is, any other value as JSON, and nothing
/// for an argument that was left out. Braces that do not enclose a member's name stay.
pub fn fill_template(template: &str, arguments: &Map<String, Value>) -> String {
    let mut filled = String::with_capacity(template.len());
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        filled.push_str(before);
        let name = after
            .split_once('}')
            .filter(|(name, _)| !name.is_empty() && name.chars().all(is_name_char));
        match name {
            Some((name, tail)) => {
                match arguments.get(name) {
                    None | Some(Value::Null) => {}
                    Some(Value::String(text)) => {
                        filled.extend(text.chars().take(ARGUMENT_CHARS_MAX))
                    }
                    Some(other) => {
                        filled.extend(other.to_string().chars().take(ARGUMENT_CHARS_MAX));
                    }
                }
                rest = tail;
            }
            None => {
                filled.push('{');
                rest = after;
            }
        }
    }
    filled.push_str(rest);
    filled.trim().to_owned()
}

fn is_name_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '-'
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn arguments_stand_where_they_are_named() {
        let arguments = json!({"path": "a {b}", "n": 3, "list": ["x"], "none": null});
        let arguments = arguments.as_object().unwrap();
        for (template, filled) in [
            ("Edit {path}", "Edit a {b}"),
            ("{n} of {list}", "3 of [\"x\"]"),
            ("Search {pattern} {none}", "Search"),
            ("{ {} {a b} {path", "{ {} {a b} {path"),
            ("", ""),
        ] {
            assert_eq!(fill_template(template, arguments), filled, "{template}");
        }
        let long = json!({"path": "x".repeat(5_000)});
        assert_eq!(
            fill_template("{path}", long.as_object().unwrap()).len(),
            ARGUMENT_CHARS_MAX
        );
    }
}
