//! One item of what a tool gives back: text, an image, or a pointer to something that stands elsewhere (`S001-17`).

use data_encoding::BASE64;
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

/// The media type of an image in one of the formats that models can be shown, by its first bytes; none for anything else.
pub fn detect_image_type(start: &[u8]) -> Option<&'static str> {
    match start {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, rest @ ..] if rest.starts_with(b"WEBP") => {
            Some("image/webp")
        }
        _ => None,
    }
}

impl Content {
    /// A text item.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into() }
    }

    /// An image of these bytes; none if they are none that models can be shown.
    pub fn image(bytes: &[u8]) -> Option<Self> {
        detect_image_type(bytes).map(|mime| Self::Image {
            mime: mime.to_owned(),
            base64: BASE64.encode(bytes),
        })
    }

    /// The bytes of an image; none of anything else, and of an image that is not base64.
    pub fn image_bytes(&self) -> Option<Vec<u8>> {
        match self {
            Self::Image { base64, .. } => BASE64.decode(base64.as_bytes()).ok(),
            Self::Text { .. } | Self::Resource { .. } => None,
        }
    }

    /// The item in words, for whoever cannot be given it as it is: a model without eyes, a search, a terminal.
    pub fn to_text(&self) -> String {
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
