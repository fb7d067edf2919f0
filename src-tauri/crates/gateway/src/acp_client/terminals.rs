//! Terminals of an agent: each is one command, which is judged by its effects and never runs a second time.

use std::collections::HashMap;
use std::sync::Arc;

use agent::{AgentTurn, DelegatedCall, DelegatedRun, DelegatedTool, DelegatedVerdict};
use agent_client_protocol::Error;
use agent_client_protocol::v1::schema::{
    CreateTerminalRequest, TerminalExitStatus, TerminalId, TerminalOutputResponse,
};
use parking_lot::Mutex;
use protocol::UserError;
use runtime::{CommandExit, CommandStreams};
use serde_json::json;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::files::{members, not_found};
use crate::agent_calls::{AgentCall, ExternalAgent, to_delegated_calls};
use crate::limits::{RESULT_CHARS_MAX, TERMINALS_MAX};

/// The terminals of one turn.
#[derive(Default)]
pub(super) struct Terminals(Mutex<HashMap<String, Arc<Terminal>>>);

/// One command.
struct Terminal {
    state: watch::Sender<Option<TerminalEnd>>,
    output_bytes_max: usize,
    cancel: CancellationToken,
}

/// How a command ended.
#[derive(Debug, Clone)]
struct TerminalEnd {
    output: String,
    exit: TerminalExitStatus,
}

impl Terminals {
    /// Starts a command. It is judged first, so its output comes at its end.
    ///
    /// # Errors
    /// There are too many terminals, or the command cannot be written for a shell.
    pub fn create(
        &self,
        turn: &Arc<AgentTurn>,
        request: &CreateTerminalRequest,
        over: &CancellationToken,
    ) -> Result<TerminalId, Error> {
        let call = to_call(turn, request)?;
        let mut terminals = self.0.lock();
        if terminals.len() >= TERMINALS_MAX {
            let why = format!("{TERMINALS_MAX} terminals are open; release some of them first.");
            return Err(Error::invalid_params().data(why));
        }
        let id = format!("terminal-{}", terminals.len() + 1);
        let bytes_max = request.output_byte_limit.unwrap_or(u64::MAX);
        let terminal = Arc::new(Terminal {
            state: watch::Sender::new(None),
            output_bytes_max: usize::try_from(bytes_max).unwrap_or(usize::MAX),
            cancel: over.child_token(),
        });
        terminals.insert(id.clone(), terminal.clone());
        let turn = turn.clone();
        tokio::spawn(async move {
            let end = run_command(&turn, call, &terminal.cancel).await;
            terminal.state.send_replace(Some(end));
        });
        Ok(TerminalId::new(id))
    }

    /// Returns the output so far.
    ///
    /// # Errors
    /// There is no such terminal.
    pub fn output(&self, id: &TerminalId) -> Result<TerminalOutputResponse, Error> {
        let terminal = self.find(id)?;
        let end = terminal.state.borrow().clone();
        let Some(end) = end else {
            return Ok(TerminalOutputResponse::new("", false));
        };
        let kept = keep_end(&end.output, terminal.output_bytes_max);
        let is_truncated = kept.len() < end.output.len();
        Ok(TerminalOutputResponse::new(kept, is_truncated).exit_status(end.exit))
    }

    /// Waits until the command is over.
    ///
    /// # Errors
    /// There is no such terminal.
    pub async fn wait(&self, id: &TerminalId) -> Result<TerminalExitStatus, Error> {
        let terminal = self.find(id)?;
        let mut state = terminal.state.subscribe();
        let ended = state.wait_for(Option::is_some).await;
        let ended = ended.map_err(|_| Error::internal_error())?;
        Ok(ended
            .as_ref()
            .map(|end| end.exit.clone())
            .unwrap_or_default())
    }

    /// Ends the command; its output stays.
    ///
    /// # Errors
    /// There is no such terminal.
    pub fn kill(&self, id: &TerminalId) -> Result<(), Error> {
        self.find(id)?.cancel.cancel();
        Ok(())
    }

