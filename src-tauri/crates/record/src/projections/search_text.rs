//! The text by which an entry is found.

use protocol::text::redact;
use protocol::{CallView, Decision, Entry, EntryBody};
use serde_json::{Map, Value};

use crate::limits::{INDEXED_BYTES_MAX, INDEXED_DEPTH_MAX, INDEXED_PART_BYTES_MAX};

/// Returns the searchable text of an entry. The first line of a call's text is its title and target. The same entry
/// always gives the same text, so that a hit's line numbers hold. Secrets are masked, those in arguments as well: a
/// search for a secret does not find it.
pub(crate) fn entry_search_text(entry: &Entry) -> String {
    let mut text = SearchText(String::new());
    match &entry.body {
        EntryBody::Person { text: said, .. } => text.push_line(said),
        EntryBody::SubAgentTask {
            title,
            text: result,
            ..
        } => {
            text.push_line(title);
            text.push_line(result);
        }
        EntryBody::Agent {
            text: said,
            reasoning,
            error,
            ..
        } => {
            text.push_line(said);
            text.push_line(reasoning);
            if let Some(error) = error {
                text.push_line(&error.to_string());
            }
        }
        EntryBody::Call(view) => text.push_call(view),
        EntryBody::Notice(notice) => text.push_line(&notice.fault.to_string()),
    }
    match redact::text(&text.0) {
        (_, 0) => text.0,
        (masked, _) => masked.into_owned(),
    }
}

struct SearchText(String);

impl SearchText {
    /// Adds a part on lines of its own, cut at its limit; the marks that a hit is drawn with become blanks.
    fn push_line(&mut self, part: &str) {
        let room = INDEXED_PART_BYTES_MAX.min(INDEXED_BYTES_MAX.saturating_sub(self.0.len() + 1));
        let part = protocol::text::cut::take_head(part, room);
        if part.is_empty() {
            return;
        }
        if !self.0.is_empty() {
            self.0.push('\n');
        }
        if part.contains(['\0', '\u{1}', '\u{2}']) {
            self.0
                .push_str(&part.replace(['\0', '\u{1}', '\u{2}'], " "));
        } else {
            self.0.push_str(part);
        }
    }

    fn push_call(&mut self, view: &CallView) {
        let head = if view.target.is_empty() {
            view.title.clone()
        } else {
            format!("{} {}", view.title, view.target)
        };
        self.push_line(&head.replace(['\r', '\n'], " "));
        if let Some(reasoning) = &view.reasoning {
            self.push_line(reasoning);
        }
        self.push_arguments(&view.call.arguments, &view.target);
        if let Some(edited) = &view.edited {
            self.push_arguments(edited, &view.target);
        }
        if let Some(decided) = &view.decision {
            self.push_decision(&decided.decision);
        }
        match &view.outcome {
            Some(outcome) => self.push_line(&outcome.search_text()),
            None => self.push_line(&view.output),
        }
        for path in crate::projections::columns::call_paths(view).lines() {
            if path != view.target && !self.0.contains(path) {
                self.push_line(path);
            }
        }
    }

    fn push_decision(&mut self, decision: &Decision) {
        match decision {
            Decision::Allow { note, .. } | Decision::Reject { note, .. } => self.push_line(note),
            Decision::Answer { answers } => {
                answers
                    .iter()
                    .flatten()
                    .for_each(|answer| self.push_line(answer));
            }
            Decision::WithNetwork { hosts } | Decision::InPlace { hosts } => {
                hosts.iter().for_each(|host| self.push_line(host))
            }
            Decision::Skip | Decision::DryRun | Decision::Edit { .. } => {}
        }
    }

    /// Adds the strings among some arguments, but not the target again.
    fn push_arguments(&mut self, arguments: &Map<String, Value>, target: &str) {
        for value in redact::mask_object(arguments).0.values() {
            self.push_value(value, target, INDEXED_DEPTH_MAX);
        }
    }

    fn push_value(&mut self, value: &Value, target: &str, depth: usize) {
        match value {
            Value::String(text) if text != target => self.push_line(text),
            Value::Array(items) if depth > 0 => {
                items
                    .iter()
                    .for_each(|v| self.push_value(v, target, depth - 1));
            }
            Value::Object(members) if depth > 0 => {
                members
                    .values()
                    .for_each(|v| self.push_value(v, target, depth - 1));
            }
            Value::String(_)
            | Value::Array(_)
            | Value::Object(_)
            | Value::Null
            | Value::Bool(_)
            | Value::Number(_) => {}
        }
    }
}
