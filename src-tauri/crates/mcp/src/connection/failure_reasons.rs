//! Describes in words why a server could not be connected, or is no longer connected.

use rmcp::service::ClientInitializeError;
use rmcp::transport::auth::AuthError;
use rmcp::transport::streamable_http_client::{
    AuthRequiredError, InsufficientScopeError, StreamableHttpError,
};
use runtime::{CommandExit, ProcessLifetime};

use crate::connection::ConnectError;
use crate::limits::{CANCEL_NOTICE_TIMEOUT, REASON_CHARS_MAX, REFUSALS_REPORTED_MAX};
use crate::line_limit::CloseReason;
use crate::message_handler::ServerMessageHandler;
use crate::oauth::AuthChallenge;
use crate::root_cause::root_cause;

/// Reason why a server does not answer a client that has not authenticated.
pub(crate) const AUTHENTICATION_FAILED: &str = "authentication failed";

/// Describes why a server could not be connected.
pub(crate) async fn connect_error(
    error: &ClientInitializeError,
    why: &CloseReason,
    life: Option<&ProcessLifetime>,
    handler: &ServerMessageHandler,
) -> ConnectError {
    let challenge = initialize_challenge(error);
    ConnectError {
        why: match &challenge {
            Some(_) => AUTHENTICATION_FAILED.to_owned(),
            None => describe_connect_error(error, why, life, handler).await,
        },
        may_be_legacy: matches!(error, ClientInitializeError::ExpectedInitResult(_)),
        challenge,
    }
}

/// Returns the authentication challenge with which a server answered `initialize`.
fn initialize_challenge(error: &ClientInitializeError) -> Option<AuthChallenge> {
    match error {
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => {
            initialize_challenge(fallback)
        }
        ClientInitializeError::TransportError { error, .. } => find_challenge(error.error.as_ref()),
        _ => None,
    }
}

async fn describe_connect_error(
    error: &ClientInitializeError,
    why: &CloseReason,
    life: Option<&ProcessLifetime>,
    handler: &ServerMessageHandler,
) -> String {
    if let Some(why) = why.reason() {
        return why;
    }
    let error = match error {
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => fallback,
        other => other,
    };
    match (error, life) {
        (
            ClientInitializeError::ConnectionClosed(_)
            | ClientInitializeError::TransportError { .. },
            Some(life),
        ) => describe_exit(life, handler, why).await,
        (ClientInitializeError::JsonRpcError(error), _) => {
            let message = tools::text::truncate_chars(&error.message, REASON_CHARS_MAX);
            format!("it refused to begin: {message} ({})", error.code.0)
        }
        (ClientInitializeError::NoCompatibleProtocolVersion { .. }, _) => {
            "it speaks no version of the protocol that is spoken here".to_owned()
        }
        (other, _) => {
            let cause = match other {
                ClientInitializeError::TransportError { error, .. } => {
                    root_cause(error.error.as_ref())
                }
                other => root_cause(other),
            };
            let cause = tools::text::truncate_chars(&cause, REASON_CHARS_MAX);
            format!("it could not be connected: {cause}")
        }
    }
}

/// Describes how a program ended, with the last lines of its output.
pub(crate) async fn describe_exit(
    life: &ProcessLifetime,
    handler: &ServerMessageHandler,
    why: &CloseReason,
) -> String {
    // It mostly ends in the same moment as what it says.
    let mut ended = life.subscribe();
    let ended = tokio::time::timeout(CANCEL_NOTICE_TIMEOUT, ended.wait_for(Option::is_some));
    let exit = ended.await.ok().and_then(Result::ok).and_then(|exit| *exit);
    let sandbox = life.sandbox_outcome();
    if let Some(why) = sandbox.and_then(|outcome| outcome.entry_error.as_ref()) {
        return format!("it could not be started in its sandbox: {why}");
    }
    let mut description = match exit {
        Some(CommandExit::Code(code)) => format!("it ended with exit code {code}"),
        Some(CommandExit::Signal(signal)) => format!("it was ended by signal {signal}"),
        Some(CommandExit::Cancelled | CommandExit::TimedOut) | None => {
            "it closed the connection".to_owned()
        }
    };
    let refused = sandbox.iter().flat_map(|outcome| &outcome.refused);
    let refused: Vec<String> = refused
        .take(REFUSALS_REPORTED_MAX)
        .map(ToString::to_string)
        .collect();
    if !refused.is_empty() {
        let refused = format!(". Its sandbox {}", refused.join(", "));
        description.push_str(&tools::text::truncate_chars(&refused, REASON_CHARS_MAX));
    }
    // Its last words may still be on their way, or be kept back by somebody whom it started.
    let _ = tokio::time::timeout(CANCEL_NOTICE_TIMEOUT, why.stderr_drained.cancelled()).await;
    match handler.log.last_server_lines(2) {
        output if output.is_empty() => description,
        output => format!(
            "{description}. It said last: {}",
            tools::text::truncate_chars(&output, REASON_CHARS_MAX)
        ),
    }
}

/// Returns the authentication challenge in an error; none if there is none.
pub(crate) fn find_challenge(error: &(dyn std::error::Error + 'static)) -> Option<AuthChallenge> {
    let mut at = Some(error);
    while let Some(error) = at {
        if let Some(required) = error.downcast_ref::<AuthRequiredError>() {
            return Some(AuthChallenge {
                header: Some(required.www_authenticate_header.clone()),
                is_more: false,
            });
        }
        if let Some(more) = error.downcast_ref::<InsufficientScopeError>() {
            return Some(AuthChallenge {
                header: Some(more.www_authenticate_header.clone()),
                is_more: true,
            });
        }
        match error.downcast_ref::<StreamableHttpError<reqwest::Error>>() {
            // One that does not say how to sign in is known by nothing but its words.
            Some(StreamableHttpError::UnexpectedServerResponse(message))
                if message.starts_with("HTTP 401") =>
            {
                return Some(AuthChallenge::default());
            }
            Some(StreamableHttpError::Auth(AuthError::AuthorizationRequired)) => {
                return Some(AuthChallenge::default());
            }
            Some(_) | None => {}
        }
        at = error.source();
    }
    None
}

/// Whether nothing can be sent over a connection any more: the server is gone, or does not know the session.
pub(crate) fn is_connection_lost(error: &(dyn std::error::Error + 'static)) -> bool {
    match error.downcast_ref::<StreamableHttpError<reqwest::Error>>() {
        Some(StreamableHttpError::Client(error)) => error.is_connect() || error.is_request(),
        Some(
            StreamableHttpError::SessionExpired
            | StreamableHttpError::SessionRecoveryTimeout
            | StreamableHttpError::ReinitializationFailed(_)
            | StreamableHttpError::TransportChannelClosed,
        ) => true,
        Some(_) => false,
        None => error.source().is_some_and(is_connection_lost),
    }
}
