//! Sampling: the session's own model answers a server's request once, as the person allowed: without tools, and within
//! limits.

use std::sync::Arc;

use futures::StreamExt;
use protocol::model::TEMPERATURE_RANGE;
use protocol::server::elicitation::SamplingResult;
use protocol::text::cut::take_head;
use protocol::text::display_text::to_sentence;
use protocol::text::redact;
use protocol::{AskId, CallId, EventBody, Message, Usage, UserError};
use provider::{Chunk, ModelRequest, Stop};
use serde_json::Value;
use tools::elicitation::{ElicitationReply, SamplingRequest};

use crate::limits::{SAMPLING_BYTES_MAX, SAMPLING_TOKENS_MAX};
use crate::session::Session;

/// Returns the request as it is sent if the person allows it: with secrets masked and the token limit and temperature
/// clamped to the allowed range.
pub(crate) fn sanitize_request(wanted: &SamplingRequest) -> SamplingRequest {
    let masked = |text: &str| redact::text(text).0.into_owned();
    let messages = wanted.messages.iter();
    SamplingRequest {
        system: masked(&wanted.system),
        messages: messages
            .map(|(by_model, text)| (*by_model, masked(text)))
            .collect(),
        tokens_max: wanted.tokens_max.min(SAMPLING_TOKENS_MAX),
        temperature: wanted
            .temperature
            .map(|it| it.clamp(*TEMPERATURE_RANGE.start(), *TEMPERATURE_RANGE.end())),
    }
}

/// Asks the model, and records the answer before it is passed on. The usage counts towards the session.
pub(crate) async fn run_sampling(
    session: &Session,
    call: &CallId,
    ask: &AskId,
    wanted: SamplingRequest,
) -> ElicitationReply {
    let mut heard = SampledAnswer::default();
    let error = read_answer(session, wanted, &mut heard).await.err();
    let SampledAnswer {
        text,
        usage,
        is_cut,
        ..
    } = heard;
    let (text, _) = redact::text(&text);
    let model = match session.model.model.as_str() {
        "" => session.model.provider.clone(),
        model => model.to_owned(),
    };
    let said = SamplingResult {
        model: model.clone(),
        text: text.clone().into_owned(),
        usage,
        error: error.as_ref().map(|fault| fault.message.clone()),
    };
    session.elicitations.add_sampling_usage(&usage);
    let kept = session.journal.record_synced(EventBody::CallLent {
        call: call.clone(),
        ask: ask.clone(),
        said: Box::new(said),
    });
    match (kept.await, error) {
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
    wanted: SamplingRequest,
    heard: &mut SampledAnswer,
) -> Result<(), UserError> {
    let messages = wanted
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
    let request = ModelRequest {
        model: session.model.model.clone(),
        system: wanted.system,
        messages: Arc::new(messages.collect()),
        tools: Arc::default(),
        response_schema: None,
        temperature: wanted.temperature,
        effort: None,
        tokens_max: Some(wanted.tokens_max),
    };
    let provider = session.engine.provider(&session.model.provider)?;
    let mut chunks = provider
        .stream(request, session.cancellation_token())
        .await?;
    while let Some(chunk) = chunks.next().await {
        match chunk? {
            Chunk::Text(text) => {
                let room = SAMPLING_BYTES_MAX.saturating_sub(heard.text.len());
                let piece = take_head(&text, room);
                heard.is_cut |= piece.len() < text.len();
                heard.text.push_str(piece);
            }
            // It has no tools, and its thoughts are nobody's.
            Chunk::Reasoning(_) | Chunk::Call { .. } => {}
            Chunk::End { usage, stop, .. } => {
                heard.usage = usage;
                return match stop {
                    Stop::Finished => Ok(()),
                    Stop::Length => {
                        heard.is_cut = true;
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
