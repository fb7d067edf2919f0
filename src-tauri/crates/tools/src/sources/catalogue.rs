//! The tools that a source offers at one moment.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt::Debug;

use protocol::Digest;
use protocol::text::display_text::is_hidden;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::limits::LEFT_OUT_MAX;

/// One tool as its source defines it. Approvals pin this definition: a tool that differs from it is another tool.
pub trait SourceTool: Debug + Clone + PartialEq + Serialize + DeserializeOwned {
    /// Name of the definition in the file of the approvals.
    const MEMBER: &'static str;

    /// Returns the key of the tool within its source.
    fn key(&self) -> Cow<'_, str>;

    /// Returns the nearest name that a model can call.
    fn callable_name(&self) -> String;

    /// Returns the digest of the definition: equal for two definitions with the same content.
    fn digest(&self) -> Digest {
        Digest::from_json(self)
    }

    /// Returns the whole definition as text, for a diff.
    fn text(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default()
    }
}

/// Whether a definition contains characters that are invisible or that make text read otherwise than it is. A definition
/// that cannot be looked through counts as one that does.
pub(super) fn has_hidden_text(tool: &impl SourceTool) -> bool {
    // As a value and not as text, in which JSON escapes control characters.
    serde_json::to_value(tool).map_or(true, |definition| contains_hidden_text(&definition))
}

fn contains_hidden_text(value: &Value) -> bool {
    match value {
        Value::Object(members) => {
            let mut members = members.iter();
            members.any(|(name, value)| name.chars().any(is_hidden) || contains_hidden_text(value))
        }
        Value::Array(items) => items.iter().any(contains_hidden_text),
        Value::String(text) => text.chars().any(is_hidden),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// The tools of a source at one moment.
pub trait Catalogue {
    /// A tool of the source.
    type Tool: SourceTool;
    /// Folder of the approvals, in the data folder.
    const FOLDER: &'static str;

    /// Returns the tools in the order of the source; no key occurs twice.
    fn tools(&self) -> &[Self::Tool];

    /// Returns the title of the source; none if sources of this kind have none.
    fn title(&self) -> Option<&str> {
        None
    }

    /// Whether the source has resources besides its tools; none if sources of this kind have none.
    fn has_resources(&self) -> Option<bool> {
        None
    }

    /// Returns the digest of all tools.
    fn digest(&self) -> Digest {
        let digests = self.tools().iter().map(SourceTool::digest);
        Digest::from_json(&digests.collect::<Vec<_>>())
    }
}

/// Returns the tools by their keys.
pub(super) fn index_by_key<'a, T: SourceTool + 'a>(
    tools: impl IntoIterator<Item = &'a T>,
) -> HashMap<Cow<'a, str>, &'a T> {
    let tools = tools.into_iter();
    tools.map(|tool| (tool.key(), tool)).collect()
}

/// Records in `left_out` that an item of a source was left out. If many are, only the first are recorded one by one,
/// and `beyond_limit` counts the others.
pub fn record_left_out(left_out: &mut Vec<String>, beyond_limit: &mut usize, why: String) {
    if left_out.len() < LEFT_OUT_MAX {
        left_out.push(why);
        return;
    }
    *beyond_limit += 1;
    left_out.truncate(LEFT_OUT_MAX);
    left_out.push(format!("And {beyond_limit} more are left out."));
}
