//! The calls in another agent's transcripts, to be replayed.

use std::collections::VecDeque;
use std::path::PathBuf;

use agent::EngineConfig;
use agent::replay::{ReplayCall, ReplayedCall, parse_since};
use gateway::agent_calls::{AgentCall, ExternalAgent, TranslatedCall, translate_call};
use gateway::transcripts::{
    TranscriptCall, TranscriptPlace, TranscriptQuery, Transcripts, read_transcripts,
    resolve_workspace,
};
use protocol::text::display_text::format_count;
use protocol::{At, UserError};
use serde_json::{Value, json};

use super::absolute_path;
use super::replay_input::NextCall;
use crate::args::ReplayArgs;
use crate::exit::CliError;
use crate::output::OutputWriter;

/// Calls of transcripts, read one by one.
pub(super) struct TranscriptCalls {
    agent: ExternalAgent,
    workspace: PathBuf,
    calls: std::vec::IntoIter<TranscriptCall>,
    left_out: Value,
    /// What the last call is here.
    ready: VecDeque<NextCall>,
}

impl TranscriptCalls {
    /// Reads the transcripts that the arguments name, and says what of them is left out.
    pub(super) fn open(
        config: &EngineConfig,
        args: &ReplayArgs,
        agent: &str,
        out: &OutputWriter,
    ) -> Result<Self, CliError> {
        let agent = ExternalAgent::from_id(agent).ok_or_else(|| {
            CliError::usage("There is no such agent.", "Name one that is listed.")
        })?;
        let since = args.since.as_deref();
        let since = since.map(|text| parse_since(text, config.clock.now()));
        let since = since.transpose().map_err(CliError::usage_error)?;
        let workspace = resolve_workspace(&args.workspace).map_err(CliError::usage_error)?;
        let place = match &args.file {
            Some(file) => TranscriptPlace::File(absolute_path("transcript", file)?),
            None => usual_place(agent)?,
        };
        let query = TranscriptQuery {
            agent,
            workspace: &workspace,
            since: since.unwrap_or(At::MIN),
        };
        let found = read_transcripts(&query, &place).map_err(CliError::usage_error)?;
        warn_of_rest(&found, out);
        Ok(Self {
            agent,
            workspace,
            left_out: json!({
                "elsewhere": found.elsewhere,
                "not_read": found.faults.count,
                "reasons": found.faults.shown,
            }),
            calls: found.calls.into_iter(),
            ready: VecDeque::new(),
        })
    }

    /// Returns what of the transcripts is not among the calls: how many calls were made in other folders, how many lines and
    /// files cannot be read, and why.
    pub(super) fn left_out(&self) -> &Value {
        &self.left_out
    }

    /// Returns the next call. One that concerns only the agent itself is none.
    pub(super) fn next_call(&mut self) -> NextCall {
        loop {
            if let Some(call) = self.ready.pop_front() {
                return call;
            }
            let Some(call) = self.calls.next() else {
                return NextCall::End;
            };
            self.ready = self.translate(call).into();
        }
    }

    fn translate(&self, call: TranscriptCall) -> Vec<NextCall> {
        let translated = translate_call(&AgentCall {
            agent: self.agent,
            tool: &call.tool,
            input: &call.input,
            folder: &call.folder,
            workspace: &self.workspace,
            servers: &[],
        });
        let calls = match translated {
            TranslatedCall::Tools(calls) => calls,
            TranslatedCall::Server(call) => vec![call],
            TranslatedCall::Internal => Vec::new(),
            TranslatedCall::Unknown { reason } => {
                let report = ReplayedCall::failed(call.id, Some(call.session), call.tool, reason);
                return vec![NextCall::Unknown(Box::new(report))];
            }
        };
        let one = calls.len() == 1;
        let calls = calls.into_iter().enumerate().map(|(index, own)| {
            let id = match one {
                true => call.id.clone(),
                false => format!("{}/{}", call.id, index + 1),
            };
            NextCall::Call(ReplayCall {
                id,
                session: Some(call.session.clone()),
                tool: own.tool,
                arguments: own.arguments,
            })
        });
        calls.collect()
    }
}

/// Returns the folder in which an agent keeps its transcripts.
pub(super) fn usual_place(agent: ExternalAgent) -> Result<TranscriptPlace, CliError> {
    let no_home = || CliError::usage("There is no home folder.", "Name a transcript.");
    let home = EngineConfig::home_dir().ok_or_else(no_home)?;
    let place = TranscriptPlace::of_agent(agent, &home, |name| std::env::var_os(name));
    place.map_err(CliError::usage_error)
}

fn warn_of_rest(found: &Transcripts, out: &OutputWriter) {
    if found.elsewhere > 0 {
        let count = format_count(found.elsewhere, "call");
        let message = format!("Left out, because they were made in other folders: {count}.");
        out.write_warning(&UserError::new(message, "Name another --workspace."));
    }
    warn_of_faults(found.faults.count, &found.faults.shown, out);
}

/// Warns of the number of lines and files that were not read, with the reasons of the first of them.
pub(super) fn warn_of_faults(count: u64, reasons: &[String], out: &OutputWriter) {
    if count > 0 {
        let message = format!("Lines and files of transcripts that were not read: {count}.");
        out.write_warning(&UserError::new(message, reasons.join("; ")));
    }
}
