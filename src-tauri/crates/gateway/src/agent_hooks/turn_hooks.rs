//! Hooks of an agent that answers in a session of ours, and the MCP servers that it is given: its calls belong to the turn
//! that runs, whatever id the agent has for its session.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use agent::{DelegatedCall, ExternalClient};
use async_trait::async_trait;
use parking_lot::Mutex;
use protocol::{CallId, Digest, UserError};
use runtime::CommandStreams;
use tokio::sync::OnceCell;
use tokio_util::sync::CancellationToken;

use super::answer::{HookDecision, silent_output};
use super::dialect::HookDialect;
use super::event::{HookEvent, HookEventKind, ToolUse};
use super::session::{HookQuestion, HookSession};
use super::{HookAnswerer, cancel_after, not_kept_error};
use crate::agent_servers::AgentServers;
use crate::endpoint::{HookOutput, HookRequest, McpRequest};
use crate::mcp::{ServedTools, TurnClients};

/// Hooks and servers of one agent.
pub(crate) struct TurnHooks {
    servers: AgentServers,
    turn: Mutex<Option<Arc<HookedTurn>>>,
}

/// The turn that runs.
struct HookedTurn {
    folder: PathBuf,
    client: Arc<ExternalClient>,
    session: OnceCell<HookSession>,
    /// Decisions by the agent's own ids of its calls: an agent that has our hook twice asks twice about one call.
    decisions: Mutex<HashMap<String, Arc<OnceCell<HookDecision>>>>,
    /// Calls that the agent asked about by its protocol and that were approved: its hook asks about them once more.
    permitted: Mutex<Vec<DelegatedCall>>,
}

impl TurnHooks {
    /// Returns hooks that deny until a turn begins, and these servers.
    pub fn new(servers: AgentServers) -> Self {
        Self {
            servers,
            turn: Mutex::default(),
        }
    }

    /// Begins a turn in a folder: calls are judged and recorded by this client from now on.
    pub fn begin_turn(&self, folder: PathBuf, client: Arc<ExternalClient>) {
        *self.turn.lock() = Some(Arc::new(HookedTurn {
            folder,
            client,
            session: OnceCell::new(),
            decisions: Mutex::default(),
            permitted: Mutex::default(),
        }));
    }

    /// Ends the turn: further calls are denied.
    pub fn end_turn(&self) {
        *self.turn.lock() = None;
    }

    /// Returns the servers that the agent is given.
    pub fn servers(&self) -> &AgentServers {
        &self.servers
    }

    /// Lets calls pass that were approved when the agent asked about them by its protocol.
    pub fn permit(&self, calls: Vec<DelegatedCall>) {
        if let Some(turn) = self.turn() {
            turn.permitted.lock().extend(calls);
        }
    }

    /// Whether a hook of this turn was asked about a call of the agent, by the agent's own id of the call.
    pub fn was_asked(&self, id: &str) -> bool {
        let turn = self.turn.lock();
        turn.as_ref()
            .is_some_and(|turn| turn.decisions.lock().contains_key(id))
    }

    /// Whether a hook of this turn let a call of the agent pass.
    pub fn has_approved(&self, id: &str) -> bool {
        let turn = self.turn.lock();
        let decision = turn.as_ref().and_then(|turn| {
            let decisions = turn.decisions.lock();
            decisions.get(id)?.get().cloned()
        });
        decision.is_some_and(|decision| !matches!(decision, HookDecision::Deny(_)))
    }

    fn turn(&self) -> Option<Arc<HookedTurn>> {
        self.turn.lock().clone()
    }
}

impl HookedTurn {
    async fn decide(
        &self,
        dialect: &'static HookDialect,
        question: HookQuestion<'_>,
    ) -> Result<HookDecision, UserError> {
        let session = self
            .session
            .get_or_init(async || {
                HookSession::new(dialect, self.folder.clone(), self.client.clone())
            })
            .await;
        let calls = session.translate(&question.used, question.folder);
        if self.take_permitted(&calls) {
            return Ok(HookDecision::Pass);
        }
        let decision = match &question.used {
            ToolUse { id: Some(id), .. } => {
                let mut decisions = self.decisions.lock();
                Some(decisions.entry(id.clone()).or_default().clone())
            }
            ToolUse { id: None, .. } => None,
        };
        match decision {
            Some(decision) => {
                let decided = decision
                    .get_or_try_init(|| session.decide(question))
                    .await?;
                Ok(decided.clone())
            }
            None => session.decide(question).await,
        }
    }
}

