//! `completions` and `man`: shell completions, manual pages, and the reference, generated from the definition of the
//! command line.

use std::path::Path;

use clap_complete::Shell;
use serde_json::json;

use super::command_reference;
use crate::args;
use crate::exit::{CliError, CliResult};
use crate::output::OutputWriter;

/// The program's name.
const PROGRAM_NAME: &str = "countersign";

/// Writes a completion script.
pub(crate) fn write_completions(shell: Shell, out: &mut OutputWriter) -> CliResult {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut args::build_command(), PROGRAM_NAME, &mut script);
    let script = String::from_utf8(script)
        .map_err(|error| CliError::failure("The script is not text.").with_cause(&error))?;
    let json = json!({ "shell": shell.to_string(), "script": script });
    out.write_answer(&json, |out| out.write_text(&script))
}

/// Writes a manual page for the program and one for each of its subcommands.
pub(crate) fn write_man_pages(folder: &Path, out: &mut OutputWriter) -> CliResult {
    write_pages(folder, || {
        clap_mangen::generate_to(args::build_command(), folder)
    })?;
    super::source_commands::report_done(
        out,
        &format!("The manual pages are in {}.", folder.display()),
    )
}

/// Writes the reference of the command line, one page in Markdown.
#[expect(
    clippy::disallowed_methods,
    reason = "a folder of the caller's, written without a desk"
)]
pub(crate) fn write_reference(folder: &Path, out: &mut OutputWriter) -> CliResult {
    let file = folder.join("command-line.md");
    let page = command_reference::format_reference(args::build_command());
    write_pages(folder, || std::fs::write(&file, page))?;
    super::source_commands::report_done(out, &format!("The page is {}.", file.display()))
}

/// Makes the folder where it is not there, and writes into it.
#[expect(
    clippy::disallowed_methods,
    reason = "a folder of the caller's, written without a desk"
)]
fn write_pages(folder: &Path, write: impl FnOnce() -> std::io::Result<()>) -> Result<(), CliError> {
    let written = std::fs::create_dir_all(folder).and_then(|()| write());
    written.map_err(|error| {
        let message = format!("The pages cannot be written to {}.", folder.display());
        CliError::usage(message, "Name another folder.").with_cause(&error)
    })
}
