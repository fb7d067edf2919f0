//! Where everything is written: calm text for people, with colours on a terminal only, or JSON for programs.

use std::io::{ErrorKind, IsTerminal, Write};

use protocol::Fault;
use protocol::shown::shown;
use serde::Serialize;

use crate::args::Color;
use crate::ending::{Code, Ending};

/// Standard output, and how it is to be written.
pub(crate) struct Out {
    json: bool,
    quiet: bool,
    colours: bool,
    /// Whether the story goes to standard error, because standard output is for something else.
    story_aside: bool,
    /// What was written while the terminal belongs to a card; none where it does not.
    held: Option<String>,
}

/// What a stretch of text is, for its colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ink {
    /// Just text.
    Plain,
    /// The name of a thing.
    Strong,
    /// Beside the point.
    Faint,
    /// Comes, or went well.
    Good,
    /// Goes, or went wrong.
    Bad,
    /// Wants attention.
    Warn,
}

impl Out {
    pub(crate) fn new(json: bool, quiet: bool, color: Color) -> Self {
        Self {
            json,
            quiet,
            colours: in_colours(color, std::io::stdout().is_terminal()),
            story_aside: false,
            held: None,
        }
    }

    /// The same for text that goes to standard error, in colours if that is a terminal.
    pub(crate) fn for_standard_error(color: Color) -> Self {
        Self {
            colours: in_colours(color, std::io::stderr().is_terminal()),
            story_aside: true,
            ..Self::new(false, false, color)
        }
    }

    /// Whether only results and errors are wanted.
    pub(crate) fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// Keeps back text for people until [`Out::release`].
    pub(crate) fn hold(&mut self) {
        self.held.get_or_insert_default();
    }

    /// Writes what was kept back.
    pub(crate) fn release(&mut self) -> Result<(), Ending> {
        match self.held.take() {
            Some(text) if !text.is_empty() => self.text(&text),
            _ => Ok(()),
        }
    }

    /// Keeps standard output for one result: the story goes to standard error, unless JSON is wanted.
    pub(crate) fn tell_aside(&mut self) {
        self.story_aside = !self.json;
    }

    /// Leaves standard output to somebody else: everything goes to standard error, as text.
    pub(crate) fn leave(&mut self) {
        (self.json, self.story_aside) = (false, true);
    }

    /// Writes the one result that standard output was kept for: indented for people, a last line for programs.
    pub(crate) fn result(&mut self, value: &serde_json::Value) -> Result<(), Ending> {
        self.story_aside = false;
        match self.json {
            true => self.json(&serde_json::json!({ "output": value })),
            false => self.line(&format!("{value:#}")),
        }
    }

    /// Whether JSON is wanted.
    pub(crate) fn is_json(&self) -> bool {
        self.json
    }

    /// A text in its colour. What is hidden in it is named, so that nothing recorded can speak to the terminal.
    pub(crate) fn ink(&self, ink: Ink, text: &str) -> String {
        let text = named(text);
        let code = match ink {
            Ink::Plain => return text,
            Ink::Strong => "1",
            Ink::Faint => "2",
            Ink::Good => "32",
            Ink::Bad => "31",
            Ink::Warn => "33",
        };
        match self.colours && !text.is_empty() {
            true => format!("\u{1b}[{code}m{text}\u{1b}[0m"),
            false => text,
        }
    }

    /// Writes text that was made with [`Out::ink`], without a line end.
    pub(crate) fn text(&mut self, text: &str) -> Result<(), Ending> {
        if let Some(held) = &mut self.held {
            held.push_str(text);
            return Ok(());
        }
        if self.story_aside {
            // Where standard error is closed there is nobody to tell.
            let _ = write!(std::io::stderr(), "{text}");
            return Ok(());
        }
        let mut out = std::io::stdout().lock();
        written(out.write_all(text.as_bytes()).and_then(|()| out.flush()))
    }

    /// Writes a line of such text.
    pub(crate) fn line(&mut self, text: &str) -> Result<(), Ending> {
        self.text(&format!("{text}\n"))
    }

    /// Writes a value as one line of JSON.
    pub(crate) fn json(&mut self, value: &impl Serialize) -> Result<(), Ending> {
        let text = serde_json::to_string(value)
            .map_err(|error| Ending::failed("The answer cannot be written.").because(&error))?;
        self.line(&text)
    }

    /// Tells a person something beside the output: on standard error, and not where JSON or nothing beside is wanted.
    pub(crate) fn aside(&self, fault: &Fault) {
        if !self.json && !self.quiet {
            tell_error(fault);
        }
    }

    /// Writes why it ends; gives the exit code.
    pub(crate) fn end(&mut self, ending: &Ending) -> Code {
        match ending {
            Ending::Unread => Code::Done,
            Ending::Fault(code, fault) => {
                if self.json {
                    // If this cannot be written, the code still says it.
                    let _ = self.json(&serde_json::json!({ "error": fault }));
                } else {
                    tell_error(fault);
                }
                *code
            }
        }
    }
}

/// Whether to write in colours, on what is a terminal or is none.
pub(crate) fn in_colours(color: Color, is_terminal: bool) -> bool {
    match color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => {
            let wanted = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
            wanted && is_terminal
        }
    }
}

fn tell_error(fault: &Fault) {
    // Where standard error is closed there is nobody to tell.
    let _ = writeln!(std::io::stderr(), "{}", named(&fault.to_string()));
}

/// A text with its hidden characters named; ends of lines become line feeds.
pub(crate) fn named(text: &str) -> String {
    let text = text.replace("\r\n", "\n");
    shown(&text).into_iter().map(|span| span.text).collect()
}

fn written(result: std::io::Result<()>) -> Result<(), Ending> {
    result.map_err(|error| match error.kind() {
        ErrorKind::BrokenPipe => Ending::Unread,
        _ => Ending::failed("The output cannot be written.").because(&error),
    })
}
