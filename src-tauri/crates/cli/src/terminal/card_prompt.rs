//! The cards of a run at the terminal: selects the one to show, and returns the terminal between cards.

use agent::Engine;
use protocol::query::{Answer as Told, Query};
use protocol::server::elicitation::{ServerRequestKind, ServerRequestView};
use protocol::{CallId, CallView, EntryBody, Event, Preview, SessionId};
use serde_json::Map;
use tokio::time::{Instant, sleep_until};

use super::card::{self, TerminalSize};
use super::form::CardForm;
use super::grant_choices::GrantChoice;
use super::keyboard::{RawKeyboard, TerminalInput};
use super::line_editor::LineEditor;
use super::waiting_queue::{WaitingItem, WaitingKind, WaitingQueue};
use super::{elicitation_card, write_terminal};
use crate::args::ColorChoice;
use crate::exit::CliError;
use crate::limits::CARD_ARM_DELAY;
use crate::output::{OutputWriter, TextStyle};

/// Maximum number of entries that are searched for a call that began before this run.
const ENTRIES_SEARCHED_MAX: u32 = 200;

/// Result of a key press.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyOutcome {
    /// Nothing that concerns the run.
    Handled,
    /// An external program had the terminal; keys pressed meanwhile were for that program.
    ProgramRan,
    /// Ctrl C, or the terminal is gone.
    Interrupt,
}

/// The waiting cards, the one that is shown, and the state of its answer.
pub(crate) struct CardPrompt {
    pub(super) desk: Engine,
    /// Standard error.
    pub(super) out: OutputWriter,
    pub(super) queue: WaitingQueue,
    pub(super) shown: Option<ActiveCard>,
    keyboard: Option<RawKeyboard>,
}

/// The card that has the terminal.
pub(super) struct ActiveCard {
    pub item: WaitingItem,
    pub view: CallView,
    /// Rows that were not shown yet; the call cannot be allowed before they are shown.
    pub hidden_lines: usize,
    pub mode: CardMode,
}

/// The meaning of the next key press.
pub(super) enum CardMode {
    /// None yet: the card has only just been shown.
    Arming(Instant),
    /// An answer to the card.
    AwaitingKey,
    /// The confirmation of an answer that cannot be undone, with the grant that it would carry.
    ConfirmingAllow(Option<GrantChoice>),
    /// The choice of a grant.
    ChoosingGrant(Vec<GrantChoice>),
    /// The confirmation of that grant.
    ConfirmingGrant(GrantChoice),
    /// Text of the reason for a rejection.
    TypingReason(LineEditor),
    /// Text of an answer in a form.
    FillingForm(CardForm, LineEditor),
    /// The confirmation that a completed form is sent.
    ConfirmingForm(CardForm),
}

impl CardPrompt {
    /// Creates the prompt for the run of a session.
    pub(crate) fn new(desk: Engine, session: SessionId, color: ColorChoice) -> Self {
        Self {
            desk,
            out: OutputWriter::for_stderr(color),
            queue: WaitingQueue::new(session),
            shown: None,
            keyboard: None,
        }
    }

    /// Handles an event. [`CardPrompt::refresh`] shows the result.
    pub(crate) fn handle_event(&mut self, event: &Event) {
        self.queue.handle_event(event);
    }

    /// Waits for the person's next input while a card is shown. Cancel-safe: dropping the future loses no input.
    pub(crate) async fn next_input(&mut self) -> TerminalInput {
        let Some(keyboard) = &mut self.keyboard else {
            return std::future::pending().await;
        };
        match self.shown.as_ref().map(|shown| &shown.mode) {
            Some(CardMode::Arming(until)) => {
                let until = *until;
                tokio::select! {
                    biased;
                    input = keyboard.next_input() => input,
                    () = sleep_until(until) => TerminalInput::Ignored,
                }
            }
            _ => keyboard.next_input().await,
        }
    }

    /// Shows the first waiting card, or returns the terminal if none waits.
    pub(crate) async fn refresh(&mut self, story: &mut OutputWriter) -> Result<(), CliError> {
        if let Some(shown) = &self.shown {
            if self.queue.contains(&shown.item) {
                return Ok(());
            }
            let same = |next: &WaitingItem| next.call == shown.item.call;
            if !self.queue.first().is_some_and(same) {
                write_terminal("\nThis does not wait any more.\n");
            } else {
                write_terminal("\n");
            }
            self.shown = None;
        }
        loop {
            self.keyboard = None;
            story.flush_buffer()?;
            let Some(item) = self.queue.first().cloned() else {
                return Ok(());
            };
            match self.load_call_view(&item).await? {
                Some(view) => {
                    story.start_buffering();
                    return self.show_card(item, view);
                }
                // It ended in this moment.
                None => self.queue.remove(&item),
            }
        }
    }

