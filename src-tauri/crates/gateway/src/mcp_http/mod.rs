//! MCP at an address of this machine, for several clients at a time: the transport that the protocol calls streamable HTTP.
//!
//! A request reaches `GatewayServer`, which also serves the lines of a stream, through two doors. `admission.rs` asks for
//! the token of a client and for a session of that client. The library's transport checks that the host and the origin are
//! this machine's, so that no web page gets in under another name, and reads what was sent.

mod admission;
mod sessions;
mod tokens;

use std::io::ErrorKind;
use std::sync::Arc;

use agent::Engine;
use axum::Router;
use axum::middleware::from_fn_with_state;
use protocol::UserError;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use runtime::net::{LoopbackListener, SocketAddr};
use tokio_util::sync::CancellationToken;

use self::admission::{Admission, admit_request};
use self::sessions::HttpSessions;
pub use self::sessions::SessionLimits;
pub use self::tokens::ClientTokens;
use crate::endpoint::ListenRequest;
use crate::limits::{FINAL_WRITE_TIMEOUT, MESSAGE_BYTES_MAX};
use crate::mcp::{GatewayServer, PassedQuestions, ServedTools};

/// Path of the endpoint.
const PATH: &str = "/mcp";
/// Hosts by which this machine names itself.
const LOOPBACK_HOSTS: [&str; 3] = ["localhost", "127.0.0.1", "::1"];
/// Origins of pages that this machine serves. A request without an origin comes from no page.
const LOOPBACK_ORIGINS: [&str; 6] = [
    "http://localhost:*",
    "http://127.0.0.1:*",
    "http://[::1]:*",
    "https://localhost:*",
    "https://127.0.0.1:*",
    "https://[::1]:*",
];

/// The address at which MCP is served, open and not served yet.
pub struct McpListener {
    served: ServedTools,
    listener: LoopbackListener,
    tokens: ClientTokens,
    limits: SessionLimits,
}

impl McpListener {
    /// Opens what is requested, and the address. Clients are let in by the tokens of the engine's data folder.
    ///
    /// # Errors
    /// The folder cannot be opened, the server is not there, or the address is taken or can be reached from other machines.
    pub async fn open(engine: &Engine, request: &ListenRequest) -> Result<Self, UserError> {
        let served = ServedTools::open(engine, &request.mcp).await?;
        let listener = LoopbackListener::bind(request.address).await;
        Ok(Self {
            served,
            listener: listener.map_err(|error| bind_error(request.address, &error))?,
            tokens: ClientTokens::new(engine.data_dir()),
            limits: SessionLimits::default(),
        })
    }

    /// Returns the listener with other limits.
    #[must_use]
    pub fn with_limits(self, limits: SessionLimits) -> Self {
        Self { limits, ..self }
    }

    /// Returns the listener with these questions of the server passed on to clients where nobody is asked here.
    #[must_use]
    pub fn passing_questions(self, passed: PassedQuestions) -> Self {
        Self {
            served: self.served.passing_questions(passed),
            ..self
        }
    }

    /// Returns the address.
    pub fn address(&self) -> SocketAddr {
        self.listener.address()
    }

    /// Serves clients until `stop` ends. All answered calls are on disk then.
    ///
    /// # Errors
    /// The record cannot be written, or the system takes the address away.
    pub async fn serve(
        self,
        stop: impl Future<Output = ()> + Send + 'static,
    ) -> Result<(), UserError> {
        let end = CancellationToken::new();
        let mut transport = LocalSessionManager::default();
        // A call may wait for a person for longer than any time without a message. Who is gone is known by the connections.
        transport.session_config.keep_alive = None;
        let transport = Arc::new(transport);
        let config = StreamableHttpServerConfig::default()
            .with_allowed_hosts(LOOPBACK_HOSTS)
            .with_allowed_origins(LOOPBACK_ORIGINS)
            .with_max_request_body_bytes(MESSAGE_BYTES_MAX)
            .with_cancellation_token(end.clone());
        let (served, gone) = (self.served, end.clone());
        let service = StreamableHttpService::new(
            move || Ok(GatewayServer::new(served.clone(), gone.child_token())),
            transport.clone(),
            config,
        );
        let sessions = Arc::new(HttpSessions::new(transport, self.limits));
        let admission = Arc::new(Admission::new(self.tokens.clone(), sessions.clone()));
        let router = Router::new()
            .route_service(PATH, service)
            .route_layer(from_fn_with_state(admission, admit_request));
        let stopped = {
            let end = end.clone();
            async move {
                stop.await;
                end.cancel();
            }
        };
        let serving =
            axum::serve(self.listener.into_inner(), router).with_graceful_shutdown(stopped);
        let ended = tokio::select! {
            ended = serving => ended,
            () = end_unused_sessions(&sessions, &self.tokens, self.limits) => Ok(()),
            // A client that does not read its last response does not hold up the end.
            () = async {
                end.cancelled().await;
                tokio::time::sleep(FINAL_WRITE_TIMEOUT).await;
            } => Ok(()),
        };
        end.cancel();
        sessions.close().await?;
        ended.map_err(|error| {
            UserError::new("The address cannot be served any more.", "Start it again.")
                .with_source(&error)
        })
    }
}

/// Ends the sessions that nobody uses any more, and those of clients whose token was revoked, for as long as it is polled.
async fn end_unused_sessions(
    sessions: &HttpSessions,
    tokens: &ClientTokens,
    limits: SessionLimits,
) {
    loop {
        tokio::time::sleep(limits.sweep_every).await;
        match tokens.list() {
            Ok(clients) => sessions.end_unused(&clients).await,
            Err(fault) => tracing::warn!(%fault, "the tokens of clients cannot be read"),
        }
    }
}

fn bind_error(address: SocketAddr, error: &std::io::Error) -> UserError {
    let hint = match error.kind() {
        ErrorKind::InvalidInput => {
            "Other machines would reach it. Name an address of this machine: 127.0.0.1:0 for any free port."
        }
        ErrorKind::AddrInUse => "Another program has it. Name another port; 0 takes any free one.",
        _ => "Name another address: 127.0.0.1:0 for any free port.",
    };
    UserError::new(format!("Nothing can be served at {address}."), hint).with_source(error)
}
