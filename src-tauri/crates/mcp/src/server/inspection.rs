//! Shows a person a server's offers besides its tools: lists, page by page, and prompts and resources as text.

use protocol::server::resources::{
    PromptArgument, ServerItem, ServerResourceQuery, ServerResources, ServerTextPart,
};
use protocol::text::display_text::{is_hidden, to_spans};
use protocol::{Content, ToolOutput, UserError};
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;
use tools::text::{format_byte_size, truncate_chars};

use super::McpServer;
use crate::connection::CallListeners;
use crate::content;
use crate::limits::{
    PROMPT_ARGUMENTS_MAX, PROMPT_MESSAGES_MAX, RESOURCE_CHARS_MAX, RESOURCES_LISTED_MAX,
    TEXT_BYTES_MAX, URI_CHARS_MAX,
};

impl McpServer {
    /// Requests the lists, prompts or resources that a person wants to see. Asks no question in between, and no model
    /// learns of it.
    ///
    /// # Errors
    /// The server is switched off or unavailable, refuses, or returns nothing that can be parsed.
    pub async fn inspect(&self, query: &ServerResourceQuery) -> Result<ServerResources, UserError> {
        let never = CancellationToken::new();
        let failed = |error: protocol::ToolError| {
            let hint = "Look at its state and at its log.";
            UserError::new(error.to_string(), hint)
        };
        Ok(match query {
            ServerResourceQuery::Prompts { cursor } => {
                let page = self.list_prompts(cursor.as_deref(), &never).await;
                build_page(&[(&page.map_err(failed)?, "prompts", "name")])
            }
            ServerResourceQuery::Resources { cursor } => {
                let page = self.list_resources(cursor.as_deref(), &never).await;
                let (page, templates) = page.map_err(failed)?;
                build_page(&[
                    (&page, "resources", "uri"),
                    (&templates, "resourceTemplates", "uriTemplate"),
                ])
            }
            ServerResourceQuery::Prompt { name, arguments } => {
                let arguments = arguments.iter();
                let arguments: Map<String, Value> = arguments
                    .map(|(name, value)| (name.clone(), value.as_str().into()))
                    .collect();
                let prompt = self.get_prompt(name, arguments, &never).await;
                parse_prompt_messages(&prompt.map_err(failed)?)?
            }
            ServerResourceQuery::Resource { uri } => {
                let read = self
                    .read_resource(uri, &never, CallListeners::default())
                    .await;
                let output =
                    content::parse_resource_result(&read.map_err(failed)?).map_err(failed)?;
                ServerResources::Text {
                    parts: vec![build_part(false, &output_to_text(output))],
                }
            }
        })
    }
}

/// Builds a page from lists, each given with the member that holds its items and the member by which an item is
/// requested.
fn build_page(lists: &[(&Value, &str, &str)]) -> ServerResources {
    let (mut items, mut left_out) = (Vec::new(), 0_u32);
    for (page, member, by) in lists {
        let all = page.get(member).and_then(Value::as_array);
        for item in all.map_or(&[][..], Vec::as_slice) {
            match build_item(item, by).filter(|_| items.len() < RESOURCES_LISTED_MAX) {
                Some(item) => items.push(item),
                None => left_out = left_out.saturating_add(1),
            }
        }
    }
    let next = lists.first().and_then(|(page, ..)| page.get("nextCursor"));
    let next = next.and_then(Value::as_str);
    ServerResources::Page {
        items,
        next: next
            .filter(|next| next.chars().count() <= URI_CHARS_MAX)
            .map(str::to_owned),
        left_out,
    }
}

/// Builds one item; none if the item lacks the member by which it would be requested.
fn build_item(item: &Value, by: &str) -> Option<ServerItem> {
    let text = |member: &str| item.get(member).and_then(Value::as_str).unwrap_or_default();
    let name = display_name(item, by)?;
    let title = match (text("title"), by) {
        ("", "name") => "",
        ("", _) => text("name"),
        (title, _) => title,
    };
    let arguments = item.get("arguments").and_then(Value::as_array);
    let arguments = arguments.map_or(&[][..], Vec::as_slice).iter();
    let arguments = arguments.filter_map(|argument| {
        let description = argument.get("description").and_then(Value::as_str);
        Some(PromptArgument {
            name: display_name(argument, "name")?,
            description: to_display_spans(description.unwrap_or_default()),
            required: argument.get("required").and_then(Value::as_bool) == Some(true),
        })
    });
    Some(ServerItem {
        name,
        title: to_display_spans(title),
        description: to_display_spans(text("description")),
        is_pattern: by == "uriTemplate",
        arguments: arguments.take(PROMPT_ARGUMENTS_MAX).collect(),
    })
}

fn display_name(item: &Value, by: &str) -> Option<String> {
    let name = item.get(by).and_then(Value::as_str)?;
    let fits = !name.is_empty() && name.chars().count() <= URI_CHARS_MAX;
    (fits && !name.chars().any(is_hidden)).then(|| name.to_owned())
}

fn to_display_spans(text: &str) -> Vec<protocol::text::display_text::DisplaySpan> {
    to_spans(&truncate_chars(text, RESOURCE_CHARS_MAX))
}

fn build_part(by_model: bool, text: &str) -> ServerTextPart {
    ServerTextPart {
        by_model,
        text: to_spans(text),
    }
}

