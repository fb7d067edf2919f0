//! Sessions in which an agent of somebody else answers in place of a model.

use std::sync::Arc;

use async_trait::async_trait;
use parking_lot::Mutex;
use protocol::{Content, ContextUse, Message, SessionId, Usage, UserError};

use crate::session::Session;
use crate::session::run_state::run_limits::RunMeter;

/// Provider of a session in which an agent of somebody else answers; its model is the agent's id, or a command line.
pub const AGENT_PROVIDER: &str = "agent";

/// Member of a message's provider data that holds what the agent's model has to be told with its next prompt.
pub(crate) const UNTOLD_MEMBER: &str = "untold";

/// What the person said since the agent's last turn.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentPrompt {
    /// The text.
    pub text: String,
    /// Images beside it; no other content.
    pub images: Vec<Content>,
}

/// End of an agent's turn.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AgentTurnEnd {
    /// What the turn used, as far as the agent says so.
    pub usage: Usage,
    /// How much of the agent's context is in use, as far as it says so.
    pub context: Option<ContextUse>,
    /// Why the turn ended before the agent was done, if it did.
    pub error: Option<UserError>,
    /// What the agent's model has to be told with its next prompt, if there is something.
    pub untold: Option<String>,
}

/// Runs turns of other people's agents.
#[async_trait]
pub(crate) trait AgentRunner: Send + Sync {
    /// Returns an error if there is no such agent.
    fn check_agent(&self, agent: &str) -> Result<(), UserError>;

    /// Gives a session's agent a prompt, and waits for the end of its turn and of all calls of it. The messages of the
    /// turn are on record then.
    ///
    /// # Errors
    /// The record cannot be written.
    async fn run_turn(
        &self,
        session: &Arc<Session>,
        prompt: AgentPrompt,
        meter: Arc<Mutex<RunMeter>>,
    ) -> Result<AgentTurnEnd, UserError>;

    /// Sets an option of a session's agent if it runs, and records it. `false` if it does not run.
    ///
    /// # Errors
    /// The agent does not offer this, or refuses it.
    async fn set_option(
        &self,
        session: &SessionId,
        option: &str,
        value: &str,
    ) -> Result<bool, UserError>;

    /// Whether the agent of a session takes images; none if it does not run, so that nobody knows.
    fn takes_images(&self, session: &SessionId) -> Option<bool>;

    /// Ends the agent of a session that was closed.
    async fn close_session(&self, session: &SessionId);

    /// Ends all agents, because the engine closes.
    fn close(&self);
}

/// Returns what an agent's model has to be told with its next prompt, as the message of its last turn has it.
pub(crate) fn untold_text(message: &Message) -> Option<&str> {
    match message {
        Message::Assistant { opaque, .. } => opaque.get(UNTOLD_MEMBER)?.as_str(),
        Message::User { .. } | Message::Tool { .. } => None,
    }
}

/// Returns the error of an engine whose host knows no agents.
pub(crate) fn no_agents_error() -> UserError {
    UserError::new(
        "Agents of other people cannot be run here.",
        "Run it in the app, or with `countersign run --agent`.",
    )
}
