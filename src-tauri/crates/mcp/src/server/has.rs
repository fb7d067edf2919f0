//! What a server has for a person beside its tools, asked for and read: lists page by page, prompts and resources as text.

use protocol::Fault;
use protocol::server_has::{PromptArgument, ServerAsked, ServerHas, ServerItem, ServerPart};
use protocol::shown::{is_hidden, shown};
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;
use tools::text::shortened;

use super::Server;
use crate::content;
use crate::limits::{
    PROMPT_ARGUMENTS_MAX, PROMPT_MESSAGES_MAX, RESOURCE_CHARS_MAX, RESOURCES_TOLD_MAX,
    TEXT_BYTES_MAX, URI_CHARS_MAX,
};
use crate::link::Heard;

impl Server {
    /// Asks it for what a person wants to see. Nobody is asked in between, and no model gets to know of it.
    ///
    /// # Errors
    /// It is switched off or unavailable, says no, or gives nothing that can be read.
    pub async fn has(&self, asked: &ServerAsked) -> Result<ServerHas, Fault> {
        let never = CancellationToken::new();
        let failed = |error: protocol::ToolError| {
            let hint = "Look at its state and at its log.";
            Fault::new(error.to_string(), hint)
        };
        Ok(match asked {
            ServerAsked::Prompts { cursor } => {
                let listed = self.prompts(cursor.as_deref(), &never).await;
                page(&[(&listed.map_err(failed)?, "prompts", "name")])
            }
            ServerAsked::Resources { cursor } => {
                let listed = self.resources(cursor.as_deref(), &never).await;
                let (listed, patterns) = listed.map_err(failed)?;
                page(&[
                    (&listed, "resources", "uri"),
                    (&patterns, "resourceTemplates", "uriTemplate"),
                ])
            }
            ServerAsked::Prompt { name, arguments } => {
                let arguments = arguments.iter();
                let arguments: Map<String, Value> = arguments
                    .map(|(name, value)| (name.clone(), value.as_str().into()))
                    .collect();
                let prompt = self.prompt(name, arguments, &never).await;
                messages(&prompt.map_err(failed)?)?
            }
            ServerAsked::Resource { uri } => {
                let read = self.read(uri, &never, Heard::default()).await;
                let output = content::resource(&read.map_err(failed)?).map_err(failed)?;
                ServerHas::Text {
                    parts: vec![part(false, &output.text)],
                }
            }
        })
    }
}

/// A page of what was listed, by the member that it stands in and the one that it is asked for by.
fn page(lists: &[(&Value, &str, &str)]) -> ServerHas {
    let (mut items, mut left_out) = (Vec::new(), 0_u32);
    for (listed, member, by) in lists {
        let all = listed.get(member).and_then(Value::as_array);
        for found in all.map_or(&[][..], Vec::as_slice) {
            match item(found, by).filter(|_| items.len() < RESOURCES_TOLD_MAX) {
                Some(item) => items.push(item),
                None => left_out = left_out.saturating_add(1),
            }
        }
    }
    let next = lists
        .first()
        .and_then(|(listed, ..)| listed.get("nextCursor"));
    let next = next.and_then(Value::as_str);
    ServerHas::Page {
        items,
        next: next
            .filter(|next| next.chars().count() <= URI_CHARS_MAX)
            .map(str::to_owned),
        left_out,
    }
}

/// One item; none if it has nothing that it could be asked for by.
fn item(item: &Value, by: &str) -> Option<ServerItem> {
    let text = |member: &str| item.get(member).and_then(Value::as_str).unwrap_or_default();
    let name = named(item, by)?;
    let title = match (text("title"), by) {
        ("", "name") => "",
        ("", _) => text("name"),
        (title, _) => title,
    };
    let arguments = item.get("arguments").and_then(Value::as_array);
    let arguments = arguments.map_or(&[][..], Vec::as_slice).iter();
    let arguments = arguments.filter_map(|argument| {
        let said = argument.get("description").and_then(Value::as_str);
        Some(PromptArgument {
            name: named(argument, "name")?,
            description: told(said.unwrap_or_default()),
            required: argument.get("required").and_then(Value::as_bool) == Some(true),
        })
    });
    Some(ServerItem {
        name,
        title: told(title),
        description: told(text("description")),
        is_pattern: by == "uriTemplate",
        arguments: arguments.take(PROMPT_ARGUMENTS_MAX).collect(),
    })
}

