//! Converts a server's answers to tool outputs: every kind of content, with a sentence for content that cannot be
//! shown.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use protocol::{Content, ToolError, ToolOutput};
use serde_json::{Value, json};
use tools::limits::IMAGE_BYTES_MAX;
use tools::sources::SUPPORTED_IMAGE_TYPES;
use tools::text::{format_byte_size, format_count};

use crate::limits::{CONTENT_ITEMS_MAX, REASON_CHARS_MAX, TEXT_BYTES_MAX};

/// Converts the answer to a call of a tool to the output of the call.
///
/// # Errors
/// The server reports a failure, in its words; or the answer is no answer to a call.
pub fn parse_tool_result(result: &Value) -> Result<ToolOutput, ToolError> {
    let mut builder = ContentBuilder::default();
    let items = match result.get("content") {
        None | Some(Value::Null) => &[][..],
        Some(Value::Array(items)) => items,
        Some(_) => return Err(unreadable_answer_error("its content is not a list")),
    };
    let is_error = match result.get("isError") {
        None | Some(Value::Null) => false,
        Some(Value::Bool(is_error)) => *is_error,
        Some(_) => {
            return Err(unreadable_answer_error(
                "its `isError` is neither true nor false",
            ));
        }
    };
    for item in items.iter().take(CONTENT_ITEMS_MAX) {
        builder.push_item(item);
    }
    if let Some(more @ 1..) = items.len().checked_sub(CONTENT_ITEMS_MAX) {
        builder.push_text(&format!("[{more} more items were left out.]"));
    }
    let data = result
        .get("structuredContent")
        .filter(|data| !data.is_null());
    if let (Some(data), true) = (data, builder.text.is_empty()) {
        builder.push_text(&data.to_string());
    }
    let ContentBuilder { text, content, .. } = builder;
    if is_error {
        return Err(ToolError::Failed(match text.trim() {
            "" => "The server says that the call failed, and not why.".to_owned(),
            reason => truncate_reason(reason),
        }));
    }
    let message = match content.len() {
        0 => format_count(text.lines().count() as u64, "line", "lines"),
        items => format_count(items as u64, "item", "items"),
    };
    Ok(ToolOutput {
        content,
        data: data.cloned(),
        ..ToolOutput::new(text, message)
    })
}

/// Converts the answer to a read of a resource to an output: its parts, each after its URI.
///
/// # Errors
/// The answer has no content.
pub fn parse_resource_result(result: &Value) -> Result<ToolOutput, ToolError> {
    let parts = result.get("contents").and_then(Value::as_array);
    let parts = parts
        .filter(|parts| !parts.is_empty())
        .ok_or_else(|| ToolError::Failed("The server gave nothing for this address.".to_owned()))?;
    let parts = parts
        .iter()
        .map(|part| json!({ "type": "resource", "resource": part }));
    parse_tool_result(&json!({ "content": parts.collect::<Vec<_>>() }))
}

/// Converts the answer to a prompt that was filled in to an output: the content of its messages.
///
/// # Errors
/// The answer has no messages.
pub fn parse_prompt_result(result: &Value) -> Result<ToolOutput, ToolError> {
    let messages = result.get("messages").and_then(Value::as_array);
    let messages = messages.ok_or_else(|| unreadable_answer_error("its prompt has no messages"))?;
    let contents = messages.iter().filter_map(|message| message.get("content"));
    let items = contents.flat_map(|content| match content {
        Value::Array(items) => items.clone(),
        item => vec![item.clone()],
    });
    parse_tool_result(&json!({ "content": items.collect::<Vec<_>>() }))
}

/// Converts the answer to a completion to an output: its values, one a line.
///
/// # Errors
/// The answer has no values.
pub fn parse_completion_result(result: &Value) -> Result<ToolOutput, ToolError> {
    let values = result
        .pointer("/completion/values")
        .and_then(Value::as_array);
    let values = values.ok_or_else(|| unreadable_answer_error("its completion has no values"))?;
    let values: Vec<&str> = values.iter().filter_map(Value::as_str).collect();
    parse_tool_result(&json!({ "content": [{ "type": "text", "text": values.join("\n") }] }))
}

