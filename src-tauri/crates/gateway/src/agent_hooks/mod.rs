//! Hooks of other people's agents: before an agent uses a tool its hook asks here, and each call walks the same pipeline
//! as a call of our own agent.
//!
//! **Whatever fails denies**: an event that cannot be read, an unknown agent, a record that cannot be written, a person
//! that answers too late. Agents let a call pass if their hook fails in any other way, so each failure is an answer.

mod answer;
pub mod client;
mod commit_command;
mod dialect;
mod event;
mod session;
pub(crate) mod turn_hooks;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use agent::Engine;
use async_trait::async_trait;
use parking_lot::Mutex;
use protocol::{CallId, Digest, UserError};
use runtime::CommandStreams;
use tokio::sync::OnceCell;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use self::answer::{HookDecision, deny_event, silent_output};
pub use self::dialect::{AnswerForm, DIALECTS, HookDialect};
use self::event::{HookEvent, HookEventKind};
use self::session::{HookQuestion, HookSession};
use crate::agent_calls::ExternalAgent;
use crate::connections::check::CHECK_SESSION;
use crate::endpoint::{HookOutput, HookRequest, McpRequest};
use crate::limits::{AGENT_SESSIONS_MAX, ANSWER_MARGIN, TERMINAL_ENV_BYTES_MAX};
use crate::mcp::ServedTools;

/// What answers the hooks of agents, and keeps what was approved until it is fetched.
#[async_trait]
pub(crate) trait HookAnswerer: Send + Sync {
    /// Answers a call of an agent's hook. `gone` is cancelled when the hook is gone.
    async fn answer_hook(&self, request: HookRequest, gone: CancellationToken) -> HookOutput {
        let (dialect, event) = match parse_request(&request) {
            Ok(parsed) => parsed,
            Err(denied) => return denied,
        };
        let answer = self.handle_event(dialect, event, &request, gone).await;
        answer.unwrap_or_else(|fault| deny_fault(&request, &fault))
    }

    /// Answers an event of an agent.
    ///
    /// # Errors
    /// The call could not be judged, so it is to be denied.
    async fn handle_event(
        &self,
        dialect: &'static HookDialect,
        event: HookEvent,
        request: &HookRequest,
        gone: CancellationToken,
    ) -> Result<HookOutput, UserError>;

    /// Fetches what the command of an approved call printed, which commits its effects.
    ///
    /// # Errors
    /// No session has such a call, or its effects could not be committed.
    async fn fetch(&self, call: &CallId, digest: &Digest) -> Result<CommandStreams, UserError>;

    /// Opens tools for the gateway of an agent's server; none where agents are given none.
    ///
    /// # Errors
    /// The agent was not given them, or they are not there.
    async fn open_tools(
        self: Arc<Self>,
        _request: &McpRequest,
    ) -> Option<Result<ServedTools, UserError>> {
        None
    }

    /// Whether a call of an agent is open.
    fn has_open_calls(&self) -> bool;

    /// Closes all sessions.
    async fn close(&self);
}

/// The open sessions of all agents.
pub struct HookSessions {
    engine: Engine,
    sessions: Mutex<HashMap<SessionKey, Arc<SessionSlot>>>,
}

#[async_trait]
impl HookAnswerer for HookSessions {
    async fn handle_event(
        &self,
        dialect: &'static HookDialect,
        event: HookEvent,
        request: &HookRequest,
        gone: CancellationToken,
    ) -> Result<HookOutput, UserError> {
        let key = SessionKey {
            agent: dialect.agent,
            session: event.session.clone(),
        };
        match event.kind {
            // Whether the agent's hook reaches the engine and is answered is what is checked.
            HookEventKind::Before(_) if key.session == CHECK_SESSION => {
                Ok(HookDecision::Pass.write(dialect))
            }
            HookEventKind::Before(used) => {
                let project = match request.project.is_empty() {
                    true => event.folder.clone(),
                    false => PathBuf::from(&request.project),
                };
                let slot = self.find_slot(key.clone()).await;
                let open = HookSession::open(&self.engine, dialect, &key.session, project);
                let session = slot.session.get_or_try_init(|| open).await?;
                let cancel = cancel_after(gone, Duration::from_millis(request.wait_ms));
                let question = HookQuestion {
                    used,
                    folder: &event.folder,
                    program: &request.program,
                    terminal: request.terminal.clone(),
                    cancel: cancel.clone(),
                };
                let decision = session.decide(question).await;
                cancel.cancel();
                Ok(decision?.write(dialect))
            }
            HookEventKind::After(used, result) => {
                if let Some(slot) = self.slot(&key)
                    && let Some(session) = slot.session.get()
                {
                    session.report(&used, result).await?;
                }
                Ok(silent_output(dialect))
            }
            HookEventKind::TurnEnded => {
                if let Some(slot) = self.slot(&key)
                    && let Some(session) = slot.session.get()
                {
                    session.end_turn().await?;
                }
                Ok(silent_output(dialect))
            }
            HookEventKind::Ended => {
                let slot = self.sessions.lock().remove(&key);
                close_slot(slot).await;
                Ok(silent_output(dialect))
            }
            HookEventKind::Other => Ok(silent_output(dialect)),
        }
    }

