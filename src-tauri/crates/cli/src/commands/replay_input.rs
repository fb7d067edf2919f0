//! What `policy replay` reads: the calls, from a file, the record, or transcripts, and the answers to what asks.

use std::collections::HashMap;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use agent::Engine;
use agent::replay::{RecordedCalls, ReplayAnswer, ReplayCall, ReplayedCall};
use protocol::UserError;
use serde_json::{Map, Value};
use tokio::sync::mpsc;

use super::prompt::open_named_file;
use super::sessions::find_session;
use super::transcript_calls::TranscriptCalls;
use crate::args::ReplayArgs;
use crate::exit::CliError;
use crate::json_lines::{parse_object, read_next_line};

/// Number of lines that are read ahead.
const LINES_AHEAD: usize = 16;

/// Source of the calls to replay, read one by one.
pub(super) enum CallSource<'a> {
    /// Lines of a file, and the number of those that were taken.
    Lines {
        lines: mpsc::Receiver<Result<Vec<u8>, CliError>>,
        number: u64,
    },
    /// Sessions on record.
    Record(RecordedCalls<'a>),
    /// Transcripts of another agent.
    Transcripts(TranscriptCalls),
}

/// The next call of a source.
pub(super) enum NextCall {
    /// A call.
    Call(ReplayCall),
    /// A line that is none, reported as a call that failed.
    Invalid(Box<ReplayedCall>),
    /// A call that means nothing known here, reported as one that failed.
    Unknown(Box<ReplayedCall>),
    /// There is none.
    End,
}

impl<'a> CallSource<'a> {
    /// Opens the file of calls; `-` is standard input.
    pub(super) fn open_file(file: &Path) -> Result<Self, CliError> {
        let mut input: Box<dyn BufRead + Send> = match file == Path::new("-") {
            true => Box::new(BufReader::new(std::io::stdin())),
            false => Box::new(BufReader::new(open_named_file("file of calls", file)?)),
        };
        let (sender, lines) = mpsc::channel(LINES_AHEAD);
        // A thread of its own: whoever interrupts the program does not wait for the next line of a pipe.
        std::thread::spawn(move || {
            while let Some(line) = read_next_line(&mut input).transpose() {
                let is_last = line.is_err();
                if sender.blocking_send(line).is_err() || is_last {
                    break;
                }
            }
        });
        Ok(Self::Lines { lines, number: 0 })
    }

    /// Opens the calls on record that the arguments name.
    pub(super) async fn open_record(
        desk: &'a Engine,
        args: &ReplayArgs,
        named: &[String],
    ) -> Result<Self, CliError> {
        let mut sessions = Vec::new();
        for name in named {
            sessions.push(find_session(desk, name).await?.id);
        }
        let since = args.since.as_deref();
        let calls = RecordedCalls::open(desk, &args.workspace, &sessions, since);
        Ok(Self::Record(calls.map_err(CliError::usage_error)?))
    }

    /// Returns what of transcripts is not among the calls; none where the calls come from elsewhere.
    pub(super) fn left_out(&self) -> Option<&Value> {
        match self {
            Self::Transcripts(calls) => Some(calls.left_out()),
            Self::Lines { .. } | Self::Record(_) => None,
        }
    }

    /// Reads the next call.
    pub(super) async fn read_call(&mut self) -> Result<NextCall, CliError> {
        match self {
            Self::Record(calls) => Ok(calls.next_call()?.map_or(NextCall::End, NextCall::Call)),
            Self::Transcripts(calls) => Ok(calls.next_call()),
            Self::Lines { lines, number } => {
                while let Some(line) = lines.recv().await {
                    let line = line?;
                    *number += 1;
                    if !line.iter().all(u8::is_ascii_whitespace) {
                        return Ok(parse_line(&line, *number));
                    }
                }
                Ok(NextCall::End)
            }
        }
    }
}

