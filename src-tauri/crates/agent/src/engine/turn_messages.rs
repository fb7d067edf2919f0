//! The messages of an agent of somebody else within one turn: the text between its calls, each with the calls that follow,
//! which count towards the run's limits.

use std::sync::Arc;

use parking_lot::Mutex;
use protocol::event::{MessageChange, SessionEvent};
use protocol::{At, ContextUse, Message, MessageId, Usage, UserError};
use serde_json::{Map, Value};

use crate::run::message_writer::MessageWriter;
use crate::session::agent_runner::UNTOLD_MEMBER;
use crate::session::run_state::run_limits::RunMeter;
use crate::session::{Session, StopReason};

/// Member of a message's provider data that holds the agent's own id of the session.
const AGENT_SESSION: &str = "session";

/// Messages of one turn of an agent.
pub(crate) struct TurnMessages {
    session: Arc<Session>,
    meter: Arc<Mutex<RunMeter>>,
    state: Mutex<MessagesState>,
}

#[derive(Default)]
struct MessagesState {
    open: Option<OpenMessage>,
    /// The agent's own id of the session, once it is known.
    agent_session: Option<String>,
}

/// How a message ends, and with the last one of a turn the turn.
#[derive(Default)]
pub(crate) struct MessageEnd {
    pub usage: Usage,
    /// Why the turn ended before the agent was done, if it did.
    pub error: Option<UserError>,
    /// What the agent's model has to be told with its next prompt, if there is something.
    pub untold: Option<String>,
}

/// A message that is being written.
struct OpenMessage {
    writer: MessageWriter,
    turn: u32,
    began: At,
    has_calls: bool,
}

impl TurnMessages {
    /// Returns no messages yet. The agent's own id of the session is the one that its last message left, if it did.
    pub fn new(session: Arc<Session>, meter: Arc<Mutex<RunMeter>>) -> Self {
        let agent_session = session.with_conversation(|conversation| {
            let mut messages = conversation.messages.iter().rev();
            messages.find_map(agent_session_of)
        });
        let state = MessagesState {
            open: None,
            agent_session,
        };
        Self {
            session,
            meter,
            state: Mutex::new(state),
        }
    }

    /// Returns the agent's own id of the session, if it is known.
    pub fn agent_session(&self) -> Option<String> {
        self.state.lock().agent_session.clone()
    }

    /// Sets the agent's own id of the session, by which it is found again after a restart.
    pub fn set_agent_session(&self, id: String) {
        self.state.lock().agent_session = Some(id);
    }

    /// Counts a call.
    ///
    /// # Errors
    /// The run has reached its limit, which stops it.
    pub fn admit_call(&self) -> Result<(), UserError> {
        let (_, reached) = self.meter.lock().admit_calls(1);
        let Some(reached) = reached else {
            return Ok(());
        };
        let text = reached.model_message();
        self.session.stop_with_reason(StopReason::Limit(reached));
        Err(UserError::new(text, ""))
    }

    /// Adds a piece of the agent's text. Text after a call begins another message.
    pub fn push_text(&self, text: &str, reasoning: bool) {
        let mut state = self.state.lock();
        if state.open.as_ref().is_some_and(|open| open.has_calls) {
            self.end_message(&mut state, MessageEnd::default());
        }
        let open = state.open.get_or_insert_with(|| self.begin_message());
        open.writer.push_text(&self.session, text, reasoning);
    }

    /// Records the text that is not recorded yet.
    pub fn flush(&self) {
        if let Some(open) = &mut self.state.lock().open {
            open.writer.flush(&self.session);
        }
    }

    /// Ends the message that is being written, so that further text begins another one.
    pub fn end_open_message(&self) {
        self.end_message(&mut self.state.lock(), MessageEnd::default());
    }

    /// Returns the message that a call belongs to.
    pub fn message_of_call(&self) -> MessageId {
        let mut state = self.state.lock();
        let open = state.open.get_or_insert_with(|| self.begin_message());
        open.writer.flush(&self.session);
        open.has_calls = true;
        open.writer.id().clone()
    }

    /// Ends the turn.
    pub fn end_turn(&self, end: MessageEnd) {
        let mut state = self.state.lock();
        // There is always a message: the agent's own id of the session stands in it.
        state.open.get_or_insert_with(|| self.begin_message());
        self.end_message(&mut state, end);
    }

    /// Records how much of the agent's context is in use, unless it is as it was.
    pub fn record_context(&self, context: ContextUse) {
        let before = self
            .session
            .with_conversation(|conversation| conversation.context.replace(context));
        if before != Some(context) {
            let changed = SessionEvent::AgentContextChanged { context };
            self.session.journal.record(changed);
        }
    }

    fn begin_message(&self) -> OpenMessage {
        let engine = &self.session.engine;
        let id = MessageId(engine.config.ids.next_id("msg"));
        let turn = self.session.with_conversation(|conversation| {
            conversation.turns += 1;
            conversation.turns
        });
        let started = MessageChange::TurnStarted { turn };
        self.session.journal.record_message(&id, started);
        OpenMessage {
            writer: MessageWriter::new(id),
            turn,
            began: engine.now(),
            has_calls: false,
        }
    }

    fn end_message(&self, state: &mut MessagesState, end: MessageEnd) {
        let Some(OpenMessage {
            mut writer,
            turn,
            began,
            has_calls: _,
        }) = state.open.take()
        else {
            return;
        };
        writer.flush(&self.session);
        let session = state.agent_session.as_deref();
        let kept = [
            (AGENT_SESSION, session),
            (UNTOLD_MEMBER, end.untold.as_deref()),
        ];
        let kept = kept.into_iter();
        let kept: Map<String, Value> = kept
            .filter_map(|(member, text)| Some((member.to_owned(), text?.into())))
            .collect();
        let opaque = match kept.is_empty() {
            true => Value::Null,
            false => Value::Object(kept),
        };
        let ended = MessageChange::TurnEnded {
            turn,
            usage: end.usage,
            duration_ms: self.session.engine.config.clock.elapsed_ms(began),
            error: end.error,
            opaque: opaque.clone(),
        };
        self.session.journal.record_message(writer.id(), ended);
        let message = Message::Assistant {
            text: writer.into_text(),
            calls: Vec::new(),
            opaque,
        };
        self.session
            .with_conversation(|conversation| conversation.messages.push(message));
    }
}

/// Returns the agent's own id of the session, if a message has it.
fn agent_session_of(message: &Message) -> Option<String> {
    match message {
        Message::Assistant { opaque, .. } => {
            let id = opaque.get(AGENT_SESSION)?.as_str()?;
            Some(id.to_owned())
        }
        Message::User { .. } | Message::Tool { .. } => None,
    }
}
