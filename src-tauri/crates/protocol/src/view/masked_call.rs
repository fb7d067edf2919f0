//! The masked form of a settled call: its view once nobody has to decide on it any more, without the secrets of its
//! arguments.
//!
//! While a call waits that sends nothing out, a person sees it verbatim, because they agree to exactly that. Once the
//! call is over, the log keeps the model's own arguments, from which a session resumes and replays, and every view of
//! the call is masked. Of a call that sends a secret out, no event holds it in the first place.

use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use ts_rs::TS;

use crate::text::redact;
use crate::view::entry::PersonDecision;
use crate::view::preview::{DiffLine, DiffLinePart, FileDiff};
use crate::{CallView, Preview, Trail};

/// The parts of a call's view that can repeat a secret of its arguments, with the secrets masked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct MaskedCall {
    /// The model's arguments.
    #[ts(type = "Record<string, unknown>")]
    pub arguments: Map<String, Value>,
    /// The person's arguments; none if the person changed nothing.
    #[ts(type = "Record<string, unknown> | null")]
    pub edited: Option<Map<String, Value>>,
    /// The agent's own reason for the call.
    pub reasoning: Option<String>,
    /// Target of the call.
    pub target: String,
    /// The gates and their results.
    pub trail: Option<Arc<Trail>>,
    /// Preview shown on the card.
    pub preview: Preview,
    /// The person's decision.
    pub decision: Option<PersonDecision>,
}

/// Returns whether the arguments hold a secret.
pub fn holds_secret(arguments: &Map<String, Value>) -> bool {
    redact::mask_object(arguments).1 > 0
}

impl MaskedCall {
    /// Masks a call's view.
    pub fn new(view: &CallView) -> Self {
        let edited = view.edited.as_ref();
        Self {
            arguments: mask_arguments(&view.call.arguments),
            edited: edited.map(mask_arguments),
            reasoning: view.reasoning.as_deref().map(mask_text),
            target: mask_text(&view.target),
            trail: view.trail.as_deref().and_then(mask_strings).map(Arc::new),
            preview: mask_preview(&view.preview),
            decision: view.decision.as_ref().and_then(mask_strings),
        }
    }

    /// Returns the form that withholds everything, for a call whose view cannot be read.
    pub fn withheld() -> Self {
        Self {
            arguments: Map::new(),
            edited: None,
            reasoning: None,
            target: redact::MASK.to_owned(),
            trail: None,
            preview: Preview::Nothing,
            decision: None,
        }
    }

    /// Replaces the view's own parts with the masked ones.
    pub fn apply(&self, view: &mut CallView) {
        view.call.arguments.clone_from(&self.arguments);
        view.edited.clone_from(&self.edited);
        view.reasoning.clone_from(&self.reasoning);
        view.target.clone_from(&self.target);
        view.trail.clone_from(&self.trail);
        view.preview.clone_from(&self.preview);
        view.decision.clone_from(&self.decision);
    }
}

/// Masks every string of a value, and everything under the name of a secret. Returns none if the value no longer
/// deserializes without its secrets.
pub fn mask_strings<T: Serialize + DeserializeOwned>(value: &T) -> Option<T> {
    let value = serde_json::to_value(value).ok()?;
    serde_json::from_value(redact::mask_value(&value).0.into_owned()).ok()
}

fn mask_text(text: &str) -> String {
    redact::text(text).0.into_owned()
}

fn mask_arguments(arguments: &Map<String, Value>) -> Map<String, Value> {
    redact::mask_object(arguments).0.into_owned()
}

/// Masks a preview; one that cannot be masked is replaced with nothing.
pub(crate) fn mask_preview(preview: &Preview) -> Preview {
    let mut preview = preview.clone();
    mask_diffs(&mut preview, &mask_text);
    mask_strings(&preview).unwrap_or(Preview::Nothing)
}

/// Masks the differences of files in a preview, each hunk as one text: a secret may begin in one part of a line and end
/// in another, or span several lines.
pub fn mask_diffs(preview: &mut Preview, mask_text: &dyn Fn(&str) -> String) {
    match preview {
        Preview::Diff { files } => files.iter_mut().for_each(|file| mask_diff(file, mask_text)),
        Preview::Effects(effects) => {
            let changes = effects.effects.changes.iter_mut();
            changes
                .filter_map(|change| change.diff.as_mut())
                .for_each(|file| mask_diff(file, mask_text));
        }
        Preview::Nothing
        | Preview::Command(_)
        | Preview::Loss(_)
        | Preview::Form { .. }
        | Preview::Response(_)
        | Preview::Todo { .. }
        | Preview::Plan { .. }
        | Preview::Request(_) => {}
    }
}

fn mask_diff(file: &mut FileDiff, mask_text: &dyn Fn(&str) -> String) {
    for hunk in &mut file.hunks {
        let texts: Vec<String> = hunk.lines.iter().map(line_text).collect();
        let masked = mask_text(&texts.join("\n"));
        let masked: Vec<&str> = masked.split('\n').collect();
        let is_aligned = masked.len() == texts.len();
        for (at, line) in hunk.lines.iter_mut().enumerate() {
            let text = match is_aligned {
                true => masked.get(at).copied().unwrap_or(redact::MASK),
                false => redact::MASK,
            };
            if texts.get(at).map(String::as_str) != Some(text) {
                line.parts = vec![DiffLinePart {
                    text: text.to_owned(),
                    changed: line.parts.iter().any(|part| part.changed),
                    control: false,
                }];
            }
        }
    }
}

fn line_text(line: &DiffLine) -> String {
    line.parts.iter().map(|part| part.text.as_str()).collect()
}
