//! The HTTP client of a connection: that of `reqwest`, with the members about tasks kept in events of a server.
//!
//! A server that answers with JSON in place of events is read by the library alone, so what it says of tasks is not known.

use std::collections::HashMap;
use std::sync::Arc;

use futures::StreamExt;
use futures::stream::BoxStream;
use http::{HeaderName, HeaderValue};
use rmcp::model::ClientJsonRpcMessage;
use rmcp::transport::streamable_http_client::{
    SseError, StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse,
};
use sse_stream::Sse;

use super::task_members::keep_task_members;

type Headers = HashMap<HeaderName, HeaderValue>;
type Events = BoxStream<'static, Result<Sse, SseError>>;
type HttpError = StreamableHttpError<reqwest::Error>;

/// HTTP client that keeps what servers say of tasks. Cheap to clone.
#[derive(Clone)]
pub(crate) struct ServerHttpClient(pub reqwest::Client);

fn keep_in_events(events: Events) -> Events {
    let kept = events.map(|event| {
        event.map(|mut event| {
            let kept = event.data.as_deref().and_then(keep_task_members);
            event.data = kept.or(event.data);
            event
        })
    });
    kept.boxed()
}

fn keep_in_response(response: StreamableHttpPostResponse) -> StreamableHttpPostResponse {
    match response {
        StreamableHttpPostResponse::Sse(events, session) => {
            StreamableHttpPostResponse::Sse(keep_in_events(events), session)
        }
        other => other,
    }
}

impl StreamableHttpClient for ServerHttpClient {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        headers: Headers,
    ) -> Result<StreamableHttpPostResponse, HttpError> {
        let posting = self.0.post_message(uri, message, session, token, headers);
        posting.await.map(keep_in_response)
    }

    async fn post_message_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        headers: Headers,
        event_bytes_max: usize,
    ) -> Result<StreamableHttpPostResponse, HttpError> {
        let posting = self.0.post_message_with_max_sse_event_size(
            uri,
            message,
            session,
            token,
            headers,
            event_bytes_max,
        );
        posting.await.map(keep_in_response)
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session: Arc<str>,
        token: Option<String>,
        headers: Headers,
    ) -> Result<(), HttpError> {
        self.0.delete_session(uri, session, token, headers).await
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        token: Option<String>,
        headers: Headers,
    ) -> Result<Events, HttpError> {
        let opening = self.0.get_stream(uri, session, last_event, token, headers);
        opening.await.map(keep_in_events)
    }

    async fn get_stream_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        token: Option<String>,
        headers: Headers,
        event_bytes_max: usize,
    ) -> Result<Events, HttpError> {
        let opening = self.0.get_stream_with_max_sse_event_size(
            uri,
            session,
            last_event,
            token,
            headers,
            event_bytes_max,
        );
        opening.await.map(keep_in_events)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn events_are_kept_but_for_what_the_library_would_drop() {
        let listed = r#"{"result":{"tools":[{"execution":{"taskSupport":"required"}}]}}"#;
        let written = [
            Sse::default().id("1").retry(5),
            Sse::default().id("2").data("{\"result\":{}}"),
            Sse::default().id("3").data(listed),
        ];
        let events = futures::stream::iter(written.clone()).map(Ok).boxed();
        let response = StreamableHttpPostResponse::Sse(events, Some("session".to_owned()));
        let StreamableHttpPostResponse::Sse(events, session) = keep_in_response(response) else {
            panic!("it is another response");
        };
        let read: Vec<Sse> = events.map(Result::unwrap).collect().await;
        let kept = written[2].clone().data(keep_task_members(listed).unwrap());
        assert_eq!(read, [written[0].clone(), written[1].clone(), kept]);
        assert_eq!(session.as_deref(), Some("session"));
    }
}
