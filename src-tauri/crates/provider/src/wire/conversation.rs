//! Turns our messages into `genai`'s, with what each wire format wants of results, images and ids.

use std::collections::HashMap;

use genai::chat::{ChatMessage, ContentPart, CustomPart, MessageContent, ToolCall, ToolResponse};
use protocol::model::Message;
use protocol::settings::WireFormat;
use protocol::{CallId, Content};
use serde_json::{Value, json};

use crate::wire::images;
use crate::wire::opaque::{OpaqueData, SignedCall, ThinkingBlock};

/// OpenAI and Anthropic refuse ids that are longer than this or hold other characters.
const CALL_ID_BYTES_MAX: usize = 40;

/// The message of a tool's result, before it takes the form of the wire format.
struct ToolResultMessage<'a> {
    call: &'a CallId,
    /// The name of the tool.
    name: &'a str,
    text: String,
    /// Images that the result holds itself, which only Anthropic's do.
    images: &'a [Content],
    is_error: bool,
}

/// Turns messages into `genai`'s, keeping track of the ids that calls go by on the wire.
pub(crate) struct WireConversation<'a> {
    provider: &'a str,
    wire: WireFormat,
    shows_images: bool,
    ids: HashMap<CallId, String>,
}

impl<'a> WireConversation<'a> {
    /// Creates a conversation for one provider's wire format and one of its models.
    pub(crate) fn new(provider: &'a str, wire: WireFormat, model: &str) -> Self {
        Self {
            provider,
            wire,
            shows_images: images::supports_images(wire, model),
            ids: HashMap::new(),
        }
    }

    /// Converts all messages, in the order and the grouping that the wire format wants.
    pub(crate) fn into_wire_messages(mut self, messages: Vec<Message>) -> Vec<ChatMessage> {
        let mut out = Vec::with_capacity(messages.len());
        let mut results: Vec<ContentPart> = Vec::new();
        let mut shown: Vec<ContentPart> = Vec::new();
        for message in messages {
            if !matches!(message, Message::Tool { .. }) {
                flush_results(&mut results, &mut out);
                out.extend(images::image_message(std::mem::take(&mut shown)));
            }
            match message {
                Message::User { text, images } => out.push(self.user_message(text, images)),
                Message::Assistant {
                    text,
                    calls,
                    opaque,
                } => {
                    let opaque = OpaqueData::from_value(&opaque, self.provider);
                    let parts = self.push_assistant(text, calls, opaque);
                    if !parts.is_empty() {
                        out.push(ChatMessage::assistant(MessageContent::from_parts(parts)));
                    }
                }
                Message::Tool {
                    call,
                    name,
                    text,
                    images: given,
                    is_error,
                    at: _,
                } => {
                    let (text, given) = match self.shows_images {
                        true => (text, given),
                        false => (images::describe_images(text, &given), Vec::new()),
                    };
                    let beside = match self.wire {
                        WireFormat::Anthropic => given,
                        WireFormat::Openai | WireFormat::Gemini | WireFormat::Ollama => {
                            shown.extend(images::labeled_image_parts(&name, given));
                            Vec::new()
                        }
                    };
                    results.push(self.build_result_part(ToolResultMessage {
                        call: &call,
                        name: &name,
                        text,
                        images: &beside,
                        is_error,
                    }));
                    // Anthropic wants the results of one turn in one message. With Ollama, `genai` keeps only the last
                    // result of a message; with the others it makes no difference.
                    if self.wire != WireFormat::Anthropic {
                        flush_results(&mut results, &mut out);
                    }
                }
            }
        }
        flush_results(&mut results, &mut out);
        out.extend(images::image_message(shown));
        out
    }

    /// Builds the message of the person. Every wire format takes images in it, where the model is shown any.
    fn user_message(&self, text: String, content: Vec<Content>) -> ChatMessage {
        if content.is_empty() {
            return ChatMessage::user(text);
        }
        if !self.shows_images {
            return ChatMessage::user(images::describe_images(text, &content));
        }
        let words = (!text.is_empty()).then(|| ContentPart::Text(text));
        let parts = words
            .into_iter()
            .chain(content.into_iter().filter_map(images::image_part));
        ChatMessage::user(MessageContent::from_parts(parts.collect::<Vec<_>>()))
    }

