//! Prints a session as it happens: each event as a line of JSON, or as the part of the transcript that it completes.

use std::collections::HashMap;

use protocol::event::{CallChange, MessageChange, SessionEvent, fold};
use protocol::mappers::{SessionMapper, Vocabulary};
use protocol::text::display_text::format_count;
use protocol::{CallState, Entry, EntryBody, Event, EventBody, SessionId, SessionState};

use crate::exit::CliError;
use crate::output::{OutputWriter, TextStyle};
use crate::transcript;

/// Prints the events of one session.
pub(crate) struct EventPrinter {
    pub(crate) session: SessionId,
    /// Entries that may still change.
    open_entries: HashMap<String, Entry>,
    /// Whether the cursor is behind text that the agent is still writing.
    is_agent_writing: bool,
    /// Number of calls that were denied, by a rule, a scope, or because nobody could be asked.
    pub(crate) denied: u64,
    /// Whether the run reached one of its limits.
    pub(crate) limited: bool,
    /// The last call that ended, as its full entry.
    pub(crate) last_call: Option<Entry>,
    /// The output of the run, if it was asked for with a schema.
    pub(crate) output: Option<serde_json::Value>,
    /// Sequence number of the last event.
    pub(crate) seq: u64,
    /// Translates the events to another vocabulary, if one is wanted.
    vocabulary_mapper: Option<SessionMapper>,
}

impl EventPrinter {
    pub(crate) fn new(session: SessionId) -> Self {
        Self {
            session,
            open_entries: HashMap::new(),
            is_agent_writing: false,
            denied: 0,
            limited: false,
            last_call: None,
            output: None,
            seq: 0,
            vocabulary_mapper: None,
        }
    }

    /// Returns the printer with the events after `seq` translated to a specification's vocabulary.
    pub(crate) fn with_vocabulary(self, vocabulary: Vocabulary, seq: u64) -> Self {
        let teller = Some(SessionMapper::new(vocabulary, self.session.clone()));
        Self {
            vocabulary_mapper: teller,
            seq,
            ..self
        }
    }

    /// Returns the event after which to subscribe: a vocabulary starts at the beginning of the session, so that every
    /// part has its start.
    pub(crate) fn subscribe_from(&self, now: u64) -> u64 {
        match self.vocabulary_mapper {
            Some(_) => self.seq,
            None => now,
        }
    }

    /// Handles an event and writes all output that is complete. Returns the state if the run ended.
    pub(crate) fn handle_event(
        &mut self,
        out: &mut OutputWriter,
        event: &Event,
        silent: bool,
    ) -> Result<Option<SessionState>, CliError> {
        self.seq = event.seq;
        if event.session != self.session {
            return Ok(None);
        }
        let entry = fold::entry_id(event).and_then(|id| {
            let entry = fold::fold_entry(self.open_entries.remove(&*id), event)?;
            if can_change(&entry) {
                self.open_entries.insert(id.into_owned(), entry.clone());
            }
            Some(entry)
        });
        if let EventBody::Message {
            change: MessageChange::AnswerChecked { answer },
            ..
        } = &event.body
        {
            self.output.clone_from(&answer.output);
        }
        if let EventBody::Call {
            change: CallChange::Ended { outcome, .. },
            ..
        } = &event.body
        {
            self.denied += u64::from(outcome.state == CallState::Denied);
            self.last_call.clone_from(&entry);
        }
        self.limited |= matches!(
            event.body,
            EventBody::Session(SessionEvent::LimitReached { .. })
        );
        if let Some(teller) = &mut self.vocabulary_mapper {
            teller
                .map(event)
                .iter()
                .try_for_each(|word| out.write_json(word))?;
        } else if out.is_json() && !silent {
            out.write_json(event)?;
        } else if !silent {
            self.print_event(out, event, entry.as_ref())?;
        }
        Ok(match event.body {
            EventBody::Session(SessionEvent::Changed { state }) => match state {
                SessionState::Done | SessionState::Failed | SessionState::Interrupted => {
                    Some(state)
                }
                SessionState::Idle | SessionState::Running | SessionState::Waiting => None,
            },
            _ => None,
        })
    }

    fn print_event(
        &mut self,
        out: &mut OutputWriter,
        event: &Event,
        entry: Option<&Entry>,
    ) -> Result<(), CliError> {
        let is_answer = matches!(
            event.body,
            EventBody::Message {
                change: MessageChange::AgentSaid { .. } | MessageChange::TurnEnded { .. },
                ..
            }
        );
        if out.is_quiet() && !is_answer {
            return Ok(());
        }
        match &event.body {
            EventBody::Session(event) => self.print_session_event(out, event),
            EventBody::Message { change, .. } => self.print_message_change(out, change, entry),
            EventBody::Proposal(_) => Ok(()),
            EventBody::Call { change, .. } => self.print_call_change(out, change, entry),
        }
    }

