//! Ollama's own wire: its form of the request, and its lines as the events of a reply.
//!
//! `genai` 0.7.2 leaves out the thoughts of an assistant's message, so a model with tools forgets its plan from call to
//! call; and it has no way to add to a request of Ollama. Everything else of the wire stays as it is in `genai`.

use std::collections::VecDeque;
use std::sync::Arc;

use futures::StreamExt;
use futures::stream::BoxStream;
use genai::chat::{
    BinarySource, ChatMessage, ChatResponseFormat, ChatStreamEvent, ContentPart,
    PromptTokensDetails, ReasoningEffort, StopReason, StreamChunk, StreamEnd, Tool, ToolCall,
    ToolChunk, Usage,
};
use serde_json::{Map, Value, json};

use crate::failure::{WireFailure, extract_provider_message, parse_retry_after};
use crate::limits::{LINE_BYTES_MAX, Timing, duration_from_ms};
use crate::wire::frame_tap::FrameTap;
use crate::wire::request::OutgoingRequest;

/// Sends a request and returns its answer.
///
/// # Errors Nobody answers, or the answer is no success.
pub(crate) async fn start_stream(
    request: reqwest::RequestBuilder,
    outgoing: &OutgoingRequest,
    tap: Arc<FrameTap>,
    timing: Timing,
) -> Result<BoxStream<'static, Result<ChatStreamEvent, WireFailure>>, WireFailure> {
    let sent = request.json(&request_body(outgoing)).send();
    let response = tokio::time::timeout(duration_from_ms(timing.begin_ms), sent)
        .await
        .map_err(|_| WireFailure::TimedOut(timing.begin_ms))?
        .map_err(|error| WireFailure::from_reqwest(error, timing.connect_ms))?;
    if !response.status().is_success() {
        return Err(failure_from_response(response, timing).await);
    }
    let lines = OllamaLines {
        response,
        tap,
        timing,
        bytes: Vec::new(),
        events: VecDeque::new(),
        is_over: false,
    };
    let events = futures::stream::unfold(lines, |mut lines| async move {
        let event = lines.next().await?;
        Some((event, lines))
    });
    Ok(events.boxed())
}

async fn failure_from_response(mut response: reqwest::Response, timing: Timing) -> WireFailure {
    let status = response.status().as_u16();
    let retry_after_ms = parse_retry_after(response.headers());
    let location = response.headers().get("location");
    let location = location
        .and_then(|value| value.to_str().ok())
        .map(str::to_owned);
    let mut body = Vec::new();
    while let Ok(Ok(Some(bytes))) =
        tokio::time::timeout(duration_from_ms(timing.idle_ms), response.chunk()).await
    {
        body.extend_from_slice(&bytes);
        if body.len() > LINE_BYTES_MAX {
            break;
        }
    }
    WireFailure::Status {
        status,
        message: extract_provider_message(&String::from_utf8_lossy(&body)),
        retry_after_ms,
        location,
    }
}

/// An answer, line by line.
struct OllamaLines {
    response: reqwest::Response,
    tap: Arc<FrameTap>,
    timing: Timing,
    /// Bytes of lines that are not complete yet.
    bytes: Vec<u8>,
    events: VecDeque<ChatStreamEvent>,
    is_over: bool,
}

impl OllamaLines {
    /// Returns the next event. A line that cannot be read is reported, and those behind it are read: whether there are
    /// any tells a line that broke off from a malformed one.
    async fn next(&mut self) -> Option<Result<ChatStreamEvent, WireFailure>> {
        loop {
            if let Some(event) = self.events.pop_front() {
                return Some(Ok(event));
            }
            let read = match self.next_line() {
                Some(line) => self.parse_line(&line),
                None if self.is_over => return None,
                None => self.read_chunk().await,
            };
            if let Err(failure) = read {
                self.is_over |= !matches!(failure, WireFailure::Unreadable { .. });
                return Some(Err(failure));
            }
        }
    }

