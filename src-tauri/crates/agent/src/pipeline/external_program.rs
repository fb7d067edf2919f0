//! Programs of the person that are asked about a call, watchdogs and hooks: each reads one JSON object from its
//! standard input and writes its answer to its standard output.

use std::path::PathBuf;

use protocol::text::display_text::to_single_line;
use runtime::{CommandExit, ProgramCommand, ProgramResult};
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::limits::{PROGRAM_ANSWER_BYTES_MAX, PROGRAM_MS_MAX, PROGRAM_REASON_CHARS_MAX};
use crate::session::Session;

/// A question to a program.
pub(crate) struct ProgramRequest<'a> {
    /// Path of the program's file.
    pub program: &'a str,
    /// Input of the program, from [`encode_input`].
    pub input: &'a [u8],
    /// Time limit from the settings, in milliseconds.
    pub timeout_ms: u32,
}

/// Encodes an object as a program reads it: one line.
pub(crate) fn encode_input(object: &Value) -> Vec<u8> {
    format!("{object}\n").into_bytes()
}

/// Runs a program, and returns its standard output if it ended well.
///
/// # Errors
/// Returns the end of a sentence that begins with the name of the program: "ended with exit code 3."
pub(crate) async fn run_program(
    session: &Session,
    question: ProgramRequest<'_>,
    stop: &CancellationToken,
) -> Result<Vec<u8>, String> {
    let file = PathBuf::from(question.program);
    if !file.is_absolute() {
        return Err("names no absolute file, so it was not asked.".to_owned());
    }
    let timeout_ms = question.timeout_ms.clamp(1, PROGRAM_MS_MAX);
    let program = ProgramCommand {
        file,
        command_name: question.program.to_owned(),
        // What checks an agent's calls runs in no environment of the agent's.
        workspace: session
            .tool_context
            .workspace
            .with_inherited_env(session.engine.inherited_variables.clone()),
        input: question.input.to_vec(),
        timeout_ms: timeout_ms.into(),
        output_bytes_max: PROGRAM_ANSWER_BYTES_MAX,
    };
    match runtime::run_program(&program, |_| {}, stop).await {
        Ok(answered) => check_exit(answered, timeout_ms),
        Err(error) => Err(format!("could not be started: {error}")),
    }
}

/// Returns the output of a program, if it ended well.
fn check_exit(answered: ProgramResult, timeout_ms: u32) -> Result<Vec<u8>, String> {
    if answered.is_truncated {
        return Err("answered more than it may.".to_owned());
    }
    match answered.exit {
        CommandExit::Code(0) => Ok(answered.output),
        CommandExit::Code(code) => Err(format!("ended with exit code {code}.")),
        CommandExit::Signal(signal) => Err(format!("was ended by signal {signal}.")),
        CommandExit::TimedOut => Err(format!("did not answer within {timeout_ms} ms.")),
        CommandExit::Cancelled => Err("was stopped before it answered.".to_owned()),
    }
}

/// Parses the answer of a program from its output.
///
/// # Errors
/// As [`run_program`].
pub(crate) fn parse_answer<Said: DeserializeOwned>(
    printed: &[u8],
    form: &str,
) -> Result<Said, String> {
    serde_json::from_slice(printed)
        .map_err(|error| format!("did not answer with `{form}`: {error}."))
}

/// Returns the reason given by a program, fit to stand in a sentence.
pub(crate) fn clean_reason(text: &str) -> String {
    let reason = match text.trim() {
        "" => "it gives no reason.",
        reason => reason,
    };
    to_single_line(reason, PROGRAM_REASON_CHARS_MAX)
}
