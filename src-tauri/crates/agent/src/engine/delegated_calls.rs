//! Calls that an external program runs itself: each goes through the same pipeline as any other, and where the pipeline
//! would run the tool, the program does.
//!
//! The program asks for a verdict, and reports the result of what it may run. A command whose effects were captured is
//! not run again: the program fetches what it printed, which commits its effects.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use protocol::{CallId, Digest, Outcome, ToolError, ToolOutput, UserError};
use runtime::CommandStreams;
use serde_json::{Map, Value};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tools::{AgentTool, AgentToolReach, Tool as _};

use crate::engine::external_client::{ClientOutcome, ExternalClient, internal_error, run_call};
use crate::session::delegates::{Delegate, DelegateReport, DelegatedRun};

/// A call that its program would run itself.
#[derive(Debug, Clone, PartialEq)]
pub struct DelegatedCall {
    /// The tool that it is judged as.
    pub tool: DelegatedTool,
    /// Arguments for that tool.
    pub arguments: Map<String, Value>,
    /// Whether the program can be told to fetch what a command printed, in place of running it. One that cannot runs
    /// the command itself, which cannot be held to the effects that were approved.
    pub can_fetch: bool,
}

/// The tool that a program's call is judged as.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DelegatedTool {
    /// One of ours.
    Own(String),
    /// One of the program's own, or of a server that it is connected to.
    Foreign {
        /// The program or the server: `claude-code`, `github`.
        namespace: String,
        /// The tool's name there.
        name: String,
        /// What is known of it.
        reach: AgentToolReach,
    },
}

/// Verdict on a call that its program would run itself.
#[derive(Debug, Clone)]
pub enum DelegatedVerdict {
    /// The call is over: it was refused, or it was carried out here in the form that the person gave it.
    Ended(Box<ClientOutcome>),
    /// The program goes on with the call in this way.
    Approved {
        /// Id of the call, for the report of its result.
        call: CallId,
        /// How the program goes on.
        run: DelegatedRun,
    },
}

/// Result of a call that its program ran.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DelegatedResult {
    /// The call succeeded with this text.
    Succeeded(String),
    /// The call failed with this text.
    Failed(String),
    /// The call is over, and the program does not say what came of it.
    NotReported,
}

/// The approved calls of a program that runs them itself, by id.
#[derive(Default)]
pub(crate) struct DelegatedCalls(Mutex<HashMap<CallId, ApprovedCall>>);

/// An approved call of which the program has not reported the result.
struct ApprovedCall {
    reports: mpsc::Sender<DelegateReport>,
    ended: JoinHandle<Result<Outcome, UserError>>,
}

impl ExternalClient {
    /// Judges a call that the program would run itself, and asks the person if the verdict says so. `cancel`, or
    /// dropping the future, ends the call before it is approved.
    ///
    /// # Errors
    /// The record cannot be written, too many calls are open, or the client was closed.
    pub async fn judge(
        self: &Arc<Self>,
        call: DelegatedCall,
        cancel: &CancellationToken,
    ) -> Result<DelegatedVerdict, UserError> {
        let entered = self.begin_call()?;
        let (delegate, mut handle) = Delegate::new(call.can_fetch);
        let name = self.resolve_delegated_tool(call.tool);
        let stop = self.session.cancellation_token().child_token();
        let stops = stop.clone().drop_guard();
        let open = self.propose_call(&name, call.arguments).await;
        let id = open.call.id.clone();
        self.session.delegates.insert(id.clone(), delegate);
        let mut ended = self.tasks.spawn(run_call(entered, open, stop.clone()));
        loop {
            tokio::select! {
                biased;
                run = &mut handle.approved, if !handle.approved.is_terminated() => {
                    if let Ok(run) = run {
                        stops.disarm();
                        let reports = handle.reports;
                        self.delegated.0.lock().insert(id.clone(), ApprovedCall { reports, ended });
                        return Ok(DelegatedVerdict::Approved { call: id, run });
                    }
                }
                outcome = &mut ended => {
                    let ended = self.settle(&id, outcome).await?;
                    return Ok(DelegatedVerdict::Ended(Box::new(ended)));
                }
                () = cancel.cancelled(), if !stop.is_cancelled() => stop.cancel(),
            }
        }
    }

