//! A session as it happens: each event as a line of JSON, or as the part of the story that it completes.

use std::collections::HashMap;

use protocol::mappers::{Teller, Vocabulary};
use protocol::shown::counted;
use protocol::{CallState, Entry, EntryBody, Event, EventBody, SessionId, SessionState, fold};

use crate::ending::Ending;
use crate::out::{Ink, Out};
use crate::story;

/// Follows one session.
pub(crate) struct Live {
    pub(crate) session: SessionId,
    /// Entries that may change.
    open: HashMap<String, Entry>,
    /// Whether the cursor stands behind the agent's last words.
    speaking: bool,
    /// Calls that were denied, by a rule, a scope, or because nobody could be asked.
    pub(crate) denied: u64,
    /// Whether the run came to one of its limits.
    pub(crate) limited: bool,
    /// How the last call ended, with all that is known of it.
    pub(crate) last_call: Option<Entry>,
    /// The output that the run came to, if it was asked for in a schema.
    pub(crate) output: Option<serde_json::Value>,
    /// The last event that was seen.
    pub(crate) seq: u64,
    /// Tells the events in other words, where those are wanted.
    teller: Option<Teller>,
}

impl Live {
    pub(crate) fn new(session: SessionId) -> Self {
        Self {
            session,
            open: HashMap::new(),
            speaking: false,
            denied: 0,
            limited: false,
            last_call: None,
            output: None,
            seq: 0,
            teller: None,
        }
    }

    /// The same, telling the events after `seq` in a specification's words.
    pub(crate) fn in_words(self, vocabulary: Vocabulary, seq: u64) -> Self {
        let teller = Some(Teller::new(vocabulary, self.session.clone()));
        Self {
            teller,
            seq,
            ..self
        }
    }

    /// The event after which to listen: words begin with the session, so that nothing goes on that did not begin.
    pub(crate) fn since(&self, now: u64) -> u64 {
        match self.teller {
            Some(_) => self.seq,
            None => now,
        }
    }

    /// Takes an event in and writes what can be written. Gives the state if the run came to its end.
    pub(crate) fn see(
        &mut self,
        out: &mut Out,
        event: &Event,
        silent: bool,
    ) -> Result<Option<SessionState>, Ending> {
        self.seq = event.seq;
        if event.session != self.session {
            return Ok(None);
        }
        let entry = fold::entry_id(event).and_then(|id| {
            let entry = fold::entry(self.open.remove(&*id), event)?;
            if may_change(&entry) {
                self.open.insert(id.into_owned(), entry.clone());
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
        if let Some(teller) = &mut self.teller {
            teller
                .map(event)
                .iter()
                .try_for_each(|word| out.json(word))?;
        } else if out.is_json() && !silent {
            out.json(event)?;
        } else if !silent {
            self.tell(out, event, entry.as_ref())?;
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

    fn tell(&mut self, out: &mut Out, event: &Event, entry: Option<&Entry>) -> Result<(), Ending> {
        let is_answer = matches!(
            event.body,
            EventBody::AgentSaid { .. } | EventBody::TurnEnded { .. }
        );
        match &event.body {
            _ if out.is_quiet() && !is_answer => Ok(()),
            EventBody::PersonSaid { text, images, .. } => {
                let text = story::person(out, text, images.len() as u64);
                self.paragraph(out, &text)
            }
            EventBody::ErrandEnded { .. } => {
                let text = entry.map(|entry| story::entry(out, entry));
                self.paragraph(out, &text.unwrap_or_default())
            }
            EventBody::AgentSaid {
                text,
                reasoning: false,
                ..
            } => {
                self.speaking = true;
                let text = out.ink(Ink::Plain, text);
                out.text(&text)
            }
            EventBody::TurnEnded { error, .. } => {
                let text = error.as_ref().map(|error| story::cut_off(out, error));
                self.paragraph(out, &text.unwrap_or_default())
            }
            EventBody::CallEnded { .. } => match entry.map(|entry| &entry.body) {
                Some(EntryBody::Call(view)) => {
                    let text = story::call(out, view);
                    self.paragraph(out, &text)
                }
                _ => Ok(()),
            },
            EventBody::AnswerChecked { answer, .. } => {
                let text = story::not_taken(out, answer);
                self.paragraph(out, &text)
            }
            EventBody::UndoApplied { paths, .. } => self.restored(out, "Took back", entry, *paths),
            EventBody::RedoApplied { paths, .. } => {
                self.restored(out, "Brought again", entry, *paths)
            }
            EventBody::CallProgress { tool, message, .. } => {
                let text = story::progress(out, tool, message);
                self.paragraph(out, &text)
            }
            EventBody::Noted { notice } => {
                let text = story::notice(out, notice);
                self.paragraph(out, &text)
            }
            EventBody::PlanningSet { on, .. } => {
                let text = story::planning(out, *on);
                self.paragraph(out, &text)
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

    fn restored(
        &mut self,
        out: &mut Out,
        did: &str,
        entry: Option<&Entry>,
        paths: u64,
    ) -> Result<(), Ending> {
        let title = match entry.map(|entry| &entry.body) {
            Some(EntryBody::Call(view)) => view.undo.as_ref().map(|undo| undo.title.clone()),
            _ => None,
        };
        let title = title.unwrap_or_else(|| "a change".to_owned());
        let text = out.ink(
            Ink::Strong,
            &format!("↶ {did}: {title} ({})", counted(paths, "path")),
        );
        self.paragraph(out, &format!("{text}\n\n"))
    }

    /// Writes a paragraph of its own, after what the agent was saying.
    fn paragraph(&mut self, out: &mut Out, text: &str) -> Result<(), Ending> {
        if std::mem::take(&mut self.speaking) {
            out.text("\n\n")?;
        }
        out.text(text)
    }
}

/// Whether more may be told of an entry.
fn may_change(entry: &Entry) -> bool {
    match &entry.body {
        EntryBody::Person { .. } | EntryBody::Errand { .. } | EntryBody::Notice(_) => false,
        EntryBody::Agent { writing, .. } => *writing,
        EntryBody::Call(view) => !view.state.is_settled() || view.undo.is_some(),
    }
}
