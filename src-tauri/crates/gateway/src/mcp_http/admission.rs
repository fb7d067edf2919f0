//! Who is let in: each request has a token of a client, and belongs to a session of that client.

use std::sync::Arc;

use axum::body::{Body, BodyDataStream, Bytes};
use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE, WWW_AUTHENTICATE};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use futures::{StreamExt as _, stream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::sessions::{HttpSessions, OpenResponse, SessionKey};
use super::tokens::ClientTokens;
use crate::limits::HTTP_REQUESTS_MAX;

/// Header that names a session of the transport.
const SESSION_HEADER: &str = "mcp-session-id";
/// Header by which a client resumes a response.
const RESUME_HEADER: &str = "last-event-id";
/// Content type of a response that goes on.
const EVENT_STREAM: &str = "text/event-stream";

/// What a request is let in by.
pub(super) struct Admission {
    pub tokens: ClientTokens,
    pub sessions: Arc<HttpSessions>,
    requests: Arc<Semaphore>,
}

impl Admission {
    pub fn new(tokens: ClientTokens, sessions: Arc<HttpSessions>) -> Self {
        Self {
            tokens,
            sessions,
            requests: Arc::new(Semaphore::new(HTTP_REQUESTS_MAX)),
        }
    }
}

/// Lets a request in, and follows its response to the end.
pub(super) async fn admit_request(
    State(admission): State<Arc<Admission>>,
    mut request: Request,
    next: Next,
) -> Response {
    let client = match find_client(&admission.tokens, request.headers()) {
        Ok(client) => client,
        Err(refusal) => return *refusal,
    };
    let Ok(permit) = admission.requests.clone().try_acquire_owned() else {
        let text = format!("{HTTP_REQUESTS_MAX} requests are open already. Try again later.");
        return (StatusCode::SERVICE_UNAVAILABLE, text).into_response();
    };
    let sessions = &admission.sessions;
    let key = match header_text(request.headers(), SESSION_HEADER) {
        Some(id) => SessionKey::Transport(id.to_owned()),
        None => SessionKey::Client(client.clone()),
    };
    let is_end = request.method() == Method::DELETE;
    let is_resumable = matches!(key, SessionKey::Transport(_))
        && (request.method() == Method::POST
            || header_text(request.headers(), RESUME_HEADER).is_some());
    let Some(open) = sessions.begin_request(&key, &client, is_resumable) else {
        let text = "There is no such session any more. Begin again with `initialize`.";
        return (StatusCode::NOT_FOUND, text).into_response();
    };
    request.extensions_mut().insert(open.calls.clone());
    let response = next.run(request).await;
    match &key {
        SessionKey::Transport(_) if is_end && response.status().is_success() => {
            sessions.end(&key).await;
        }
        SessionKey::Transport(_) => {}
        SessionKey::Client(_) => {
            if let Some(id) = header_text(response.headers(), SESSION_HEADER)
                && !sessions.add(id, &client).await
            {
                open.complete();
                let text =
                    "As many sessions as there may be are in use already. End one of them first.";
                return (StatusCode::SERVICE_UNAVAILABLE, text).into_response();
            }
        }
    }
    follow_response(response, open, permit)
}

/// Returns the name of the client whose token the request has.
fn find_client(tokens: &ClientTokens, headers: &HeaderMap) -> Result<String, Box<Response>> {
    let token = header_text(headers, AUTHORIZATION.as_str()).and_then(|value| {
        let (scheme, token) = value.split_once(' ')?;
        scheme
            .eq_ignore_ascii_case("Bearer")
            .then(|| token.trim_start())
    });
    let found = match token {
        Some(token) => tokens.find_client(token),
        None => Ok(None),
    };
    match found {
        Ok(Some(client)) => Ok(client),
        Ok(None) => {
            let text = "A token of a client is needed, as `Authorization: Bearer TOKEN`. Make one with \
                        `countersign gateway token add NAME`.";
            let challenge = [(WWW_AUTHENTICATE, "Bearer")];
            Err((StatusCode::UNAUTHORIZED, challenge, text)
                .into_response()
                .into())
        }
        Err(fault) => {
            tracing::warn!(%fault, "the tokens of clients cannot be read");
            let text = "The tokens of clients cannot be read, so nobody is let in.";
            Err((StatusCode::INTERNAL_SERVER_ERROR, text)
                .into_response()
                .into())
        }
    }
}

fn header_text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

/// Keeps the session and the permit of a request in use until its response is over. A response that does not go on is over
/// with its head.
fn follow_response(
    response: Response,
    open: OpenResponse,
    permit: OwnedSemaphorePermit,
) -> Response {
    let goes_on = header_text(response.headers(), CONTENT_TYPE.as_str())
        .is_some_and(|kind| kind.starts_with(EVENT_STREAM));
    if !goes_on {
        open.complete();
        return response;
    }
    response.map(|body| {
        let followed = FollowedBody {
            pieces: body.into_data_stream(),
            open,
            _permit: permit,
        };
        Body::from_stream(stream::unfold(followed, FollowedBody::next_piece))
    })
}

/// The body of a response that goes on.
struct FollowedBody {
    pieces: BodyDataStream,
    open: OpenResponse,
    _permit: OwnedSemaphorePermit,
}

impl FollowedBody {
    /// Returns the next piece; at the end the response is complete.
    async fn next_piece(mut self) -> Option<(Result<Bytes, axum::Error>, Self)> {
        match self.pieces.next().await {
            Some(piece) => Some((piece, self)),
            None => {
                self.open.complete();
                None
            }
        }
    }
}
