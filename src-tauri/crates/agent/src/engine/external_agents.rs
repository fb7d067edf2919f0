//! Agents of other people that a host can run: what a session's agent says and does in a turn.

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use parking_lot::Mutex;
use protocol::event::{FormerAgentSession, Notice, SessionEvent};
use protocol::{CallId, Digest, NoticeLevel, SessionId, UserError};
use runtime::CommandStreams;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use crate::engine::Engine;
use crate::engine::agent_options::AgentOptionRecord;
use crate::engine::delegated_calls::{DelegatedCall, DelegatedResult, DelegatedVerdict};
use crate::engine::external_client::{ClientOutcome, ExternalClient};
use crate::engine::turn_messages::{MessageEnd, TurnMessages};
use crate::session::Session;
use crate::session::agent_runner::{AgentPrompt, AgentRunner, AgentTurnEnd};
use crate::session::run_state::run_limits::RunMeter;

/// The agents that a host can run.
#[async_trait]
pub trait ExternalAgents: Send + Sync {
    /// Returns an error if there is no such agent.
    fn check_agent(&self, agent: &str) -> Result<(), UserError>;

    /// Gives an agent a prompt, and waits until its turn is over. What it says and does goes to `turn`; it stops when
    /// the turn's token is cancelled.
    async fn run_turn(&self, turn: Arc<AgentTurn>, prompt: AgentPrompt) -> AgentTurnEnd;

    /// Sets an option of a session's agent if it runs, and updates the record of its options. `false` if it does not run.
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

impl Engine {
    /// Lets sessions be opened in which one of these agents answers. Can be done once; later agents are ignored.
    pub fn add_external_agents(&self, agents: Arc<dyn ExternalAgents>) {
        // They were given before.
        let _ = self.state.agent_runner.set(Arc::new(HostAgents(agents)));
    }
}

/// One turn of an agent: takes what the agent says, judges and makes its calls, and tells when it must stop.
pub struct AgentTurn {
    session: Arc<Session>,
    client: Arc<ExternalClient>,
    messages: Arc<TurnMessages>,
    stop: CancellationToken,
}

impl AgentTurn {
    fn new(session: &Arc<Session>, meter: Arc<Mutex<RunMeter>>) -> Result<Self, UserError> {
        let messages = Arc::new(TurnMessages::new(session.clone(), meter));
        let client = ExternalClient::new(session.clone(), Some(messages.clone()))?;
        Ok(Self {
            stop: session.cancellation_token(),
            session: session.clone(),
            client: Arc::new(client),
            messages,
        })
    }

    /// Returns the state of the session.
    pub(super) fn session_state(&self) -> &Arc<Session> {
        &self.session
    }

    /// Returns the client that makes the agent's calls.
    pub fn client(&self) -> &Arc<ExternalClient> {
        &self.client
    }

    /// Returns the session.
    pub fn session(&self) -> &SessionId {
        &self.session.id
    }

    /// Returns the agent: its id, or a command line.
    pub fn agent(&self) -> String {
        self.session.model().model
    }

    /// Returns the folder that the agent works in, absolute and with links resolved.
    pub fn folder(&self) -> &Path {
        self.session.tool_context.workspace.root()
    }

    /// Returns the token that is cancelled when the agent must stop.
    pub fn stop_token(&self) -> &CancellationToken {
        &self.stop
    }

    /// Returns the agent's own id of the session, if it gave one in this or an earlier turn.
    pub fn agent_session(&self) -> Option<String> {
        self.messages.agent_session()
    }

    /// Returns the session of its own with which the agent begins in this session, if it is to.
    pub fn former_session(&self) -> Option<FormerAgentSession> {
        self.session
            .with_conversation(|conversation| conversation.options.former.clone())
    }

    /// Sets the agent's own id of the session, by which it is found again after a restart.
    pub fn set_agent_session(&self, id: String) {
        self.messages.set_agent_session(id);
    }

    /// Returns the record of the agent's options, which outlives the turn.
    pub fn option_record(&self) -> AgentOptionRecord {
        AgentOptionRecord::new(self.session.clone())
    }

    /// Adds a piece of the agent's text, or of its reasoning.
    pub fn push_text(&self, text: &str, reasoning: bool) {
        self.messages.push_text(text, reasoning);
    }

    /// Ends the message that is being written, so that further text begins another one.
    pub fn end_message(&self) {
        self.messages.end_open_message();
    }

    /// Records the text that is not recorded yet: for an agent that pauses.
    pub fn flush_text(&self) {
        self.messages.flush();
    }

    /// Records a notice for the person.
    pub fn add_notice(&self, level: NoticeLevel, fault: UserError) {
        let notice = Notice { level, fault };
        self.session
            .journal
            .record(SessionEvent::NoticeAdded { notice });
    }

    /// Judges a call that the agent would run itself, see [`ExternalClient::judge`].
    ///
    /// # Errors
    /// As there.
    pub async fn judge(
        &self,
        call: DelegatedCall,
        cancel: &CancellationToken,
    ) -> Result<DelegatedVerdict, UserError> {
        self.client.judge(call, cancel).await
    }

    /// Reports the result of an approved call, see [`ExternalClient::report`].
    ///
    /// # Errors
    /// As there.
    pub async fn report(
        &self,
        call: &CallId,
        result: DelegatedResult,
    ) -> Result<Option<ClientOutcome>, UserError> {
        self.client.report(call, result).await
    }

    /// Fetches what the command of an approved call printed, see [`ExternalClient::fetch`].
    ///
    /// # Errors
    /// As there.
    pub async fn fetch(
        &self,
        call: &CallId,
        expected: &Digest,
    ) -> Result<CommandStreams, UserError> {
        self.client.fetch(call, expected).await
    }

    /// Makes a call of one of our tools for the agent, see [`ExternalClient::call`].
    ///
    /// # Errors
    /// As there.
    pub async fn call(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
        cancel: &CancellationToken,
    ) -> Result<ClientOutcome, UserError> {
        self.client.call(tool, arguments, cancel, None).await
    }
}

/// The agents of a host, as runs ask for them.
struct HostAgents(Arc<dyn ExternalAgents>);

#[async_trait]
impl AgentRunner for HostAgents {
    fn check_agent(&self, agent: &str) -> Result<(), UserError> {
        self.0.check_agent(agent)
    }

    async fn run_turn(
        &self,
        session: &Arc<Session>,
        prompt: AgentPrompt,
        meter: Arc<Mutex<RunMeter>>,
    ) -> Result<AgentTurnEnd, UserError> {
        let turn = Arc::new(AgentTurn::new(session, meter)?);
        let end = self.0.run_turn(turn.clone(), prompt).await;
        turn.client.wait_for_calls().await;
        let error = end.error.clone().filter(|_| !turn.stop.is_cancelled());
        turn.messages.end_turn(MessageEnd {
            usage: end.usage,
            error,
            untold: end.untold.clone(),
        });
        if let Some(context) = end.context {
            turn.messages.record_context(context);
        }
        Ok(end)
    }

    async fn set_option(
        &self,
        session: &SessionId,
        option: &str,
        value: &str,
    ) -> Result<bool, UserError> {
        self.0.set_option(session, option, value).await
    }

    fn takes_images(&self, session: &SessionId) -> Option<bool> {
        self.0.takes_images(session)
    }

    async fn close_session(&self, session: &SessionId) {
        self.0.close_session(session).await;
    }

    fn close(&self) {
        self.0.close();
    }
}
