//! Log messages of the server behind the gateway, told to clients: to one of 2025 from the level on that it set, to one of 2026
//! during a call that names a level. A message that comes while calls run belongs to them: clients whose calls they are not are
//! not told. A server seldom says which one of several calls it means; then each client with one of them is told.

#![allow(
    deprecated,
    reason = "logging is being removed from the protocol; servers and clients of today use it"
)]

use std::sync::Arc;

use agent::{BackingLog, BackingServer, LogLevel, LogMessage, WantedLogLevel};
use parking_lot::Mutex;
use protocol::UserError;
use rmcp::model::{LoggingLevel, LoggingMessageNotificationParam, ProtocolVersion};
use rmcp::service::{Peer, RequestContext, RoleServer};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::client_session::ClientSession;
use super::served_tools::ServedTools;

/// What a client of 2025 wants of the log of the server.
#[derive(Default)]
pub(super) struct ClientLog {
    /// The level that it set; without one it is told every message, as a client of the server itself is.
    level: Mutex<Option<LogLevel>>,
    /// Has the server log from that level on.
    wanted: Mutex<Option<WantedLogLevel>>,
}

impl ClientLog {
    /// Takes the level from which on messages are told, and has the server log from there on.
    ///
    /// # Errors
    /// The server is off or unavailable, or refuses.
    pub async fn set_level(
        &self,
        server: &BackingServer,
        level: LoggingLevel,
        cancel: &CancellationToken,
    ) -> Result<(), UserError> {
        let level = from_protocol_level(level);
        let wanted = server.want_log_level(level, cancel).await?;
        *self.level.lock() = Some(level);
        *self.wanted.lock() = Some(wanted);
        Ok(())
    }

    /// Tells a client of each message, until it is gone.
    pub async fn tell_peer(
        self: Arc<Self>,
        mut log: BackingLog,
        peer: Peer<RoleServer>,
        calls: ClientSession,
    ) {
        loop {
            let message = log.next().await;
            let least = *self.level.lock();
            let is_wanted = least.is_none_or(|least| message.level >= least)
                && message.is_for(calls.id().as_ref());
            if is_wanted && !tell(&peer, message).await {
                return;
            }
        }
    }
}

/// The telling of log messages during a call.
pub(super) struct CallLog {
    answered: CancellationToken,
    telling: JoinHandle<()>,
    _wanted: Option<WantedLogLevel>,
}

impl CallLog {
    /// Has what came until now told, and nothing more; returns the telling.
    pub fn end(self) -> JoinHandle<()> {
        self.answered.cancel();
        self.telling
    }
}

/// Tells a client of 2026 the log messages that come during its call, if it named a level in it.
pub(super) async fn tell_during_call(
    served: &ServedTools,
    context: &RequestContext<RoleServer>,
    calls: &ClientSession,
) -> Option<CallLog> {
    let is_known = context.protocol_version() >= Some(ProtocolVersion::NO_INITIALIZE);
    let server = served
        .server()
        .filter(|_| served.offers().logging && is_known)?;
    let least = from_protocol_level(context.meta.log_level()?);
    let mut log = server.watch_log();
    // A server that does not take the level logs as it does by itself.
    let wanted = server.want_log_level(least, &context.ct).await.ok();
    let answered = CancellationToken::new();
    let (peer, is_answered) = (context.peer.clone(), answered.clone());
    let session = calls.id();
    let telling = async move {
        loop {
            let message = match is_answered.is_cancelled() {
                true => match log.try_next() {
                    Some(message) => message,
                    None => return,
                },
                false => tokio::select! {
                    biased;
                    message = log.next() => message,
                    () = is_answered.cancelled() => continue,
                },
            };
            let is_wanted = message.level >= least && message.is_for(session.as_ref());
            if is_wanted && !tell(&peer, message).await {
                return;
            }
        }
    };
    Some(CallLog {
        answered,
        telling: tokio::spawn(telling),
        _wanted: wanted,
    })
}

/// Tells a client a message; returns whether it is still there.
async fn tell(peer: &Peer<RoleServer>, message: LogMessage) -> bool {
    match serde_json::from_value::<LoggingMessageNotificationParam>(message.params) {
        Ok(params) => peer.notify_logging_message(params).await.is_ok(),
        Err(error) => {
            tracing::warn!(%error, "a log message is not passed on");
            true
        }
    }
}

fn from_protocol_level(level: LoggingLevel) -> LogLevel {
    match level {
        LoggingLevel::Debug => LogLevel::Debug,
        LoggingLevel::Info => LogLevel::Info,
        LoggingLevel::Notice => LogLevel::Notice,
        LoggingLevel::Warning => LogLevel::Warning,
        LoggingLevel::Error => LogLevel::Error,
        LoggingLevel::Critical => LogLevel::Critical,
        LoggingLevel::Alert => LogLevel::Alert,
        LoggingLevel::Emergency => LogLevel::Emergency,
    }
}
