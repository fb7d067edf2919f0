//! A line editor: for answers, reasons and secrets. Backspace deletes, Enter submits, Esc cancels.

use crossterm::event::{KeyCode, read};
use crossterm::terminal::{disable_raw_mode, enable_raw_mode};
use protocol::UserError;
use protocol::text::display_text::is_hidden;

use super::keyboard::{TerminalInput, input_from_event};
use super::write_terminal;
use crate::exit::{CliError, ExitReason};

/// Longest line, in bytes.
const LINE_BYTES_MAX: usize = 64 * 1024;

/// A line while it is typed.
#[derive(Debug, Default)]
pub(crate) struct LineEditor {
    text: String,
    /// Whether the line is typed without echo.
    secret: bool,
}

/// Effect of an input on a line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum LineState {
    /// The line continues.
    Incomplete,
    /// The line was submitted.
    Submitted(String),
    /// The line was cancelled.
    Cancelled,
}

impl LineEditor {
    /// Creates a line that is typed without echo.
    pub fn new_secret() -> Self {
        Self {
            secret: true,
            ..Self::default()
        }
    }

    /// Handles an input, and shows it.
    pub(super) fn handle_input(&mut self, input: &TerminalInput) -> LineState {
        match input {
            TerminalInput::Key(KeyCode::Enter) => {
                write_terminal("\n");
                return LineState::Submitted(std::mem::take(&mut self.text));
            }
            TerminalInput::Key(KeyCode::Esc) => {
                write_terminal("\n");
                return LineState::Cancelled;
            }
            TerminalInput::Key(KeyCode::Backspace) => {
                if self.text.pop().is_some() && !self.secret {
                    write_terminal("\u{8} \u{8}");
                }
            }
            TerminalInput::Key(KeyCode::Char(c)) => self.push_char(*c),
            TerminalInput::Pasted(text) => text.chars().for_each(|c| match c {
                '\n' | '\r' | '\t' => self.push_char(' '),
                c => self.push_char(c),
            }),
            TerminalInput::Key(_)
            | TerminalInput::Interrupt
            | TerminalInput::Resized
            | TerminalInput::Ignored
            | TerminalInput::Closed => {}
        }
        LineState::Incomplete
    }

    fn push_char(&mut self, c: char) {
        if is_hidden(c) || self.text.len() + c.len_utf8() > LINE_BYTES_MAX {
            return;
        }
        self.text.push(c);
        if !self.secret {
            write_terminal(c.encode_utf8(&mut [0; 4]));
        }
    }
}

/// Reads a secret from the terminal without echo.
///
/// # Errors
/// The terminal does not support single key presses, or the person cancelled.
pub(crate) fn read_secret(prompt: &str) -> Result<String, CliError> {
    let unusable = |error: std::io::Error| {
        let fault = UserError::new("The terminal cannot be read.", "Give it on standard input.");
        CliError::from(fault).with_cause(&error)
    };
    write_terminal(prompt);
    enable_raw_mode().map_err(unusable)?;
    let mut line = LineEditor::new_secret();
    let typed = loop {
        match read().map(input_from_event) {
            Err(error) => break Err(unusable(error)),
            Ok(TerminalInput::Interrupt) => break Ok(LineState::Cancelled),
            Ok(input) => match line.handle_input(&input) {
                LineState::Incomplete => {}
                over => break Ok(over),
            },
        }
    };
    let _ = disable_raw_mode();
    match typed? {
        LineState::Submitted(text) => Ok(text),
        LineState::Incomplete | LineState::Cancelled => {
            let fault = UserError::new("Nothing was given, so nothing was changed.", "");
            Err(CliError::User(ExitReason::Interrupted, Box::new(fault)))
        }
    }
}