/// Returns the error for an answer that cannot be parsed: it is treated as no answer, since it is unknown whether the
/// call worked.
fn unreadable_answer_error(why: &str) -> ToolError {
    ToolError::Failed(format!(
        "The server's answer cannot be read: {why}. Whether the call did something is not known."
    ))
}

/// Cuts an error message to its beginning: an error is for reading, not for storing.
fn truncate_reason(reason: &str) -> String {
    tools::text::truncate_chars(reason, REASON_CHARS_MAX * 8)
}

#[derive(Default)]
struct ContentBuilder {
    text: String,
    content: Vec<Content>,
    is_full: bool,
}

impl ContentBuilder {
    fn push_item(&mut self, item: &Value) {
        let text = |member: &str| item.get(member).and_then(Value::as_str);
        match (text("type"), item) {
            (Some("text"), _) => self.push_text(text("text").unwrap_or_default()),
            (Some("image"), _) => self.push_image(
                text("mimeType").unwrap_or_default(),
                text("data").unwrap_or_default(),
            ),
            (Some("audio"), _) => {
                let mime = text("mimeType").unwrap_or("audio");
                let bytes = text("data").unwrap_or_default().len() as u64 / 4 * 3;
                self.push_text(&format!(
                    "[Audio ({mime}, {}) was left out: it cannot be heard here.]",
                    format_byte_size(bytes)
                ));
            }
            (Some("resource_link"), _) => {
                let title = text("title").or_else(|| text("name"));
                self.content.push(Content::Resource {
                    uri: text("uri").unwrap_or_default().to_owned(),
                    title: title.unwrap_or_default().to_owned(),
                    mime: text("mimeType").map(str::to_owned),
                });
            }
            (Some("resource"), _) => match item.get("resource") {
                Some(resource) => self.push_resource(resource),
                None => self.push_text("[A resource without content.]"),
            },
            (kind, _) => {
                let kind =
                    protocol::text::display_text::to_single_line(kind.unwrap_or("no kind"), 40);
                self.push_text(&format!(
                    "[Content of a kind that is not known here: {kind}.]"
                ));
            }
        }
    }

    fn push_resource(&mut self, resource: &Value) {
        let text = |member: &str| resource.get(member).and_then(Value::as_str);
        let uri = text("uri").unwrap_or_default();
        let mime = text("mimeType").unwrap_or_default();
        match (text("text"), text("blob")) {
            (Some(body), _) => self.push_text(&format!("[{uri}]\n{body}")),
            (None, Some(blob)) if SUPPORTED_IMAGE_TYPES.contains(&mime) => {
                self.push_image(mime, blob)
            }
            (None, Some(blob)) => {
                let bytes = format_byte_size(blob.len() as u64 / 4 * 3);
                self.push_text(&format!("[{uri}: {mime}, {bytes}, was left out.]"));
            }
            (None, None) => self.content.push(Content::Resource {
                uri: uri.to_owned(),
                title: String::new(),
                mime: text("mimeType").map(str::to_owned),
            }),
        }
    }

    /// Adds an image. An image that a model does not accept becomes a sentence: it would make the whole request fail.
    fn push_image(&mut self, mime: &str, base64: &str) {
        let bytes = base64.len() as u64 / 4 * 3;
        let why = match () {
            () if !SUPPORTED_IMAGE_TYPES.contains(&mime) => "its kind is not known",
            () if bytes > IMAGE_BYTES_MAX => "it is too large",
            () if STANDARD.decode(base64).is_err() => "it is not base64",
            () => {
                return self.content.push(Content::Image {
                    mime: mime.to_owned(),
                    base64: base64.to_owned(),
                });
            }
        };
        let mime = protocol::text::display_text::to_single_line(mime, 40);
        self.push_text(&format!(
            "[An image ({mime}, {}) was left out: {why}.]",
            format_byte_size(bytes)
        ));
    }