    /// A whole line of what came; at the end whatever is left.
    fn next_line(&mut self) -> Option<Vec<u8>> {
        let end = self.bytes.iter().position(|byte| *byte == b'\n');
        match end {
            Some(end) => Some(self.bytes.drain(..=end).collect()),
            None if self.is_over && !self.bytes.is_empty() => Some(std::mem::take(&mut self.bytes)),
            None => None,
        }
    }

    async fn read_chunk(&mut self) -> Result<(), WireFailure> {
        let chunk =
            tokio::time::timeout(duration_from_ms(self.timing.idle_ms), self.response.chunk())
                .await
                .map_err(|_| WireFailure::TimedOut(self.timing.idle_ms))?
                .map_err(|error| WireFailure::from_reqwest(error, self.timing.connect_ms))?;
        match chunk {
            Some(chunk) => self.bytes.extend_from_slice(&chunk),
            None => self.is_over = true,
        }
        match self.bytes.len() > LINE_BYTES_MAX {
            true => Err(WireFailure::TooLarge(format!(
                "a line of more than {LINE_BYTES_MAX} bytes"
            ))),
            false => Ok(()),
        }
    }

    fn parse_line(&mut self, line: &[u8]) -> Result<(), WireFailure> {
        let line = std::str::from_utf8(line)
            .map_err(|_| WireFailure::Malformed("it is not UTF-8".to_owned()))?
            .trim();
        if line.is_empty() {
            return Ok(());
        }
        self.tap.push_ollama_line(line);
        let said: Value = serde_json::from_str(line).map_err(|error| WireFailure::Unreadable {
            at_end: error.is_eof(),
            why: error.to_string(),
        })?;
        if let Some(message) = said.get("error").and_then(Value::as_str) {
            return Err(WireFailure::Event {
                kind: String::new(),
                message: message.to_owned(),
            });
        }
        self.events.extend(events_from_line(&said)?);
        Ok(())
    }
}

/// Parses one line into its events: thoughts, text, calls, the end; in this order.
fn events_from_line(line: &Value) -> Result<Vec<ChatStreamEvent>, WireFailure> {
    let mut events = Vec::new();
    let message = line.get("message").unwrap_or(&Value::Null);
    let text = |name: &str| {
        let text = message.get(name).and_then(Value::as_str);
        text.filter(|text| !text.is_empty()).map(str::to_owned)
    };
    let chunk = |content: String| StreamChunk { content };
    // Gateways that speak for Ollama use the name of the OpenAI protocol.
    let thoughts = text("thinking").or_else(|| text("reasoning_content"));
    events.extend(thoughts.map(|it| ChatStreamEvent::ReasoningChunk(chunk(it))));
    events.extend(text("content").map(|it| ChatStreamEvent::Chunk(chunk(it))));
    let calls = message.get("tool_calls").and_then(Value::as_array);
    for call in calls.into_iter().flatten() {
        let tool_call = parse_tool_call(call)
            .ok_or_else(|| WireFailure::Malformed("a tool call has no name".to_owned()))?;
        events.push(ChatStreamEvent::ToolCallChunk(ToolChunk { tool_call }));
    }
    if line.get("done").and_then(Value::as_bool) == Some(true) {
        events.push(ChatStreamEvent::End(stream_end(line)));
    }
    Ok(events)
}

/// A call; an empty id where the model gave none.
fn parse_tool_call(call: &Value) -> Option<ToolCall> {
    let function = call.get("function")?;
    Some(ToolCall {
        call_id: call
            .get("id")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned(),
        fn_name: function.get("name")?.as_str()?.to_owned(),
        fn_arguments: function.get("arguments").cloned().unwrap_or_default(),
        thought_signatures: None,
    })
}

fn stream_end(line: &Value) -> StreamEnd {
    let count = |name: &str| {
        let count = line.get(name).and_then(Value::as_i64);
        count.and_then(|count| i32::try_from(count).ok())
    };
    let reason = line.get("done_reason").and_then(Value::as_str);
    let cached = count("prompt_eval_cached_count");
    StreamEnd {
        captured_usage: Some(Usage {
            prompt_tokens: count("prompt_eval_count"),
            prompt_tokens_details: cached.map(|count| PromptTokensDetails {
                cached_tokens: Some(count),
                ..PromptTokensDetails::default()
            }),
            completion_tokens: count("eval_count"),
            ..Usage::default()
        }),
        captured_stop_reason: reason.map(|reason| StopReason::from(reason.to_owned())),
        ..StreamEnd::default()
    }
}

