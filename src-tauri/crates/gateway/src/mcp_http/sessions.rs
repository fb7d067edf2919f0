//! The sessions of clients over HTTP, and who uses them: one for each session of the transport, and one for each client that
//! speaks without sessions, as those of 2026 do.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use protocol::UserError;
use rmcp::transport::streamable_http_server::SessionManager as _;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use tokio::time::Instant;

use crate::limits::{HTTP_IDLE_MAX, HTTP_RECONNECT_MAX, HTTP_SESSIONS_MAX, HTTP_SWEEP_EVERY};
use crate::mcp::ClientSession;

/// How many sessions there are, and how long they stay.
#[derive(Debug, Clone, Copy)]
pub struct SessionLimits {
    /// Number of sessions that are open at the same time.
    pub sessions_max: usize,
    /// Time within which a client has to connect again once it broke off a response.
    pub reconnect_max: Duration,
    /// Time without a request and without an open response after which a session ends.
    pub idle_max: Duration,
    /// Time between two looks for sessions that nobody uses any more.
    pub sweep_every: Duration,
}

impl Default for SessionLimits {
    fn default() -> Self {
        Self {
            sessions_max: HTTP_SESSIONS_MAX,
            reconnect_max: HTTP_RECONNECT_MAX,
            idle_max: HTTP_IDLE_MAX,
            sweep_every: HTTP_SWEEP_EVERY,
        }
    }
}

/// Which session a request belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum SessionKey {
    /// A session of the transport, by its id.
    Transport(String),
    /// The session of a client that speaks without sessions, by the client's name.
    Client(String),
}

struct HttpSession {
    /// Name of the client that it belongs to.
    client: String,
    calls: ClientSession,
    /// Number of responses that are not over.
    open: usize,
    /// Whether the client broke off a response that it can resume, and sent nothing since.
    is_broken_off: bool,
    used_at: Instant,
}

impl HttpSession {
    fn new(client: &str) -> Self {
        Self {
            client: client.to_owned(),
            calls: ClientSession::with_token(client),
            open: 0,
            is_broken_off: false,
            used_at: Instant::now(),
        }
    }

    fn is_over(&self, limits: &SessionLimits) -> bool {
        let unused = self.used_at.elapsed();
        let unused_max = match self.is_broken_off {
            true => limits.reconnect_max,
            false => limits.idle_max,
        };
        self.open == 0 && unused >= unused_max
    }
}

/// The open sessions.
pub(super) struct HttpSessions {
    transport: Arc<LocalSessionManager>,
    sessions: Mutex<HashMap<SessionKey, HttpSession>>,
    limits: SessionLimits,
}

impl HttpSessions {
    pub fn new(transport: Arc<LocalSessionManager>, limits: SessionLimits) -> Self {
        Self {
            transport,
            sessions: Mutex::default(),
            limits,
        }
    }

    /// Begins a request of a client in a session, which is in use until the response is dropped; none if the session is
    /// another client's or is not there. A client that speaks without sessions has one from its first request on.
    pub fn begin_request(
        self: &Arc<Self>,
        key: &SessionKey,
        client: &str,
        is_resumable: bool,
    ) -> Option<OpenResponse> {
        let mut sessions = self.sessions.lock();
        if let SessionKey::Client(name) = key {
            let session = sessions.entry(key.clone());
            session.or_insert_with(|| HttpSession::new(name));
        }
        let session = sessions.get_mut(key)?;
        if session.client != client {
            return None;
        }
        session.open += 1;
        session.is_broken_off = false;
        Some(OpenResponse {
            calls: session.calls.clone(),
            sessions: self.clone(),
            key: key.clone(),
            is_resumable,
            is_complete: false,
        })
    }

    /// Adds a session that the transport opened for a client. Where there are too many, the one that was unused longest ends;
    /// where all are in use, the new one does, and false is returned.
    pub async fn add(&self, id: &str, client: &str) -> bool {
        let key = SessionKey::Transport(id.to_owned());
        let surplus = {
            let mut sessions = self.sessions.lock();
            sessions.insert(key.clone(), HttpSession::new(client));
            let is_full = sessions.len() > self.limits.sessions_max;
            let unused = sessions
                .iter()
                .filter(|(_, session)| session.open == 0)
                .min_by_key(|(_, session)| session.used_at);
            unused.map(|(key, _)| key.clone()).filter(|_| is_full)
        };
        let is_kept = surplus.as_ref() != Some(&key);
        if let Some(surplus) = surplus {
            self.end(&surplus).await;
        }
        is_kept
    }

    /// Ends a session: its calls are withdrawn, and the transport knows it no more.
    pub async fn end(&self, key: &SessionKey) {
        let session = self.sessions.lock().remove(key);
        if let Some(session) = session {
            session.calls.stop();
            if let Err(fault) = session.calls.close().await {
                tracing::warn!(%fault, "a client's session was not closed on record");
            }
        }
        if let SessionKey::Transport(id) = key
            && let Err(error) = self.transport.close_session(&id.clone().into()).await
        {
            tracing::info!(%error, "a session of the transport was not closed");
        }
    }

    /// Ends the sessions that nobody uses any more, those that the transport has ended, and those of clients that are not
    /// in this list.
    pub async fn end_unused(&self, clients: &[String]) {
        let served = self.transport.sessions.read().await;
        let is_served = |key: &SessionKey| match key {
            SessionKey::Transport(id) => served.contains_key(id.as_str()),
            SessionKey::Client(_) => true,
        };
        let over: Vec<SessionKey> = {
            let sessions = self.sessions.lock();
            let over = sessions.iter().filter(|(key, session)| {
                session.is_over(&self.limits)
                    || !is_served(key)
                    || !clients.contains(&session.client)
            });
            over.map(|(key, _)| key.clone()).collect()
        };
        drop(served);
        for key in over {
            self.end(&key).await;
        }
    }

    /// Ends all sessions, and waits until their calls are on disk.
    ///
    /// # Errors
    /// The record cannot be written.
    pub async fn close(&self) -> Result<(), UserError> {
        let sessions: Vec<HttpSession> = self.sessions.lock().drain().map(|(_, one)| one).collect();
        sessions.iter().for_each(|session| session.calls.stop());
        for session in sessions {
            session.calls.close().await?;
        }
        Ok(())
    }
}

/// Guard of a response that is not over.
pub(super) struct OpenResponse {
    /// The calls of the session.
    pub calls: ClientSession,
    sessions: Arc<HttpSessions>,
    key: SessionKey,
    /// Whether the client may come back for the rest of it.
    is_resumable: bool,
    is_complete: bool,
}

impl OpenResponse {
    /// Ends the response with its last byte.
    pub fn complete(mut self) {
        self.is_complete = true;
    }
}

impl Drop for OpenResponse {
    fn drop(&mut self) {
        if let Some(session) = self.sessions.sessions.lock().get_mut(&self.key) {
            session.open = session.open.saturating_sub(1);
            session.used_at = Instant::now();
            session.is_broken_off |= self.is_resumable && !self.is_complete;
        }
    }
}
