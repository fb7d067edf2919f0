//! The person's own editor and pager, at their terminal.
#![expect(
    clippy::disallowed_methods,
    reason = "programs of the person's, which stay in the foreground until the person leaves them"
)]

use std::io::{BufRead, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use protocol::UserError;

use super::write_terminal;
use crate::exit::CliError;
use crate::limits::EDITED_BYTES_MAX;

/// Editor if neither $VISUAL nor $EDITOR is set.
const DEFAULT_EDITOR: &str = if cfg!(windows) { "notepad" } else { "vi" };
/// Pager if $PAGER is not set.
const DEFAULT_PAGER: &str = if cfg!(windows) { "more" } else { "less" };

/// Opens a text under a name in the person's editor; returns the edited text.
///
/// # Errors
/// There is no such editor, it failed, or its result is no text or too long.
pub(crate) fn edit_text(text: &str, name: &str) -> Result<String, CliError> {
    let folder = tempfile::tempdir().map_err(|error| {
        let fault = UserError::new("No temporary folder could be made.", "Check TMPDIR.");
        CliError::from(fault).with_cause(&error)
    })?;
    let file = folder.path().join(name);
    let unusable = |error: std::io::Error| {
        let message = format!(
            "The file for the editor, {}, cannot be used.",
            file.display()
        );
        CliError::from(UserError::new(message, "Try again.")).with_cause(&error)
    };
    std::fs::write(&file, text).map_err(unusable)?;
    let editor = first_variable(&["VISUAL", "EDITOR"]).unwrap_or_else(|| DEFAULT_EDITOR.to_owned());
    let ended = shell_command(&editor, Some(&file))
        .stdout(Stdio::from(std::io::stderr()))
        .status();
    let failed = |hint: &str| UserError::new(format!("The editor `{editor}` failed."), hint);
    match ended {
        Err(error) => {
            let hint = "Set EDITOR to an editor that is there.";
            return Err(CliError::from(failed(hint)).with_cause(&error));
        }
        Ok(status) if !status.success() => {
            return Err(failed("Nothing of it was taken. Set EDITOR to another one.").into());
        }
        Ok(_) => {}
    }
    let edited = std::fs::read(&file).map_err(unusable)?;
    if edited.len() > EDITED_BYTES_MAX {
        let message = format!("What was edited is longer than {EDITED_BYTES_MAX} bytes.");
        return Err(UserError::new(message, "Shorten it.").into());
    }
    String::from_utf8(edited).map_err(|_| {
        UserError::new("What was edited is not UTF-8 text.", "Save it as such.").into()
    })
}

/// Shows a text in the person's pager; prints the text if there is none.
pub(super) fn page_text(text: &str) {
    let pager = first_variable(&["PAGER"]).unwrap_or_else(|| DEFAULT_PAGER.to_owned());
    let mut command = shell_command(&pager, None);
    if std::env::var_os("LESS").is_none() {
        // Leaves at once where all of it fits, keeps it on the screen, and lets colours through.
        command.env("LESS", "FRX");
    }
    let started = command
        .stdin(Stdio::piped())
        .stdout(Stdio::from(std::io::stderr()))
        .spawn();
    let Ok(mut child) = started else {
        return write_terminal(text);
    };
    if let Some(mut input) = child.stdin.take() {
        // A pager that is left early has read enough.
        let _ = input.write_all(text.as_bytes());
    }
    match child.wait() {
        // The exit code of a shell that does not find the program.
        Ok(status) if status.code() == Some(127) => write_terminal(text),
        Ok(_) | Err(_) => {}
    }
}

/// Asks a question on the terminal; the default is no.
pub(crate) fn ask(question: &str) -> Result<bool, CliError> {
    write_terminal(&format!("{question} [y/N] "));
    let mut answer = String::new();
    let read = std::io::stdin().lock().read_line(&mut answer);
    read.map_err(|error| CliError::failure("The terminal cannot be read.").with_cause(&error))?;
    Ok(answer.trim().eq_ignore_ascii_case("y"))
}

/// Returns the value of the first of these variables that is set and not empty.
fn first_variable(names: &[&str]) -> Option<String> {
    let values = names.iter().filter_map(|name| std::env::var(name).ok());
    values.into_iter().find(|value| !value.trim().is_empty())
}

/// Builds a command from the person's line for their shell, with a file as an argument that the shell does not split
/// into words.
fn shell_command(line: &str, file: Option<&Path>) -> Command {
    if cfg!(windows) {
        let mut words = line.split_whitespace();
        let mut command = Command::new(words.next().unwrap_or_default());
        command.args(words).args(file);
        return command;
    }
    let mut command = Command::new("sh");
    let line = match file {
        Some(_) => format!("{line} \"$1\""),
        None => line.to_owned(),
    };
    command.arg("-c").arg(line).arg("sh").args(file);
    command
}