fn named(item: &Value, by: &str) -> Option<String> {
    let name = item.get(by).and_then(Value::as_str)?;
    let fits = !name.is_empty() && name.chars().count() <= URI_CHARS_MAX;
    (fits && !name.chars().any(is_hidden)).then(|| name.to_owned())
}

fn told(text: &str) -> Vec<protocol::shown::Span> {
    shown(&shortened(text, RESOURCE_CHARS_MAX))
}

fn part(by_model: bool, text: &str) -> ServerPart {
    ServerPart {
        by_model,
        text: shown(text),
    }
}

/// The messages of a prompt, as far as they are taken.
fn messages(prompt: &Value) -> Result<ServerHas, Fault> {
    let messages = prompt.get("messages").and_then(Value::as_array);
    let Some(messages) = messages else {
        return Err(Fault::new(
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
        let said = content::output(&json!({ "content": items }));
        let text = said.map_or_else(|error| error.to_string(), |output| output.text);
        bytes += text.len();
        if bytes > TEXT_BYTES_MAX {
            parts.push(part(false, "[The rest is left out: it is too long.]"));
            break;
        }
        let by_model = message.get("role").and_then(Value::as_str) == Some("assistant");
        parts.push(part(by_model, &text));
    }
    if let Some(more @ 1..) = messages.len().checked_sub(PROMPT_MESSAGES_MAX) {
        parts.push(part(
            false,
            &format!("[{more} more messages are left out.]"),
        ));
    }
    Ok(ServerHas::Text { parts })
}

#[cfg(test)]
mod tests {
    use protocol::shown::plain;

    use super::*;

    /// Bad input: what has no name, or hides something in it, is counted; what is too much is cut and said.
    #[test]
    fn what_is_listed_is_read_one_by_one() {
        let listed = json!({ "nextCursor": "p2", "prompts": [
            { "name": "review", "title": "Re\u{202e}view", "description": "d", "arguments": [
                { "name": "file", "required": true }, { "name": "\u{200b}x" }, 7, { "name": "style", "required": "yes" } ] },
            { "title": "nameless" }, { "name": "a\u{200b}b" }, "x",
        ]});
        let ServerHas::Page {
            items,
            next,
            left_out,
        } = page(&[(&listed, "prompts", "name")])
        else {
            panic!("a list is a page");
        };
        assert_eq!((items.len(), next.as_deref(), left_out), (1, Some("p2"), 3));
        assert_eq!(plain(&items[0].title), "ReU+202Eview");
        let arguments = items[0].arguments.iter();
        let arguments: Vec<_> = arguments
            .map(|one| (one.name.as_str(), one.required))
            .collect();
        assert_eq!(arguments, [("file", true), ("style", false)]);

        let many = json!({ "resources": vec![json!({ "uri": "a:b", "name": "n" }); RESOURCES_TOLD_MAX + 3] });
        let patterns = json!({ "resourceTemplates": [{ "uriTemplate": "a:{x}" }] });
        let told = page(&[
            (&many, "resources", "uri"),
            (&patterns, "resourceTemplates", "uriTemplate"),
        ]);
        let ServerHas::Page {
            items,
            next,
            left_out,
        } = told
        else {
            panic!("a list is a page");
        };
        assert_eq!((items.len(), next, left_out), (RESOURCES_TOLD_MAX, None, 4));
    }

    #[test]
    fn a_prompt_is_read_message_by_message() {
        let text = json!({ "type": "text", "text": "Look." });
        let prompt = json!({ "messages": [
            { "role": "user", "content": text }, { "role": "assistant", "content": [text, text] }, { "role": "user" } ] });
        let ServerHas::Text { parts } = messages(&prompt).unwrap() else {
            panic!("a prompt is text");
        };
        let told: Vec<_> = parts
            .iter()
            .map(|part| (part.by_model, plain(&part.text)))
            .collect();
        assert_eq!(told.len(), 2);
        assert_eq!(told[0], (false, "Look.".to_owned()));
        assert!(
            told[1].0 && told[1].1.matches("Look.").count() == 2,
            "{told:?}"
        );
        let many = json!({ "messages": vec![json!({ "role": "user", "content": text }); PROMPT_MESSAGES_MAX + 2] });
        let ServerHas::Text { parts } = messages(&many).unwrap() else {
            panic!("a prompt is text");
        };
        assert_eq!(
            plain(&parts.last().unwrap().text),
            "[2 more messages are left out.]"
        );
        assert!(messages(&json!({ "messages": "none" })).is_err());
    }
}
