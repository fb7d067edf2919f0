//! Nesting limit of JSON that comes from outside and is kept.

use serde_json::{Map, Value};

/// Maximum number of levels of arrays and objects. Events and entries wrap a kept value a few levels deeper, and every
/// reader stops at 128 levels: a value that could be read once must not become one that cannot be read again.
pub const DEPTH_MAX: usize = 64;

/// Returns whether arguments are nested too deeply to be kept.
pub fn is_too_deep(arguments: &Map<String, Value>) -> bool {
    arguments
        .values()
        .any(|value| exceeds_depth(value, DEPTH_MAX - 1))
}

/// Returns whether a value has more than `levels` levels, without looking any deeper.
pub fn exceeds_depth(value: &Value, levels: usize) -> bool {
    match value {
        Value::Array(items) => {
            levels == 0 || items.iter().any(|item| exceeds_depth(item, levels - 1))
        }
        Value::Object(members) => {
            levels == 0
                || members
                    .values()
                    .any(|member| exceeds_depth(member, levels - 1))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_counted_from_the_arguments_themselves() {
        let nested = |levels: usize| {
            let text = format!(
                r#"{{"a":{}1{}}}"#,
                "[".repeat(levels - 1),
                "]".repeat(levels - 1)
            );
            serde_json::from_str::<Map<String, Value>>(&text).unwrap()
        };
        assert!(!is_too_deep(&Map::new()));
        assert!(!is_too_deep(&nested(1)));
        assert!(!is_too_deep(&nested(DEPTH_MAX)));
        assert!(is_too_deep(&nested(DEPTH_MAX + 1)));
        assert!(is_too_deep(&nested(120)));
    }
}
