//! The text by which an entry is found.

use protocol::{CallView, Decision, Entry, EntryBody, redact};
use serde_json::{Map, Value};

use crate::limits::{INDEXED_BYTES_MAX, INDEXED_DEPTH_MAX, INDEXED_PART_BYTES_MAX};

/// Everything of an entry that can be searched. Of a call, the first line is its title and target. The same entry
/// always gives the same text, so that a hit's line numbers hold. Secrets in it are masked, those in arguments as well: who
/// searches for one does not find it.
pub(crate) fn search_text(entry: &Entry) -> String {
    let mut text = Text(String::new());
    match &entry.body {
        EntryBody::Person { text: said, .. } => text.line(said),
        EntryBody::Errand {
            title, text: came, ..
        } => {
            text.line(title);
            text.line(came);
        }
        EntryBody::Agent {
            text: said,
            reasoning,
            error,
            ..
        } => {
            text.line(said);
            text.line(reasoning);
            if let Some(error) = error {
                text.line(&error.to_string());
            }
        }
        EntryBody::Call(view) => text.call(view),
        EntryBody::Notice(notice) => text.line(&notice.fault.to_string()),
    }
    match redact::text(&text.0) {
        (_, 0) => text.0,
        (masked, _) => masked.into_owned(),
    }
}

struct Text(String);

impl Text {
    /// Adds a part on lines of its own, cut at its limit; the marks that a hit is drawn with become blanks.
    fn line(&mut self, part: &str) {
        let room = INDEXED_PART_BYTES_MAX.min(INDEXED_BYTES_MAX.saturating_sub(self.0.len() + 1));
        let part = protocol::cut::head(part, room);
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

    fn call(&mut self, view: &CallView) {
        let head = if view.target.is_empty() {
            view.title.clone()
        } else {
            format!("{} {}", view.title, view.target)
        };
        self.line(&head.replace(['\r', '\n'], " "));
        if let Some(reasoning) = &view.reasoning {
            self.line(reasoning);
        }
        self.object(&view.call.arguments, &view.target);
        if let Some(edited) = &view.edited {
            self.object(edited, &view.target);
        }
        if let Some(decided) = &view.decision {
            self.decision(&decided.decision);
        }
        match &view.outcome {
            Some(outcome) => self.line(&outcome.search_text()),
            None => self.line(&view.output),
        }
        for path in crate::row::paths(view).lines() {
            if path != view.target && !self.0.contains(path) {
                self.line(path);
            }
        }
    }

    fn decision(&mut self, decision: &Decision) {
        match decision {
            Decision::Allow { note, .. } | Decision::Reject { note, .. } => self.line(note),
            Decision::Answer { answers } => {
                answers
                    .iter()
                    .flatten()
                    .for_each(|answer| self.line(answer));
            }
            Decision::WithNetwork { hosts } | Decision::InPlace { hosts } => {
                hosts.iter().for_each(|host| self.line(host))
            }
            Decision::Skip | Decision::DryRun | Decision::Edit { .. } => {}
        }
    }

    /// Adds the strings among some arguments, but not the target again.
    fn object(&mut self, arguments: &Map<String, Value>, target: &str) {
        for value in redact::object(arguments).0.values() {
            self.value(value, target, INDEXED_DEPTH_MAX);
        }
    }

    fn value(&mut self, value: &Value, target: &str, depth: usize) {
        match value {
            Value::String(text) if text != target => self.line(text),
            Value::Array(items) if depth > 0 => {
                items.iter().for_each(|v| self.value(v, target, depth - 1));
            }
            Value::Object(members) if depth > 0 => {
                members
                    .values()
                    .for_each(|v| self.value(v, target, depth - 1));
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
