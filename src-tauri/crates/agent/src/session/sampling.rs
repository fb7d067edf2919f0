//! Sampling: the session's own model answers a server's request once, as the person allowed, within limits. It may call the
//! tools that the server gives with the request; these calls go to the server, which runs them, and nothing runs here.

use std::sync::Arc;

use futures::StreamExt;
use protocol::event::CallChange;
use protocol::model::{TEMPERATURE_RANGE, ToolChoice, ToolDefinition};
use protocol::server::elicitation::{
    SamplingCall, SamplingMessage, SamplingResult, SamplingTool, ServerRequestKind,
};
use protocol::text::cut::take_head;
use protocol::text::depth::is_too_deep;
use protocol::text::display_text::{to_sentence, to_single_line, to_spans};
use protocol::text::redact;
use protocol::{
    CallId, EventBody, Message, ModelChoice, ServerRequestId, ToolCall, Usage, UserError,
};
use provider::{Chunk, ModelRequest, Stop};
use serde_json::{Map, Value};
use tools::elicitation::{ElicitationReply, SamplingRequest};

use crate::limits::{CALLS_PER_TURN_MAX, NAME_CHARS_MAX, SAMPLING_BYTES_MAX, SAMPLING_TOKENS_MAX};
use crate::session::Session;

/// Returns the request as it is sent if the person allows it: with secrets masked and the token limit and temperature
/// clamped to the allowed range.
pub(crate) fn sanitize_request(request: &SamplingRequest) -> SamplingRequest {
    let tools = request.tools.iter().map(|tool| ToolDefinition {
        description: mask_text(&tool.description),
        parameters: redact::mask_value(&tool.parameters).0.into_owned(),
        ..tool.clone()
    });
    SamplingRequest {
        system: mask_text(&request.system),
        messages: request.messages.iter().map(mask_message).collect(),
        tools: tools.collect(),
        tool_choice: request.tool_choice,
        tokens_max: request.tokens_max.min(SAMPLING_TOKENS_MAX),
        temperature: request
            .temperature
            .map(|it| it.clamp(*TEMPERATURE_RANGE.start(), *TEMPERATURE_RANGE.end())),
    }
}

fn mask_message(message: &Message) -> Message {
    let mut masked = message.clone();
    match &mut masked {
        Message::User { text, .. } | Message::Tool { text, .. } => *text = mask_text(text),
        Message::Assistant { text, calls, .. } => {
            *text = mask_text(text);
            *calls = mask_calls(calls);
        }
    }
    masked
}

fn mask_text(text: &str) -> String {
    redact::text(text).0.into_owned()
}

fn mask_calls(calls: &[ToolCall]) -> Vec<ToolCall> {
    let masked = calls.iter().map(|call| ToolCall {
        arguments: redact::mask_object(&call.arguments).0.into_owned(),
        ..call.clone()
    });
    masked.collect()
}

/// Returns the request as shown to the person: all that the model would be sent, with hidden characters named.
pub(crate) fn show_request(model: ModelChoice, request: &SamplingRequest) -> ServerRequestKind {
    let tools = request.tools.iter().map(|tool| SamplingTool {
        name: tool.name.clone(),
        description: to_spans(&tool.description),
        parameters: to_spans(&tool.parameters.to_string()),
    });
    ServerRequestKind::Model {
        model,
        system: to_spans(&request.system),
        messages: request.messages.iter().map(show_message).collect(),
        tokens_max: request.tokens_max,
        temperature: request.temperature,
        tools: tools.collect(),
        tool_choice: request.tool_choice,
    }
}

fn show_message(message: &Message) -> SamplingMessage {
    let plain = |by_model: bool, text: &str| SamplingMessage {
        by_model,
        text: to_spans(text),
        calls: Vec::new(),
        result_of: None,
    };
    match message {
        Message::User { text, .. } => plain(false, text),
        Message::Assistant { text, calls, .. } => SamplingMessage {
            calls: calls.iter().map(show_call).collect(),
            ..plain(true, text)
        },
        Message::Tool { name, text, .. } => SamplingMessage {
            result_of: Some(to_spans(name)),
            ..plain(false, text)
        },
    }
}

fn show_call(call: &ToolCall) -> SamplingCall {
    SamplingCall {
        name: to_spans(&call.name),
        arguments: to_spans(&Value::Object(call.arguments.clone()).to_string()),
    }
}

/// Asks the model, and records the answer before it is passed on. The usage counts towards the session.
pub(crate) async fn run_sampling(
    session: &Session,
    call: &CallId,
    request_id: &ServerRequestId,
    request: SamplingRequest,
) -> ElicitationReply {
    let mut answer = SampledAnswer::default();
    let read = read_answer(session, &request, &mut answer).await;
    let error = match read.and_then(|()| answer.check(&request)) {
        Ok(()) => None,
        Err(fault) => Some(fault.message),
    };
    let answer = SampledAnswer {
        model: name_model(session.model()),
        ..answer.into_masked()
    };
    session.elicitations.add_sampling_usage(&answer.usage);
    let recording = session.journal.record_synced(EventBody::for_call(
        call,
        CallChange::SamplingFinished {
            request_id: request_id.clone(),
            result: Box::new(answer.to_result(error.clone())),
        },
    ));
    match (recording.await, error) {
        (Err(fault), _) => ElicitationReply::Failed(fault.message),
        (Ok(()), Some(why)) => ElicitationReply::Failed(why),
        (Ok(()), None) => answer.into_reply(),
    }
}