    /// Loads the call of a waiting card: from its events, or from the record if the call began before this run.
    async fn load_call_view(&self, item: &WaitingItem) -> Result<Option<CallView>, CliError> {
        if let Some(view) = self.queue.call_view(item) {
            return Ok(Some(view.clone()));
        }
        let query = Query::Transcript {
            session: item.session.clone(),
            before: None,
            limit: ENTRIES_SEARCHED_MAX,
        };
        let Told::Transcript { entries, .. } = self.desk.query(query).await? else {
            return Ok(None);
        };
        let entry = entries.into_iter().find(|entry| entry.id == item.call);
        Ok(match entry.map(|entry| entry.body) {
            Some(EntryBody::Call(view)) => Some(*view),
            _ => None,
        })
    }

    fn show_card(&mut self, item: WaitingItem, view: CallView) -> Result<(), CliError> {
        self.shown = Some(ActiveCard {
            item,
            view,
            hidden_lines: 0,
            mode: CardMode::AwaitingKey,
        });
        if self.keyboard.is_none() {
            self.keyboard = Some(RawKeyboard::acquire()?);
        }
        self.draw_card();
        Ok(())
    }

    /// Draws the current card. Keys count only once it has been shown for a moment.
    pub(super) fn draw_card(&mut self) {
        let size = terminal_size();
        let Some(shown) = &mut self.shown else {
            return;
        };
        let title = self.queue.session_title(&shown.item.session);
        let text = match shown.elicitation() {
            Some(ask) => elicitation_card::render_elicitation(&self.out, ask, size),
            None => {
                let others = self.queue.len().saturating_sub(1);
                let drawn = card::render_card(&self.out, &shown.view, title, others, size);
                shown.hidden_lines = drawn.left_out;
                drawn.text
            }
        };
        write_terminal(&text);
        shown.mode = CardMode::Arming(Instant::now() + CARD_ARM_DELAY);
    }

    /// Shows the prompt, once the card has been shown for long enough.
    pub(super) fn show_prompt(&mut self) {
        let Some(shown) = &mut self.shown else {
            return;
        };
        shown.mode = match shown.to_form() {
            Some(form) => CardMode::FillingForm(form, LineEditor::default()),
            None => CardMode::AwaitingKey,
        };
        if let CardMode::FillingForm(form, line) = &mut shown.mode {
            start_field(form, line);
        } else {
            write_terminal(&self.out.apply_style(TextStyle::Strong, "? "));
        }
    }

    /// Renders the whole card, for a pager.
    pub(super) fn render_full(&self) -> String {
        let Some(shown) = &self.shown else {
            return String::new();
        };
        let title = self.queue.session_title(&shown.item.session);
        card::render_full_card(&self.out, &shown.view, title, terminal_size())
    }

    /// Lends the keyboard to an external program, and takes it back afterwards.
    pub(super) fn lend_terminal<T>(&mut self, program: impl FnOnce() -> T) -> Result<T, CliError> {
        self.keyboard = None;
        let done = program();
        self.keyboard = Some(RawKeyboard::acquire()?);
        Ok(done)
    }
}

impl ActiveCard {
    /// Returns the server's request, if the waiting card is one.
    pub fn elicitation(&self) -> Option<&ServerRequestView> {
        match &self.item.kind {
            WaitingKind::Answer(id) => self.view.server_requests.iter().find(|ask| ask.id == *id),
            WaitingKind::Decision(_) => None,
        }
    }

    pub fn call_id(&self) -> CallId {
        CallId(self.item.call.clone())
    }

    /// Returns the form of the card, if it has one.
    fn to_form(&self) -> Option<CardForm> {
        match self.elicitation().map(|ask| &ask.request.wants) {
            Some(ServerRequestKind::Form { fields }) => {
                Some(CardForm::Fields(fields.clone(), Map::new(), 0))
            }
            Some(ServerRequestKind::Address { .. } | ServerRequestKind::Model { .. }) => None,
            None => match &self.view.preview {
                Preview::Form { questions } => {
                    Some(CardForm::Questions(questions.clone(), Vec::new()))
                }
                _ => None,
            },
        }
    }
}

/// Prompts for the next field of a form.
pub(super) fn start_field(form: &CardForm, line: &mut LineEditor) {
    *line = match form.is_secret() {
        true => LineEditor::new_secret(),
        false => LineEditor::default(),
    };
    write_terminal(&form.next_prompt().unwrap_or_default());
}

/// Returns the size of the terminal; a common one if it is unknown.
fn terminal_size() -> TerminalSize {
    match crossterm::terminal::size() {
        Ok((columns, rows)) if columns > 0 && rows > 0 => TerminalSize {
            columns: columns.into(),
            rows: rows.into(),
        },
        Ok(_) | Err(_) => TerminalSize {
            columns: 80,
            rows: 24,
        },
    }
}
