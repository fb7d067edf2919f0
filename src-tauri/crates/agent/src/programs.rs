//! Programs of the person's that are asked about a call, watchdogs and hooks: one JSON object on their standard input, their
//! answer on their standard output.

use std::path::PathBuf;

use protocol::shown::in_a_sentence;
use runtime::{Answered, Exit, Program};
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::limits::{PROGRAM_ANSWER_BYTES_MAX, PROGRAM_MS_MAX, PROGRAM_REASON_CHARS_MAX};
use crate::session::Session;

/// What one of them is asked.
pub(crate) struct Question<'a> {
    /// Its file.
    pub program: &'a str,
    /// What it reads, by [`input`].
    pub input: &'a [u8],
    /// How long it may take, as it is set.
    pub timeout_ms: u32,
}

/// An object as they read it: one line.
pub(crate) fn input(object: &Value) -> Vec<u8> {
    format!("{object}\n").into_bytes()
}

/// Starts one, and gives what it printed once it ended well.
///
/// # Errors
/// The end of a sentence that begins with what it is: "ended with exit code 3."
pub(crate) async fn ask(
    session: &Session,
    question: Question<'_>,
    stop: &CancellationToken,
) -> Result<Vec<u8>, String> {
    let file = PathBuf::from(question.program);
    if !file.is_absolute() {
        return Err("names no absolute file, so it was not asked.".to_owned());
    }
    let timeout_ms = question.timeout_ms.clamp(1, PROGRAM_MS_MAX);
    let program = Program {
        file,
        named: question.program.to_owned(),
        workspace: session.hands.workspace.clone(),
        input: question.input.to_vec(),
        timeout_ms: timeout_ms.into(),
        output_bytes_max: PROGRAM_ANSWER_BYTES_MAX,
    };
    match runtime::run_program(&program, |_| {}, stop).await {
        Ok(answered) => printed(answered, timeout_ms),
        Err(error) => Err(format!("could not be started: {error}")),
    }
}

/// What it printed, if it ended well.
fn printed(answered: Answered, timeout_ms: u32) -> Result<Vec<u8>, String> {
    if answered.too_long {
        return Err("answered more than it may.".to_owned());
    }
    match answered.exit {
        Exit::Code(0) => Ok(answered.output),
        Exit::Code(code) => Err(format!("ended with exit code {code}.")),
        Exit::Signal(signal) => Err(format!("was ended by signal {signal}.")),
        Exit::TimedOut => Err(format!("did not answer within {timeout_ms} ms.")),
        Exit::Cancelled => Err("was stopped before it answered.".to_owned()),
    }
}

/// Its answer, from what it printed.
///
/// # Errors
/// As [`ask`].
pub(crate) fn answer<Said: DeserializeOwned>(printed: &[u8], form: &str) -> Result<Said, String> {
    serde_json::from_slice(printed)
        .map_err(|error| format!("did not answer with `{form}`: {error}."))
}

/// The reason that it gives, fit to stand in a sentence.
pub(crate) fn reason(said: &str) -> String {
    let reason = match said.trim() {
        "" => "it gives no reason.",
        reason => reason,
    };
    in_a_sentence(reason, PROGRAM_REASON_CHARS_MAX)
}
