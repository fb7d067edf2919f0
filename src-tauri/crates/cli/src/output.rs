//! All output of the program: plain text for people, with colours on a terminal only, or JSON for programs.

use std::io::{ErrorKind, IsTerminal, Write};

use protocol::UserError;
use protocol::text::display_text::to_spans;
use serde::Serialize;

use crate::args::ColorChoice;
use crate::exit::{CliError, CliResult, ExitReason};

/// Standard output and its format.
pub(crate) struct OutputWriter {
    json: bool,
    quiet: bool,
    colours: bool,
    /// Whether the transcript goes to standard error, because standard output is for other data.
    writes_to_stderr: bool,
    /// Text that was written while a card has the terminal; none while no card has it.
    buffer: Option<String>,
}

/// Options that a person chose for the output.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OutputOptions {
    /// Whether to write JSON.
    pub(crate) json: bool,
    /// Whether to write results and errors only.
    pub(crate) quiet: bool,
    /// When to write in colours.
    pub(crate) color: ColorChoice,
}

/// Style of a span of text, which determines its colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TextStyle {
    /// Plain text.
    Plain,
    /// A name.
    Strong,
    /// Less important text.
    Faint,
    /// An addition or a success.
    Good,
    /// A removal or a failure.
    Bad,
    /// A warning.
    Warn,
}

impl OutputWriter {
    pub(crate) fn new(options: OutputOptions) -> Self {
        Self {
            json: options.json,
            quiet: options.quiet,
            colours: is_color_enabled(options.color, std::io::stdout().is_terminal()),
            writes_to_stderr: false,
            buffer: None,
        }
    }

    /// Returns the writer for text on standard error, in colours if that is a terminal.
    pub(crate) fn for_stderr(color: ColorChoice) -> Self {
        Self {
            colours: is_color_enabled(color, std::io::stderr().is_terminal()),
            writes_to_stderr: true,
            ..Self::new(OutputOptions {
                json: false,
                quiet: false,
                color,
            })
        }
    }

    /// Whether only results and errors are wanted.
    pub(crate) fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// Holds back text for people until [`OutputWriter::flush_buffer`].
    pub(crate) fn start_buffering(&mut self) {
        self.buffer.get_or_insert_default();
    }

    /// Writes the text that was held back.
    pub(crate) fn flush_buffer(&mut self) -> Result<(), CliError> {
        match self.buffer.take() {
            Some(text) if !text.is_empty() => self.write_text(&text),
            _ => Ok(()),
        }
    }

    /// Reserves standard output for one result: the transcript goes to standard error, unless JSON is wanted.
    pub(crate) fn reserve_stdout(&mut self) {
        self.writes_to_stderr = !self.json;
    }

    /// Leaves standard output to other code: everything goes to standard error, as text.
    pub(crate) fn redirect_to_stderr(&mut self) {
        (self.json, self.writes_to_stderr) = (false, true);
    }

    /// Writes the one result that standard output is reserved for: indented for people, as a last line for programs.
    pub(crate) fn write_result(&mut self, value: &serde_json::Value) -> Result<(), CliError> {
        self.writes_to_stderr = false;
        match self.json {
            true => self.write_json(&serde_json::json!({ "output": value })),
            false => self.write_line(&format!("{value:#}")),
        }
    }

    /// Whether JSON is wanted.
    pub(crate) fn is_json(&self) -> bool {
        self.json
    }

    /// Returns a text in its colour. Hidden characters are named, so that no recorded text can control the terminal.
    pub(crate) fn apply_style(&self, ink: TextStyle, text: &str) -> String {
        let text = escape_hidden(text);
        let code = match ink {
            TextStyle::Plain => return text,
            TextStyle::Strong => "1",
            TextStyle::Faint => "2",
            TextStyle::Good => "32",
            TextStyle::Bad => "31",
            TextStyle::Warn => "33",
        };
        match self.colours && !text.is_empty() {
            true => format!("\u{1b}[{code}m{text}\u{1b}[0m"),
            false => text,
        }
    }

    /// Writes text that was styled with [`OutputWriter::apply_style`], without a line end.
    pub(crate) fn write_text(&mut self, text: &str) -> Result<(), CliError> {
        if let Some(held) = &mut self.buffer {
            held.push_str(text);
            return Ok(());
        }
        if self.writes_to_stderr {
            // Where standard error is closed there is nobody to tell.
            let _ = write!(std::io::stderr(), "{text}");
            return Ok(());
        }
        let mut out = std::io::stdout().lock();
        map_write_error(out.write_all(text.as_bytes()).and_then(|()| out.flush()))
    }

    /// Writes a line of styled text.
    pub(crate) fn write_line(&mut self, text: &str) -> Result<(), CliError> {
        self.write_text(&format!("{text}\n"))
    }

    /// Writes a line in one style.
    pub(crate) fn write_styled(&mut self, ink: TextStyle, text: &str) -> Result<(), CliError> {
        let line = self.apply_style(ink, text);
        self.write_line(&line)
    }

    /// Writes the answer of a command that succeeded: as JSON, or as `print` writes it for a person.
    pub(crate) fn write_answer(
        &mut self,
        value: &impl Serialize,
        print: impl FnOnce(&mut Self) -> Result<(), CliError>,
    ) -> CliResult {
        match self.json {
            true => self.write_json(value)?,
            false => print(self)?,
        }
        Ok(ExitReason::Done)
    }

    /// Writes a value as one line of JSON.
    pub(crate) fn write_json(&mut self, value: &impl Serialize) -> Result<(), CliError> {
        let text = serde_json::to_string(value).map_err(|error| {
            CliError::failure("The answer cannot be written.").with_cause(&error)
        })?;
        self.write_line(&text)
    }

    /// Writes a warning for a person to standard error, except in JSON or quiet mode.
    pub(crate) fn write_warning(&self, fault: &UserError) {
        if !self.json && !self.quiet {
            print_error(fault);
        }
    }

    /// Reports why the program ends; returns the exit code.
    pub(crate) fn report_error(&mut self, ending: &CliError) -> ExitReason {
        match ending {
            CliError::OutputClosed => ExitReason::Done,
            CliError::User(code, fault) => {
                if self.json {
                    // If this cannot be written, the code still says it.
                    let _ = self.write_json(&serde_json::json!({ "error": fault }));
                } else {
                    print_error(fault);
                }
                *code
            }
        }
    }
}

/// Whether to write in colours to an output that is, or is not, a terminal.
pub(crate) fn is_color_enabled(color: ColorChoice, is_terminal: bool) -> bool {
    match color {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto => {
            let wanted = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
            wanted && is_terminal
        }
    }
}

fn print_error(fault: &UserError) {
    // Where standard error is closed there is nobody to tell.
    let _ = writeln!(std::io::stderr(), "{}", escape_hidden(&fault.to_string()));
}

/// Returns a text with its hidden characters named; line ends become line feeds.
pub(crate) fn escape_hidden(text: &str) -> String {
    let text = text.replace("\r\n", "\n");
    to_spans(&text).into_iter().map(|span| span.text).collect()
}

fn map_write_error(result: std::io::Result<()>) -> Result<(), CliError> {
    result.map_err(|error| match error.kind() {
        ErrorKind::BrokenPipe => CliError::OutputClosed,
        _ => CliError::failure("The output cannot be written.").with_cause(&error),
    })
}