    async fn fetch(&self, call: &CallId, digest: &Digest) -> Result<CommandStreams, UserError> {
        let slots: Vec<Arc<SessionSlot>> = self.sessions.lock().values().cloned().collect();
        for slot in slots {
            if let Some(session) = slot.session.get()
                && let Some(fetched) = session.fetch(call, digest).await
            {
                return fetched;
            }
        }
        Err(not_kept_error(call))
    }

    fn has_open_calls(&self) -> bool {
        let sessions = self.sessions.lock();
        let mut open = sessions.values().filter_map(|slot| slot.session.get());
        open.any(HookSession::has_open_calls)
    }

    async fn close(&self) {
        let slots: Vec<_> = self.sessions.lock().drain().map(|(_, slot)| slot).collect();
        for slot in slots {
            close_slot(Some(slot)).await;
        }
    }
}

/// An agent and its own id of a session.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct SessionKey {
    agent: ExternalAgent,
    session: String,
}

/// A session that the first event opens.
struct SessionSlot {
    session: OnceCell<HookSession>,
    used_at: Mutex<Instant>,
}

impl HookSessions {
    /// Returns an empty list of sessions for an engine.
    pub fn new(engine: Engine) -> Self {
        Self {
            engine,
            sessions: Mutex::default(),
        }
    }

    fn slot(&self, key: &SessionKey) -> Option<Arc<SessionSlot>> {
        self.sessions.lock().get(key).cloned()
    }

    /// Returns the slot of a session. If there are too many, the one that was used longest ago is closed.
    async fn find_slot(&self, key: SessionKey) -> Arc<SessionSlot> {
        let (slot, oldest) = {
            let mut sessions = self.sessions.lock();
            let slot = sessions.entry(key.clone()).or_insert_with(|| {
                Arc::new(SessionSlot {
                    session: OnceCell::new(),
                    used_at: Mutex::new(Instant::now()),
                })
            });
            let slot = slot.clone();
            *slot.used_at.lock() = Instant::now();
            let oldest = match sessions.len() > AGENT_SESSIONS_MAX {
                true => remove_oldest(&mut sessions, &key),
                false => None,
            };
            (slot, oldest)
        };
        close_slot(oldest).await;
        slot
    }
}

/// Parses what an agent wrote to its hook; what cannot be read is denied.
fn parse_request(request: &HookRequest) -> Result<(&'static HookDialect, HookEvent), HookOutput> {
    let deny = |why: &str| deny_event(&request.agent, &request.input, why);
    let Some(dialect) = HookDialect::find(&request.agent) else {
        return Err(deny(&format!(
            "Countersign does not know the hooks of an agent `{}`, so it denies the call.",
            request.agent
        )));
    };
    if request.terminal.byte_len() > TERMINAL_ENV_BYTES_MAX {
        let fault = UserError::new(
            "The environment of the agent's terminal is too long.",
            "Start the agent with fewer or shorter variables.",
        );
        return Err(deny_fault(request, &fault));
    }
    match HookEvent::parse(dialect, &request.input) {
        Ok(event) => Ok((dialect, event)),
        Err(why) => Err(deny(&format!(
            "Countersign cannot read what {} wrote to its hook, so it denies the call: {why}",
            dialect.agent.name()
        ))),
    }
}

/// Denies a call that could not be judged.
fn deny_fault(request: &HookRequest, fault: &UserError) -> HookOutput {
    let why = format!("Countersign could not judge the call, so it denies it. {fault}");
    deny_event(&request.agent, &request.input, &why)
}

fn not_kept_error(call: &CallId) -> UserError {
    UserError::new(
        format!("No approved command is kept under {call}, so nothing was carried out."),
        "Request the command again.",
    )
}

/// Removes the session that was used longest ago, but for this one.
fn remove_oldest(
    sessions: &mut HashMap<SessionKey, Arc<SessionSlot>>,
    but: &SessionKey,
) -> Option<Arc<SessionSlot>> {
    let others = sessions.iter().filter(|(key, _)| *key != but);
    let oldest = others.min_by_key(|(_, slot)| *slot.used_at.lock());
    let key = oldest.map(|(key, _)| key.clone())?;
    sessions.remove(&key)
}

async fn close_slot(slot: Option<Arc<SessionSlot>>) {
    if let Some(session) = slot.as_ref().and_then(|slot| slot.session.get()) {
        session.close().await;
    }
}

/// Returns a token that is cancelled when the hook is gone, or soon before the agent stops waiting for it.
fn cancel_after(gone: CancellationToken, wait: Duration) -> CancellationToken {
    let cancel = gone.child_token();
    let late = cancel.clone();
    tokio::spawn(async move {
        let wait = wait.saturating_sub(ANSWER_MARGIN.min(wait / 10));
        tokio::select! {
            () = late.cancelled() => {}
            () = tokio::time::sleep(wait) => late.cancel(),
        }
    });
    cancel
}
