//! Questions of a server for a model in the words of the protocol, and the answers of the client's model.

#![allow(
    deprecated,
    reason = "sampling is being removed from the protocol; servers and clients of today use it"
)]

use protocol::model::{Message, ToolChoice};
use protocol::{CallId, ToolCall};
use rmcp::model::{CreateMessageResult, SamplingMessageContentBlock};
use serde_json::{Value, json};
use tools::elicitation::{ElicitationReply, SamplingRequest};

/// Returns the parameters of the request for a model.
pub(super) fn sampling_params(request: &SamplingRequest) -> Value {
    let mut params =
        json!({ "messages": message_values(&request.messages), "maxTokens": request.tokens_max });
    if !request.system.is_empty() {
        params["systemPrompt"] = request.system.clone().into();
    }
    if let Some(temperature) = request.temperature {
        params["temperature"] = temperature.into();
    }
    if !request.tools.is_empty() {
        let tools = request.tools.iter().map(|tool| {
            json!({ "name": tool.name, "description": tool.description, "inputSchema": tool.parameters })
        });
        let mode = match request.tool_choice {
            ToolChoice::Auto => "auto",
            ToolChoice::Required => "required",
            ToolChoice::None => "none",
        };
        params["tools"] = tools.collect();
        params["toolChoice"] = json!({ "mode": mode });
    }
    params
}

/// Returns the messages in the words of the protocol. Results that follow one another are one message, as it demands.
fn message_values(messages: &[Message]) -> Vec<Value> {
    let is_result = |message: &Message| matches!(message, Message::Tool { .. });
    let turns = messages.chunk_by(|one, next| is_result(one) && is_result(next));
    let turns = turns.map(|turn| {
        let parts: Vec<Value> = turn.iter().flat_map(content_parts).collect();
        let role = match turn {
            [Message::Assistant { .. }, ..] => "assistant",
            _ => "user",
        };
        match parts.as_slice() {
            [only] => json!({ "role": role, "content": only }),
            parts => json!({ "role": role, "content": parts }),
        }
    });
    turns.collect()
}

fn content_parts(message: &Message) -> Vec<Value> {
    let text_part = |text: &str| json!({ "type": "text", "text": text });
    match message {
        Message::User { text, .. } => vec![text_part(text)],
        Message::Assistant { text, calls, .. } => {
            let text = (!text.is_empty() || calls.is_empty()).then(|| text_part(text));
            let calls = calls.iter().map(|call| {
                json!({ "type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments })
            });
            text.into_iter().chain(calls).collect()
        }
        Message::Tool {
            call,
            text,
            is_error,
            ..
        } => {
            let content = [text_part(text)];
            vec![
                json!({ "type": "tool_result", "toolUseId": call, "content": content, "isError": is_error }),
            ]
        }
    }
}

/// Reads the answer of a client's model: texts and calls.
pub(super) fn model_reply(answer: CreateMessageResult) -> ElicitationReply {
    let mut texts = Vec::new();
    let mut calls = Vec::new();
    for part in answer.message.content.into_vec() {
        match part {
            SamplingMessageContentBlock::Text(text) => texts.push(text.text),
            SamplingMessageContentBlock::ToolUse(call) => calls.push(ToolCall {
                id: CallId(call.id),
                name: call.name,
                arguments: call.input,
            }),
            _ => {
                return ElicitationReply::Failed(
                    "The client's model answered with what is neither text nor a call.".to_owned(),
                );
            }
        }
    }
    if texts.is_empty() && calls.is_empty() {
        return ElicitationReply::Failed("The client's model answered with nothing.".to_owned());
    }
    ElicitationReply::Sampled {
        model: answer.model,
        text: texts.join("\n"),
        calls,
        is_cut: answer.stop_reason.as_deref() == Some("maxTokens"),
    }
}

#[cfg(test)]
mod tests {
    use protocol::model::ToolDefinition;
    use rmcp::model::CreateMessageRequestParams;

    use super::*;

    fn call(id: &str) -> ToolCall {
        ToolCall {
            id: id.into(),
            name: "count".to_owned(),
            arguments: json!({ "of": "lines" }).as_object().unwrap().clone(),
        }
    }

    #[test]
    fn a_question_with_tools_is_one_that_the_protocol_takes() {
        let result = |id: &str| Message::Tool {
            call: id.into(),
            name: "count".to_owned(),
            text: "4".to_owned(),
            images: Vec::new(),
            is_error: false,
            at: 0,
        };
        let request = SamplingRequest {
            messages: vec![
                Message::user("How many?"),
                Message::Assistant {
                    text: String::new(),
                    calls: vec![call("a"), call("b")],
                    opaque: Value::Null,
                },
                result("a"),
                result("b"),
                Message::user("And now?"),
            ],
            tokens_max: 9,
            tools: vec![ToolDefinition {
                name: "count".to_owned(),
                description: "Counts.".to_owned(),
                parameters: json!({ "type": "object" }),
                strict: false,
            }],
            tool_choice: ToolChoice::Required,
            ..SamplingRequest::default()
        };
        let params = sampling_params(&request);
        let read: CreateMessageRequestParams = serde_json::from_value(params.clone()).unwrap();
        assert_eq!(read.validate(), Ok(()));
        assert_eq!(read.messages.len(), 4, "{params}");
        assert_eq!(params["messages"][2]["content"][1]["toolUseId"], "b");
        assert_eq!(
            params["tools"][0]["inputSchema"],
            json!({ "type": "object" })
        );
        assert_eq!(params["toolChoice"], json!({ "mode": "required" }));
        let without = sampling_params(&SamplingRequest::default());
        assert!(without.get("tools").is_none() && without.get("toolChoice").is_none());
    }

    #[test]
    fn an_answer_of_texts_and_calls_is_read_and_no_other() {
        let read = |content: Value| {
            let answer = json!({ "role": "assistant", "model": "m", "content": content });
            model_reply(serde_json::from_value(answer).unwrap())
        };
        let text = json!({ "type": "text", "text": "I count." });
        let use_part =
            json!({ "type": "tool_use", "id": "a", "name": "count", "input": { "of": "lines" } });
        let sampled = |text: &str, calls: Vec<ToolCall>| ElicitationReply::Sampled {
            model: "m".to_owned(),
            text: text.to_owned(),
            calls,
            is_cut: false,
        };
        assert_eq!(
            read(json!([text, text])),
            sampled("I count.\nI count.", Vec::new())
        );
        assert_eq!(
            read(json!([text, use_part])),
            sampled("I count.", vec![call("a")])
        );
        assert_eq!(read(use_part), sampled("", vec![call("a")]));
        let image = json!({ "type": "image", "data": "", "mimeType": "image/png" });
        for (content, why) in [(image, "neither text"), (json!([]), "nothing")] {
            let ElicitationReply::Failed(is) = read(content) else {
                panic!("{why}")
            };
            assert!(is.contains(why), "{is}");
        }
    }
}
