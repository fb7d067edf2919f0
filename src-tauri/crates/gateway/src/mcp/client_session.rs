//! The session of a client's calls, which is opened with the first of them.

use std::sync::Arc;

use agent::ExternalClient;
use protocol::event::ClientInfo;
use protocol::{SessionId, UserError};
use rmcp::service::{RequestContext, RoleServer};
use tokio::sync::OnceCell;

use super::held_calls::HeldCalls;
use super::served_tools::ServedTools;

/// Whose turn the calls of an agent's servers belong to.
pub(crate) trait TurnClients: Send + Sync {
    /// Returns the client of the turn that runs.
    ///
    /// # Errors
    /// No turn runs.
    fn current_client(&self) -> Result<Arc<ExternalClient>, UserError>;
}

/// The session of a client's calls, once there was one. Clones are the same session.
#[derive(Clone, Default)]
pub(crate) struct ClientSession {
    client: Arc<OnceCell<Arc<ExternalClient>>>,
    /// Its calls that wait for an answer of the client.
    held_calls: HeldCalls,
    /// Name of the token by which the client was let in; empty if it needed none.
    token: String,
}

impl ClientSession {
    /// Returns the session, not opened yet, of a client that was let in by a token of this name.
    pub fn with_token(token: &str) -> Self {
        Self {
            client: Arc::default(),
            held_calls: HeldCalls::default(),
            token: token.to_owned(),
        }
    }

    /// Returns the client of the session, which is opened with the first call. A 2026 client names itself in each request:
    /// the first one names the session. An agent's servers have the client of the turn that runs.
    ///
    /// # Errors
    /// The folder cannot be opened any more, the record cannot be written, or no turn runs.
    pub async fn open(
        &self,
        served: &ServedTools,
        context: &RequestContext<RoleServer>,
    ) -> Result<Arc<ExternalClient>, UserError> {
        if let Some(turns) = served.turns() {
            return turns.current_client();
        }
        let open = || async {
            let (name, version) = match context.client_info() {
                Some(info) => (info.name, info.version),
                None => (String::new(), String::new()),
            };
            let by = match context.protocol_version() {
                Some(version) => format!("MCP {version}"),
                None => "MCP".to_owned(),
            };
            let client = ClientInfo {
                name,
                version,
                by,
                session: String::new(),
                token: self.token.clone(),
            };
            served.open_client(client).await
        };
        self.client.get_or_try_init(open).await.cloned()
    }

    /// Returns the id of the session, once there was a call.
    pub(super) fn id(&self) -> Option<SessionId> {
        self.client.get().map(|client| client.session().clone())
    }

    /// Returns the calls that wait for an answer of the client.
    pub(super) fn held_calls(&self) -> &HeldCalls {
        &self.held_calls
    }

    /// Ends the running calls.
    pub fn stop(&self) {
        self.held_calls.clear();
        if let Some(client) = self.client.get() {
            client.stop();
        }
    }

    /// Ends the running calls, and waits until everything is on disk. No further call begins.
    ///
    /// # Errors
    /// The record cannot be written.
    pub async fn close(&self) -> Result<(), UserError> {
        self.held_calls.clear();
        match self.client.get() {
            Some(client) => client.close().await,
            None => Ok(()),
        }
    }
}
