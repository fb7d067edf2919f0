//! The session's own model answers for a server, once, as the person allowed it to: no tools, so much and no more.

use std::sync::Arc;

use futures::StreamExt;
use protocol::cut::head;
use protocol::model::TEMPERATURES;
use protocol::server_asks::ModelSaid;
use protocol::shown::sentence;
use protocol::{AskId, CallId, EventBody, Fault, Message, Usage, redact};
use provider::{Chunk, ModelRequest, Stop};
use serde_json::Value;
use tools::asks::{ModelWanted, Reply};

use crate::limits::{LENT_BYTES_MAX, LENT_TOKENS_MAX};
use crate::session::Session;

/// What is sent where the person allows it: with secrets masked, and with as much to say as anybody gets.
pub(crate) fn sendable(wanted: &ModelWanted) -> ModelWanted {
    let masked = |text: &str| redact::text(text).0.into_owned();
    let messages = wanted.messages.iter();
    ModelWanted {
        system: masked(&wanted.system),
        messages: messages
            .map(|(by_model, text)| (*by_model, masked(text)))
            .collect(),
        tokens_max: wanted.tokens_max.min(LENT_TOKENS_MAX),
        temperature: wanted
            .temperature
            .map(|it| it.clamp(*TEMPERATURES.start(), *TEMPERATURES.end())),
    }
}

/// Asks the model, and records what it says before anybody gets it. What it used counts as the session's.
pub(crate) async fn lend(
    session: &Session,
    call: &CallId,
    ask: &AskId,
    wanted: ModelWanted,
) -> Reply {
    let mut heard = Heard::default();
    let error = listen(session, wanted, &mut heard).await.err();
    let Heard {
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
    let said = ModelSaid {
        model: model.clone(),
        text: text.clone().into_owned(),
        usage,
        error: error.as_ref().map(|fault| fault.message.clone()),
    };
    session.asks.lent(&usage);
    let kept = session.journal.keep(EventBody::CallLent {
        call: call.clone(),
        ask: ask.clone(),
        said: Box::new(said),
    });
    match (kept.await, error) {
        (Err(fault), _) | (Ok(()), Some(fault)) => Reply::Failed(fault.message),
        (Ok(()), None) => Reply::Said {
            model,
            text: text.into_owned(),
            is_cut,
        },
    }
}

#[derive(Default)]
struct Heard {
    text: String,
    usage: Usage,
    is_cut: bool,
}

async fn listen(session: &Session, wanted: ModelWanted, heard: &mut Heard) -> Result<(), Fault> {
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
    let provider = session.shared.provider(&session.model.provider)?;
    let mut chunks = provider.stream(request, session.stop_token()).await?;
    while let Some(chunk) = chunks.next().await {
        match chunk? {
            Chunk::Text(text) => {
                let room = LENT_BYTES_MAX.saturating_sub(heard.text.len());
                let piece = head(&text, room);
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
                    Stop::Refused(why) | Stop::Other(why) => Err(Fault::new(
                        format!("The model stopped: {}", sentence(&why)),
                        "",
                    )),
                };
            }
        }
    }
    Err(Fault::new("The answer broke off before its end.", ""))
}
