//! Images in results: which models are shown them, and in which form each wire format takes them.

use genai::chat::{Binary, ChatMessage, ContentPart, MessageContent};
use protocol::Content;
use protocol::settings::WireFormat;
use serde_json::{Value, json};

/// Whether a model is shown images. A model of which that is not known gets words: an image would fail the whole
/// request.
pub(crate) fn supports_images(wire: WireFormat, model: &str) -> bool {
    const OPENAI: [&str; 6] = ["gpt-4o", "gpt-4.1", "gpt-5", "gpt-6", "o3", "o4"];
    match wire {
        WireFormat::Anthropic => !["claude-2", "claude-instant", "claude-3-5-haiku-2"]
            .iter()
            .any(|blind| model.starts_with(blind)),
        WireFormat::Gemini => model.starts_with("gemini-"),
        WireFormat::Openai => OPENAI.iter().any(|name| model.starts_with(name)),
        WireFormat::Ollama => false,
    }
}

/// Adds a text for each image to the message, for a model that is not shown images.
pub(crate) fn describe_images(text: String, images: &[Content]) -> String {
    images.iter().fold(text, |text, image| {
        format!(
            "{text}\n\n{} This model cannot be shown it; ask the person what is on it.",
            image.to_text()
        )
    })
}

/// The content of an Anthropic result: the text, then its images.
pub(crate) fn anthropic_result_content(text: &str, images: &[Content]) -> Value {
    let pictures = images.iter().filter_map(|item| match item {
        Content::Image { mime, base64 } => Some(json!({
            "type": "image",
            "source": { "type": "base64", "media_type": mime, "data": base64 }
        })),
        Content::Text { .. } | Content::Resource { .. } => None,
    });
    // Anthropic refuses empty texts.
    let words = (!text.is_empty()).then(|| json!({ "type": "text", "text": text }));
    words.into_iter().chain(pictures).collect()
}

/// An image as a part of a message; none of anything else.
pub(crate) fn image_part(item: Content) -> Option<ContentPart> {
    match item {
        Content::Image { mime, base64 } => {
            Some(ContentPart::Binary(Binary::from_base64(mime, base64, None)))
        }
        Content::Text { .. } | Content::Resource { .. } => None,
    }
}

/// Images as parts of a message, each after a line that says which result it belongs to.
pub(crate) fn labeled_image_parts(name: &str, images: Vec<Content>) -> Vec<ContentPart> {
    let lead = (!images.is_empty())
        .then(|| ContentPart::Text(format!("The image that `{name}` gave back:")));
    lead.into_iter()
        .chain(images.into_iter().filter_map(image_part))
        .collect()
}

/// The message that shows images behind the results of a turn, for formats whose results hold text only.
pub(crate) fn image_message(parts: Vec<ContentPart>) -> Option<ChatMessage> {
    (!parts.is_empty()).then(|| ChatMessage::user(MessageContent::from_parts(parts)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_without_eyes_get_words() {
        for (wire, model, shown) in [
            (WireFormat::Anthropic, "claude-sonnet-4-6", true),
            (WireFormat::Anthropic, "claude-2.1", false),
            (WireFormat::Gemini, "gemini-3-pro-preview", true),
            (WireFormat::Gemini, "gemma-3", false),
            (WireFormat::Openai, "gpt-5-mini", true),
            (WireFormat::Openai, "mistral-medium", false),
            (WireFormat::Ollama, "qwen3-coder:30b", false),
        ] {
            assert_eq!(supports_images(wire, model), shown, "{model}");
        }
        let image = Content::Image {
            mime: "image/png".to_owned(),
            base64: "AAAA".to_owned(),
        };
        assert_eq!(
            describe_images("Read.".to_owned(), &[image]),
            "Read.\n\n[An image (image/png, 3 bytes).] This model cannot be shown it; ask the person what is on it."
        );
    }
}
