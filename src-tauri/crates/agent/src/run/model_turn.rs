//! One answer of the model: streamed, joined into pieces, and recorded as it arrives.

use std::sync::Arc;

use futures::StreamExt;
use protocol::event::{AnswerCheck, CallProposal, MessageChange};
use protocol::model::{REASONING_MEMBER, ToolChoice};
use protocol::text::cut::shorten_text;
use protocol::text::depth::is_too_deep;
use protocol::text::display_text::to_sentence;
use protocol::{CallId, EventBody, Message, MessageId, ToolCall, Usage, UserError};
use provider::{Chunk, ChunkStream, ModelRequest, ProviderError, Stop};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;
use tools::custom::ComposedSchema;

use crate::limits::{CALLS_PER_TURN_MAX, COALESCE_DELAY, NAME_CHARS_MAX};
use crate::pipeline::outgoing;
use crate::run::message_writer::MessageWriter;
use crate::session::Session;
use crate::session::structured_output;

/// Answer of the model.
pub(crate) struct ModelAnswer {
    /// Calls that the model requested, in order.
    pub calls: Vec<ToolCall>,
    /// Usage of the turn.
    pub usage: Usage,
    /// Whether the answer was cut off or failed; the reason is on record.
    pub failed: bool,
    /// Result of checking the answer, if it was requested in a schema.
    pub output: Option<AnswerCheck>,
}

/// Asks the model with the whole conversation. Fails only if recording fails.
pub(crate) async fn ask_model(
    session: &Arc<Session>,
    stop: &CancellationToken,
) -> Result<ModelAnswer, UserError> {
    let engine = &session.engine;
    let message = MessageId(engine.config.ids.next_id("msg"));
    let (turn, messages) = session.with_conversation(|conversation| {
        conversation.turns += 1;
        (
            conversation.turns,
            std::mem::take(&mut conversation.messages),
        )
    });
    session
        .journal
        .record_message(&message, MessageChange::TurnStarted { turn });
    let messages = Arc::new(messages);
    let composed = session.output_schema();
    let options = session.with_conversation(|conversation| conversation.options.clone());
    let system = match options.alone {
        true => options.instructions,
        false => {
            let root = session.tool_context.workspace.root();
            session.briefing.system_prompt(root, &options.instructions)
        }
    };
    let request = match &composed {
        Some(composed) => structured_output::build_request(session, system, &messages, composed),
        None => ModelRequest {
            model: session.model().model,
            system,
            messages: messages.clone(),
            tools: session.definitions(),
            tool_choice: ToolChoice::Auto,
            response_schema: None,
            temperature: None,
            effort: None,
            tokens_max: None,
        },
    };
    let request = ModelRequest {
        temperature: options.temperature,
        effort: options.effort,
        ..request
    };
    let mut writing = AnswerWriter::new(session, message.clone());
    let began = engine.now();
    // The error at the end of a stopped stream does not matter: the person stopped it.
    let error = stream_answer(session, request, stop, &mut writing)
        .await
        .err()
        .filter(|_| !stop.is_cancelled());
    writing.message.flush(session);
    // The provider is done with the conversation, so this takes it back without copying.
    let mut messages = Arc::try_unwrap(messages).unwrap_or_else(|engine| (*engine).clone());
    let checked = match (&composed, &error) {
        (Some(composed), None) if !stop.is_cancelled() => Some(writing.check_output(composed)),
        _ => None,
    };
    let AnswerWriter {
        message: said,
        calls,
        usage,
        opaque,
        ..
    } = writing;
    let failed = error.is_some();
    session.journal.record_message(
        &message,
        MessageChange::TurnEnded {
            turn,
            usage,
            duration_ms: engine.config.clock.elapsed_ms(began),
            error,
            opaque: opaque.clone(),
        },
    );
    for call in &calls {
        outgoing::mask_secrets(session, call, &call.arguments).await;
        let reasoning = call
            .arguments
            .get(REASONING_MEMBER)
            .and_then(Value::as_str)
            .map(str::to_owned);
        session.journal.record(EventBody::Proposal(CallProposal {
            call: call.clone(),
            message: message.clone(),
            reasoning,
            is_masked: false,
        }));
    }
    messages.push(Message::Assistant {
        text: said.into_text(),
        calls: calls.clone(),
        opaque,
    });
    session.with_conversation(|conversation| {
        conversation.messages = messages;
        if let Some(checked) = &checked {
            conversation.set_output(checked);
        }
        calls.iter().for_each(|call| conversation.add_call(call));
    });
    session.journal.check_errors()?;
    Ok(ModelAnswer {
        calls,
        usage,
        failed,
        output: checked,
    })
}

