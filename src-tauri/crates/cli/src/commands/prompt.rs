//! Builds a prompt for an agent from the command line: the words, standard input, the text of files, and images.

use std::fs::File;
use std::io::{IsTerminal, Read};
use std::path::{Path, PathBuf};

use protocol::text::fence::fence;
use protocol::{Content, Op, SessionId};

use crate::exit::CliError;
use crate::limits::{ATTACHMENT_BYTES_MAX, PROMPT_BYTES_MAX};

/// Argument that stands for standard input.
const STDIN: &str = "-";

/// A prompt for an agent.
#[derive(Default)]
pub(crate) struct Prompt {
    text: String,
    images: Vec<Content>,
}

impl Prompt {
    /// Returns the prompt with other words in front.
    pub fn prepend(self, words: &str) -> Self {
        let text = format!("{words}\n\n{}", self.text).trim().to_owned();
        Self { text, ..self }
    }

    /// Returns the title for a session that begins with this prompt: the first line of its words, if it has any.
    pub fn title(&self) -> Option<&str> {
        self.text.trim().lines().next()
    }

    /// Returns the op that sends the prompt in a session.
    pub fn into_say_op(self, session: SessionId) -> Op {
        Op::Say {
            session,
            text: self.text,
            images: self.images,
        }
    }
}

/// Content of an attached file.
enum Attachment {
    Text(String),
    Image(Content),
}

/// Builds the prompt with the attached files; none if no content was given.
///
/// # Errors
/// Standard input is named twice, a file cannot be read, is neither text nor an image, or is too long.
pub(crate) fn read_prompt(
    words: Option<String>,
    files: &[PathBuf],
) -> Result<Option<Prompt>, CliError> {
    let from_file = files.iter().filter(|file| is_stdin(file)).count();
    let from_words = usize::from(words.as_deref() == Some(STDIN));
    if from_file + from_words > 1 {
        let message = "Standard input is named more than once.";
        return Err(CliError::usage(message, "Write `-` once."));
    }
    let reads = words.as_deref() == Some(STDIN)
        || (words.is_none() && from_file == 0 && !std::io::stdin().is_terminal());
    let words = match reads {
        true => Some(read_stdin("prompt")?).filter(|text| !text.trim().is_empty()),
        false => words,
    };
    if words.is_none() && files.is_empty() {
        return Ok(None);
    }
    let mut parts: Vec<String> = words.into_iter().collect();
    let mut images = Vec::new();
    for file in files {
        match read_attachment(file)? {
            Attachment::Text(text) => parts.push(text),
            Attachment::Image(image) => images.push(image),
        }
    }
    let text = parts.join("\n\n");
    Ok(Some(Prompt { text, images }))
}

/// Reads all of standard input as text, without trailing line ends.
pub(crate) fn read_stdin(what: &str) -> Result<String, CliError> {
    let bytes = read_bounded(std::io::stdin(), what, "standard input")?;
    let text = decode_utf8(bytes, "standard input")?;
    Ok(text.trim_end_matches(['\r', '\n']).to_owned())
}

/// Reads an image, or the text of a file, which is put under its name and between fences that do not occur in the text.
fn read_attachment(file: &Path) -> Result<Attachment, CliError> {
    let (name, text) = match is_stdin(file) {
        true => ("standard input".to_owned(), read_stdin("file")?),
        false => {
            let name = file.display().to_string();
            let bytes = read_bounded(open_named_file("file", file)?, "file", &name)?;
            if let Some(image) = Content::image(&bytes) {
                return Ok(Attachment::Image(image));
            }
            let text = decode_utf8(bytes, &name)?;
            (name, text)
        }
    };
    let fenced = fence(&text);
    Ok(Attachment::Text(format!("{name}:\n{fenced}")))
}

/// Opens a file that the caller named.
#[expect(
    clippy::disallowed_methods,
    reason = "a file of the caller's, read before there is a desk"
)]
pub(super) fn open_named_file(what: &str, file: &Path) -> Result<File, CliError> {
    File::open(file).map_err(|error| {
        let message = format!("The {what} {} cannot be read.", file.display());
        CliError::usage(message, "Check the path.").with_cause(&error)
    })
}

fn read_bounded(from: impl Read, what: &str, name: &str) -> Result<Vec<u8>, CliError> {
    let mut bytes = Vec::new();
    let limit = ATTACHMENT_BYTES_MAX as u64 + 1;
    from.take(limit).read_to_end(&mut bytes).map_err(|error| {
        let message = format!("The {what} cannot be read from {name}.");
        CliError::usage(message, "Check the path.").with_cause(&error)
    })?;
    Ok(bytes)
}

fn decode_utf8(bytes: Vec<u8>, name: &str) -> Result<String, CliError> {
    if bytes.len() > PROMPT_BYTES_MAX {
        let message = format!("{name} is longer than {PROMPT_BYTES_MAX} bytes.");
        let hint = "Name the file in the prompt; the agent reads it in parts.";
        return Err(CliError::usage(message, hint));
    }
    String::from_utf8(bytes).map_err(|_| {
        let message = format!("{name} is not UTF-8 text.");
        let hint = "Text can be attached, and an image that is a PNG, JPEG, GIF or WebP.";
        CliError::usage(message, hint)
    })
}

fn is_stdin(file: &Path) -> bool {
    file.as_os_str() == STDIN
}
