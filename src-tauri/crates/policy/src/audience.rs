//! What calls send to servers that others read (M26). Nothing takes back what somebody has read.

use protocol::ToolMode;
use protocol::rule::evidence::ArgumentValue;

use crate::classify::ToolClass;

/// Whether a call sends something: it does not only read, or its arguments carry more than single words.
pub fn sends_something(class: &ToolClass, arguments: &[ArgumentValue]) -> bool {
    let only_reads = match class.mode {
        Some(ToolMode::Read | ToolMode::External) => true,
        Some(ToolMode::SafeWrite | ToolMode::Destructive | ToolMode::Local) => false,
        None => class.verb_permission.is_some(),
    };
    let mut texts = arguments.iter().filter_map(|one| one.text.as_deref());
    !only_reads || texts.any(|text| text.trim().contains(char::is_whitespace))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::classify::{ToolDeclaration, classify_tool};

    #[test]
    fn what_writes_or_carries_text_sends_something() {
        for (tool, mode, text, expected) in [
            ("chat__post", None, "x", true),
            ("chat__get_post", None, "x", false),
            ("chat__get_post", None, "see you at eight", true),
            ("chat__post", Some(ToolMode::External), "x", false),
            ("chat__post", Some(ToolMode::External), "a\nb", true),
            ("chat__post", Some(ToolMode::Destructive), "x", true),
        ] {
            let declared = ToolDeclaration {
                mode,
                ..ToolDeclaration::default()
            };
            let arguments = json!({ "channel": { "id": 7, "topic": [" x ", text] } });
            let arguments = ArgumentValue::collect_from(arguments.as_object().unwrap());
            let class = classify_tool(tool, declared);
            assert_eq!(
                sends_something(&class, &arguments),
                expected,
                "{tool} {text}"
            );
        }
    }
}
