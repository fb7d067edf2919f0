//! One answer of the model: streamed, joined into pieces, recorded as it comes.

use std::sync::Arc;
use std::time::Instant;

use futures::StreamExt;
use protocol::depth::is_too_deep;
use protocol::event::Checked;
use protocol::model::REASONING;
use protocol::shown::sentence;
use protocol::{CallId, EventBody, Fault, Message, MessageId, ToolCall, Usage};
use provider::{Chunk, ChunkStream, ModelRequest, ProviderError, Stop};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;
use tools::schema_first::Composed;

use crate::composed;
use crate::limits::{CALLS_PER_TURN_MAX, COALESCE, COALESCE_BYTES, NAME_CHARS_MAX};
use crate::session::Session;

/// What the model answered.
pub(crate) struct Answer {
    /// Calls that it asked for, in order.
    pub calls: Vec<ToolCall>,
    /// What the turn used.
    pub usage: Usage,
    /// Whether the answer was cut off or failed; why is on record.
    pub failed: bool,
    /// What came of it, if it was asked for in a schema.
    pub checked: Option<Checked>,
}

/// Asks the model with the whole conversation. Fails only if the record does.
pub(crate) async fn ask(session: &Arc<Session>, stop: &CancellationToken) -> Result<Answer, Fault> {
    let shared = &session.shared;
    let message = MessageId(shared.config.ids.next("msg"));
    let (turn, messages) = session.conversation(|conversation| {
        conversation.turns += 1;
        (
            conversation.turns,
            std::mem::take(&mut conversation.messages),
        )
    });
    session.journal.tell(EventBody::TurnStarted {
        turn,
        message: message.clone(),
    });
    let messages = Arc::new(messages);
    let composed = session.composed();
    let asked = session.conversation(|conversation| conversation.asked.clone());
    let system = match asked.alone {
        true => asked.instructions,
        false => {
            let root = session.hands.workspace.root();
            session.briefing.system(root, &asked.instructions)
        }
    };
    let request = match &composed {
        Some(composed) => composed::request(session, system, &messages, composed),
        None => ModelRequest {
            model: session.model.model.clone(),
            system,
            messages: messages.clone(),
            tools: session.definitions(),
            response_schema: None,
            temperature: None,
            effort: None,
            tokens_max: None,
        },
    };
    let request = ModelRequest {
        temperature: asked.temperature,
        effort: asked.effort,
        ..request
    };
    let mut writing = Writing::new(session, message.clone());
    let began = shared.config.clock.now();
    // What a stopped stream says of its end does not matter: the person stopped it.
    let error = stream(session, request, stop, &mut writing)
        .await
        .err()
        .filter(|_| !stop.is_cancelled());
    writing.flush();
    // The provider is done with the conversation, so this takes it back without copying.
    let mut messages = Arc::try_unwrap(messages).unwrap_or_else(|shared| (*shared).clone());
    let checked = match (&composed, &error) {
        (Some(composed), None) if !stop.is_cancelled() => Some(writing.check(composed)),
        _ => None,
    };
    let Writing {
        said,
        calls,
        usage,
        opaque,
        ..
    } = writing;
    let failed = error.is_some();
    session.journal.tell(EventBody::TurnEnded {
        turn,
        message: message.clone(),
        usage,
        duration_ms: shared.config.clock.elapsed_ms(began),
        error,
        opaque: opaque.clone(),
    });
    for call in &calls {
        let reasoning = call
            .arguments
            .get(REASONING)
            .and_then(Value::as_str)
            .map(str::to_owned);
        session.journal.tell(EventBody::CallProposed {
            call: call.clone(),
            message: message.clone(),
            reasoning,
        });
    }
    messages.push(Message::Assistant {
        text: said,
        calls: calls.clone(),
        opaque,
    });
    session.conversation(|conversation| {
        conversation.messages = messages;
        if let Some(checked) = &checked {
            conversation.checked(checked);
        }
        calls.iter().for_each(|call| conversation.owes(call));
    });
    session.journal.check()?;
    Ok(Answer {
        calls,
        usage,
        failed,
        checked,
    })
}

