//! The cards of a run at the terminal: which one is shown, and giving the terminal back between them.

use agent::Desk;
use protocol::query::{Answer as Told, Query};
use protocol::server_asks::{AskView, ServerWants};
use protocol::{CallId, CallView, EntryBody, Event, Preview, SessionId};
use serde_json::Map;
use tokio::time::{Instant, sleep_until};

use super::always::Choice;
use super::card::{self, Size};
use super::form::Form;
use super::keyboard::{Input, Keyboard};
use super::line::Line;
use super::queue::{Item, Queue, What};
use super::{ask, tell};
use crate::args::Color;
use crate::ending::Ending;
use crate::limits::CARD_SEEN;
use crate::out::{Ink, Out};

/// Entries that are looked through for a call that began before this run.
const ENTRIES_LOOKED_AT: u32 = 200;

/// What came of a press.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Heard {
    /// Nothing that the run must know.
    Nothing,
    /// A program of the person's had the terminal; what was pressed there was for it.
    Program,
    /// Ctrl C, or the terminal is gone.
    Interrupt,
}

/// What waits, what of it is shown, and what is being said of it.
pub(crate) struct Cards {
    pub(super) desk: Desk,
    /// Standard error.
    pub(super) out: Out,
    pub(super) queue: Queue,
    pub(super) shown: Option<Shown>,
    keyboard: Option<Keyboard>,
}

/// The card that has the terminal.
pub(super) struct Shown {
    pub item: Item,
    pub view: CallView,
    /// Rows that were not shown yet; nothing is allowed before they were.
    pub unseen: usize,
    pub mode: Mode,
}

/// What a press means now.
pub(super) enum Mode {
    /// Nothing yet: the card was shown this moment.
    Arming(Instant),
    /// An answer to the card.
    Keys,
    /// The second press of an answer that cannot be taken back; the rule that would go along with it.
    Sure(Option<Choice>),
    /// Which rule goes along.
    Choosing(Vec<Choice>),
    /// Whether that rule is made.
    Chosen(Choice),
    /// The reason of a rejection, being typed.
    Message(Line),
    /// An answer in a form, being typed.
    Filling(Form, Line),
    /// Whether a form that is filled in is sent.
    Sending(Form),
}

impl Cards {
    /// For the run of a session.
    pub(crate) fn new(desk: Desk, session: SessionId, color: Color) -> Self {
        Self {
            desk,
            out: Out::for_standard_error(color),
            queue: Queue::new(session),
            shown: None,
            keyboard: None,
        }
    }

    /// Takes an event in. [`Cards::renew`] shows what came of it.
    pub(crate) fn see(&mut self, event: &Event) {
        self.queue.see(event);
    }

    /// Waits for what a person does, while a card is shown. May be dropped; nothing is lost.
    pub(crate) async fn next(&mut self) -> Input {
        let Some(keyboard) = &mut self.keyboard else {
            return std::future::pending().await;
        };
        match self.shown.as_ref().map(|shown| &shown.mode) {
            Some(Mode::Arming(until)) => {
                let until = *until;
                tokio::select! {
                    biased;
                    input = keyboard.next() => input,
                    () = sleep_until(until) => Input::Nothing,
                }
            }
            _ => keyboard.next().await,
        }
    }

    /// Shows what waits now, and gives the terminal back where nothing does.
    pub(crate) async fn renew(&mut self, story: &mut Out) -> Result<(), Ending> {
        if let Some(shown) = &self.shown {
            if self.queue.holds(&shown.item) {
                return Ok(());
            }
            let same = |next: &Item| next.call == shown.item.call;
            if !self.queue.first().is_some_and(same) {
                tell("\nThis does not wait any more.\n");
            } else {
                tell("\n");
            }
            self.shown = None;
        }
        loop {
            self.keyboard = None;
            story.release()?;
            let Some(item) = self.queue.first().cloned() else {
                return Ok(());
            };
            match self.view(&item).await? {
                Some(view) => {
                    story.hold();
                    return self.show(item, view);
                }
                // It ended in this moment.
                None => self.queue.remove(&item),
            }
        }
    }