    fn push_text(&mut self, text: &str) {
        if self.is_full {
            return;
        }
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        let room = TEXT_BYTES_MAX.saturating_sub(self.text.len());
        if text.len() <= room {
            return self.text.push_str(text);
        }
        let cut = text.floor_char_boundary(room);
        self.text.push_str(&text[..cut]);
        self.text.push_str("\n[The rest was left out.]");
        self.is_full = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_content_is_told() {
        let png = STANDARD.encode([1, 2, 3]);
        let result = json!({ "content": [
            { "type": "text", "text": "one" },
            { "type": "image", "mimeType": "image/png", "data": png },
            { "type": "image", "mimeType": "image/svg+xml", "data": png },
            { "type": "image", "mimeType": "image/png", "data": "no" },
            { "type": "audio", "mimeType": "audio/wav", "data": png },
            { "type": "resource_link", "uri": "file:///a", "name": "a", "mimeType": "text/plain" },
            { "type": "resource", "resource": { "uri": "demo://1", "text": "inside" } },
            { "type": "resource", "resource": { "uri": "demo://2", "mimeType": "image/png", "blob": png } },
            { "type": "resource", "resource": { "uri": "demo://3", "mimeType": "application/pdf", "blob": png } },
            { "type": "resource" },
            { "type": "smell\u{202e}" },
            { "text": "of no kind" },
            7,
        ]});
        let output = parse_tool_result(&result).unwrap();
        assert_eq!(
            output.text,
            "one\n[An image (image/svg+xml, 3 bytes) was left out: its kind is not known.]\n\
             [An image (image/png, 0 bytes) was left out: it is not base64.]\n\
             [Audio (audio/wav, 3 bytes) was left out: it cannot be heard here.]\n[demo://1]\ninside\n\
             [demo://3: application/pdf, 3 bytes, was left out.]\n[A resource without content.]\n\
             [Content of a kind that is not known here: smellU+202E.]\n\
             [Content of a kind that is not known here: no kind.]\n\
             [Content of a kind that is not known here: no kind.]"
        );
        let image = Content::Image {
            mime: "image/png".to_owned(),
            base64: png,
        };
        let link = Content::Resource {
            uri: "file:///a".to_owned(),
            title: "a".to_owned(),
            mime: Some("text/plain".to_owned()),
        };
        assert_eq!(output.content, [image.clone(), link, image]);
        assert_eq!(output.message, "3 items");
    }

    #[test]
    fn structure_is_data_and_is_read_where_no_text_says_it() {
        let both = json!({ "content": [{ "type": "text", "text": "five" }], "structuredContent": { "n": 5 } });
        let alone = json!({ "content": [], "structuredContent": { "n": 5 } });
        for (result, text) in [(both, "five"), (alone, r#"{"n":5}"#)] {
            let output = parse_tool_result(&result).unwrap();
            assert_eq!(output.text, text);
            assert_eq!(output.data, Some(json!({ "n": 5 })));
        }
        let nothing = parse_tool_result(&json!({})).unwrap();
        assert_eq!((nothing.text.as_str(), nothing.data), ("", None));
    }

    #[test]
    fn what_went_wrong_is_an_error_in_the_servers_words() {
        for (content, told) in [
            (
                json!([{ "type": "text", "text": "no such file" }]),
                "no such file",
            ),
            (
                json!([]),
                "The server says that the call failed, and not why.",
            ),
        ] {
            let result = json!({ "isError": true, "content": content });
            assert_eq!(
                parse_tool_result(&result),
                Err(ToolError::Failed(told.to_owned()))
            );
        }
    }

    #[test]
    fn too_much_is_cut_and_said() {
        let long = "ä".repeat(TEXT_BYTES_MAX);
        let result = json!({ "content": [{ "type": "text", "text": long }, { "type": "text", "text": "x" }] });
        let text = parse_tool_result(&result).unwrap().text;
        assert!(text.len() <= TEXT_BYTES_MAX + 30 && text.ends_with("\n[The rest was left out.]"));
        let many = vec![json!({ "type": "text", "text": "" }); CONTENT_ITEMS_MAX + 3];
        let text = parse_tool_result(&json!({ "content": many })).unwrap().text;
        assert!(text.ends_with("[3 more items were left out.]"));
    }
}
