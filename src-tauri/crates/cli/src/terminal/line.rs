//! A line of text that is typed: for answers, reasons and secrets. Backspace corrects, Enter sends, Esc leaves.

use crossterm::event::{KeyCode, read};
use crossterm::terminal::{disable_raw_mode, enable_raw_mode};
use protocol::Fault;
use protocol::shown::is_hidden;

use super::keyboard::{Input, input};
use super::tell;
use crate::ending::{Code, Ending};

/// Longest line, in bytes.
const BYTES_MAX: usize = 64 * 1024;

/// A line as far as it is typed.
#[derive(Debug, Default)]
pub(crate) struct Line {
    text: String,
    /// Whether it is typed unseen.
    secret: bool,
}

/// What a press did to a line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Typed {
    /// It goes on.
    More,
    /// It is sent.
    Sent(String),
    /// It was left.
    Left,
}

impl Line {
    /// One that is typed unseen.
    pub fn secret() -> Self {
        Self {
            secret: true,
            ..Self::default()
        }
    }

    /// Takes what came, and shows it.
    pub(super) fn take(&mut self, input: &Input) -> Typed {
        match input {
            Input::Key(KeyCode::Enter) => {
                tell("\n");
                return Typed::Sent(std::mem::take(&mut self.text));
            }
            Input::Key(KeyCode::Esc) => {
                tell("\n");
                return Typed::Left;
            }
            Input::Key(KeyCode::Backspace) => {
                if self.text.pop().is_some() && !self.secret {
                    tell("\u{8} \u{8}");
                }
            }
            Input::Key(KeyCode::Char(c)) => self.add(*c),
            Input::Pasted(text) => text.chars().for_each(|c| match c {
                '\n' | '\r' | '\t' => self.add(' '),
                c => self.add(c),
            }),
            Input::Key(_) | Input::Interrupt | Input::Resized | Input::Nothing | Input::Gone => {}
        }
        Typed::More
    }

    fn add(&mut self, c: char) {
        if is_hidden(c) || self.text.len() + c.len_utf8() > BYTES_MAX {
            return;
        }
        self.text.push(c);
        if !self.secret {
            tell(c.encode_utf8(&mut [0; 4]));
        }
    }
}

/// Reads a secret from the terminal, unseen.
///
/// # Errors
/// The terminal gives no presses, or the person left.
pub(crate) fn secret(prompt: &str) -> Result<String, Ending> {
    let unusable = |error: std::io::Error| {
        let fault = Fault::new("The terminal cannot be read.", "Give it on standard input.");
        Ending::from(fault).because(&error)
    };
    tell(prompt);
    enable_raw_mode().map_err(unusable)?;
    let mut line = Line::secret();
    let typed = loop {
        match read().map(input) {
            Err(error) => break Err(unusable(error)),
            Ok(Input::Interrupt) => break Ok(Typed::Left),
            Ok(input) => match line.take(&input) {
                Typed::More => {}
                over => break Ok(over),
            },
        }
    };
    let _ = disable_raw_mode();
    match typed? {
        Typed::Sent(text) => Ok(text),
        Typed::More | Typed::Left => {
            let fault = Fault::new("Nothing was given, so nothing was changed.", "");
            Err(Ending::Fault(Code::Interrupted, Box::new(fault)))
        }
    }
}