    /// The call that waits: as it was heard of, or from the record if it began before this run.
    async fn view(&self, item: &Item) -> Result<Option<CallView>, Ending> {
        if let Some(view) = self.queue.view(item) {
            return Ok(Some(view.clone()));
        }
        let query = Query::Transcript {
            session: item.session.clone(),
            before: None,
            limit: ENTRIES_LOOKED_AT,
        };
        let Told::Transcript { entries, .. } = self.desk.query(query).await? else {
            return Ok(None);
        };
        let found = entries.into_iter().find(|entry| entry.id == item.call);
        Ok(match found.map(|entry| entry.body) {
            Some(EntryBody::Call(view)) => Some(*view),
            _ => None,
        })
    }

    fn show(&mut self, item: Item, view: CallView) -> Result<(), Ending> {
        self.shown = Some(Shown {
            item,
            view,
            unseen: 0,
            mode: Mode::Keys,
        });
        if self.keyboard.is_none() {
            self.keyboard = Some(Keyboard::take()?);
        }
        self.draw();
        Ok(())
    }

    /// Draws the card that is shown. From now on it must be shown for a moment before a key counts.
    pub(super) fn draw(&mut self) {
        let size = size();
        let Some(shown) = &mut self.shown else {
            return;
        };
        let title = self.queue.title(&shown.item.session);
        let text = match shown.ask() {
            Some(ask) => ask::draw(&self.out, ask, size),
            None => {
                let others = self.queue.len().saturating_sub(1);
                let drawn = card::draw(&self.out, &shown.view, title, others, size);
                shown.unseen = drawn.left_out;
                drawn.text
            }
        };
        tell(&text);
        shown.mode = Mode::Arming(Instant::now() + CARD_SEEN);
    }

    /// The card was shown for long enough: what is asked is asked.
    pub(super) fn prompt(&mut self) {
        let Some(shown) = &mut self.shown else {
            return;
        };
        shown.mode = match shown.form() {
            Some(form) => Mode::Filling(form, Line::default()),
            None => Mode::Keys,
        };
        if let Mode::Filling(form, line) = &mut shown.mode {
            begin(form, line);
        } else {
            tell(&self.out.ink(Ink::Strong, "? "));
        }
    }

    /// The whole card, for a pager.
    pub(super) fn whole(&self) -> String {
        let Some(shown) = &self.shown else {
            return String::new();
        };
        let title = self.queue.title(&shown.item.session);
        card::whole(&self.out, &shown.view, title, size())
    }

    /// Gives the keyboard to a program of the person's, and takes it again afterwards.
    pub(super) fn lend<T>(&mut self, program: impl FnOnce() -> T) -> Result<T, Ending> {
        self.keyboard = None;
        let done = program();
        self.keyboard = Some(Keyboard::take()?);
        Ok(done)
    }
}

impl Shown {
    /// What a server asks, if that is what waits.
    pub fn ask(&self) -> Option<&AskView> {
        match &self.item.what {
            What::Answer(id) => self.view.asks.iter().find(|ask| ask.id == *id),
            What::Decision(_) => None,
        }
    }

    pub fn call(&self) -> CallId {
        CallId(self.item.call.clone())
    }

    /// What is filled in, if it is a form.
    fn form(&self) -> Option<Form> {
        match self.ask().map(|ask| &ask.asked.wants) {
            Some(ServerWants::Form { fields }) => Some(Form::Fields(fields.clone(), Map::new(), 0)),
            Some(ServerWants::Address { .. } | ServerWants::Model { .. }) => None,
            None => match &self.view.preview {
                Preview::Form { questions } => Some(Form::Questions(questions.clone(), Vec::new())),
                _ => None,
            },
        }
    }
}

/// Asks what a form asks next.
pub(super) fn begin(form: &Form, line: &mut Line) {
    *line = match form.is_secret() {
        true => Line::secret(),
        false => Line::default(),
    };
    tell(&form.next().unwrap_or_default());
}

/// The size of the terminal; a usual one where it does not say.
fn size() -> Size {
    match crossterm::terminal::size() {
        Ok((columns, rows)) if columns > 0 && rows > 0 => Size {
            columns: columns.into(),
            rows: rows.into(),
        },
        Ok(_) | Err(_) => Size {
            columns: 80,
            rows: 24,
        },
    }
}