/// Returns the text of an output, with a note in brackets for each part that is no text.
fn output_to_text(output: ToolOutput) -> String {
    let mut text = output.text;
    for content in &output.content {
        let line = match content {
            Content::Text { text } => text.clone(),
            Content::Image { mime, base64 } => {
                let bytes = format_byte_size(base64.len() as u64 / 4 * 3);
                format!("[An image ({mime}, {bytes}) was left out: this is text alone.]")
            }
            Content::Resource { uri, title, .. } if title.is_empty() => {
                format!("[A resource that was not read: {uri}]")
            }
            Content::Resource { uri, title, .. } => {
                format!("[A resource that was not read: {title}, {uri}]")
            }
        };
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&line);
    }
    text
}

/// Parses the messages of a prompt, up to the limit.
fn parse_prompt_messages(prompt: &Value) -> Result<ServerResources, UserError> {
    let messages = prompt.get("messages").and_then(Value::as_array);
    let Some(messages) = messages else {
        return Err(UserError::new(
            "The server gave no prompt that can be read.",
            "Tell its makers.",
        ));
    };
    let mut bytes = 0;
    let mut parts = Vec::new();
    for message in messages.iter().take(PROMPT_MESSAGES_MAX) {
        let items = match message.get("content") {
            Some(Value::Array(items)) => items.clone(),
            Some(item) => vec![item.clone()],
            None => continue,
        };
        let output = content::parse_tool_result(&json!({ "content": items }));
        let text = output.map_or_else(|error| error.to_string(), output_to_text);
        bytes += text.len();
        if bytes > TEXT_BYTES_MAX {
            parts.push(build_part(false, "[The rest is left out: it is too long.]"));
            break;
        }
        let by_model = message.get("role").and_then(Value::as_str) == Some("assistant");
        parts.push(build_part(by_model, &text));
    }
    if let Some(more @ 1..) = messages.len().checked_sub(PROMPT_MESSAGES_MAX) {
        parts.push(build_part(
            false,
            &format!("[{more} more messages are left out.]"),
        ));
    }
    Ok(ServerResources::Text { parts })
}

#[cfg(test)]
mod tests {
    use protocol::text::display_text::join_spans;

    use super::*;

    /// Bad input: an item without a name, or with hidden text, is counted; an excess is cut and reported.
    #[test]
    fn what_is_listed_is_read_one_by_one() {
        let listed = json!({ "nextCursor": "p2", "prompts": [
            { "name": "review", "title": "Re\u{202e}view", "description": "d", "arguments": [
                { "name": "file", "required": true }, { "name": "\u{200b}x" }, 7, { "name": "style", "required": "yes" } ] },
            { "title": "nameless" }, { "name": "a\u{200b}b" }, "x",
        ]});
        let ServerResources::Page {
            items,
            next,
            left_out,
        } = build_page(&[(&listed, "prompts", "name")])
        else {
            panic!("a list is a page");
        };
        assert_eq!((items.len(), next.as_deref(), left_out), (1, Some("p2"), 3));
        assert_eq!(join_spans(&items[0].title), "ReU+202Eview");
        let arguments = items[0].arguments.iter();
        let arguments: Vec<_> = arguments
            .map(|one| (one.name.as_str(), one.required))
            .collect();
        assert_eq!(arguments, [("file", true), ("style", false)]);

        let many = json!({ "resources": vec![json!({ "uri": "a:b", "name": "n" }); RESOURCES_LISTED_MAX + 3] });
        let patterns = json!({ "resourceTemplates": [{ "uriTemplate": "a:{x}" }] });
        let told = build_page(&[
            (&many, "resources", "uri"),
            (&patterns, "resourceTemplates", "uriTemplate"),
        ]);
        let ServerResources::Page {
            items,
            next,
            left_out,
        } = told
        else {
            panic!("a list is a page");
        };
        assert_eq!(
            (items.len(), next, left_out),
            (RESOURCES_LISTED_MAX, None, 4)
        );
    }

    #[test]
    fn a_prompt_is_read_message_by_message() {
        let text = json!({ "type": "text", "text": "Look." });
        let prompt = json!({ "messages": [
            { "role": "user", "content": text }, { "role": "assistant", "content": [text, text] }, { "role": "user" } ] });
        let ServerResources::Text { parts } = parse_prompt_messages(&prompt).unwrap() else {
            panic!("a prompt is text");
        };
        let told: Vec<_> = parts
            .iter()
            .map(|part| (part.by_model, join_spans(&part.text)))
            .collect();
        assert_eq!(told.len(), 2);
        assert_eq!(told[0], (false, "Look.".to_owned()));
        assert!(
            told[1].0 && told[1].1.matches("Look.").count() == 2,
            "{told:?}"
        );
        // Content that is not text is named in its place, never dropped.
        let prompt = json!({ "messages": [
            { "role": "user", "content": [text,
                { "type": "image", "mimeType": "image/png", "data": "AQID" },
                { "type": "resource_link", "uri": "file:///a", "name": "a" },
                { "type": "audio", "mimeType": "audio/wav", "data": "AQID" } ] } ] });
        let ServerResources::Text { parts } = parse_prompt_messages(&prompt).unwrap() else {
            panic!("a prompt is text");
        };
        assert_eq!(
            join_spans(&parts[0].text),
            "Look.\n[Audio (audio/wav, 3 bytes) was left out: it cannot be heard here.]\n\
             [An image (image/png, 3 bytes) was left out: this is text alone.]\n\
             [A resource that was not read: a, file:///a]"
        );
        let many = json!({ "messages": vec![json!({ "role": "user", "content": text }); PROMPT_MESSAGES_MAX + 2] });
        let ServerResources::Text { parts } = parse_prompt_messages(&many).unwrap() else {
            panic!("a prompt is text");
        };
        assert_eq!(
            join_spans(&parts.last().unwrap().text),
            "[2 more messages are left out.]"
        );
        assert!(parse_prompt_messages(&json!({ "messages": "none" })).is_err());
    }
}
