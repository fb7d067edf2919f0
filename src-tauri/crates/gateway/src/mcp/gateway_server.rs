//! One connection of a client: what it serves, and whose calls it makes.

use std::sync::Arc;

use agent::ExternalClient;
use axum::http::request::Parts;
use protocol::UserError;
use rmcp::ErrorData;
use rmcp::model::Extensions;
use rmcp::service::{RequestContext, RoleServer};
use tokio_util::sync::CancellationToken;

use super::client_session::ClientSession;
use super::log_messages::ClientLog;
use super::resource_subscriptions::ResourceSubscriptions;
use super::served_tools::ServedTools;

/// One connection: what it serves, and the session of its calls once there is one. A request over HTTP brings its session
/// with it. Dropping it ends what the client listens to.
pub(crate) struct GatewayServer {
    pub(super) served: ServedTools,
    calls: ClientSession,
    /// The resources that a client of 2025 is told about.
    pub(super) subscriptions: ResourceSubscriptions,
    /// The log messages that a client of 2025 is told.
    pub(super) log: Arc<ClientLog>,
    /// Cancelled when the client has closed its side.
    pub(super) input_closed: CancellationToken,
    /// Cancelled when no call goes on any more.
    pub(super) calls_stopped: CancellationToken,
}

impl Drop for GatewayServer {
    fn drop(&mut self) {
        self.input_closed.cancel();
    }
}

impl GatewayServer {
    /// Returns a server of these tools. `gone` is cancelled when the client has closed its side.
    pub fn new(served: ServedTools, gone: CancellationToken) -> Self {
        Self {
            served,
            calls: ClientSession::default(),
            subscriptions: ResourceSubscriptions::default(),
            log: Arc::default(),
            input_closed: gone,
            calls_stopped: CancellationToken::new(),
        }
    }

    /// Ends the running calls.
    pub fn stop_calls(&self) {
        self.calls_stopped.cancel();
        self.calls.stop();
    }

    /// Ends the running calls, and waits until everything is on disk.
    pub async fn close(&self) -> Result<(), UserError> {
        self.calls_stopped.cancel();
        self.calls.close().await
    }

    /// Returns the session of a request: that of its client over HTTP, or that of the connection.
    pub(super) fn session<'a>(
        &'a self,
        context: &'a RequestContext<RoleServer>,
    ) -> &'a ClientSession {
        self.session_of(&context.extensions)
    }

    /// Returns the session of a message with these extensions.
    pub(super) fn session_of<'a>(&'a self, extensions: &'a Extensions) -> &'a ClientSession {
        let parts = extensions.get::<Parts>();
        let session = parts.and_then(|parts| parts.extensions.get::<ClientSession>());
        session.unwrap_or(&self.calls)
    }

    /// Returns the client that makes the calls of a request.
    pub(super) async fn open_client(
        &self,
        context: &RequestContext<RoleServer>,
    ) -> Result<Arc<ExternalClient>, ErrorData> {
        let client = self.session(context).open(&self.served, context).await;
        client.map_err(|fault| internal_error_data(&fault))
    }
}

/// Returns the answer for an internal error that keeps a request from being answered.
pub(super) fn internal_error_data(fault: &UserError) -> ErrorData {
    ErrorData::internal_error(fault.to_string(), None)
}

pub(super) fn closed_error() -> UserError {
    UserError::new("The connection was closed.", "Connect again.")
}
