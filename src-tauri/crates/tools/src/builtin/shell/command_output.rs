//! The output of a command: as a result for the model, and each stream by itself where a program takes the place of the
//! command.

use std::io::PipeWriter;
use std::sync::Arc;

use protocol::call::outcome::Truncation;
use protocol::{ToolError, ToolOutput};
use runtime::{CommandExit, CommandRun, CommandStreams, ErrorPipe, ShellCommand};
use serde_json::json;

use crate::limits::{COMMAND_TIMEOUT_MS_MAX, OUTPUT_BYTES_MAX, STREAM_BYTES_MAX};
use crate::stream_slot::StreamSlot;
use crate::text::{format_byte_size, group_digits};
use crate::tool::ExecutionContext;

/// How the output of a command is kept.
pub(super) enum CommandOutput {
    /// Both streams together, in the order written.
    Merged,
    /// Each stream by itself, byte for byte.
    Separate { slot: StreamSlot, errors: ErrorPipe },
}

impl CommandOutput {
    /// Opens what the output of a call's command is kept in, with the pipe for its standard error if that is separate.
    pub(super) fn open(
        execution: &ExecutionContext,
    ) -> Result<(Option<Arc<PipeWriter>>, Self), ToolError> {
        let Some(slot) = execution.streams.clone() else {
            return Ok((None, Self::Merged));
        };
        let (writer, errors) = ErrorPipe::open(STREAM_BYTES_MAX).map_err(pipe_error)?;
        Ok((Some(writer), Self::Separate { slot, errors }))
    }

    /// Whether both streams are kept together.
    pub(super) fn is_merged(&self) -> bool {
        matches!(self, Self::Merged)
    }

    /// Greatest length of what is kept in memory, in bytes.
    pub(super) fn bytes_max(&self) -> u64 {
        match self {
            Self::Merged => OUTPUT_BYTES_MAX,
            Self::Separate { .. } => STREAM_BYTES_MAX,
        }
    }

    /// Returns the result for the model, once the command ended. The command is dropped with its end of the pipe.
    pub(super) async fn finish(
        self,
        command: ShellCommand,
        run: CommandRun,
    ) -> Result<ToolOutput, ToolError> {
        let timeout_ms = command.timeout_ms;
        drop(command);
        match self {
            Self::Merged => command_outcome(run, timeout_ms),
            Self::Separate { slot, errors } => {
                let errors = errors.finish().await.map_err(pipe_error)?;
                let streams = CommandStreams {
                    exit: run.exit,
                    is_truncated: errors.is_truncated || run.bytes > run.head.len() as u64,
                    stdout: run.head.clone(),
                    stderr: errors.head,
                };
                let merged = merge_streams(run, &streams.stderr);
                slot.put(streams);
                command_outcome(merged, timeout_ms)
            }
        }
    }
}

fn pipe_error(error: std::io::Error) -> ToolError {
    ToolError::Failed(format!(
        "The command's output could not be read: {error}. Try again."
    ))
}

/// Returns the run with its standard error after its output, cut to what a model is given.
fn merge_streams(mut run: CommandRun, stderr: &[u8]) -> CommandRun {
    run.bytes += stderr.len() as u64;
    run.head.extend_from_slice(stderr);
    run.head
        .truncate(usize::try_from(OUTPUT_BYTES_MAX).unwrap_or(usize::MAX));
    run
}

/// Converts a finished command into the result for the model. An exit code other than 0 is a result, not a failure of
/// the tool.
fn command_outcome(run: CommandRun, timeout_ms: u64) -> Result<ToolOutput, ToolError> {
    let output = format_output(&run);
    let (head, message) = match run.exit {
        CommandExit::Code(0) => ("Exit code 0.".to_owned(), "exit 0".to_owned()),
        CommandExit::Code(127) => (
            "Exit code 127: the shell found no such program. Check its name, or whether it is installed.".to_owned(),
            "exit 127, no such program".to_owned(),
        ),
        CommandExit::Code(code) => (
            format!("Exit code {code}: the command reported a failure."),
            format!("exit {code}"),
        ),
        CommandExit::Signal(signal) => (
            format!("The command was ended by signal {signal}."),
            format!("signal {signal}"),
        ),
        CommandExit::TimedOut => {
            return Err(ToolError::TimedOut(format!(
                "The command ran longer than {} ms and was ended, with everything it had started. Give a longer \
                 timeout_ms (at most {}), or run less at once. Its output until then:\n{output}",
                group_digits(timeout_ms),
                group_digits(COMMAND_TIMEOUT_MS_MAX)
            )));
        }
        CommandExit::Cancelled => return Err(ToolError::Cancelled),
    };
    let truncated = run.spilled.as_ref().map(|path| Truncation {
        output_path: Some(path.to_string_lossy().into_owned()),
        bytes: run.bytes,
    });
    Ok(ToolOutput {
        data: Some(json!({
            "exit_code": match run.exit { CommandExit::Code(code) => Some(code), _ => None },
            "bytes": run.bytes,
        })),
        truncated,
        secrets_masked: run.secrets_masked,
        ..match run.bytes {
            0 => ToolOutput::new_empty(format!("{head} The command printed nothing."), message),
            _ => ToolOutput::new(format!("{head}\n{output}"), message),
        }
    })
}

/// Formats the output as text, followed by notes about it.
fn format_output(run: &CommandRun) -> String {
    if run.bytes == 0 {
        return "[It printed nothing.]".to_owned();
    }
    // A head that ends within a character is cut before it.
    let end = match std::str::from_utf8(&run.head) {
        Err(error) if error.error_len().is_none() && run.bytes > run.head.len() as u64 => {
            error.valid_up_to()
        }
        _ => run.head.len(),
    };
    let head = &run.head[..end];
    let mut text = String::from_utf8_lossy(head).into_owned();
    let mut notes = Vec::new();
    if std::str::from_utf8(head).is_err() {
        notes.push("Bytes that are not UTF-8 are shown as \u{fffd}.".to_owned());
    }
    if run.bytes > end as u64 {
        notes.push(match &run.spilled {
            Some(path) => format!(
                "The first {} of {}; read the rest at {}.",
                format_byte_size(end as u64),
                format_byte_size(run.bytes),
                path.display()
            ),
            None => format!(
                "The first {} of {}; the rest was not kept.",
                format_byte_size(end as u64),
                format_byte_size(run.bytes)
            ),
        });
    }
    notes.extend(run.spill_note.clone());
    if !notes.is_empty() {
        if !text.ends_with('\n') {
            text.push('\n');
        }
        text += &format!("[{}]", notes.join(" "));
    }
    text
}
