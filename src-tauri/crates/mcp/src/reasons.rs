//! Why a server could not be connected, or is not connected any more, in words.

use rmcp::service::ClientInitializeError;
use rmcp::transport::auth::AuthError;
use rmcp::transport::streamable_http_client::{
    AuthRequiredError, InsufficientScopeError, StreamableHttpError,
};
use runtime::{Exit, Life};

use crate::handler::Handler;
use crate::limits::{CANCEL_TOLD_MAX, REASON_CHARS_MAX, REFUSED_TOLD_MAX};
use crate::link::Unopened;
use crate::sign::Challenge;
use crate::wire::Why;

/// Why a server does not answer somebody whom it does not know.
pub(crate) const UNKNOWN: &str = "authentication failed";

/// Why a server could not be connected.
pub(crate) async fn unopened(
    error: &ClientInitializeError,
    why: &Why,
    life: Option<&Life>,
    handler: &Handler,
) -> Unopened {
    let challenge = challenged(error);
    Unopened {
        why: match &challenge {
            Some(_) => UNKNOWN.to_owned(),
            None => unopened_told(error, why, life, handler).await,
        },
        is_puzzled: matches!(error, ClientInitializeError::ExpectedInitResult(_)),
        challenge,
    }
}

/// How a server said, while it was being connected, that it wants to know who asks.
fn challenged(error: &ClientInitializeError) -> Option<Challenge> {
    match error {
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => challenged(fallback),
        ClientInitializeError::TransportError { error, .. } => challenge(error.error.as_ref()),
        _ => None,
    }
}

async fn unopened_told(
    error: &ClientInitializeError,
    why: &Why,
    life: Option<&Life>,
    handler: &Handler,
) -> String {
    if let Some(why) = why.told() {
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
        ) => exit_told(life, handler, why).await,
        (ClientInitializeError::JsonRpcError(error), _) => {
            let said = tools::text::shortened(&error.message, REASON_CHARS_MAX);
            format!("it refused to begin: {said} ({})", error.code.0)
        }
        (ClientInitializeError::NoCompatibleProtocolVersion { .. }, _) => {
            "it speaks no version of the protocol that is spoken here".to_owned()
        }
        (other, _) => {
            let told = match other {
                ClientInitializeError::TransportError { error, .. } => {
                    deepest(error.error.as_ref())
                }
                other => deepest(other),
            };
            let told = tools::text::shortened(&told, REASON_CHARS_MAX);
            format!("it could not be connected: {told}")
        }
    }
}

/// How a program ended, and what it said last.
pub(crate) async fn exit_told(life: &Life, handler: &Handler, why: &Why) -> String {
    // It mostly ends in the same moment as what it says.
    let mut ended = life.watch();
    let ended = tokio::time::timeout(CANCEL_TOLD_MAX, ended.wait_for(Option::is_some));
    let exit = ended.await.ok().and_then(Result::ok).and_then(|exit| *exit);
    let in_room = life.in_room();
    if let Some(why) = in_room.and_then(|fared| fared.not_entered.as_ref()) {
        return format!("it could not be started in its sealed room: {why}");
    }
    let mut told = match exit {
        Some(Exit::Code(code)) => format!("it ended with exit code {code}"),
        Some(Exit::Signal(signal)) => format!("it was ended by signal {signal}"),
        Some(Exit::Cancelled | Exit::TimedOut) | None => "it closed the connection".to_owned(),
    };
    let refused = in_room.iter().flat_map(|fared| &fared.refused);
    let refused: Vec<String> = refused
        .take(REFUSED_TOLD_MAX)
        .map(ToString::to_string)
        .collect();
    if !refused.is_empty() {
        let refused = format!(". Its sealed room {}", refused.join(", "));
        told.push_str(&tools::text::shortened(&refused, REASON_CHARS_MAX));
    }
    // Its last words may still be on their way, or be kept back by somebody whom it started.
    let _ = tokio::time::timeout(CANCEL_TOLD_MAX, why.hushed.cancelled()).await;
    match handler.log.last_said(2) {
        said if said.is_empty() => told,
        said => format!(
            "{told}. It said last: {}",
            tools::text::shortened(&said, REASON_CHARS_MAX)
        ),
    }
}

/// How a server said that it first wants to know who asks; none if it did not.
pub(crate) fn challenge(error: &(dyn std::error::Error + 'static)) -> Option<Challenge> {
    let mut at = Some(error);
    while let Some(error) = at {
        if let Some(required) = error.downcast_ref::<AuthRequiredError>() {
            return Some(Challenge {
                header: Some(required.www_authenticate_header.clone()),
                is_more: false,
            });
        }
        if let Some(more) = error.downcast_ref::<InsufficientScopeError>() {
            return Some(Challenge {
                header: Some(more.www_authenticate_header.clone()),
                is_more: true,
            });
        }
        match error.downcast_ref::<StreamableHttpError<reqwest::Error>>() {
            // One that does not say how to sign in is known by nothing but its words.
            Some(StreamableHttpError::UnexpectedServerResponse(said))
                if said.starts_with("HTTP 401") =>
            {
                return Some(Challenge::default());
            }
            Some(StreamableHttpError::Auth(AuthError::AuthorizationRequired)) => {
                return Some(Challenge::default());
            }
            Some(_) | None => {}
        }
        at = error.source();
    }
    None
}

/// Whether nothing can be sent over a connection any more: nobody is there, or nobody knows the session.
pub(crate) fn is_lost(error: &(dyn std::error::Error + 'static)) -> bool {
    match error.downcast_ref::<StreamableHttpError<reqwest::Error>>() {
        Some(StreamableHttpError::Client(error)) => error.is_connect() || error.is_request(),
        Some(
            StreamableHttpError::SessionExpired
            | StreamableHttpError::SessionRecoveryTimeout
            | StreamableHttpError::ReinitializationFailed(_)
            | StreamableHttpError::TransportChannelClosed,
        ) => true,
        Some(_) => false,
        None => error.source().is_some_and(is_lost),
    }
}

/// The cause at the bottom, which alone says something.
pub(crate) fn deepest(error: &(dyn std::error::Error + 'static)) -> String {
    // The library does not call what its client says a cause.
    if let Some(StreamableHttpError::Client(inner)) =
        error.downcast_ref::<StreamableHttpError<reqwest::Error>>()
    {
        return deepest(inner);
    }
    match (error.source(), error.downcast_ref::<reqwest::Error>()) {
        (Some(inner), _) => deepest(inner),
        // It would name the address, which may hold a secret.
        (None, Some(error)) if error.is_timeout() => "it took too long".to_owned(),
        (None, Some(_)) => "the request failed".to_owned(),
        (None, None) => error.to_string(),
    }
}