async fn stream_answer(
    session: &Session,
    request: ModelRequest,
    stop: &CancellationToken,
    writing: &mut AnswerWriter<'_>,
) -> Result<(), UserError> {
    let provider = session.engine.provider(&session.model().provider)?;
    let mut chunks = provider.stream(request, stop.clone()).await?;
    while let Some(chunk) = writing.next_chunk(&mut chunks).await {
        match chunk? {
            Chunk::Text(text) => writing.push_text(&text, false),
            Chunk::Reasoning(text) => writing.push_text(&text, true),
            Chunk::Call {
                id,
                name,
                arguments,
            } => writing.add_call(id, name, &arguments)?,
            Chunk::End {
                usage,
                opaque,
                stop,
            } => {
                (writing.usage, writing.opaque) = (usage, opaque);
                return match stop {
                    Stop::Finished => Ok(()),
                    Stop::Length => Err(UserError::new(
                        "The answer was cut at the model's limit of length.",
                        "Say \"go on\" to let it continue.",
                    )),
                    Stop::Refused(why) | Stop::Other(why) => Err(UserError::new(
                        format!("The model stopped: {}", to_sentence(&why)),
                        "Say it in another way, or choose another model.",
                    )),
                };
            }
        }
    }
    Err(UserError::new(
        "The answer broke off before its end.",
        "What came is kept. Resume to ask again.",
    ))
}

/// Writer of the answer while it is streamed.
struct AnswerWriter<'a> {
    session: &'a Session,
    message: MessageWriter,
    calls: Vec<ToolCall>,
    usage: Usage,
    opaque: Value,
}

impl<'a> AnswerWriter<'a> {
    fn new(session: &'a Session, message: MessageId) -> Self {
        Self {
            session,
            message: MessageWriter::new(message),
            calls: Vec::new(),
            usage: Usage::default(),
            opaque: Value::Null,
        }
    }

    fn push_text(&mut self, text: &str, reasoning: bool) {
        self.message.push_text(self.session, text, reasoning);
    }

    /// Returns the next piece of the answer. While the model pauses, pending text is recorded.
    async fn next_chunk(
        &mut self,
        chunks: &mut ChunkStream,
    ) -> Option<Result<Chunk, ProviderError>> {
        if self.message.has_open_text() {
            match tokio::time::timeout(COALESCE_DELAY, chunks.next()).await {
                Ok(next) => return next,
                Err(_) => self.message.flush(self.session),
            }
        }
        chunks.next().await
    }

    /// Checks the whole answer against the requested schema, and adds the calls that it contains.
    fn check_output(&mut self, composed: &ComposedSchema) -> AnswerCheck {
        let ids = &self.session.engine.config.ids;
        let (checked, calls) =
            structured_output::check_answer(composed, self.message.text(), || ids.next_id("call"));
        self.calls = calls;
        self.session.journal.record_message(
            self.message.id(),
            MessageChange::AnswerChecked {
                answer: checked.clone(),
            },
        );
        checked
    }

    /// Adds a call. Its id is kept if it is new in the session, so that an id names one call only (`S000-02`).
    /// Arguments that are not a JSON object, or are nested too deeply to be recorded, become one member that no schema
    /// knows: the tool's validation names it, so that the model reads what it wrote.
    fn add_call(
        &mut self,
        id: Option<String>,
        name: String,
        arguments: &str,
    ) -> Result<(), UserError> {
        if self.calls.len() == CALLS_PER_TURN_MAX {
            return Err(UserError::new(
                format!("The agent asked for more than {CALLS_PER_TURN_MAX} calls at once."),
                "None of them was run. Say that it should work in smaller steps.",
            ));
        }
        let ids = &self.session.engine.config.ids;
        let id = id
            .filter(|id| {
                !id.is_empty()
                    && self
                        .session
                        .with_conversation(|conversation| conversation.insert_id(id))
            })
            .unwrap_or_else(|| ids.next_id("call"));
        let refused = |why: &str| {
            let written = Value::String(arguments.to_owned());
            Map::from_iter([(why.to_owned(), written)])
        };
        let arguments = match serde_json::from_str::<Value>(arguments) {
            Ok(Value::Object(arguments)) if !is_too_deep(&arguments) => arguments,
            Ok(Value::Object(_)) => refused("nested_too_deeply"),
            Err(_) if arguments.trim().is_empty() => Map::new(),
            Ok(_) | Err(_) => refused("not_a_json_object"),
        };
        // No tool has so long a name; of what is none the beginning says enough.
        let name = shorten_text(&name, NAME_CHARS_MAX);
        self.calls.push(ToolCall {
            id: CallId(id),
            name,
            arguments,
        });
        Ok(())
    }
}