async fn stream(
    session: &Session,
    request: ModelRequest,
    stop: &CancellationToken,
    writing: &mut Writing<'_>,
) -> Result<(), Fault> {
    let provider = session.shared.provider(&session.model.provider)?;
    let mut chunks = provider.stream(request, stop.clone()).await?;
    while let Some(chunk) = writing.next(&mut chunks).await {
        match chunk? {
            Chunk::Text(text) => writing.add(&text, false),
            Chunk::Reasoning(text) => writing.add(&text, true),
            Chunk::Call {
                id,
                name,
                arguments,
            } => writing.call(id, name, &arguments)?,
            Chunk::End {
                usage,
                opaque,
                stop,
            } => {
                (writing.usage, writing.opaque) = (usage, opaque);
                return match stop {
                    Stop::Finished => Ok(()),
                    Stop::Length => Err(Fault::new(
                        "The answer was cut at the model's limit of length.",
                        "Say \"go on\" to let it continue.",
                    )),
                    Stop::Refused(why) | Stop::Other(why) => Err(Fault::new(
                        format!("The model stopped: {}", sentence(&why)),
                        "Say it in another way, or choose another model.",
                    )),
                };
            }
        }
    }
    Err(Fault::new(
        "The answer broke off before its end.",
        "What came is kept. Resume to ask again.",
    ))
}

/// The answer as it grows.
struct Writing<'a> {
    session: &'a Session,
    message: MessageId,
    open: String,
    open_is_reasoning: bool,
    since: Instant,
    said: String,
    calls: Vec<ToolCall>,
    usage: Usage,
    opaque: Value,
}

impl<'a> Writing<'a> {
    fn new(session: &'a Session, message: MessageId) -> Self {
        Self {
            session,
            message,
            open: String::new(),
            open_is_reasoning: false,
            since: Instant::now(),
            said: String::new(),
            calls: Vec::new(),
            usage: Usage::default(),
            opaque: Value::Null,
        }
    }

    fn add(&mut self, text: &str, reasoning: bool) {
        if reasoning != self.open_is_reasoning {
            self.flush();
            self.open_is_reasoning = reasoning;
        }
        if self.open.is_empty() {
            self.since = Instant::now();
        }
        self.open.push_str(text);
        if !reasoning {
            self.said.push_str(text);
        }
        if self.open.len() >= COALESCE_BYTES || self.since.elapsed() >= COALESCE {
            self.flush();
        }
    }

    /// The next piece of the answer. A model that pauses does not keep back what it said before.
    async fn next(&mut self, chunks: &mut ChunkStream) -> Option<Result<Chunk, ProviderError>> {
        if !self.open.is_empty() {
            match tokio::time::timeout(COALESCE, chunks.next()).await {
                Ok(next) => return next,
                Err(_) => self.flush(),
            }
        }
        chunks.next().await
    }

    fn flush(&mut self) {
        if !self.open.is_empty() {
            self.session.journal.tell(EventBody::AgentSaid {
                message: self.message.clone(),
                text: std::mem::take(&mut self.open),
                reasoning: self.open_is_reasoning,
            });
        }
    }

    /// Holds the whole answer against the schema that it was asked for in, and takes the calls that it holds.
    fn check(&mut self, composed: &Composed) -> Checked {
        let ids = &self.session.shared.config.ids;
        let (checked, calls) = composed::check(composed, &self.said, || ids.next("call"));
        self.calls = calls;
        self.session.journal.tell(EventBody::AnswerChecked {
            message: self.message.clone(),
            answer: checked.clone(),
        });
        checked
    }

    /// Takes a call. Its id is kept where it is new in the session, so that it names one call only (`S000-02`).
    /// Arguments that are no JSON object, or nested too deeply to be kept, become one member that no schema knows: the tool's check names it, and the
    /// model hears what it wrote.
    fn call(&mut self, id: Option<String>, name: String, arguments: &str) -> Result<(), Fault> {
        if self.calls.len() == CALLS_PER_TURN_MAX {
            return Err(Fault::new(
                format!("The agent asked for more than {CALLS_PER_TURN_MAX} calls at once."),
                "None of them was run. Say that it should work in smaller steps.",
            ));
        }
        let ids = &self.session.shared.config.ids;
        let id = id
            .filter(|id| {
                !id.is_empty()
                    && self
                        .session
                        .conversation(|conversation| conversation.is_new(id))
            })
            .unwrap_or_else(|| ids.next("call"));
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
        let name = match name.char_indices().nth(NAME_CHARS_MAX) {
            Some((cut, _)) => format!("{}…", &name[..cut]),
            None => name,
        };
        self.calls.push(ToolCall {
            id: CallId(id),
            name,
            arguments,
        });
        Ok(())
    }
}