fn parse_line(line: &[u8], number: u64) -> NextCall {
    let parsed = parse_object(line).map_err(|what| (String::new(), what));
    match parsed.and_then(parse_call) {
        Ok(call) => NextCall::Call(call),
        Err((id, what)) => {
            let cause = format!("Line {number}: {what}");
            NextCall::Invalid(Box::new(ReplayedCall::failed(
                id,
                None,
                String::new(),
                cause,
            )))
        }
    }
}

/// Reads a call from its object; the error has the call's id, if it has one, and says what is wrong.
fn parse_call(mut line: Map<String, Value>) -> Result<ReplayCall, (String, String)> {
    let id = read_id(&line).map_err(|what| (String::new(), what))?;
    let wrong = |what: String| (id.clone(), what);
    let tool = read_text(&line, "tool").map_err(wrong)?;
    let session = match line.contains_key("session") {
        true => Some(read_text(&line, "session").map_err(wrong)?),
        false => None,
    };
    let arguments = match line.remove("args") {
        Some(Value::Object(arguments)) => arguments,
        Some(_) => return Err(wrong("`args` is not an object.".to_owned())),
        None => return Err(wrong("`args` is missing.".to_owned())),
    };
    Ok(ReplayCall {
        id,
        session,
        tool,
        arguments,
    })
}

/// Reads the id of a line: a text, or a number as it is written.
fn read_id(line: &Map<String, Value>) -> Result<String, String> {
    match line.get("id") {
        Some(Value::Number(number)) => Ok(number.to_string()),
        _ => read_text(line, "id"),
    }
}

fn read_text(line: &Map<String, Value>, member: &str) -> Result<String, String> {
    match line.get(member) {
        Some(Value::String(text)) => Ok(text.clone()),
        Some(_) => Err(format!("`{member}` is not a text.")),
        None => Err(format!("`{member}` is missing.")),
    }
}

/// The answers to calls that ask.
pub(super) enum AnswerSource {
    /// One for all.
    Same(ReplayAnswer),
    /// One for each call, by its id; all others are denied.
    ById(HashMap<String, ReplayAnswer>),
}

impl AnswerSource {
    /// Reads the answers that `--answers` names: `allow`, `deny`, or a file.
    pub(super) fn read(answers: &str) -> Result<Self, CliError> {
        if let Some(answer) = parse_answer(answers) {
            return Ok(Self::Same(answer));
        }
        let file = PathBuf::from(answers);
        let mut input = BufReader::new(open_named_file("file of answers", &file)?);
        let mut by_id = HashMap::new();
        let mut number = 0_u64;
        while let Some(line) = read_next_line(&mut input)? {
            number += 1;
            if line.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            let (id, answer) = parse_object(&line).and_then(read_answer).map_err(|what| {
                let message = format!("{}, line {number}: {what}", file.display());
                let hint = r#"Write lines like {"id":"1","answer":"allow"}."#;
                CliError::usage_error(UserError::new(message, hint))
            })?;
            by_id.insert(id, answer);
        }
        Ok(Self::ById(by_id))
    }

    /// Returns the answer to the call with this id.
    pub(super) fn find(&self, id: &str) -> ReplayAnswer {
        match self {
            Self::Same(answer) => *answer,
            Self::ById(answers) => answers.get(id).copied().unwrap_or(ReplayAnswer::Deny),
        }
    }
}

fn read_answer(line: Map<String, Value>) -> Result<(String, ReplayAnswer), String> {
    let answer = read_text(&line, "answer")?;
    let answer = parse_answer(&answer)
        .ok_or_else(|| "`answer` is neither `allow` nor `deny`.".to_owned())?;
    Ok((read_id(&line)?, answer))
}

fn parse_answer(text: &str) -> Option<ReplayAnswer> {
    match text {
        "allow" => Some(ReplayAnswer::Allow),
        "deny" => Some(ReplayAnswer::Deny),
        _ => None,
    }
}
