//! What an agent is told on the command line: the words, standard input, and the text of files.

use std::io::{IsTerminal, Read};
use std::path::{Path, PathBuf};

use protocol::Fault;

use crate::ending::Ending;
use crate::limits::PROMPT_BYTES_MAX;

/// Stands for standard input.
const STDIN: &str = "-";

/// The prompt with the files that are attached to it; none where nothing was given to say.
///
/// # Errors
/// Standard input is named twice, a file cannot be read, is no text, or is too long.
pub(crate) fn prompt(words: Option<String>, files: &[PathBuf]) -> Result<Option<String>, Ending> {
    let from_file = files.iter().filter(|file| is_stdin(file)).count();
    let from_words = usize::from(words.as_deref() == Some(STDIN));
    if from_file + from_words > 1 {
        let message = "Standard input is named more than once.";
        return Err(Ending::usage(Fault::new(message, "Write `-` once.")));
    }
    let reads = words.as_deref() == Some(STDIN)
        || (words.is_none() && from_file == 0 && !std::io::stdin().is_terminal());
    let words = match reads {
        true => Some(standard_input("prompt")?).filter(|text| !text.trim().is_empty()),
        false => words,
    };
    if words.is_none() && files.is_empty() {
        return Ok(None);
    }
    let mut parts: Vec<String> = words.into_iter().collect();
    for file in files {
        parts.push(attached(file)?);
    }
    Ok(Some(parts.join("\n\n")))
}

/// All of standard input as text, without the last line ends.
pub(crate) fn standard_input(what: &str) -> Result<String, Ending> {
    let text = read(std::io::stdin(), what, "standard input")?;
    Ok(text.trim_end_matches(['\r', '\n']).to_owned())
}

/// The text of a file, under its name and between fences that it does not hold itself.
#[expect(
    clippy::disallowed_methods,
    reason = "a file of the caller's, read before there is a desk"
)]
fn attached(file: &Path) -> Result<String, Ending> {
    let (name, text) = match is_stdin(file) {
        true => ("standard input".to_owned(), standard_input("file")?),
        false => {
            let name = file.display().to_string();
            let opened = std::fs::File::open(file).map_err(|error| {
                let message = format!("The file {name} cannot be read.");
                Ending::usage(Fault::new(message, "Check the path.")).because(&error)
            })?;
            let text = read(opened, "file", &name)?;
            (name, text)
        }
    };
    let longest = text
        .split(|c| c != '`')
        .map(str::len)
        .max()
        .unwrap_or_default();
    let fence = "`".repeat(longest.max(2) + 1);
    let end = if text.ends_with('\n') { "" } else { "\n" };
    Ok(format!("{name}:\n{fence}\n{text}{end}{fence}"))
}

fn read(from: impl Read, what: &str, name: &str) -> Result<String, Ending> {
    let mut bytes = Vec::new();
    let limit = PROMPT_BYTES_MAX as u64 + 1;
    from.take(limit).read_to_end(&mut bytes).map_err(|error| {
        let message = format!("The {what} cannot be read from {name}.");
        Ending::usage(Fault::new(message, "Check the path.")).because(&error)
    })?;
    if bytes.len() > PROMPT_BYTES_MAX {
        let message = format!("{name} is longer than {PROMPT_BYTES_MAX} bytes.");
        let hint = "Name the file in the prompt; the agent reads it in parts.";
        return Err(Ending::usage(Fault::new(message, hint)));
    }
    String::from_utf8(bytes).map_err(|_| {
        let message = format!("{name} is no text in UTF-8.");
        let hint = "Only text can be attached; images are read by the agent's `read` tool.";
        Ending::usage(Fault::new(message, hint))
    })
}

fn is_stdin(file: &Path) -> bool {
    file.as_os_str() == STDIN
}