    /// Returns the id of the tool that a call is judged as; one that is not among the session's tools joins them.
    fn resolve_delegated_tool(&self, tool: DelegatedTool) -> String {
        match tool {
            DelegatedTool::Own(id) => id,
            DelegatedTool::Foreign {
                namespace,
                name,
                reach,
            } => {
                let tool = AgentTool::new(&namespace, &name, reach);
                let id = tool.interface().id().to_owned();
                if self.session.tools().find(&id).is_err() {
                    self.session.agent_tools.add(Arc::new(tool));
                }
                id
            }
        }
    }

    /// Whether an approved call waits for its result. One whose time was up waits for none any more.
    pub fn has_approved_calls(&self) -> bool {
        let mut calls = self.delegated.0.lock();
        calls.retain(|_, call| !call.ended.is_finished());
        !calls.is_empty()
    }

    /// Whether the approved call with this id waits for its result.
    pub fn is_approved(&self, call: &CallId) -> bool {
        let calls = self.delegated.0.lock();
        calls
            .get(call)
            .is_some_and(|call| !call.ended.is_finished())
    }

    /// Reports the result of an approved call, and returns how the call is on record. `None` if no such call is open.
    ///
    /// # Errors
    /// The record cannot be written.
    pub async fn report(
        &self,
        call: &CallId,
        result: DelegatedResult,
    ) -> Result<Option<ClientOutcome>, UserError> {
        let Some(approved) = self.delegated.0.lock().remove(call) else {
            return Ok(None);
        };
        let result = match result {
            DelegatedResult::Succeeded(text) => {
                Some(Ok(ToolOutput::new(text, "Done by the agent")))
            }
            DelegatedResult::Failed(text) => Some(Err(ToolError::Failed(text))),
            DelegatedResult::NotReported => None,
        };
        if let Some(result) = result {
            // Nobody takes the report if the call is over.
            let report = DelegateReport::Ended(Box::new(result));
            let _ = approved.reports.send(report).await;
        }
        // A call whose result nobody can report any more ends.
        drop(approved.reports);
        let outcome = approved.ended.await;
        self.settle(call, outcome).await.map(Some)
    }

    /// Fetches what the command of an approved call printed, which commits its effects. Can be done once.
    ///
    /// # Errors
    /// There is no such call, it was approved under another digest, or its effects could not be committed.
    pub async fn fetch(
        &self,
        call: &CallId,
        expected: &Digest,
    ) -> Result<CommandStreams, UserError> {
        let reports = self
            .delegated
            .0
            .lock()
            .get(call)
            .map(|call| call.reports.clone());
        let reports = reports.ok_or_else(not_kept_error)?;
        let (reply, streams) = oneshot::channel();
        let expected = expected.clone();
        let report = DelegateReport::Fetch { expected, reply };
        reports.send(report).await.map_err(|_| not_kept_error())?;
        let streams = streams.await.map_err(|_| not_kept_error())??;
        let approved = self.delegated.0.lock().remove(call);
        if let Some(approved) = approved {
            let outcome = approved.ended.await;
            self.settle(call, outcome).await?;
        }
        Ok(streams)
    }

    /// Ends the approved calls of which no result was reported, because their program is done.
    pub fn abandon_approved_calls(&self) {
        // Each call ends once nobody can report its result.
        self.delegated.0.lock().clear();
    }

    /// Returns the answer of a call that ended, once it is on disk.
    async fn settle(
        &self,
        call: &CallId,
        ended: Result<Result<Outcome, UserError>, tokio::task::JoinError>,
    ) -> Result<ClientOutcome, UserError> {
        let outcome = ended.map_err(|_| internal_error())??;
        self.session.journal.sync().await?;
        self.build_answer(call, outcome)
    }
}

fn not_kept_error() -> UserError {
    UserError::new(
        "What was approved is not kept any more, or was fetched already, so nothing was carried out.",
        "Request the command again.",
    )
}
