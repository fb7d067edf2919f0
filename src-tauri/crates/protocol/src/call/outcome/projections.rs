//! The five faces of a result, each for one reader and never mixed (`S003-67` to `S003-72`): the text for the model,
//! the summary for the person, the text for search, the preview of a large payload in a listing, and the references.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::call::outcome::Outcome;
use crate::text::cut::take_head;
use crate::{Content, Digest};

/// Maximum length of a payload's preview, in bytes.
const PREVIEW_BYTES_MAX: usize = 2_000;

/// Maximum length of the searched text, in bytes, limited so that the parts behind it still fit in an index.
const SEARCHED_BYTES_MAX: usize = 15_000;

/// Preview of a stored payload in a list, apart from the payload itself (`S003-70`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct PersistedPreview {
    /// Start of the payload, at most 2,000 bytes.
    pub head: String,
    /// Length of the whole payload in bytes.
    pub bytes: u64,
    /// Whether `head` is the whole payload.
    pub is_whole: bool,
    /// Digest of the whole payload.
    pub digest: Digest,
    /// Path of the whole payload, if it is not in the record.
    pub path: Option<String>,
}

/// Kind of a reference's target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum ReferenceKind {
    /// A file that the call left: its long output.
    Artifact,
    /// A resource that the tool referred to.
    Resource,
    /// The session of a sub-agent.
    Session,
}

/// One reference of a result, apart from the result's text (`S003-71`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ResultReference {
    /// Kind of the target.
    pub kind: ReferenceKind,
    /// A path, a URI, or a session's id.
    pub uri: String,
    /// A name for people; empty for none.
    pub title: String,
}

impl Outcome {
    /// Returns the text for the model (`S003-68`): the output or the text for an empty output, items other than images
    /// as text, then the notes. Never `details`, `data` or `message`.
    pub fn model_text(&self) -> String {
        let items = self.content.iter().filter_map(|item| match item {
            Content::Image { .. } => None,
            Content::Text { .. } | Content::Resource { .. } => Some(item.to_text()),
        });
        let lead = match (&self.empty, self.text.is_empty()) {
            (Some(words), true) => Some(words.clone()),
            (_, false) => Some(self.text.clone()),
            (None, true) => None,
        };
        let parts: Vec<String> = lead
            .into_iter()
            .chain(items)
            .chain(self.notes.iter().cloned())
            .collect();
        parts.join("\n\n")
    }

    /// Returns the images for a model that accepts images, beside the text.
    pub fn images(&self) -> Vec<Content> {
        let is_image = |item: &&Content| matches!(item, Content::Image { .. });
        self.content.iter().filter(is_image).cloned().collect()
    }

    /// Returns the summary for the person, in one line.
    pub fn ui_summary(&self) -> String {
        let mut line = self.message.clone();
        if self.secrets_masked > 0 {
            let words = format_masked_count(self.secrets_masked);
            line = match line.is_empty() {
                true => words,
                false => format!("{} · {words}", line.trim_end_matches('.')),
            };
        }
        line
    }

    /// Returns the text by which a search finds the call (`S003-69`): the tool's own words and the person's line, no
    /// image bytes, none of the app's labels.
    pub fn search_text(&self) -> String {
        let texts = self.content.iter().filter_map(|item| match item {
            Content::Text { text } => Some(text.as_str()),
            Content::Resource { uri, .. } => Some(uri.as_str()),
            Content::Image { .. } => None,
        });
        let message = (self.message != self.text).then_some(self.message.as_str());
        let error = self.error.as_deref().filter(|error| *error != self.text);
        let parts: Vec<&str> = [take_head(&self.text, SEARCHED_BYTES_MAX)]
            .into_iter()
            .chain(message)
            .chain(error)
            .chain(texts)
            .filter(|part| !part.is_empty())
            .collect();
        parts.join("\n")
    }

    /// Returns the preview of the payload in a listing (`S003-70`).
    pub fn preview(&self) -> PersistedPreview {
        let shown = take_head(&self.text, PREVIEW_BYTES_MAX);
        let bytes = self
            .truncated
            .as_ref()
            .map_or(self.text.len() as u64, |cut| cut.bytes);
        PersistedPreview {
            head: shown.to_owned(),
            bytes,
            is_whole: shown.len() == self.text.len() && self.truncated.is_none(),
            digest: self.digest.clone(),
            path: self
                .truncated
                .as_ref()
                .and_then(|cut| cut.output_path.clone()),
        }
    }

    /// Returns the references of the result (`S003-71`).
    pub fn references(&self) -> Vec<ResultReference> {
        let sidecar = self.truncated.iter().filter_map(|cut| {
            Some(ResultReference {
                kind: ReferenceKind::Artifact,
                uri: cut.output_path.clone()?,
                title: "Whole output".to_owned(),
            })
        });
        let pointers = self.content.iter().filter_map(|item| match item {
            Content::Resource { uri, title, .. } => Some(ResultReference {
                kind: ReferenceKind::Resource,
                uri: uri.clone(),
                title: title.clone(),
            }),
            Content::Text { .. } | Content::Image { .. } => None,
        });
        let child = self.child.iter().map(|session| ResultReference {
            kind: ReferenceKind::Session,
            uri: session.0.clone(),
            title: String::new(),
        });
        sidecar.chain(pointers).chain(child).collect()
    }
}

/// Formats the number of masked secrets: "1 secret masked".
pub(crate) fn format_masked_count(count: u32) -> String {
    match count {
        1 => "1 secret masked".to_owned(),
        many => format!("{many} secrets masked"),
    }
}