    fn print_session_event(
        &mut self,
        out: &mut OutputWriter,
        event: &SessionEvent,
    ) -> Result<(), CliError> {
        let text = match event {
            SessionEvent::NoticeAdded { notice } => transcript::format_notice(out, notice),
            SessionEvent::PlanningSet { on, .. } => transcript::format_planning(out, *on),
            SessionEvent::Opened { .. }
            | SessionEvent::Renamed { .. }
            | SessionEvent::Placed { .. }
            | SessionEvent::Deleted { .. }
            | SessionEvent::Changed { .. }
            | SessionEvent::ModelChanged { .. }
            | SessionEvent::AsksSkipped { .. }
            | SessionEvent::AsksResumed { .. }
            | SessionEvent::AgentOptionsChanged { .. }
            | SessionEvent::AgentContextChanged { .. }
            // Its notice follows.
            | SessionEvent::LimitReached { .. } => return Ok(()),
        };
        self.print_paragraph(out, &text)
    }

    fn print_message_change(
        &mut self,
        out: &mut OutputWriter,
        change: &MessageChange,
        entry: Option<&Entry>,
    ) -> Result<(), CliError> {
        let text = match change {
            MessageChange::PersonSaid { text, images, .. } => {
                transcript::format_person_message(out, text, images.len() as u64)
            }
            MessageChange::SubAgentFinished { .. } => entry
                .map(|entry| transcript::format_entry(out, entry))
                .unwrap_or_default(),
            MessageChange::AgentSaid {
                text,
                reasoning: false,
            } => {
                self.is_agent_writing = true;
                let text = out.apply_style(TextStyle::Plain, text);
                return out.write_text(&text);
            }
            MessageChange::TurnEnded { error, .. } => error
                .as_ref()
                .map(|error| transcript::format_turn_error(out, error))
                .unwrap_or_default(),
            MessageChange::AnswerChecked { answer } => {
                transcript::format_answer_problems(out, answer)
            }
            MessageChange::TurnStarted { .. }
            | MessageChange::AgentSaid {
                reasoning: true, ..
            } => return Ok(()),
        };
        self.print_paragraph(out, &text)
    }

    fn print_call_change(
        &mut self,
        out: &mut OutputWriter,
        change: &CallChange,
        entry: Option<&Entry>,
    ) -> Result<(), CliError> {
        match change {
            CallChange::Ended { .. } => match entry.map(|entry| &entry.body) {
                Some(EntryBody::Call(view)) => {
                    let text = transcript::format_call(out, view);
                    self.print_paragraph(out, &text)
                }
                _ => Ok(()),
            },
            CallChange::UndoApplied { paths, .. } => {
                self.print_restore(out, "Undid", entry, *paths)
            }
            CallChange::RedoApplied { paths, .. } => {
                self.print_restore(out, "Brought again", entry, *paths)
            }
            CallChange::Progress { tool, text } => {
                let text = transcript::format_progress(out, tool, text);
                self.print_paragraph(out, &text)
            }
            CallChange::Judged { .. }
            | CallChange::Imported { .. }
            | CallChange::Waiting { .. }
            | CallChange::Decided { .. }
            | CallChange::Edited { .. }
            | CallChange::HookAnswered { .. }
            | CallChange::UndoPrepared { .. }
            | CallChange::Started
            | CallChange::Output { .. }
            | CallChange::Update { .. }
            | CallChange::ServerRequestReceived { .. }
            | CallChange::ServerRequestAnswered { .. }
            | CallChange::SamplingFinished { .. }
            | CallChange::StateWritten { .. } => Ok(()),
        }
    }

    fn print_restore(
        &mut self,
        out: &mut OutputWriter,
        did: &str,
        entry: Option<&Entry>,
        paths: u64,
    ) -> Result<(), CliError> {
        let title = match entry.map(|entry| &entry.body) {
            Some(EntryBody::Call(view)) => view.undo.as_ref().map(|undo| undo.title.clone()),
            _ => None,
        };
        let title = title.unwrap_or_else(|| "a change".to_owned());
        let text = out.apply_style(
            TextStyle::Strong,
            &format!("↶ {did}: {title} ({})", format_count(paths, "path")),
        );
        self.print_paragraph(out, &format!("{text}\n\n"))
    }

    /// Writes a separate paragraph, after the agent's unfinished text.
    fn print_paragraph(&mut self, out: &mut OutputWriter, text: &str) -> Result<(), CliError> {
        if std::mem::take(&mut self.is_agent_writing) {
            out.write_text("\n\n")?;
        }
        out.write_text(text)
    }
}

/// Whether an entry may still change.
fn can_change(entry: &Entry) -> bool {
    match &entry.body {
        EntryBody::Person { .. } | EntryBody::SubAgentTask { .. } | EntryBody::Notice(_) => false,
        EntryBody::Agent { writing, .. } => *writing,
        EntryBody::Call(view) => !view.state.is_settled() || view.undo.is_some(),
    }
}
