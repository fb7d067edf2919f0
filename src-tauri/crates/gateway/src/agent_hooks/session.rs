//! One session of an agent whose hooks ask: its folder, and its calls that were approved and are not over.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use agent::{
    ClientOutcome, DelegatedCall, DelegatedResult, DelegatedRun, DelegatedVerdict, Engine,
    ExternalClient,
};
use parking_lot::Mutex;
use protocol::event::ClientInfo;
use protocol::{CallId, Digest, UserError};
use runtime::{CommandStreams, TerminalEnv};
use tokio_util::sync::CancellationToken;

use super::answer::HookDecision;
use super::commit_command;
use super::dialect::HookDialect;
use super::event::ToolUse;
use crate::agent_calls::{AgentCall, to_delegated_calls};

/// Text for the record of a part of a call whose other part was refused.
const WITHDRAWN_TEXT: &str = "It was not run, because another part of the same call was refused.";

/// Member of a command tool's input that holds the command line, in every agent.
const COMMAND_MEMBER: &str = "command";

/// Reason why a call is denied whose command cannot be replaced.
const NOT_HELD_REASON: &str = "The command of this call cannot be held to the effects that were approved, so it is denied. \
     Run the command by itself, in a tool that takes one command line.";

/// One session of an agent.
pub(super) struct HookSession {
    dialect: &'static HookDialect,
    folder: PathBuf,
    client: Arc<ExternalClient>,
    /// Calls that the agent runs as it requested them, and of which it has not told the result, the oldest first.
    approved: Mutex<VecDeque<ApprovedUse>>,
}

/// An approved call, as the agent knows it, and the calls that it is on record.
struct ApprovedUse {
    used: ToolUse,
    calls: Vec<CallId>,
}

/// A question about a call, from the agent's hook.
pub(super) struct HookQuestion<'a> {
    pub used: ToolUse,
    /// Folder that the agent is in.
    pub folder: &'a Path,
    /// Command by which this program is started.
    pub program: &'a [String],
    /// Environment of the agent's terminal.
    pub terminal: TerminalEnv,
    /// Cancelled when the agent waits no longer.
    pub cancel: CancellationToken,
}

impl HookSession {
    /// Opens a session for the calls of an agent in a folder.
    ///
    /// # Errors
    /// A folder that cannot be opened, and a record that cannot be written.
    pub async fn open(
        engine: &Engine,
        dialect: &'static HookDialect,
        session: &str,
        folder: PathBuf,
    ) -> Result<Self, UserError> {
        let client = ClientInfo {
            name: dialect.agent.name().to_owned(),
            version: String::new(),
            by: "its hooks".to_owned(),
            session: session.to_owned(),
            token: String::new(),
        };
        let client = engine.open_client(&folder, client).await?;
        Ok(Self::new(dialect, folder, client))
    }

    /// Returns a session for the calls that a client makes.
    pub fn new(
        dialect: &'static HookDialect,
        folder: PathBuf,
        client: Arc<ExternalClient>,
    ) -> Self {
        Self {
            dialect,
            folder,
            client,
            approved: Mutex::default(),
        }
    }

    /// Decides about a call that the agent is about to make.
    ///
    /// # Errors
    /// The record cannot be written, or too many calls are open.
    pub async fn decide(&self, question: HookQuestion<'_>) -> Result<HookDecision, UserError> {
        let HookQuestion {
            used,
            folder,
            program,
            terminal,
            cancel,
        } = question;
        if let Some(command) = used
            .input
            .get(COMMAND_MEMBER)
            .and_then(|command| command.as_str())
            && let Some(fetched) = commit_command::parse_command(program, command)
            && self.client.is_approved(&fetched)
        {
            return Ok(HookDecision::Pass);
        }
        self.client.set_terminal_env(terminal);
        let mut calls = Vec::new();
        for call in self.translate(&used, folder) {
            match self.client.judge(call, &cancel).await? {
                DelegatedVerdict::Approved { call, run } => calls.push((call, run)),
                DelegatedVerdict::Ended(ended) => {
                    self.withdraw(calls).await?;
                    return Ok(HookDecision::Deny(refusal_text(&ended, &cancel)));
                }
            }
        }
        let Some(decision) = decide_approved(&used, program, &calls) else {
            self.withdraw(calls).await?;
            return Ok(HookDecision::Deny(NOT_HELD_REASON.to_owned()));
        };
        if decision == HookDecision::Pass {
            let calls = calls.into_iter().map(|(call, _)| call).collect();
            self.expect_report(ApprovedUse { used, calls });
        }
        Ok(decision)
    }

    /// Remembers a call whose result the agent will tell, and forgets those whose time was up.
    fn expect_report(&self, expected: ApprovedUse) {
        let mut approved = self.approved.lock();
        approved.retain(|one| one.calls.iter().any(|call| self.client.is_approved(call)));
        approved.push_back(expected);
    }

    /// Returns the calls that a call of the agent is judged as; at least one.
    pub fn translate(&self, used: &ToolUse, folder: &Path) -> Vec<DelegatedCall> {
        let call = AgentCall {
            agent: self.dialect.agent,
            tool: &used.tool,
            input: &used.input,
            folder,
            workspace: &self.folder,
            servers: &[],
        };
        to_delegated_calls(&call, true)
    }

