//! The keys of the terminal while a card has it: single presses, unechoed; given back whenever it is dropped.

use crossterm::event::{
    DisableBracketedPaste, EnableBracketedPaste, Event, EventStream, KeyCode, KeyEvent,
    KeyEventKind, KeyModifiers,
};
use crossterm::terminal::{disable_raw_mode, enable_raw_mode};
use futures::StreamExt;
use protocol::Fault;

use crate::ending::Ending;

/// The keyboard, taken. What is pasted is no press.
pub(super) struct Keyboard {
    events: EventStream,
}

/// What came from the terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Input {
    /// A key was pressed, without Ctrl or Alt.
    Key(KeyCode),
    /// Text was pasted.
    Pasted(String),
    /// Ctrl C.
    Interrupt,
    /// The terminal has another size.
    Resized,
    /// Nothing that means anything.
    Nothing,
    /// The terminal is gone.
    Gone,
}

impl Keyboard {
    /// Takes the keyboard.
    ///
    /// # Errors
    /// The terminal does not give single presses.
    pub fn take() -> Result<Self, Ending> {
        enable_raw_mode().map_err(|error| {
            let message = "The terminal gives no single key presses, so nobody can be asked here.";
            let hint = "Run it with --headless, or in another terminal.";
            Ending::from(Fault::new(message, hint)).because(&error)
        })?;
        // Where a terminal does not know of pasting, what is pasted comes as keys.
        let _ = crossterm::execute!(std::io::stderr(), EnableBracketedPaste);
        Ok(Self {
            events: EventStream::new(),
        })
    }

    /// What comes next. May be dropped while it waits; nothing is lost.
    pub async fn next(&mut self) -> Input {
        match self.events.next().await {
            Some(Ok(event)) => input(event),
            Some(Err(_)) | None => Input::Gone,
        }
    }
}

impl Drop for Keyboard {
    fn drop(&mut self) {
        let _ = crossterm::execute!(std::io::stderr(), DisableBracketedPaste);
        // Where this fails the terminal is gone.
        let _ = disable_raw_mode();
    }
}

pub(super) fn input(event: Event) -> Input {
    match event {
        Event::Key(KeyEvent {
            code,
            modifiers,
            kind: KeyEventKind::Press,
            ..
        }) => match code {
            KeyCode::Char('c') if modifiers == KeyModifiers::CONTROL => Input::Interrupt,
            _ if modifiers.difference(KeyModifiers::SHIFT).is_empty() => Input::Key(code),
            _ => Input::Nothing,
        },
        Event::Paste(text) => Input::Pasted(text),
        Event::Resize(_, _) => Input::Resized,
        Event::Key(_) | Event::Mouse(_) | Event::FocusGained | Event::FocusLost => Input::Nothing,
    }
}