    fn push_assistant(
        &mut self,
        text: String,
        calls: Vec<protocol::ToolCall>,
        opaque: Option<OpaqueData>,
    ) -> Vec<ContentPart> {
        let mut parts = Vec::new();
        let mut signed = Vec::new();
        match opaque {
            Some(OpaqueData::Anthropic { thoughts }) => {
                parts.extend(thoughts.into_iter().flat_map(thought_parts))
            }
            Some(OpaqueData::Gemini { signatures, calls }) => {
                parts.extend(signatures.into_iter().map(ContentPart::ThoughtSignature));
                signed = calls;
            }
            Some(OpaqueData::Openai { reasoning, details }) => {
                parts.extend(details.into_iter().map(custom_part));
                // Endpoints that want their reasoning back want it beside calls; others may refuse it.
                parts.extend(
                    reasoning
                        .filter(|_| !calls.is_empty())
                        .map(ContentPart::ReasoningContent),
                );
            }
            None => {}
        }
        // Anthropic refuses empty texts.
        if !text.is_empty() {
            parts.push(ContentPart::Text(text));
        }
        let mut signed = signed.into_iter();
        for call in calls {
            let SignedCall { id, signatures } = signed.next().unwrap_or_default();
            let call_id = self.wire_call_id(&call.id, &call.name, id);
            parts.push(ContentPart::ToolCall(ToolCall {
                call_id,
                fn_name: call.name,
                fn_arguments: Value::Object(call.arguments),
                thought_signatures: (!signatures.is_empty()).then_some(signatures),
            }));
        }
        parts
    }

    /// The id that a call goes by on the wire. Gemini gets only ids that it gave; the stand-in makes `genai` send none.
    fn wire_call_id(&mut self, call: &CallId, name: &str, provider_id: Option<String>) -> String {
        let number = self.ids.len();
        let id = match self.wire {
            WireFormat::Gemini => provider_id.unwrap_or_else(|| format!("call#{name}#{number}")),
            WireFormat::Anthropic | WireFormat::Openai if !is_plain_id(call.as_str()) => {
                format!("call_{number}")
            }
            WireFormat::Anthropic | WireFormat::Openai | WireFormat::Ollama => {
                call.as_str().to_owned()
            }
        };
        self.ids.insert(call.clone(), id.clone());
        id
    }

    /// A result as the wire format wants it.
    fn build_result_part(&self, result: ToolResultMessage<'_>) -> ContentPart {
        let ToolResultMessage {
            call,
            name,
            text,
            images: beside,
            is_error,
        } = result;
        let id = self.ids.get(call).cloned();
        let id = id.unwrap_or_else(|| call.as_str().to_owned());
        if self.wire == WireFormat::Anthropic && (is_error || !beside.is_empty()) {
            // `genai` has no word for a failed result or one with images, but passes blocks through.
            let content = match beside.is_empty() {
                true => Value::String(text),
                false => images::anthropic_result_content(&text, beside),
            };
            return custom_part(json!({
                "type": "tool_result", "tool_use_id": id, "content": content, "is_error": is_error
            }));
        }
        ContentPart::ToolResponse(ToolResponse::new(id, text).with_fn_name(name))
    }
}

fn flush_results(results: &mut Vec<ContentPart>, out: &mut Vec<ChatMessage>) {
    if !results.is_empty() {
        let parts = std::mem::take(results);
        out.push(ChatMessage::tool(MessageContent::from_parts(parts)));
    }
}

fn thought_parts(thought: ThinkingBlock) -> Vec<ContentPart> {
    match thought {
        ThinkingBlock::Signed { text, signature } => vec![
            ContentPart::ThoughtSignature(signature),
            ContentPart::ReasoningContent(text),
        ],
        ThinkingBlock::Block(block) => vec![custom_part(block)],
    }
}

fn custom_part(data: Value) -> ContentPart {
    ContentPart::Custom(CustomPart {
        model_iden: None,
        data,
    })
}

fn is_plain_id(id: &str) -> bool {
    (1..=CALL_ID_BYTES_MAX).contains(&id.len())
        && id
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_that_providers_refuse_are_replaced() {
        let call = |id: &str| protocol::ToolCall {
            id: id.into(),
            name: "read".to_owned(),
            arguments: serde_json::Map::new(),
        };
        for (wire, id, expected) in [
            (WireFormat::Openai, "call_1-a", "call_1-a"),
            (WireFormat::Openai, "call#read#0", "call_0"),
            (WireFormat::Anthropic, &"x".repeat(41), "call_0"),
            (WireFormat::Gemini, "toolu_1", "call#read#0"),
            (WireFormat::Ollama, "toolu_1", "toolu_1"),
        ] {
            let mut conversation = WireConversation::new("p", wire, "m");
            let parts = conversation.push_assistant(String::new(), vec![call(id)], None);
            let ContentPart::ToolCall(sent) = &parts[0] else {
                panic!("no call")
            };
            assert_eq!(sent.call_id, expected);
            let result = conversation.build_result_part(ToolResultMessage {
                call: &CallId::from(id),
                name: "read",
                text: "ok".to_owned(),
                images: &[],
                is_error: false,
            });
            let ContentPart::ToolResponse(result) = result else {
                panic!("no result")
            };
            assert_eq!(result.call_id, expected);
        }
    }
}
