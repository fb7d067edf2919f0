//! What a message or a result of a transcript holds: its text, and its images.

use protocol::Content;
use serde_json::Value;

/// Places of the media type and of the bytes of an image in a part, as the agents write it.
const IMAGE_PLACES: [(&str, &str); 3] = [
    ("/source/media_type", "/source/data"),
    ("/mimeType", "/data"),
    ("/inlineData/mimeType", "/inlineData/data"),
];

/// Text and images of a message or of a result.
#[derive(Debug, Default, PartialEq)]
pub(super) struct TranscriptContent {
    /// The texts, and the kinds of parts that are neither text nor image.
    pub text: String,
    /// The images.
    pub images: Vec<Content>,
}

impl TranscriptContent {
    /// Reads a text, a part, or a list of parts.
    pub(super) fn read(content: &Value) -> Self {
        match content {
            Value::Null => Self::default(),
            Value::String(text) => Self {
                text: text.clone(),
                images: Vec::new(),
            },
            Value::Array(parts) => {
                let texts: Vec<String> = parts.iter().filter_map(describe_part).collect();
                Self {
                    text: texts.join("\n"),
                    images: read_images(content),
                }
            }
            other => match read_image(other) {
                Some(image) => Self {
                    text: String::new(),
                    images: vec![image],
                },
                None => Self {
                    text: other.to_string(),
                    images: Vec::new(),
                },
            },
        }
    }
}

/// Returns the images in a list of parts.
pub(super) fn read_images(content: &Value) -> Vec<Content> {
    let parts = content.as_array().into_iter().flatten();
    parts.filter_map(read_image).collect()
}

/// Returns the image that an address holds itself.
pub(super) fn read_data_url(url: &str) -> Option<Content> {
    let (mime, base64) = url.strip_prefix("data:")?.split_once(";base64,")?;
    image_of(mime, base64)
}

/// Returns the text of a part, or its kind between brackets; none of an image.
fn describe_part(part: &Value) -> Option<String> {
    let text = part.get("text").or(Some(part)).and_then(Value::as_str);
    let kind = part.get("type").and_then(Value::as_str);
    match (text, kind) {
        (Some(text), _) => Some(text.to_owned()),
        (None, _) if read_image(part).is_some() => None,
        (None, Some(kind)) => Some(format!("[{kind}]")),
        (None, None) => Some(part.to_string()),
    }
}

fn read_image(part: &Value) -> Option<Content> {
    let text = |place: &str| part.pointer(place).and_then(Value::as_str);
    let mut places = IMAGE_PLACES.iter();
    let found = places.find_map(|(mime, bytes)| image_of(text(mime)?, text(bytes)?));
    found.or_else(|| read_data_url(text("/image_url")?))
}

fn image_of(mime: &str, base64: &str) -> Option<Content> {
    mime.starts_with("image/").then(|| Content::Image {
        mime: mime.to_owned(),
        base64: base64.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn images_are_read_as_each_agent_writes_them() {
        let image = image_of("image/png", "AAAA").unwrap();
        for part in [
            json!({ "type": "image", "source": { "type": "base64", "media_type": "image/png", "data": "AAAA" } }),
            json!({ "type": "image", "mimeType": "image/png", "data": "AAAA" }),
            json!({ "inlineData": { "mimeType": "image/png", "data": "AAAA" } }),
            json!({ "type": "input_image", "image_url": "data:image/png;base64,AAAA" }),
        ] {
            let read = TranscriptContent::read(&json!([{ "type": "text", "text": "one" }, part]));
            assert_eq!(
                (read.text.as_str(), &read.images[..]),
                ("one", std::slice::from_ref(&image))
            );
            let alone = TranscriptContent::read(&part).images;
            assert_eq!(alone, std::slice::from_ref(&image));
        }
    }

    #[test]
    fn what_is_neither_text_nor_image_is_named() {
        let content = json!([
            "plain",
            { "type": "audio", "mimeType": "audio/wav", "data": "AAAA" },
            { "type": "input_image", "image_url": "https://example.org/a.png" },
            { "n": 1 },
        ]);
        let read = TranscriptContent::read(&content);
        assert_eq!(read.text, "plain\n[audio]\n[input_image]\n{\"n\":1}");
        assert_eq!(read.images, []);
    }
}
