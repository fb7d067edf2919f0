//! The keyboard while a card has the terminal: single key presses without echo; restored on drop.

use crossterm::event::{
    DisableBracketedPaste, EnableBracketedPaste, Event, EventStream, KeyCode, KeyEvent,
    KeyEventKind, KeyModifiers,
};
use crossterm::terminal::{disable_raw_mode, enable_raw_mode};
use futures::StreamExt;
use protocol::UserError;

use crate::exit::CliError;

/// The keyboard in raw mode. Pasted text is no key press.
pub(super) struct RawKeyboard {
    events: EventStream,
}

/// Input from the terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TerminalInput {
    /// A key was pressed, without Ctrl or Alt.
    Key(KeyCode),
    /// Text was pasted.
    Pasted(String),
    /// Ctrl C.
    Interrupt,
    /// The size of the terminal changed.
    Resized,
    /// Input without a meaning.
    Ignored,
    /// The terminal is gone.
    Closed,
}

impl RawKeyboard {
    /// Switches the keyboard to raw mode.
    ///
    /// # Errors
    /// The terminal does not support single key presses.
    pub fn acquire() -> Result<Self, CliError> {
        enable_raw_mode().map_err(|error| {
            let message = "The terminal gives no single key presses, so nobody can be asked here.";
            let hint = "Run it with --headless, or in another terminal.";
            CliError::from(UserError::new(message, hint)).with_cause(&error)
        })?;
        // Where a terminal does not know of pasting, what is pasted comes as keys.
        let _ = crossterm::execute!(std::io::stderr(), EnableBracketedPaste);
        Ok(Self {
            events: EventStream::new(),
        })
    }

    /// Waits for the next input. Cancel-safe: dropping the future loses no input.
    pub async fn next_input(&mut self) -> TerminalInput {
        match self.events.next().await {
            Some(Ok(event)) => input_from_event(event),
            Some(Err(_)) | None => TerminalInput::Closed,
        }
    }
}

impl Drop for RawKeyboard {
    fn drop(&mut self) {
        let _ = crossterm::execute!(std::io::stderr(), DisableBracketedPaste);
        // Where this fails the terminal is gone.
        let _ = disable_raw_mode();
    }
}

pub(super) fn input_from_event(event: Event) -> TerminalInput {
    match event {
        Event::Key(KeyEvent {
            code,
            modifiers,
            kind: KeyEventKind::Press,
            ..
        }) => match code {
            KeyCode::Char('c') if modifiers == KeyModifiers::CONTROL => TerminalInput::Interrupt,
            _ if modifiers.difference(KeyModifiers::SHIFT).is_empty() => TerminalInput::Key(code),
            _ => TerminalInput::Ignored,
        },
        Event::Paste(text) => TerminalInput::Pasted(text),
        Event::Resize(_, _) => TerminalInput::Resized,
        Event::Key(_) | Event::Mouse(_) | Event::FocusGained | Event::FocusLost => {
            TerminalInput::Ignored
        }
    }
}
