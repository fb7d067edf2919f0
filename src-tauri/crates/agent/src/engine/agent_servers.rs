//! The MCP servers whose tools an agent of somebody else is given in its session: the agent calls them through a gateway, and
//! each call is one of the session.

use std::sync::{Arc, Weak};

use protocol::event::Enclosure;
use protocol::server::mcp_servers::ServerId;
use protocol::{ModelChoice, UserError};

use crate::engine::Engine;
use crate::engine::external_agents::AgentTurn;
use crate::session::agent_runner::AGENT_PROVIDER;
use crate::session::engine_state::EngineState;

/// An engine that may be closed: for what the engine itself holds.
#[derive(Clone)]
pub struct WeakEngine(Weak<EngineState>);

impl WeakEngine {
    /// Returns the engine.
    ///
    /// # Errors
    /// It is gone.
    pub fn upgrade(&self) -> Result<Engine, UserError> {
        let state = self.0.upgrade();
        state.map(|state| Engine { state }).ok_or_else(|| {
            UserError::new(
                "The session's engine is closed.",
                "Open the session again, and let the agent go on.",
            )
        })
    }
}

impl AgentTurn {
    /// Returns the MCP servers whose tools the agent is given: those that were named for the session, or all that are on.
    pub fn servers(&self) -> Vec<ServerId> {
        let session = self.session_state();
        let named = session.with_conversation(|conversation| {
            let servers = &conversation.options.agent_servers;
            servers.clone()
        });
        named.unwrap_or_else(|| session.engine.servers.enabled_ids())
    }

    /// Returns the engine, without keeping it open.
    pub fn weak_engine(&self) -> WeakEngine {
        WeakEngine(Arc::downgrade(&self.session_state().engine))
    }

    /// Returns a name that nobody could know before.
    pub fn new_name(&self, prefix: &str) -> String {
        self.session_state().engine.config.ids.next_id(prefix)
    }
}

/// Checks that a session can give its agent these servers.
///
/// # Errors
/// A model of ours answers, the agent is enclosed, or a server is not set up or off.
pub(super) fn check_agent_servers(
    engine: &EngineState,
    model: &ModelChoice,
    enclosure: Option<&Enclosure>,
    servers: &[ServerId],
) -> Result<(), UserError> {
    if model.provider != AGENT_PROVIDER {
        return Err(UserError::new(
            "A model answers in this session, which has the tools of all servers that are on.",
            "Name servers for an agent of somebody else alone.",
        ));
    }
    if enclosure.is_some() && !servers.is_empty() {
        return Err(UserError::new(
            "An agent that is enclosed is given no servers: what they do is real before its turn is judged.",
            "Leave out the servers, or the enclosure.",
        ));
    }
    let mut servers = servers.iter();
    servers.try_for_each(|id| engine.servers.find_enabled(id).map(|_| ()))
}
