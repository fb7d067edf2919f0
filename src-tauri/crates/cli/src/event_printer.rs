//! Prints a session as it happens: each event as a line of JSON, or as the part of the transcript that it completes.

use std::collections::HashMap;

use protocol::event::fold;
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
        if let EventBody::AnswerChecked { answer, .. } = &event.body {
            self.output.clone_from(&answer.output);
        }
        if let EventBody::CallEnded { outcome, .. } = &event.body {
            self.denied += u64::from(outcome.state == CallState::Denied);
            self.last_call.clone_from(&entry);
        }
        self.limited |= matches!(event.body, EventBody::LimitReached { .. });
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
            EventBody::SessionChanged { state } => match state {
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
            EventBody::AgentSaid { .. } | EventBody::TurnEnded { .. }
        );
        match &event.body {
            _ if out.is_quiet() && !is_answer => Ok(()),
            EventBody::PersonSaid { text, images, .. } => {
                let text = transcript::format_person_message(out, text, images.len() as u64);
                self.print_paragraph(out, &text)
            }
            EventBody::ErrandEnded { .. } => {
                let text = entry.map(|entry| transcript::format_entry(out, entry));
                self.print_paragraph(out, &text.unwrap_or_default())
            }
            EventBody::AgentSaid {
                text,
                reasoning: false,
                ..
            } => {
                self.is_agent_writing = true;
                let text = out.apply_style(TextStyle::Plain, text);
                out.write_text(&text)
            }
            EventBody::TurnEnded { error, .. } => {
                let text = error.as_ref().map(|error| transcript::format_turn_error(out, error));
                self.print_paragraph(out, &text.unwrap_or_default())
            }
            EventBody::CallEnded { .. } => match entry.map(|entry| &entry.body) {
                Some(EntryBody::Call(view)) => {
                    let text = transcript::format_call(out, view);
                    self.print_paragraph(out, &text)
                }
                _ => Ok(()),
            },
            EventBody::AnswerChecked { answer, .. } => {
                let text = transcript::format_answer_problems(out, answer);
                self.print_paragraph(out, &text)
            }
            EventBody::UndoApplied { paths, .. } => self.print_restore(out, "Undid", entry, *paths),
            EventBody::RedoApplied { paths, .. } => {
                self.print_restore(out, "Brought again", entry, *paths)
            }
            EventBody::CallProgress { tool, message, .. } => {
                let text = transcript::format_progress(out, tool, message);
                self.print_paragraph(out, &text)
            }
            EventBody::Noted { notice } => {
                let text = transcript::format_notice(out, notice);
                self.print_paragraph(out, &text)
            }
            EventBody::PlanningSet { on, .. } => {
                let text = transcript::format_planning(out, *on);
                self.print_paragraph(out, &text)
            }
            EventBody::SessionOpened { .. }
            | EventBody::SessionRenamed { .. }
            | EventBody::SessionChanged { .. }
            | EventBody::TurnStarted { .. }
            | EventBody::AgentSaid {
                reasoning: true, ..
            }
            | EventBody::CallProposed { .. }
            | EventBody::CallJudged { .. }
            | EventBody::CallWaits { .. }
            | EventBody::CallDecided { .. }
            | EventBody::CallEdited { .. }
            | EventBody::CallHooked { .. }
            | EventBody::UndoPrepared { .. }
            | EventBody::CallStarted { .. }
            | EventBody::CallOutput { .. }
            | EventBody::CallUpdate { .. }
            | EventBody::CallAsked { .. }
            | EventBody::CallAnswered { .. }
            | EventBody::CallLent { .. }
            | EventBody::StateWritten { .. }
            // Its notice follows.
            | EventBody::LimitReached { .. } => Ok(()),
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
        EntryBody::Person { .. } | EntryBody::Errand { .. } | EntryBody::Notice(_) => false,
        EntryBody::Agent { writing, .. } => *writing,
        EntryBody::Call(view) => !view.state.is_settled() || view.undo.is_some(),
    }
}
