//! One item of a tool's result: text, an image, or a reference to something stored elsewhere (`S001-17`).

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
        /// Media type: `image/png`, `image/jpeg`, `image/gif` or `image/webp`.
        mime: String,
        /// Bytes of the image in base64.
        base64: String,
    },
    /// A reference to something that can be fetched but is not included.
    Resource {
        /// Address of the resource.
        uri: String,
        /// A name for people; empty for none.
        #[serde(default)]
        title: String,
        /// Media type of the resource, where known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mime: Option<String>,
    },
}

/// Returns the media type of an image in one of the formats that models accept, by its first bytes; none for anything
/// else.
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
    /// Returns a text item.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into() }
    }

    /// Returns an image item of these bytes; none if they are not in a format that models accept.
    pub fn image(bytes: &[u8]) -> Option<Self> {
        detect_image_type(bytes).map(|mime| Self::Image {
            mime: mime.to_owned(),
            base64: BASE64.encode(bytes),
        })
    }

    /// Returns the bytes of an image; none for any other item, and for an image that is not base64.
    pub fn image_bytes(&self) -> Option<Vec<u8>> {
        match self {
            Self::Image { base64, .. } => BASE64.decode(base64.as_bytes()).ok(),
            Self::Text { .. } | Self::Resource { .. } => None,
        }
    }

    /// Returns the item as text, for readers that cannot take it as it is: a model without image input, a search, a
    /// terminal.
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
