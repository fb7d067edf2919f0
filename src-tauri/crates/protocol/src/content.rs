//! One item of what a tool gives back: text, an image, or a pointer to something that stands elsewhere (`S001-17`).

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// One item of a result's content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Content {
    /// Text.
    Text {
        /// The text.
        text: String,
    },
    /// An image, as the tool gave it.
    Image {
        /// `image/png`, `image/jpeg`, `image/gif` or `image/webp`.
        mime: String,
        /// Its bytes in base64.
        base64: String,
    },
    /// Something that can be fetched but is not here.
    Resource {
        /// Where it is.
        uri: String,
        /// A name for people; empty for none.
        #[serde(default)]
        title: String,
        /// Its media type, where known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mime: Option<String>,
    },
}

impl Content {
    /// A text item.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into() }
    }

    /// The item in words, for whoever cannot be given it as it is: a model without eyes, a search, a terminal.
    pub fn in_words(&self) -> String {
        match self {
            Self::Text { text } => text.clone(),
            Self::Image { mime, base64 } => {
                format!("[An image ({mime}, {} bytes).]", base64.len() / 4 * 3)
            }
            Self::Resource { uri, title, .. } if title.is_empty() => format!("[See {uri}]"),
            Self::Resource { uri, title, .. } => format!("[See {title}: {uri}]"),
        }
    }
}