impl HookedTurn {
    /// Takes these calls from those that were approved before. `false` if one of them was not.
    fn take_permitted(&self, calls: &[DelegatedCall]) -> bool {
        let mut permitted = self.permitted.lock();
        let find = |call| permitted.iter().position(|one| is_about_same(one, call));
        let places: Option<Vec<usize>> = calls.iter().map(find).collect();
        let Some(mut places) = places else {
            return false;
        };
        places.sort_unstable();
        places.dedup();
        for place in places.into_iter().rev() {
            permitted.remove(place);
        }
        true
    }
}

/// Whether two calls are the same call as it is told in two ways: of one tool, about one file or one command.
fn is_about_same(one: &DelegatedCall, other: &DelegatedCall) -> bool {
    let is_same = |name: &str| one.arguments.get(name) == other.arguments.get(name);
    one.tool == other.tool && is_same("path") && is_same("command")
}

#[async_trait]
impl HookAnswerer for TurnHooks {
    async fn handle_event(
        &self,
        dialect: &'static HookDialect,
        event: HookEvent,
        request: &HookRequest,
        gone: CancellationToken,
    ) -> Result<HookOutput, UserError> {
        match event.kind {
            HookEventKind::Before(used) => {
                let turn = self.turn().ok_or_else(no_turn_error)?;
                // Its gateway judges it.
                if self.servers.has_tool(dialect.agent, &used.tool) {
                    return Ok(HookDecision::Pass.write(dialect));
                }
                let cancel = cancel_after(gone, Duration::from_millis(request.wait_ms));
                let question = HookQuestion {
                    used,
                    folder: &event.folder,
                    program: &request.program,
                    terminal: request.terminal.clone(),
                    cancel: cancel.clone(),
                };
                let decision = turn.decide(dialect, question).await;
                cancel.cancel();
                Ok(decision?.write(dialect))
            }
            HookEventKind::After(used, result) => {
                if let Some(turn) = self.turn()
                    && let Some(session) = turn.session.get()
                {
                    session.report(&used, result).await?;
                }
                Ok(silent_output(dialect))
            }
            HookEventKind::TurnEnded => {
                if let Some(turn) = self.turn()
                    && let Some(session) = turn.session.get()
                {
                    session.end_turn().await?;
                }
                Ok(silent_output(dialect))
            }
            HookEventKind::Ended | HookEventKind::Other => Ok(silent_output(dialect)),
        }
    }

    async fn fetch(&self, call: &CallId, digest: &Digest) -> Result<CommandStreams, UserError> {
        let turn = self.turn();
        let session = turn.as_ref().and_then(|turn| turn.session.get());
        let fetched = match session {
            Some(session) => session.fetch(call, digest).await,
            None => None,
        };
        fetched.unwrap_or_else(|| Err(not_kept_error(call)))
    }

    async fn open_tools(
        self: Arc<Self>,
        request: &McpRequest,
    ) -> Option<Result<ServedTools, UserError>> {
        let served = self.servers.open(request).await;
        Some(served.map(|served| served.for_turns(self)))
    }

    fn has_open_calls(&self) -> bool {
        self.turn().is_some()
    }

    async fn close(&self) {
        self.end_turn();
    }
}

impl TurnClients for TurnHooks {
    fn current_client(&self) -> Result<Arc<ExternalClient>, UserError> {
        let turn = self.turn().ok_or_else(no_turn_error)?;
        turn.client.reload_tools();
        Ok(turn.client.clone())
    }
}

fn no_turn_error() -> UserError {
    UserError::new(
        "No turn of the session is running.",
        "Wait for the person's next message.",
    )
}