/// The body of a request.
fn request_body(outgoing: &OutgoingRequest) -> Value {
    let mut body = Map::from_iter([
        ("model".to_owned(), json!(outgoing.model)),
        ("stream".to_owned(), json!(true)),
    ]);
    let mut options = Map::new();
    if let Some(temperature) = outgoing.temperature {
        options.insert("temperature".to_owned(), json!(temperature));
    }
    if let Some(tokens_max) = outgoing.tokens_max {
        options.insert("num_predict".to_owned(), json!(tokens_max));
    }
    if !options.is_empty() {
        body.insert("options".to_owned(), Value::Object(options));
    }
    let chat = &outgoing.chat;
    let tools: Vec<Value> = chat.tools.iter().flatten().map(tool_value).collect();
    if !tools.is_empty() {
        body.insert("tools".to_owned(), Value::Array(tools));
    }
    let system = chat.system.iter();
    let system = system.map(|text| json!({ "role": "system", "content": text }));
    let messages = system.chain(chat.messages.iter().map(message_value));
    body.insert("messages".to_owned(), messages.collect());
    if matches!(outgoing.format, Some(ChatResponseFormat::JsonMode)) {
        body.insert("format".to_owned(), json!("json"));
    }
    if let Some(effort) = &outgoing.effort {
        body.insert("think".to_owned(), think_value(effort));
    }
    Value::Object(body)
}

/// How much a model is to think, in Ollama's words.
fn think_value(effort: &ReasoningEffort) -> Value {
    match effort {
        ReasoningEffort::Zero => json!(false),
        ReasoningEffort::Minimal | ReasoningEffort::Low => json!("low"),
        ReasoningEffort::Medium => json!("medium"),
        ReasoningEffort::High => json!("high"),
        ReasoningEffort::XHigh | ReasoningEffort::Max => json!("max"),
        ReasoningEffort::Budget(_) => json!(true),
    }
}

fn tool_value(tool: &Tool) -> Value {
    let name = json!(tool.name.as_str());
    let mut function = Map::from_iter([("name".to_owned(), name)]);
    if let Some(description) = &tool.description {
        function.insert("description".to_owned(), json!(description));
    }
    if let Some(schema) = &tool.schema {
        function.insert("parameters".to_owned(), schema.clone());
    }
    json!({ "type": "function", "function": function })
}

fn message_value(message: &ChatMessage) -> Value {
    let role = message.role.to_string().to_lowercase();
    let mut out = Map::from_iter([("role".to_owned(), json!(role))]);
    let (mut content, mut thinking) = (String::new(), String::new());
    let (mut images, mut calls) = (Vec::new(), Vec::new());
    for part in message.content.parts() {
        match part {
            ContentPart::Text(text) => content.push_str(text),
            ContentPart::ReasoningContent(text) => thinking.push_str(text),
            ContentPart::Binary(binary) if binary.content_type.starts_with("image/") => {
                if let BinarySource::Base64(data) = &binary.source {
                    images.push(json!(data.to_string()));
                }
            }
            ContentPart::ToolCall(call) => calls.push(json!({
                "function": { "name": call.fn_name, "arguments": call.fn_arguments }
            })),
            ContentPart::ToolResponse(response) => {
                out.insert("content".to_owned(), json!(response.content));
            }
            _ => {}
        }
    }
    let texts = [("content", content), ("thinking", thinking)];
    for (name, text) in texts.into_iter().filter(|(_, text)| !text.is_empty()) {
        out.insert(name.to_owned(), Value::String(text));
    }
    let lists = [("images", images), ("tool_calls", calls)];
    for (name, list) in lists.into_iter().filter(|(_, list)| !list.is_empty()) {
        out.insert(name.to_owned(), Value::Array(list));
    }
    Value::Object(out)
}