    /// Ends calls that were approved, because another part of the same call was not.
    async fn withdraw(&self, calls: Vec<(CallId, DelegatedRun)>) -> Result<(), UserError> {
        for (call, _) in calls {
            let result = DelegatedResult::Failed(WITHDRAWN_TEXT.to_owned());
            self.client.report(&call, result).await?;
        }
        Ok(())
    }

    /// Reports what came of a call. A call that was not approved here is none of this session's.
    ///
    /// # Errors
    /// The record cannot be written.
    pub async fn report(&self, used: &ToolUse, result: DelegatedResult) -> Result<(), UserError> {
        let call = {
            let mut approved = self.approved.lock();
            let place = approved.iter().position(|one| one.used.is_same_call(used));
            // Some agents tell of a call with other arguments than they asked with.
            let is_alike = |one: &ApprovedUse| used.id.is_none() && one.used.tool == used.tool;
            let place = place.or_else(|| approved.iter().position(is_alike));
            place.and_then(|place| approved.remove(place))
        };
        for call in call.into_iter().flat_map(|approved| approved.calls) {
            self.client.report(&call, result.clone()).await?;
        }
        Ok(())
    }

    /// Ends the calls of which the agent told no result, once its turn is over.
    ///
    /// # Errors
    /// The record cannot be written.
    pub async fn end_turn(&self) -> Result<(), UserError> {
        let untold = std::mem::take(&mut *self.approved.lock());
        for call in untold.into_iter().flat_map(|approved| approved.calls) {
            self.client
                .report(&call, DelegatedResult::NotReported)
                .await?;
        }
        Ok(())
    }

    /// Fetches what an approved command printed; none if the call is not one of this session's.
    pub async fn fetch(
        &self,
        call: &CallId,
        digest: &Digest,
    ) -> Option<Result<CommandStreams, UserError>> {
        match self.client.is_approved(call) {
            true => Some(self.client.fetch(call, digest).await),
            false => None,
        }
    }

    /// Whether a call is open.
    pub fn has_open_calls(&self) -> bool {
        self.client.has_approved_calls()
    }

    /// Ends the session's calls, and waits until everything is on disk.
    pub async fn close(&self) {
        self.client.abandon_approved_calls();
        if let Err(fault) = self.client.close().await {
            tracing::warn!(%fault, "a session of an agent could not be closed");
        }
    }
}

impl ToolUse {
    /// Whether both are the same call of the agent: by its id, or where it gives none, by tool and input.
    fn is_same_call(&self, other: &Self) -> bool {
        match (&self.id, &other.id) {
            (Some(one), Some(other)) => one == other,
            _ => self.tool == other.tool && self.input == other.input,
        }
    }
}

/// Returns the decision about a call all of whose parts were approved: a command is replaced by what fetches its output.
/// None if the call has a command that cannot be replaced: it would run for real, whatever it does this time.
fn decide_approved(
    used: &ToolUse,
    program: &[String],
    calls: &[(CallId, DelegatedRun)],
) -> Option<HookDecision> {
    let is_captured = |(_, run): &(CallId, DelegatedRun)| *run != DelegatedRun::AsRequested;
    match calls {
        [(call, DelegatedRun::Fetch { digest })] => {
            let command = commit_command::build_command(program, call, digest)?;
            let mut input = used.input.clone();
            let replaced = input.insert(COMMAND_MEMBER.to_owned(), command.clone().into());
            let is_line = replaced.is_some_and(|replaced| replaced.is_string());
            is_line.then_some(HookDecision::Replace { command, input })
        }
        calls if calls.iter().any(is_captured) => None,
        _ => Some(HookDecision::Pass),
    }
}

/// Returns what the agent's model reads of a call that does not run.
fn refusal_text(ended: &ClientOutcome, cancel: &CancellationToken) -> String {
    let text = ended.outcome.text.trim();
    if ended.outcome.is_success() {
        return format!(
            "The person changed this call, and it was carried out in its changed form; do not make it again. {text}"
        );
    }
    match cancel.is_cancelled() {
        true => "Nobody answered in the time that your hook has. This is not a refusal: go on with something else, or \
                 make the call again later."
            .to_owned(),
        false => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value, json};

    use super::*;

    fn used(input: Value) -> ToolUse {
        let input = match input {
            Value::Object(input) => input,
            _ => Map::new(),
        };
        ToolUse {
            id: None,
            tool: "Bash".to_owned(),
            input,
        }
    }

    /// A command whose effects were captured never runs for real.
    #[test]
    fn a_command_that_cannot_be_replaced_does_not_pass() {
        let program = ["countersign".to_owned()];
        let fetch = || {
            let digest = Digest::from_bytes(b"effects");
            (CallId::from("call_1"), DelegatedRun::Fetch { digest })
        };
        let write = || (CallId::from("call_2"), DelegatedRun::AsRequested);
        let line = used(json!({ "command": "ls", "description": "x" }));
        let words = used(json!({ "command": ["ls"] }));
        let other = used(json!({ "cmd": "ls" }));
        assert!(matches!(
            decide_approved(&line, &program, &[fetch()]),
            Some(HookDecision::Replace { .. })
        ));
        for (used, calls) in [
            (&words, vec![fetch()]),
            (&other, vec![fetch()]),
            (&line, vec![write(), fetch()]),
            (&line, vec![fetch(), fetch()]),
        ] {
            assert_eq!(decide_approved(used, &program, &calls), None, "{used:?}");
        }
        let passed = decide_approved(&line, &program, &[write(), write()]);
        assert_eq!(passed, Some(HookDecision::Pass));
    }
}