    /// Ends the command, and forgets its output.
    ///
    /// # Errors
    /// There is no such terminal.
    pub fn release(&self, id: &TerminalId) -> Result<(), Error> {
        self.kill(id)?;
        self.0.lock().remove(id.0.as_ref());
        Ok(())
    }

    fn find(&self, id: &TerminalId) -> Result<Arc<Terminal>, Error> {
        let terminal = self.0.lock().get(id.0.as_ref()).cloned();
        terminal.ok_or_else(|| not_found("There is no such terminal."))
    }
}

/// Returns the call of our shell that a terminal's command is.
fn to_call(turn: &AgentTurn, request: &CreateTerminalRequest) -> Result<DelegatedCall, Error> {
    let unwritable = || Error::invalid_params().data("No shell can be given this command.");
    let mut exports = String::new();
    for variable in &request.env {
        let mut letters = variable.name.chars();
        let begins = letters
            .next()
            .is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
        if !begins || !letters.all(|c| c.is_ascii_alphanumeric() || c == '_') {
            return Err(unwritable());
        }
        let value = shlex::try_quote(&variable.value).map_err(|_| unwritable())?;
        exports.push_str(&format!("export {}={value}\n", variable.name));
    }
    // A command without arguments is a line for the shell, as agents use it.
    let line = match request.args.is_empty() {
        true => request.command.clone(),
        false => {
            let words = std::iter::once(&request.command).chain(&request.args);
            shlex::try_join(words.map(String::as_str)).map_err(|_| unwritable())?
        }
    };
    let mut arguments = json!({ "command": exports + &line });
    if let Some(folder) = &request.cwd {
        arguments["workdir"] = folder.to_string_lossy().into();
    }
    let call = AgentCall {
        agent: ExternalAgent::Opencode,
        tool: "bash",
        input: &members(arguments),
        folder: turn.folder(),
        workspace: turn.folder(),
        servers: &[],
    };
    let calls = to_delegated_calls(&call, true).pop();
    let is_command = |call: &DelegatedCall| matches!(call.tool, DelegatedTool::Own(_));
    calls.filter(is_command).ok_or_else(unwritable)
}

/// Judges a command, and commits the effects that were approved.
async fn run_command(
    turn: &AgentTurn,
    call: DelegatedCall,
    cancel: &CancellationToken,
) -> TerminalEnd {
    let fetched = match turn.judge(call, cancel).await {
        Ok(DelegatedVerdict::Approved {
            call,
            run: DelegatedRun::Fetch { digest },
        }) => turn.fetch(&call, &digest).await,
        Ok(DelegatedVerdict::Approved { .. }) => Err(UserError::new(
            "The command could not be run in the sandbox.",
            "Use the agent's own tool for commands.",
        )),
        Ok(DelegatedVerdict::Ended(ended)) => Err(UserError::new(ended.outcome.text, "")),
        Err(fault) => Err(fault),
    };
    match fetched {
        Ok(streams) => end_of_streams(&streams),
        Err(fault) => TerminalEnd {
            output: fault.to_string(),
            exit: TerminalExitStatus::new().exit_code(1),
        },
    }
}

fn end_of_streams(streams: &CommandStreams) -> TerminalEnd {
    let mut output = String::from_utf8_lossy(&streams.stdout).into_owned();
    output.push_str(&String::from_utf8_lossy(&streams.stderr));
    let exit = match streams.exit {
        CommandExit::Code(code) => {
            TerminalExitStatus::new().exit_code(u32::try_from(code).unwrap_or(1))
        }
        other => TerminalExitStatus::new().signal(format!("{other:?}")),
    };
    TerminalEnd {
        output: tools::text::truncate_chars(&output, RESULT_CHARS_MAX),
        exit,
    }
}

/// Returns the end of a text in at most so many bytes, from the beginning of a character.
fn keep_end(text: &str, bytes_max: usize) -> &str {
    let mut start = text.len().saturating_sub(bytes_max);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    &text[start..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_long_output_is_kept() {
        assert_eq!(keep_end("abc", 9), "abc");
        assert_eq!(keep_end("abc", 2), "bc");
        assert_eq!(keep_end("aé", 1), "");
        assert_eq!(keep_end("aé", 2), "é");
        assert_eq!(keep_end("abc", 0), "");
    }
}