fn name_model(ModelChoice { provider, model }: ModelChoice) -> String {
    match model.is_empty() {
        true => provider,
        false => model,
    }
}

/// Answer of a model to a server.
#[derive(Default)]
pub(crate) struct SampledAnswer {
    /// Name of the model.
    pub model: String,
    pub text: String,
    /// Calls of the server's tools.
    pub calls: Vec<ToolCall>,
    pub usage: Usage,
    /// Whether the answer was cut off at the limit of tokens.
    pub is_cut: bool,
}

impl SampledAnswer {
    /// Returns the answer with secrets masked, as it is recorded and as the server gets it.
    pub fn into_masked(self) -> Self {
        Self {
            text: mask_text(&self.text),
            calls: mask_calls(&self.calls),
            ..self
        }
    }

    /// Returns the answer as it is recorded.
    pub fn to_result(&self, error: Option<String>) -> SamplingResult {
        SamplingResult {
            model: self.model.clone(),
            text: self.text.clone(),
            calls: self.calls.iter().map(show_call).collect(),
            usage: self.usage,
            error,
        }
    }

    /// Returns the answer for the server.
    pub fn into_reply(self) -> ElicitationReply {
        ElicitationReply::Sampled {
            model: self.model,
            text: self.text,
            calls: self.calls,
            is_cut: self.is_cut,
        }
    }

    /// Checks that the calls are an answer to the request.
    ///
    /// # Errors
    /// A tool is called that was not given, none although it had to be, or one although none was to be.
    pub fn check(&self, request: &SamplingRequest) -> Result<(), UserError> {
        let is_given = |call: &&ToolCall| request.tools.iter().any(|tool| tool.name == call.name);
        let fault = match (request.tool_choice, self.calls.is_empty()) {
            (ToolChoice::Required, true) => {
                "The model called no tool, although it had to.".to_owned()
            }
            (ToolChoice::None, false) => {
                "The model called a tool, although it was to call none.".to_owned()
            }
            (ToolChoice::Auto | ToolChoice::Required | ToolChoice::None, _) => {
                let Some(unknown) = self.calls.iter().find(|call| !is_given(call)) else {
                    return Ok(());
                };
                let name = to_single_line(&unknown.name, NAME_CHARS_MAX);
                format!("The model called `{name}`, which is none of the tools that it was given.")
            }
        };
        Err(UserError::new(fault, ""))
    }

    fn push_text(&mut self, text: &str) {
        let room = SAMPLING_BYTES_MAX.saturating_sub(self.text.len());
        let piece = take_head(text, room);
        self.is_cut |= piece.len() < text.len();
        self.text.push_str(piece);
    }

    fn push_call(&mut self, id: CallId, name: String, arguments: &str) -> Result<(), UserError> {
        if self.calls.len() == CALLS_PER_TURN_MAX {
            let why = format!("The model made more than {CALLS_PER_TURN_MAX} calls at once.");
            return Err(UserError::new(why, ""));
        }
        let arguments = match arguments.trim() {
            "" => Map::new(),
            text => serde_json::from_str(text)
                .ok()
                .filter(|arguments| !is_too_deep(arguments))
                .ok_or_else(|| {
                    let name = to_single_line(&name, NAME_CHARS_MAX);
                    let why = format!(
                        "The model called `{name}` with arguments that are no JSON object, or nested too deeply."
                    );
                    UserError::new(why, "")
                })?,
        };
        self.calls.push(ToolCall {
            id,
            name,
            arguments,
        });
        Ok(())
    }
}

async fn read_answer(
    session: &Session,
    asked: &SamplingRequest,
    answer: &mut SampledAnswer,
) -> Result<(), UserError> {
    let ModelChoice { provider, model } = session.model();
    let request = ModelRequest {
        model,
        system: asked.system.clone(),
        messages: Arc::new(asked.messages.clone()),
        tools: Arc::new(asked.tools.clone()),
        tool_choice: asked.tool_choice,
        response_schema: None,
        temperature: asked.temperature,
        effort: None,
        tokens_max: Some(asked.tokens_max),
    };
    let provider = session.engine.provider(&provider)?;
    let mut chunks = provider
        .stream(request, session.cancellation_token())
        .await?;
    while let Some(chunk) = chunks.next().await {
        match chunk? {
            Chunk::Text(text) => answer.push_text(&text),
            // The server gets no thoughts.
            Chunk::Reasoning(_) => {}
            Chunk::Call {
                id,
                name,
                arguments,
            } => {
                let id = id.filter(|id| !id.is_empty());
                let id = id.unwrap_or_else(|| session.engine.config.ids.next_id("call"));
                answer.push_call(CallId(id), name, &arguments)?;
            }
            Chunk::End { usage, stop, .. } => {
                answer.usage = usage;
                return match stop {
                    Stop::Finished => Ok(()),
                    Stop::Length => {
                        answer.is_cut = true;
                        Ok(())
                    }
                    Stop::Refused(why) | Stop::Other(why) => Err(UserError::new(
                        format!("The model stopped: {}", to_sentence(&why)),
                        "",
                    )),
                };
            }
        }
    }
    Err(UserError::new("The answer broke off before its end.", ""))
}
