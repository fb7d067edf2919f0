//! `completions` and `man`: what shells and `man` read, made from the commands as they are parsed.

use std::path::Path;

use clap_complete::Shell;
use protocol::Fault;
use serde_json::json;

use crate::args;
use crate::ending::{Code, Ended, Ending};
use crate::out::Out;

/// The program's name.
const NAME: &str = "countersign";

/// Writes a completion script.
pub(crate) fn completions(shell: Shell, out: &mut Out) -> Ended {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut args::command(), NAME, &mut script);
    let script = String::from_utf8(script)
        .map_err(|error| Ending::failed("The script is no text.").because(&error))?;
    match out.is_json() {
        true => out.json(&json!({ "shell": shell.to_string(), "script": script }))?,
        false => out.text(&script)?,
    }
    Ok(Code::Done)
}

/// Writes a page for the program and one for each of its verbs.
#[expect(
    clippy::disallowed_methods,
    reason = "a folder of the caller's, written without a desk"
)]
pub(crate) fn manual(folder: &Path, out: &mut Out) -> Ended {
    let written = std::fs::create_dir_all(folder)
        .and_then(|()| clap_mangen::generate_to(args::command(), folder));
    written.map_err(|error| {
        let message = format!("The pages cannot be written to {}.", folder.display());
        Ending::usage(Fault::new(message, "Name another folder.")).because(&error)
    })?;
    super::kept::done(
        out,
        &format!("The manual pages are in {}.", folder.display()),
    )
}
