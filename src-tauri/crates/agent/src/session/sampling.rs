//! Sampling: the session's own model answers a server's request once, as the person allowed: without tools, and within
//! limits.

use std::sync::Arc;

use futures::StreamExt;
use protocol::event::CallChange;
use protocol::model::TEMPERATURE_RANGE;
use protocol::server::elicitation::SamplingResult;
use protocol::text::cut::take_head;
use protocol::text::display_text::to_sentence;
use protocol::text::redact;
use protocol::{CallId, EventBody, Message, ModelChoice, ServerRequestId, Usage, UserError};
use provider::{Chunk, ModelRequest, Stop};
use serde_json::Value;
use tools::elicitation::{ElicitationReply, SamplingRequest};

use crate::limits::{SAMPLING_BYTES_MAX, SAMPLING_TOKENS_MAX};
use crate::session::Session;

/// Returns the request as it is sent if the person allows it: with secrets masked and the token limit and temperature
/// clamped to the allowed range.
pub(crate) fn sanitize_request(request: &SamplingRequest) -> SamplingRequest {
    let masked = |text: &str| redact::text(text).0.into_owned();
    let messages = request.messages.iter();
    SamplingRequest {
        system: masked(&request.system),
        messages: messages
            .map(|(by_model, text)| (*by_model, masked(text)))
            .collect(),
        tokens_max: request.tokens_max.min(SAMPLING_TOKENS_MAX),
        temperature: request
            .temperature
            .map(|it| it.clamp(*TEMPERATURE_RANGE.start(), *TEMPERATURE_RANGE.end())),
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
    let error = read_answer(session, request, &mut answer).await.err();
    let SampledAnswer {
        text,
        usage,
        is_cut,
        ..
    } = answer;
    let (text, _) = redact::text(&text);
    let ModelChoice { provider, model } = session.model();
    let model = match model.is_empty() {
        true => provider,
        false => model,
    };
    let result = SamplingResult {
        model: model.clone(),
        text: text.clone().into_owned(),
        usage,
        error: error.as_ref().map(|fault| fault.message.clone()),
    };
    session.elicitations.add_sampling_usage(&usage);
    let recording = session.journal.record_synced(EventBody::for_call(
        call,
        CallChange::SamplingFinished {
            request_id: request_id.clone(),
            result: Box::new(result),
        },
    ));
    match (recording.await, error) {
        (Err(fault), _) | (Ok(()), Some(fault)) => ElicitationReply::Failed(fault.message),
        (Ok(()), None) => ElicitationReply::Sampled {
            model,
            text: text.into_owned(),
            is_cut,
        },
    }
}

#[derive(Default)]
struct SampledAnswer {
    text: String,
    usage: Usage,
    is_cut: bool,
}

async fn read_answer(
    session: &Session,
    sampling_request: SamplingRequest,
    answer: &mut SampledAnswer,
) -> Result<(), UserError> {
    let messages = sampling_request
        .messages
        .into_iter()
        .map(|(by_model, text)| match by_model {
            true => Message::Assistant {
                text,
                calls: Vec::new(),
                opaque: Value::Null,
            },
            false => Message::user(text),
        });
    let ModelChoice { provider, model } = session.model();
    let request = ModelRequest {
        model,
        system: sampling_request.system,
        messages: Arc::new(messages.collect()),
        tools: Arc::default(),
        response_schema: None,
        temperature: sampling_request.temperature,
        effort: None,
        tokens_max: Some(sampling_request.tokens_max),
    };
    let provider = session.engine.provider(&provider)?;
    let mut chunks = provider
        .stream(request, session.cancellation_token())
        .await?;
    while let Some(chunk) = chunks.next().await {
        match chunk? {
            Chunk::Text(text) => {
                let room = SAMPLING_BYTES_MAX.saturating_sub(answer.text.len());
                let piece = take_head(&text, room);
                answer.is_cut |= piece.len() < text.len();
                answer.text.push_str(piece);
            }
            // It has no tools, and its thoughts are nobody's.
            Chunk::Reasoning(_) | Chunk::Call { .. } => {}
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
